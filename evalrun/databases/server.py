"""A real Postgres named by a DSN: each trial gets a database of its own there, dropped after it."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

from evalrun.databases.clones import Clones
from evalrun.databases.database import Address
from evalrun.errors import UsageError
from evalrun.interfaces import Database, DatabaseSetup, Migrate

SCHEMES = ("postgresql", "postgres", "postgresql+asyncpg")


def address_of(dsn: str) -> Address:
    """The address in a DSN. Raises UsageError without repeating it, for it may hold a password."""
    try:
        parts = urlsplit(dsn)
        port = parts.port or 5432
    except ValueError as e:
        raise UsageError("the database DSN is not a URL", remedy="postgresql://user:password@host:5432/name") from e
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise UsageError(
            f"the database DSN has the scheme {parts.scheme!r} or no host",
            remedy='write database = "embedded", or postgresql://user:password@host:5432/name',
        )
    return Address(
        host=unquote(parts.hostname),
        port=port,
        user=unquote(parts.username or "postgres"),
        password=unquote(parts.password or ""),
        options=tuple(parse_qsl(parts.query)),
    )


class Server:
    """A real server (see `interfaces.DatabaseServer`)."""

    def __init__(self, setup: DatabaseSetup) -> None:
        self._clones = Clones(address_of(setup.location), setup.run)

    async def start(self) -> None:
        """Reach it and sweep. Raises DatabaseFailed."""
        await self._clones.open()

    async def prepare(self, migrate: Migrate | None, ahead: int) -> None:
        """Make the template and begin to clone."""
        await self._clones.prepare(migrate, ahead)

    async def clone(self, label: str) -> Database:  # noqa: ARG002  names come from the run, not from scenarios
        """The next database."""
        return await self._clones.clone()

    async def drop(self, database: Database) -> None:
        """Drop a trial's database."""
        self._clones.drop(database)

    async def close(self) -> None:
        """Drop everything of this run."""
        await self._clones.close(dropping=True)
