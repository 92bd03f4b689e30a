"""A database for each trial, cloned from a template that the target migrated once, ahead of need."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from evalrun.databases import ownership
from evalrun.databases.admins import TROUBLES, Admins
from evalrun.databases.database import Address, TrialDatabase, connect
from evalrun.databases.time_shift import quoted
from evalrun.errors import DatabaseFailed
from evalrun.interfaces.databases import Database, Migrate

ADMIN_DATABASE = "postgres"
OLDEST_SERVER = 13
READY_AT_MOST = 16
SWEEP_SECONDS = 10.0
TEMPLATE_SECONDS = 10.0
BEAT_SECONDS = 60.0


class Clones:
    """The databases of one run on one server; `patience` in seconds is for others to leave the template."""

    def __init__(
        self, address: Address, run: str, *, admin: str = ADMIN_DATABASE, patience: float = TEMPLATE_SECONDS
    ) -> None:
        self._patience = patience
        self._address = address
        self._run = run
        self._admin = admin
        self._admins = Admins(address, admin, "evalrun")
        self._template = ownership.name_of(run, ownership.TEMPLATE)
        self._ahead: deque[asyncio.Task[str]] = deque()
        self._room = asyncio.Semaphore(READY_AT_MOST)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._numbers = itertools.count(1)
        self._strategy = ""
        self._opened = False

    async def open(self) -> None:
        """Reach the server, show that the run is alive, and sweep what dead runs left. Raises DatabaseFailed."""
        owner = await connect(self._address, self._admin, ownership.session_name(self._run))
        self._begin(self._stay_alive(owner))
        self._opened = True
        version = owner.get_server_version()
        if version.major < OLDEST_SERVER:
            raise DatabaseFailed(
                f"the server is Postgres {version.major}", remedy=f"use Postgres {OLDEST_SERVER} or newer"
            )
        self._strategy = " strategy file_copy" if version.major >= 15 else ""
        await self.sweep(seconds=SWEEP_SECONDS)

    async def sweep(self, *, seconds: float) -> int:
        """Drop what dead runs left on the server; returns how many. Raises DatabaseFailed."""
        return await self._admins.use(lambda c: ownership.sweep(c, seconds=seconds))

    async def prepare(self, migrate: Migrate | None, ahead: int) -> None:
        """Make the template and begin to clone. Raises DatabaseFailed, and what `migrate` raises."""
        name = quoted(self._template)
        await self._admins.execute(f"create database {name}")
        mark = ownership.mark().replace("'", "''")
        await self._admins.execute(f"comment on database {name} is '{mark}'")
        if migrate is not None:
            done = migrate(self._database(self._template))
            if inspect.isawaitable(done):
                await done
        # a template in use cannot be cloned: nobody may connect to it any more
        await self._admins.execute(f"alter database {name} allow_connections false")
        await self._left_alone()
        self._ahead.extend(self._begin(self._make_ahead()) for _ in range(ahead))

    async def clone(self) -> Database:
        """The next database. Raises DatabaseFailed."""
        if not self._ahead:
            return self._database(await self._make())
        try:
            # whoever waits may be cancelled; the database is then made all the same and dropped at the end
            return self._database(await asyncio.shield(self._ahead.popleft()))
        finally:
            self._room.release()

    def drop(self, database: Database) -> None:
        """Drop a trial's database beside other work."""
        self._begin(self._drop_quietly(database.name))

    async def close(self, *, dropping: bool) -> None:
        """Stop cloning; with `dropping`, drop all databases of the run. Idempotent. Raises DatabaseFailed."""
        opened, self._opened = self._opened, False
        await self._cancel()
        try:
            if opened and dropping:
                await self._drop_all()
        finally:
            self._admins.end()

    def _database(self, name: str) -> TrialDatabase:
        return TrialDatabase(name=name, address=self._address)

    def _begin(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _cancel(self) -> None:
        tasks = {*self._tasks, *self._ahead}
        self._ahead.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _make_ahead(self) -> str:
        await self._room.acquire()
        return await self._make()

    async def _make(self) -> str:
        name = ownership.name_of(self._run, f"trial {next(self._numbers)}")
        statement = f"create database {quoted(name)} template {quoted(self._template)}{self._strategy}"
        await self._admins.execute(statement, about=self._template)
        return name

    async def _left_alone(self) -> None:
        """Wait until nobody is connected to the template. Raises DatabaseFailed naming who is."""
        deadline = asyncio.get_running_loop().time() + self._patience
        pause = 0.01
        while users := await self._admins.users(self._template):
            if asyncio.get_running_loop().time() > deadline:
                raise DatabaseFailed(
                    f"the template database {self._template} is still in use: {users}",
                    remedy="migrate() must close its connections and dispose its engine; close other sessions",
                )
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.5)

    async def _drop(self, name: str) -> None:
        # the target may still hold connections of its own to its own database: those are ours to end
        await self._admins.execute(f"drop database if exists {quoted(name)} with (force)", about=name)

    async def _drop_quietly(self, name: str) -> None:
        with suppress(DatabaseFailed):  # the end of the run tries again and says so
            await self._drop(name)

    async def _drop_all(self) -> None:
        names = await self._admins.use(lambda c: ownership.names_of(c, self._run))
        trials, template = [n for n in names if n != self._template], [n for n in names if n == self._template]
        ended = await asyncio.gather(*map(self._drop, trials), return_exceptions=True)
        problems = [e for e in ended if isinstance(e, BaseException)]
        if problems:
            raise problems[0]
        for name in template:
            await self._drop(name)

    async def _stay_alive(self, owner: Any) -> None:
        """Hold the session that shows that the run is alive, and open it again when it is lost."""
        try:
            while True:
                await asyncio.sleep(BEAT_SECONDS)
                if owner.is_closed():
                    with suppress(DatabaseFailed):
                        owner = await connect(self._address, self._admin, ownership.session_name(self._run))
                    continue
                try:
                    await owner.execute("select 1", timeout=BEAT_SECONDS)
                except TROUBLES:
                    owner.terminate()
        finally:
            owner.terminate()
