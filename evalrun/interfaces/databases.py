"""Databases: what one trial is given, and what gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol


class Database(Protocol):
    """One trial's own Postgres database."""

    @property
    def name(self) -> str:
        """The database's name."""

    @property
    def host(self) -> str:
        """A host name or an address."""

    @property
    def port(self) -> int:
        """The port."""

    @property
    def user(self) -> str:
        """The role."""

    @property
    def password(self) -> str:
        """The password, "" for none."""

    @property
    def url(self) -> str:
        """For SQLAlchemy's async engine: `postgresql+asyncpg://…`."""

    @property
    def dsn(self) -> str:
        """For libpq and asyncpg: `postgresql://…`."""

    @property
    def environ(self) -> Mapping[str, str]:
        """PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE."""

    async def fetch(self, query: str) -> tuple[tuple[object, ...], ...]:
        """Rows of a query, in a read-only transaction. Raises DatabaseFailed."""

    async def shift_time(self, interval: timedelta, keep: Sequence[str] = ()) -> int:
        """Move every timestamp, timestamptz and date back by `interval`; returns columns moved.

        `keep` names columns left alone, as `table.column` or `column`. Raises DatabaseFailed.
        """


Migrate = Callable[["Database"], object]


"""Prepares a template database; returns an awaitable or nothing."""


class DatabaseServer(Protocol):
    """Gives databases cloned from a template. Factory: `(DatabaseSetup) -> DatabaseServer`."""

    async def start(self) -> None:
        """Start or reach the server and sweep what dead runs left. Raises DatabaseFailed."""

    async def sweep(self) -> int:
        """Remove what dead runs left, also without `start`; returns how many. Raises DatabaseFailed."""

    async def prepare(self, migrate: Migrate | None, ahead: int) -> None:
        """Make the template, let `migrate` fill it, and clone up to `ahead` databases before they are asked for."""

    async def clone(self, label: str) -> Database:
        """A fresh database from the template. Raises DatabaseFailed."""

    async def drop(self, database: Database) -> None:
        """Forget a trial's database; idempotent."""

    async def close(self) -> None:
        """Drop everything of this run; idempotent, fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSetup:
    """What a database server is made from. `location` is "embedded" or a resolved DSN."""

    location: str
    run: str
    environ: Mapping[str, str]
    tmp: Path
