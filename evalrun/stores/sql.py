"""The history in SQLite (one writer in a thread) or Postgres (asyncpg); JSON lines when neither takes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from evalrun.archive import encode
from evalrun.errors import StoreFailed
from evalrun.results import Exchange, RunHeader, RunResult, TrialResult
from evalrun.stores import tables

T = TypeVar("T")
BUSY_SECONDS = 15


class Backend(Protocol):
    """Runs a function on a connection, in one transaction."""

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        """Its result. Raises StoreFailed."""

    async def close(self) -> None:
        """Let go; idempotent."""


def sqlite(location: str) -> SqlStore:
    """A store in a file."""
    path = Path(location)
    return SqlStore(_Sqlite(path), beside=path.with_suffix(".jsonl"))


def postgres(location: str) -> SqlStore:
    """A store on a Postgres; what it does not take goes to a file in the current folder."""
    return SqlStore(_Postgres(location), beside=Path(".evalrun") / "history.jsonl")


class _Sqlite:
    """One connection in one thread of its own: the fastest way, and writers queue up."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="history")
        self._engine: sa.Engine | None = None

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)

    def _do(self, work: Callable[[sa.Connection], T]) -> T:
        try:
            if self._engine is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._engine = _sqlite_engine(self._path)
            with self._engine.begin() as connection:
                return work(connection)
        except (sa.exc.SQLAlchemyError, OSError) as e:
            raise _failed(str(self._path), e) from e

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._dispose)
        self._thread.shutdown(wait=True)

    def _dispose(self) -> None:
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None


def _sqlite_engine(path: Path) -> sa.Engine:
    engine = sa.create_engine(
        f"sqlite:///{path}", poolclass=sa.pool.SingletonThreadPool, connect_args={"timeout": BUSY_SECONDS}
    )

    def configure(connection: object, _record: object) -> None:
        cursor = connection.cursor()  # type: ignore[attr-defined]
        # WAL lets readers and another evalrun work beside us
        cursor.execute("pragma journal_mode=wal")
        cursor.execute("pragma synchronous=normal")
        cursor.close()

    sa.event.listen(engine, "connect", configure)
    return engine


class _Postgres:
    """A server shared by a team."""

    def __init__(self, location: str) -> None:
        url = sa.make_url(location).set(drivername="postgresql+asyncpg")
        self._shown = url.render_as_string(hide_password=True)
        self._engine = create_async_engine(url, poolclass=NullPool, connect_args={"timeout": BUSY_SECONDS})

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        try:
            async with self._engine.begin() as connection:
                return await connection.run_sync(work)
        except (sa.exc.SQLAlchemyError, OSError, TimeoutError) as e:
            raise _failed(self._shown, e) from e

    async def close(self) -> None:
        await self._engine.dispose()


def _failed(where: str, error: Exception) -> StoreFailed:
    cause = getattr(error, "orig", None) or error
    return StoreFailed(
        f"the history {where} cannot be used: {' '.join(str(cause).split())[:200]}",
        remedy="free space, correct its rights, or set `store` to another place",
    )


class SqlStore:
    """A history (see `interfaces.Store`). What cannot be written goes to JSON lines beside it."""

    def __init__(self, backend: Backend, *, beside: Path) -> None:
        self._backend = backend
        self._beside = beside
        self._usable = True
        self.notices: list[str] = []

    async def open(self) -> None:
        """Open and migrate. Raises StoreFailed for a newer schema; a store that cannot be written is noted."""
        try:
            await self._backend.run(tables.migrate)
        except StoreFailed as e:
            if "schema" in e.message:
                raise
            self._lost(e)

    async def begin(self, run: RunResult) -> None:
        """Keep a run that starts."""
        await self._keep(partial(tables.begin, run=run), run)

    async def add(self, run: str, trial: TrialResult) -> None:
        """Keep one trial, at once."""
        await self._keep(partial(tables.add, run=run, trial=trial), trial)

    async def finish(self, run: RunResult) -> None:
        """Keep the end of a run."""
        await self._keep(partial(tables.finish, run=run), run)

    async def load(self, reference: str) -> RunResult:
        """A run by id, by the end of its id, or "last". Raises UnknownName, StoreFailed."""
        return await self._backend.run(partial(tables.load, reference=reference))

    async def runs(self, limit: int) -> tuple[RunHeader, ...]:
        """The newest runs first. Raises StoreFailed."""
        return await self._backend.run(partial(tables.runs, limit=limit))

    async def exchanges(self, run: str, scenario: str, number: int) -> tuple[Exchange, ...]:
        """What was sent to and returned by models in one trial. Raises StoreFailed."""
        return await self._backend.run(partial(tables.exchanges, run=run, scenario=scenario, number=number))

    async def close(self) -> None:
        """Close; idempotent."""
        await self._backend.close()

    async def _keep(self, work: Callable[[sa.Connection], None], value: RunResult | TrialResult) -> None:
        if self._usable:
            try:
                await self._backend.run(work)
                return
            except StoreFailed as e:
                self._lost(e)
        await asyncio.to_thread(self._append, value)

    def _lost(self, error: StoreFailed) -> None:
        self._usable = False
        self.notices.append(f"{error.message}; results go to {self._beside} ({error.remedy})")

    def _append(self, value: RunResult | TrialResult) -> None:
        """One line beside the store. Raises StoreFailed when that cannot be written either."""
        try:
            self._beside.parent.mkdir(parents=True, exist_ok=True)
            with self._beside.open("ab") as file:
                file.write(encode(value) + b"\n")
        except OSError as e:
            raise StoreFailed(
                f"neither the history nor {self._beside} can be written: {e.strerror}",
                remedy="free space; this report is all there is of the run",
            ) from e
