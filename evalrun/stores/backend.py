"""Where statements run, whatever the database is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import sqlalchemy as sa

from evalrun.errors import StoreFailed

T = TypeVar("T")
BUSY_SECONDS = 15.0


class Backend(Protocol):
    """Runs a function on a connection, in one transaction of its own."""

    async def run(self, work: Callable[[sa.Connection], T], *, write: bool = False) -> T:
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
