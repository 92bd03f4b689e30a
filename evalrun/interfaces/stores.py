"""Stores: what keeps runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from evalrun.results import Exchange, RunResult, TrialResult
from evalrun.usage import Role


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

    async def runs(self, limit: int) -> tuple[RunResult, ...]:
        """The newest runs first, without their trials."""

    async def exchanges(self, run: str, scenario: str, number: int) -> tuple[Exchange, ...]:
        """What was sent to and returned by models in one trial."""

    async def close(self) -> None:
        """Flush and close; idempotent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastTrials:
    """The mean over the last trials of a scenario: seconds, and USD and calls by role. `calls` may be unknown."""

    trials: int
    seconds: float
    cost: Mapping[Role, Decimal]
    calls: Mapping[Role, float] = field(default_factory=dict)


class Past(Protocol):
    """Looks up what trials took before, without opening a history for writing."""

    async def __call__(self, location: str, key_part: str, scenarios: Sequence[str]) -> Mapping[str, PastTrials]:
        """By scenario, of trials whose key holds a part such as `models=…`. Calls are looked up for `scenarios` only.

        Empty where there is no history yet. Raises StoreFailed when there is one that cannot be read.
        """
