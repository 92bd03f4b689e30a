"""Where statements run, whatever the database is: plain SQL that SQLite and Postgres both take.

SQLite is reached through the standard library: loading SQLAlchemy takes as much processor time
as 500 model calls. Postgres is reached through SQLAlchemy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from evalrun.errors import StoreFailed

T = TypeVar("T")
BUSY_SECONDS = 15.0
Row = tuple[Any, ...]
Values = Mapping[str, object]


class Connection(Protocol):
    """A connection inside a transaction. Statements name their values: `:name`."""

    lock: str
    """The statement that keeps other processes from migrating until the transaction ends, or ""."""

    def rows(self, statement: str, values: Values | None = None) -> Sequence[Row]:
        """What a query finds."""

    def write(self, statement: str, *rows: Values) -> None:
        """Execute a statement, once for each row of values."""

    def has(self, table: str) -> bool:
        """Whether a table exists."""


class Backend(Protocol):
    """Runs a function on a connection, in one transaction of its own."""

    refusals: tuple[type[Exception], ...]
    """Errors that mean one value was refused, and say nothing of the next."""

    async def run(self, work: Callable[[Connection], T], *, write: bool = False) -> T:
        """Its result, once it is committed. Raises StoreFailed."""

    async def close(self) -> None:
        """Let go; idempotent."""


def failed(where: str, error: Exception) -> StoreFailed:
    """What a place that cannot be used is told as."""
    cause = getattr(error, "orig", None) or error
    return StoreFailed(
        f"the history {where} cannot be used: {' '.join(str(cause).split())[:200] or type(cause).__name__}",
        remedy="free space, correct its rights, or set `store` to another place",
    )
