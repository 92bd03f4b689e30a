"""The history in a file: SQLite, in one thread of its own."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from evalrun.stores.backend import BUSY_SECONDS, failed
from evalrun.stores.sql import SqlStore

T = TypeVar("T")
_WRITES = "evalrun_writes"


def sqlite(location: str) -> SqlStore:
    """A store in a file, whose folder is made when it is opened."""
    path = Path(location)
    return SqlStore(Sqlite(path), beside=path.with_suffix(".jsonl"))


class Sqlite:
    """One connection in one thread: the fastest way to write a file, and trials queue up for it."""

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        self._path = path
        self._busy = busy_seconds
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="history")
        self._engine: sa.Engine | None = None
        self._closed = False

    async def run(self, work: Callable[[sa.Connection], T], *, write: bool = False) -> T:
        """Its result, once it is committed. Raises StoreFailed."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work, write)

    def _do(self, work: Callable[[sa.Connection], T], write: bool) -> T:
        try:
            if self._engine is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._engine = _engine(self._path, self._busy)
            with self._engine.connect() as raw:
                connection = raw.execution_options(**{_WRITES: write})
                with connection.begin():
                    return work(connection)
        except (sa.exc.SQLAlchemyError, sqlite3.Error, OSError) as e:
            raise failed(str(self._path), e) from e

    async def close(self) -> None:
        """Let go; idempotent."""
        if self._closed:
            return
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(self._thread, self._dispose)
        self._thread.shutdown(wait=True)

    def _dispose(self) -> None:
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None


def _engine(path: Path, busy: float) -> sa.Engine:
    url = sa.URL.create("sqlite", database=str(path))
    engine = sa.create_engine(url, pool_size=1, max_overflow=0, connect_args={"timeout": busy})

    def connected(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # the driver must not begin by itself: see `begun`
        _set_wal(connection, busy)
        connection.execute("pragma synchronous=normal")

    def begun(connection: sa.Connection) -> None:
        # a writer says so at once: a reader that turns writer fails under others instead of waiting
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("begin immediate" if writes else "begin")

    sa.event.listen(engine, "connect", connected)
    sa.event.listen(engine, "begin", begun)
    return engine


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
