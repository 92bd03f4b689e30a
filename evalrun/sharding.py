"""How a selection is split over machines: the same split wherever it is computed from the same figures."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping
from dataclasses import dataclass

from evalrun.errors import UsageError

SHARDS_AT_MOST = 256
"""The most entries a matrix of the CI service takes."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Shard:
    """One of so many parts; counts from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `i/n`. Raises UsageError."""
        found = re.fullmatch(r"([0-9]{1,3})/([0-9]{1,3})", text.strip())
        number, of = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= number <= of <= SHARDS_AT_MOST:
            raise UsageError(
                f"--shard is {text!r}, expected i/n with 1 ≤ i ≤ n ≤ {SHARDS_AT_MOST}", remedy="write for example 2/4"
            )
        return cls(number=number, of=of)

    def __str__(self) -> str:
        """`i/n`."""
        return f"{self.number}/{self.of}"


def split(weights: Mapping[str, float], shards: int) -> dict[str, int]:
    """The shard of each id, from 1: the heaviest first, each to the shard that has least.

    No shard gets over 4/3 of the best possible heaviest (Graham's rule for the longest first).
    Equal weights go by id, so that every machine finds the same split.
    """
    loads = [(0.0, number) for number in range(1, shards + 1)]
    found: dict[str, int] = {}
    for name, weight in sorted(weights.items(), key=lambda w: (-w[1], w[0])):
        load, number = heapq.heappop(loads)
        found[name] = number
        heapq.heappush(loads, (load + max(weight, 0.001), number))
    return {name: found[name] for name in weights}
