"""The one clock of a trial, intervals and relative times."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.clock import TrialClock, parse_interval
from evalrun.errors import UsageError

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3d", timedelta(days=3)),
        ("90m", timedelta(minutes=90)),
        ("1w2d", timedelta(days=9)),
        ("2h30m", timedelta(minutes=150)),
        (" 45s ", timedelta(seconds=45)),
        ("0d", timedelta()),
    ],
)
def test_an_interval_is_read(text, expected):
    """Whole numbers with units from seconds to weeks, added up."""
    assert parse_interval(text) == expected


@pytest.mark.parametrize("text", ["", "3", "d", "3 d", "-3d", "3days", "1.5h", "3d 2h", "3D", "3y", "9999999999w"])
def test_what_is_no_interval_is_refused(text):
    """Anything else is refused with the text and an example, never read as something near."""
    with pytest.raises(ValueError, match="duration") as refused:
        parse_interval(text)
    assert repr(text) in str(refused.value)


@given(st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(list(UNITS))), min_size=1, max_size=6))
def test_any_sum_of_parts_is_read(parts):
    """An interval is the sum of its parts, in any order and however often a unit comes."""
    expected = sum((timedelta(**{UNITS[u]: n}) for n, u in parts), timedelta())
    assert parse_interval("".join(f"{n}{u}" for n, u in parts)) == expected


def test_each_look_is_a_millisecond_later():
    """The clock stands still but for a millisecond a look, so that what happens keeps its order, in every thread."""
    clock = TrialClock(NOON)
    seen: list[datetime] = []
    threads = [threading.Thread(target=lambda: seen.extend(clock.now() for _ in range(100))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == [NOON + timedelta(milliseconds=n) for n in range(1, 401)]


def test_a_clock_needs_a_time_zone():
    """A start without a zone is refused: it would mean another time on another machine."""
    with pytest.raises(ValueError, match="time zone"):
        TrialClock(datetime(2026, 3, 2))  # noqa: DTZ001  what is refused


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", NOON),
        ("now-3d", NOON - timedelta(days=3)),
        ("now + 2h30m", NOON + timedelta(minutes=150)),
        ("nowhere", "nowhere"),
        ("now-soon", "now-soon"),
        ("2026-03-02", "2026-03-02"),
        ("", ""),
    ],
)
def test_a_relative_time_is_resolved(text, expected):
    """`now` and what is written relative to it become times of this clock; other text stays as written."""
    assert TrialClock(NOON).resolve(text) == expected


def test_a_time_out_of_the_calendar_is_told():
    """A relative time before year 1 is the scenario's fault, told with its text."""
    with pytest.raises(UsageError, match="'now-9999w9999w9999w9999w9999w9999w9999w9999w9999w9999w9999w9999w' leaves"):
        TrialClock(NOON).resolve("now-" + "9999w" * 12)


def test_a_whole_state_is_resolved():
    """Times are resolved at any depth; keys, numbers and other text stay."""
    state = {"now": "now-1d", "list": ["now", 3, None, {"at": "now+1h"}], "name": "Léa", "yes": True}
    assert TrialClock(NOON).resolve_tree(state) == {
        "now": NOON - timedelta(days=1),
        "list": [NOON, 3, None, {"at": NOON + timedelta(hours=1)}],
        "name": "Léa",
        "yes": True,
    }
