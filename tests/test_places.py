"""Places by priority: never more than there are, the most urgent first, none lost when a taker is cancelled."""

from __future__ import annotations

import asyncio
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from evalrun.places import Places, Priority


def at(rank: int, far: int = 0, order: int = 0) -> Priority:
    """A priority."""
    return rank, Fraction(far), order


def test_the_most_urgent_is_next() -> None:
    """Whoever holds a place keeps it; then first trials before repeats, near before far."""
    taken: list[Priority] = []

    async def take(places: Places, priority: Priority) -> None:
        async with places.place(priority):
            taken.append(priority)
            await asyncio.sleep(0)

    async def all_of_them() -> None:
        places = Places(1)
        wanted = [at(1, 9), at(1, 2), at(0, 0, 2), at(0, 0, 1)]
        async with places.place(at(0)):
            tasks = [asyncio.create_task(take(places, p)) for p in wanted]
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)

    asyncio.run(all_of_them())
    assert taken == [at(0, 0, 1), at(0, 0, 2), at(1, 2), at(1, 9)]


@given(st.integers(1, 5), st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=30))
def test_never_more_than_there_are_and_none_is_lost(places: int, takers: list[tuple[int, bool]]) -> None:
    """Some of those who wait are cancelled; all the others get their turn and all places are free again."""

    async def all_of_them() -> None:
        door = Places(places)
        inside = peak = done = 0

        async def take(rank: int) -> None:
            nonlocal inside, peak, done
            async with door.place(at(rank)):
                inside += 1
                peak = max(peak, inside)
                try:
                    await asyncio.sleep(0)
                    done += 1
                finally:
                    inside -= 1

        tasks = [asyncio.create_task(take(rank)) for rank, _ in takers]
        await asyncio.sleep(0)
        cancelled = [t for t, (_, stop) in zip(tasks, takers, strict=True) if stop and t.cancel()]
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert peak <= places
        assert done + sum(isinstance(f, asyncio.CancelledError) for f in found) == len(takers)
        assert sum(isinstance(f, asyncio.CancelledError) for f in found) <= len(cancelled)
        assert door.free == places

    asyncio.run(all_of_them())
