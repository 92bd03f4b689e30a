"""The history in SQLite or Postgres; JSON lines beside it when it cannot be written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TypeVar

from evalrun.errors import StoreFailed
from evalrun.results import Exchange, RunResult, TrialResult
from evalrun.stores import statements, tables
from evalrun.stores.backend import Backend, Connection
from evalrun.stores.lines import Line, Lines

T = TypeVar("T")


class SqlStore:
    """A history (see `interfaces.stores.Store`). What cannot be written goes to JSON lines beside it.

    `notices` are lines the user should read: where results went instead, what was taken in later.
    """

    def __init__(self, backend: Backend, *, beside: Path) -> None:
        self._backend = backend
        self._lines = Lines(beside)
        self._usable = True
        self.notices: list[str] = []

    async def open(self) -> None:
        """Open, migrate, take in what an earlier run left beside it.

        Raises StoreFailed for a newer schema; a store that cannot be written is noted.
        """
        try:
            found = await self._backend.run(tables.migrate, write=True)
        except StoreFailed as e:
            self._lost(e)
            return
        if found > len(tables.MIGRATIONS):
            raise StoreFailed(
                f"the history has schema {found}, this evalrun knows {len(tables.MIGRATIONS)}",
                remedy="use the newer evalrun, or set `store` to another place; nothing was changed",
            )
        await self._take_in()

    async def begin(self, run: RunResult) -> None:
        """Keep a run that starts. Raises StoreFailed when nothing can be written."""
        await self._keep(Line(kind="begin", run=run.header.id, value=run))

    async def add(self, run: str, trial: TrialResult) -> None:
        """Keep one trial; it is committed when this returns. Raises StoreFailed when nothing can be written."""
        await self._keep(Line(kind="trial", run=run, value=trial))

    async def finish(self, run: RunResult) -> None:
        """Keep the end of a run. Raises StoreFailed when nothing can be written."""
        await self._keep(Line(kind="finish", run=run.header.id, value=run))

    async def load(self, reference: str) -> RunResult:
        """A run by id, by the end of its id, or "last". Raises UnknownName, StoreFailed."""
        return await self._backend.run(partial(statements.load, reference=reference))

    async def runs(self, limit: int) -> tuple[RunResult, ...]:
        """The newest runs first, without their trials. Raises StoreFailed."""
        return await self._backend.run(partial(statements.runs, limit=limit))

    async def exchanges(self, run: str, scenario: str, number: int) -> tuple[Exchange, ...]:
        """What was sent to and returned by models in one trial. Raises StoreFailed."""
        return await self._backend.run(partial(statements.exchanges, run=run, scenario=scenario, number=number))

    async def close(self) -> None:
        """Close; idempotent."""
        await self._backend.close()

    async def _keep(self, line: Line) -> None:
        if self._usable:
            try:
                await self._backend.run(_writing(line), write=True)
                return
            except StoreFailed as e:
                self._lost(e)
        await asyncio.to_thread(self._lines.append, line)

    def _lost(self, error: StoreFailed) -> None:
        # after a lock or a full disk every further try would cost as long; a refused value says nothing of others
        self._usable = isinstance(error.__cause__, self._backend.refusals)
        note = f"{error.message}; results go to {self._lines.path} ({error.remedy})"
        if note not in self.notices:
            self.notices.append(note)

    async def _take_in(self) -> None:
        """Move the lines that an earlier run left into the history, which works again."""
        mine = await asyncio.to_thread(self._lines.claim)
        if mine is None:
            return
        try:
            lines = await asyncio.to_thread(lambda: list(mine.read()))
            good = [line for line in lines if line is not None]
            await self._backend.run(partial(_write_all, lines=good), write=True)
        except (StoreFailed, OSError) as e:
            self.notices.append(f"results of an earlier run stay in {mine.path}: {e}")
            return
        if len(good) < len(lines):
            self.notices.append(f"{len(lines) - len(good)} damaged lines stay in {mine.path}")
        else:
            await asyncio.to_thread(mine.forget)
        trials = sum(line.kind == "trial" for line in good)
        self.notices.append(f"{trials} trials of an earlier run were taken into the history")


def _writing(line: Line) -> Callable[[Connection], None]:
    if isinstance(line.value, TrialResult):
        return partial(statements.add, run=line.run, trial=line.value)
    return partial(statements.begin if line.kind == "begin" else statements.finish, run=line.value)


def _write_all(connection: Connection, lines: Iterable[Line]) -> None:
    for line in lines:
        _writing(line)(connection)
