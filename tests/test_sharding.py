"""A split over machines: everything once, the same everywhere, and balanced."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.errors import UsageError
from evalrun.sharding import Shard, split

WEIGHTS = st.dictionaries(st.text(min_size=1, max_size=4), st.floats(0, 1000, allow_nan=False), max_size=40)


@given(WEIGHTS, st.integers(1, 12), st.randoms())
def test_everything_is_in_one_shard_wherever_it_is_computed(
    weights: dict[str, float], shards: int, dice: object
) -> None:
    """Whatever the order in which a machine happens to list the scenarios."""
    found = split(weights, shards)
    assert weights.keys() == found.keys()
    assert all(1 <= n <= shards for n in found.values())
    names = list(weights)
    dice.shuffle(names)  # type: ignore[attr-defined]
    assert found == split({n: weights[n] for n in names}, shards)


@given(WEIGHTS.filter(bool), st.integers(1, 12))
def test_no_shard_is_far_over_the_best_possible(weights: dict[str, float], shards: int) -> None:
    """Graham: at most 4/3 of the optimum, which is at least the mean and at least the heaviest."""
    found = split(weights, shards)
    weighed = {n: max(w, 0.001) for n, w in weights.items()}
    loads = [sum(w for n, w in weighed.items() if found[n] == s) for s in range(1, shards + 1)]
    order = sorted(weighed.values(), reverse=True)
    # two of the first shards + 1 share a machine in any split
    pair = order[shards - 1] + order[shards] if len(order) > shards else 0
    best = max(sum(order) / shards, order[0], pair)
    assert max(loads) <= best * 4 / 3 + 1e-6 or max(loads) <= sum(order) / shards + order[0]


@given(WEIGHTS.filter(bool), st.integers(1, 12))
def test_no_shard_is_empty_while_there_is_work(weights: dict[str, float], shards: int) -> None:
    """A matrix entry without work costs a machine."""
    used = set(split(weights, shards).values())
    assert min(shards, len(weights)) == len(used)


@pytest.mark.parametrize(("text", "shard"), [("1/1", (1, 1)), (" 2/4 ", (2, 4)), ("256/256", (256, 256))])
def test_a_shard_is_written_as_i_of_n(text: str, shard: tuple[int, int]) -> None:
    """And reads back."""
    found = Shard.parse(text)
    assert shard == (found.number, found.of)
    assert text.strip() == str(found)


@pytest.mark.parametrize("text", ["", "0/1", "2/1", "1/257", "1", "a/b", "1/2/3", "-1/2", "1.0/2", "١/٢"])
def test_anything_else_is_refused(text: str) -> None:
    """With an example."""
    with pytest.raises(UsageError, match="expected i/n"):
        Shard.parse(text)
