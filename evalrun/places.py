"""Places that are given out by priority: a bound on what goes on at once, whose next taker is the most urgent one."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from fractions import Fraction

Priority = tuple[int, Fraction, int]
"""Smaller is sooner."""


@dataclass(slots=True)
class Places:
    """So many places. Those who wait get one in the order of their priority, then of their coming."""

    free: int
    _waiting: list[tuple[Priority, int, asyncio.Future[None]]] = field(default_factory=list)
    _came: int = 0

    @asynccontextmanager
    async def place(self, priority: Priority) -> AsyncIterator[None]:
        """Hold a place for as long as the block takes."""
        await self._take(priority)
        try:
            yield
        finally:
            self._give()

    async def _take(self, priority: Priority) -> None:
        if self.free and not self._waiting:
            self.free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._came += 1
        heapq.heappush(self._waiting, (priority, self._came, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give()  # the place had just been given
            raise

    def _give(self) -> None:
        while self._waiting:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1
