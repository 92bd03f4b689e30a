"""A database for each trial, cloned from a template that the target migrated once, ahead of need."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import re
from collections.abc import Sequence

import asyncpg

from evalrun.databases.database import Address, TrialDatabase, connect, quoted
from evalrun.errors import DatabaseFailed
from evalrun.interfaces import Database, Migrate

PREFIX = "evalrun_"
ADMIN_DATABASE = "postgres"
ADMIN_CONNECTIONS = 4
READY_AT_MOST = 16
SWEEP_LOCK = 0x6576616C
BUSY_WAITS = (0.2, 0.5, 1.0, 2.0, 4.0)


def name_of(run: str, label: str) -> str:
    """A database's name: prefix, run, short hash of the label; always under 63 bytes."""
    safe = re.sub(r"[^a-z0-9]+", "", run.lower())[:32]
    return f"{PREFIX}{safe}_{hashlib.sha256(label.encode()).hexdigest()[:12]}"


class Clones:
    """The databases of one run on one server."""

    def __init__(self, address: Address, run: str) -> None:
        self._address = address
        self._run = run
        self._template = name_of(run, "template")
        self._owner: asyncpg.Connection | None = None
        self._free: asyncio.Queue[asyncpg.Connection] = asyncio.Queue()
        self._admins: list[asyncpg.Connection] = []
        self._ready: asyncio.Queue[str | DatabaseFailed] = asyncio.Queue()
        self._room = asyncio.Semaphore(READY_AT_MOST)
        self._tasks: set[asyncio.Task[None]] = set()
        self._to_come = 0
        self._promised = 0
        self._number = 0
        self._strategy = ""

    async def open(self) -> None:
        """Reach the server, mark the run as alive, and sweep what dead runs left. Raises DatabaseFailed."""
        self._owner = await connect(self._address, ADMIN_DATABASE, owner_name(self._run))
        version = self._owner.get_server_version()
        self._strategy = " strategy file_copy" if version.major >= 15 else ""
        await sweep(self._owner)

    async def prepare(self, migrate: Migrate | None, ahead: int) -> None:
        """Make the template and begin to clone. Raises DatabaseFailed, and what `migrate` raises."""
        await self._execute(f"create database {quoted(self._template)}")
        if migrate is not None:
            done = migrate(self._database(self._template))
            if inspect.isawaitable(done):
                await done
        # a template in use cannot be cloned: nobody may connect to it any more
        await self._execute(f"alter database {quoted(self._template)} allow_connections false")
        self._to_come = self._promised = ahead
        for _ in range(min(ADMIN_CONNECTIONS, ahead)):
            self._begin(self._fill())

    async def clone(self) -> Database:
        """The next database. Raises DatabaseFailed."""
        if self._promised > 0:
            self._promised -= 1
            found = await self._ready.get()
            self._room.release()
            if isinstance(found, DatabaseFailed):
                raise found
            return self._database(found)
        return self._database(await self._make())

    def drop(self, database: Database) -> None:
        """Drop a trial's database beside other work."""
        self._begin(self._drop(database.name))

    async def close(self, *, dropping: bool) -> None:
        """Stop cloning; with `dropping`, drop all databases of the run. Idempotent."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        owner, self._owner = self._owner, None
        if owner is None:
            return
        try:
            if dropping:
                await drop_all(owner, [self._run])
        finally:
            for connection in (*self._admins, owner):
                connection.terminate()
            self._admins.clear()

    def _database(self, name: str) -> TrialDatabase:
        return TrialDatabase(name=name, address=self._address)

    def _begin(self, work: object) -> None:
        task = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _fill(self) -> None:
        """Clone until as many are made as were announced."""
        while self._to_come > 0:
            await self._room.acquire()
            if self._to_come <= 0:
                self._room.release()
                return
            self._to_come -= 1
            try:
                self._ready.put_nowait(await self._make())
            except DatabaseFailed as e:
                self._ready.put_nowait(e)

    async def _make(self) -> str:
        self._number += 1
        name = name_of(self._run, f"trial {self._number}")
        await self._execute(f"create database {quoted(name)} template {quoted(self._template)}{self._strategy}")
        return name

    async def _drop(self, name: str) -> None:
        # the target may still hold connections of its own to its own database: those are ours to end
        await self._execute(f"drop database if exists {quoted(name)} with (force)")

    async def _execute(self, statement: str) -> None:
        """Run one statement on an admin connection, waiting while a database is in use."""
        connection = await self._admin()
        try:
            for wait in (*BUSY_WAITS, None):
                try:
                    await connection.execute(statement)
                    return
                except asyncpg.ObjectInUseError as e:
                    if wait is None:
                        users = await _users(connection, statement)
                        raise DatabaseFailed(f"{e}: {users}", remedy="close that session and run again") from e
                    await asyncio.sleep(wait)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as e:
            raise DatabaseFailed(f"Postgres: {e}", remedy="the role needs CREATEDB, the disk needs room") from e
        finally:
            self._free.put_nowait(connection)

    async def _admin(self) -> asyncpg.Connection:
        if self._free.empty() and len(self._admins) < ADMIN_CONNECTIONS:
            connection = await connect(self._address, ADMIN_DATABASE, owner_name(self._run))
            self._admins.append(connection)
            return connection
        return await self._free.get()


def owner_name(run: str) -> str:
    """The application name by which a run shows that it is alive."""
    return f"{PREFIX}owner_{name_of(run, '')[len(PREFIX) :].rpartition('_')[0]}"


async def _users(connection: asyncpg.Connection, statement: str) -> str:
    """The sessions that are in the way."""
    rows = await connection.fetch(
        "select pid, datname, application_name from pg_stat_activity where position('\"' || datname || '\"' in $1) > 0",
        statement,
    )
    return ", ".join(f"pid {r['pid']} ({r['application_name'] or 'unnamed'} on {r['datname']})" for r in rows)


async def sweep(connection: asyncpg.Connection) -> int:
    """Drop databases of runs whose owner is gone, under an advisory lock; returns how many."""
    if not await connection.fetchval("select pg_try_advisory_lock($1)", SWEEP_LOCK):
        return 0
    try:
        names = await connection.fetch("select datname from pg_database where starts_with(datname, $1)", PREFIX)
        alive = {
            r["application_name"]
            for r in await connection.fetch("select distinct application_name from pg_stat_activity")
        }
        runs = {r["datname"].removeprefix(PREFIX).rpartition("_")[0] for r in names}
        dead = [run for run in runs if run and f"{PREFIX}owner_{run}" not in alive]
        return await drop_all(connection, dead)
    finally:
        await connection.execute("select pg_advisory_unlock($1)", SWEEP_LOCK)


async def drop_all(connection: asyncpg.Connection, runs: Sequence[str]) -> int:
    """Drop all databases of some runs; returns how many."""
    dropped = 0
    for run in runs:
        start = name_of(run, "").rpartition("_")[0] + "_"
        rows = await connection.fetch("select datname from pg_database where starts_with(datname, $1)", start)
        for row in rows:
            await connection.execute(f"drop database if exists {quoted(row['datname'])} with (force)")
            dropped += 1
    return dropped
