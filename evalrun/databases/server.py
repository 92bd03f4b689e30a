"""A real Postgres named by a DSN: each trial gets a database of its own there, dropped after it."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

from evalrun.databases.clones import ADMIN_DATABASE, Clones
from evalrun.databases.database import Address
from evalrun.errors import UsageError
from evalrun.interfaces.databases import Database, DatabaseSetup, Migrate

SCHEMES = ("postgresql", "postgres", "postgresql+asyncpg")
SHAPE = "postgresql://user:password@host:5432/name"
SWEEP_SECONDS = 600.0


def address_of(dsn: str) -> tuple[Address, str]:
    """The address in a DSN, and its database. Raises UsageError without repeating it, for it may hold a password."""
    try:
        parts = urlsplit(dsn)
        query = dict(parse_qsl(parts.query))
        host = query.pop("host", "") or unquote(parts.hostname or "")
        port = int(query.pop("port", 0) or parts.port or 5432)
    except ValueError as e:
        raise UsageError(
            "the database DSN is not a URL", remedy=f"{SHAPE}, signs such as # / ? : @ in a password written as %23"
        ) from e
    if parts.scheme not in SCHEMES or not host or parts.fragment:
        raise UsageError(
            "the database DSN is not a Postgres URL with a host",
            remedy=f'write database = "embedded", or {SHAPE}; signs such as # / ? : @ in a password as %23',
        )
    if "ssl" in query:  # as SQLAlchemy's asyncpg dialect calls it
        query["sslmode"] = query.pop("ssl")
    address = Address(
        host=host,
        port=port,
        user=query.pop("user", "") or unquote(parts.username or "postgres"),
        password=query.pop("password", "") or unquote(parts.password or ""),
        options=tuple(query.items()),
    )
    return address, unquote(parts.path.strip("/")) or ADMIN_DATABASE


class Server:
    """A real server (see `interfaces.databases.DatabaseServer`). The DSN's database is where its administration is done."""

    def __init__(self, setup: DatabaseSetup) -> None:
        address, admin = address_of(setup.location)
        self._clones = Clones(address, setup.run, admin=admin)

    async def start(self) -> None:
        """Reach it and sweep. Raises DatabaseFailed."""
        await self._clones.open()

    async def sweep(self) -> int:
        """Drop the databases of dead runs; returns how many. Raises DatabaseFailed."""
        return await self._clones.sweep(seconds=SWEEP_SECONDS)

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
        """Drop everything of this run. Raises DatabaseFailed."""
        await self._clones.close(dropping=True)
