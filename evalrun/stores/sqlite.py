"""The history in a file: SQLite, in one thread of its own."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from evalrun.stores.backend import BUSY_SECONDS, Connection, Row, Values, failed
from evalrun.stores.sql import SqlStore

T = TypeVar("T")


def sqlite(location: str) -> SqlStore:
    """A store in a file, whose folder is made when it is opened."""
    path = Path(location)
    return SqlStore(Sqlite(path), beside=path.with_suffix(".jsonl"))


class Sqlite:
    """One connection in one thread: the fastest way to write a file, and trials queue up for it."""

    refusals: tuple[type[Exception], ...] = (sqlite3.IntegrityError, sqlite3.DataError, OverflowError)

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        self._path = path
        self._busy = busy_seconds
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="history")
        self._connection: sqlite3.Connection | None = None
        self._closed = False

    async def run(self, work: Callable[[Connection], T], *, write: bool = False) -> T:
        """Its result, once it is committed. Raises StoreFailed."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work, write)

    def _do(self, work: Callable[[Connection], T], write: bool) -> T:
        try:
            connection = self._opened()
            # a writer says so at once: a reader that turns writer fails under others instead of waiting
            connection.execute("begin immediate" if write else "begin")
            with connection:
                return work(_Statements(connection))
        except (sqlite3.Error, OSError, OverflowError) as e:
            raise failed(str(self._path), e) from e

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # without an isolation level the driver begins nothing by itself
            connection = sqlite3.connect(self._path, timeout=self._busy, isolation_level=None)
            try:
                _set_wal(connection, self._busy)
                connection.execute("pragma synchronous=normal")
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    async def close(self) -> None:
        """Let go; idempotent."""
        if self._closed:
            return
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(self._thread, self._dispose)
        self._thread.shutdown(wait=True)

    def _dispose(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Statements:
    """See `backend.Connection`."""

    lock = ""  # `begin immediate` has it already

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, values: Values | None = None) -> Sequence[Row]:
        return self._connection.execute(statement, values or {}).fetchall()

    def write(self, statement: str, *rows: Values) -> None:
        if len(rows) > 1:
            self._connection.executemany(statement, rows)
        else:
            self._connection.execute(statement, rows[0] if rows else {})

    def has(self, table: str) -> bool:
        return bool(self.rows("select 1 from sqlite_master where type = 'table' and name = :name", {"name": table}))


def _set_wal(connection: sqlite3.Connection, busy: float) -> None:
    """Let readers and other evalruns work beside us. Changing the mode does not wait for locks by itself."""
    give_up = time.monotonic() + busy
    while connection.execute("pragma journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("pragma journal_mode=wal")
            return
        except sqlite3.OperationalError as e:
            if "locked" not in str(e):
                return  # read-only: it can still be read
            if time.monotonic() > give_up:
                raise
            time.sleep(0.02)
