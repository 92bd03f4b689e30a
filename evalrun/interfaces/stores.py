"""Stores: what keeps runs."""

from __future__ import annotations

from typing import Protocol

from evalrun.results import Exchange, RunHeader, RunResult, TrialResult


class Store(Protocol):
    """Keeps runs. Factory: `(location: str) -> Store`."""

    async def open(self) -> None:
        """Open and migrate. Raises StoreFailed; a newer schema is refused, never altered."""

    async def begin(self, run: RunResult) -> None:
        """A run starts: its header and the chosen scenarios, none played yet."""

    async def add(self, run: str, trial: TrialResult) -> None:
        """Keep one trial, with its exchanges, at once."""

    async def finish(self, run: RunResult) -> None:
        """A run ends; its trials are already kept."""

    async def load(self, reference: str) -> RunResult:
        """A run by id, by the end of its id, or "last", without exchanges. Raises UnknownName."""

    async def runs(self, limit: int) -> tuple[RunHeader, ...]:
        """The newest runs first."""

    async def exchanges(self, run: str, scenario: str, number: int) -> tuple[Exchange, ...]:
        """What was sent to and returned by models in one trial."""

    async def close(self) -> None:
        """Flush and close; idempotent."""
