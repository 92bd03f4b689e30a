"""The history on a Postgres shared by a team, over asyncpg."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import asyncpg
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from evalrun.errors import UsageError
from evalrun.stores.backend import BUSY_SECONDS, Connection, Row, Values, failed
from evalrun.stores.sql import SqlStore

T = TypeVar("T")
MIGRATION_LOCK = 0x65766C
"""Any fixed number: two processes must not migrate one Postgres at once."""


def postgres(location: str) -> SqlStore:
    """A store on a Postgres; what it does not take goes to a file in the current folder. Raises UsageError."""
    try:
        url = sa.make_url(location)
    except (sa.exc.ArgumentError, ValueError) as e:
        raise UsageError(f"the store is no Postgres address: {e}", remedy="postgresql://user@host/database") from e
    name = re.sub(r"[^A-Za-z0-9]+", "-", f"{url.host or 'local'}-{url.database or 'postgres'}")
    return SqlStore(Postgres(location), beside=Path(".evalrun") / f"history-{name}.jsonl")


class Postgres:
    """A server shared by a team."""

    refusals: tuple[type[Exception], ...] = (sa.exc.IntegrityError, sa.exc.DataError)

    def __init__(self, location: str, busy_seconds: float = BUSY_SECONDS) -> None:
        url = sa.make_url(location).set(drivername="postgresql+asyncpg")
        self._shown = url.render_as_string(hide_password=True)
        self._engine = create_async_engine(
            url, pool_size=2, max_overflow=0, pool_pre_ping=True, connect_args={"timeout": busy_seconds}
        )

    async def run(self, work: Callable[[Connection], T], *, write: bool = False) -> T:
        """Its result, once it is committed. Raises StoreFailed."""
        del write
        try:
            async with self._engine.begin() as connection:
                return await connection.run_sync(lambda raw: work(_Statements(raw)))
        except (sa.exc.SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as e:
            raise failed(self._shown, e) from e

    async def close(self) -> None:
        """Let go; idempotent."""
        await self._engine.dispose()


class _Statements:
    """See `backend.Connection`."""

    lock = f"select pg_advisory_xact_lock({MIGRATION_LOCK})"

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, values: Values | None = None) -> Sequence[Row]:
        return [tuple(row) for row in self._connection.execute(sa.text(statement), dict(values or {}))]

    def write(self, statement: str, *rows: Values) -> None:
        self._connection.execute(sa.text(statement), [dict(r) for r in rows] or None)

    def has(self, table: str) -> bool:
        return sa.inspect(self._connection).has_table(table)
