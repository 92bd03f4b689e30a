"""A few administrative sessions on a server, shared by everything that creates and drops databases."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import asyncpg

from evalrun.databases.database import Address, connect
from evalrun.errors import DatabaseFailed

SESSIONS = 4
STATEMENT_SECONDS = 120.0
BUSY_WAITS = (0.2, 1.0, 3.0)
TROUBLES = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)
_USERS = """
select pid, datname, usename, coalesce(nullif(application_name, ''), 'unnamed') as application, client_addr
from pg_stat_activity
where datname = $1 and pid <> pg_backend_pid() and backend_type is distinct from 'autovacuum worker'
order by pid
"""
T = TypeVar("T")


class Admins:
    """At most four sessions on one database of a server, opened when needed. Every method raises DatabaseFailed.

    `waits` are the seconds before each new attempt on a database in use.
    """

    def __init__(
        self, address: Address, database: str, application: str, *, waits: Sequence[float] = BUSY_WAITS
    ) -> None:
        self._waits = waits
        self._address = address
        self._database = database
        self._application = application
        self._slots = asyncio.Semaphore(SESSIONS)
        self._idle: list[asyncpg.Connection] = []
        self._ended = False

    async def execute(self, statement: str, *, about: str = "") -> None:
        """Run one statement; while the database it is `about` is in use, wait and try again, then name who uses it."""
        for wait in (*self._waits, None):
            try:
                await self.use(lambda c: c.execute(statement, timeout=STATEMENT_SECONDS))
                return
            except DatabaseFailed as e:
                if not isinstance(e.__cause__, asyncpg.ObjectInUseError):
                    raise
                if wait is None:
                    users = await self.users(about)
                    raise DatabaseFailed(f"{e.message}: {users}", remedy="close that session and run again") from e
            await asyncio.sleep(wait)

    async def users(self, database: str) -> str:
        """The sessions on a database in words, "" for none."""
        rows = await self.use(lambda c: c.fetch(_USERS, database))
        return ", ".join(
            f"pid {r['pid']} ({r['application']}, role {r['usename']}, from {r['client_addr'] or 'this machine'})"
            for r in rows
        )

    async def use(self, work: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        """Do something on one of the sessions."""
        async with self._slots:
            connection = await self._take()
            try:
                return await work(connection)
            except TROUBLES as e:
                raise _failed(e) from e
            finally:
                if self._ended:
                    connection.terminate()
                elif not connection.is_closed():
                    self._idle.append(connection)

    def end(self) -> None:
        """Cut all sessions."""
        self._ended = True
        while self._idle:
            self._idle.pop().terminate()

    async def _take(self) -> asyncpg.Connection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return await connect(self._address, self._database, self._application)


def _failed(error: BaseException) -> DatabaseFailed:
    remedy = "look into the server's log"
    if isinstance(error, asyncpg.InsufficientPrivilegeError):
        remedy = "let the role create databases: alter role … createdb"
    elif isinstance(error, asyncpg.DiskFullError):
        remedy = "make room where the server keeps its data"
    elif isinstance(error, asyncpg.TooManyConnectionsError):
        remedy = "lower --concurrency, or raise the server's max_connections"
    said = " ".join(str(error).split()) or type(error).__name__
    return DatabaseFailed(f"Postgres: {said}", remedy=remedy)
