"""Whether two values are the same, and how a difference reads."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, StrEnum
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.values import compare, decoded, show

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Stage(StrEnum):
    """A text enumeration as products have them."""

    MATCHING = "matching"


class Level(Enum):
    """An enumeration of numbers."""

    HIGH = 3


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1500, 1500.0),
        (1500, Decimal("1500.00")),
        (0.1, Decimal("0.1")),
        (10**400, 10**400),
        ("Léa", "Le\u0301a"),
        ("matching", Stage.MATCHING),
        (3, Level.HIGH),
        ([1, "a"], (1.0, "a")),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"e\u0301": 1}, {"é": 1}),
        ("12345678-1234-5678-1234-567812345678", UUID("12345678-1234-5678-1234-567812345678")),
        ("2026-03-02", date(2026, 3, 2)),
        ("2026-03-02T09:00:00+00:00", datetime(2026, 3, 2, 9, tzinfo=UTC)),
        ("2026-03-02 10:00+01:00", datetime(2026, 3, 2, 9, tzinfo=UTC)),
        (None, None),
        (True, True),
    ],
)
def test_the_same_value_in_another_form(expected: object, actual: object) -> None:
    """Numbers by value, text composed, enumerations by value, dates and identifiers by their text."""
    assert compare(expected, actual) is None


@pytest.mark.parametrize(
    ("expected", "actual", "said"),
    [
        (1, True, "expected 1, got true (a boolean)"),
        (True, 1, "expected true, got 1 (a value, not a boolean)"),
        (True, "true", 'expected true, got "true" (a text, not a boolean)'),
        (1500, "1500", 'expected 1500, got "1500" (a text, not a number)'),
        ("1500", 1500, 'expected "1500", got 1500 (a number, not a text)'),
        (1500, "sNaN", 'expected 1500, got "sNaN"'),
        (0, None, "expected 0, got null"),
        ("", None, 'expected "", got null'),
        (None, False, "expected null, got false (a boolean)"),
        ("lyon", "Lyon", 'expected "lyon", got "Lyon"'),
        ({"a": 1}, [1], 'expected an object {"a": 1}, got [1]'),
        ([1], {"a": 1}, 'expected a list [1], got {"a": 1}'),
        ([1, 2], [2, 1], "[0]: expected 1, got 2"),
        ([1, 2], [1], "expected 2 items, got 1 item: [1]"),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "a.b: expected 1, got 2"),
        ({"city": "Lyon"}, {"ciy": "Lyon"}, "city: expected \"Lyon\", got nothing (there is 'ciy')"),
        ({"a": [{"b": 1}]}, {"a": [{}]}, "a[0].b: expected 1, got nothing"),
        ("2026-03-02", datetime(2026, 3, 2, 9, tzinfo=UTC), 'expected "2026-03-02", got "2026-03-02T09:00:00+00:00"'),
        ("demain", date(2026, 3, 2), 'expected "demain", got "2026-03-02"'),
        ("forgot it", "x", 'expected "forgot it", got "x"'),
    ],
)
def test_a_difference_is_readable(expected: object, actual: object, said: str) -> None:
    """The place, what was expected there and what was found, with a hint on types."""
    assert compare(expected, actual) == said


def test_exact_refuses_extras() -> None:
    """Under `exact` an extra key fails, also one whose value is null, also below."""
    assert compare({"a": 1}, {"a": 1, "note": None}, exact=True) == "expected nothing else, got note: null"
    assert compare({"a": {}}, {"a": {"b": 1}}, exact=True) == "a: expected nothing else, got b: 1"
    assert compare({"a": 1}, {"a": 1.0}, exact=True) is None


@given(JSON)
def test_a_value_equals_itself(value: object) -> None:
    """Comparing is reflexive for every JSON value, exact or not, and after its way through JSON text."""
    assert compare(value, value) is None
    assert compare(value, value, exact=True) is None
    assert compare(value, decoded(show_all(value)), exact=True) is None


@given(JSON, JSON)
def test_comparing_never_raises(left: object, right: object) -> None:
    """Any two values give nothing or a text."""
    assert isinstance(compare(left, right), str | None)


@given(st.dictionaries(st.text(), JSON, min_size=1), st.dictionaries(st.text(), JSON))
def test_a_subset_is_met_and_extras_are_refused_under_exact(
    part: Mapping[str, object], more: Mapping[str, object]
) -> None:
    """A mapping is contained in itself with more keys, and equals it only without them."""
    whole = {**more, **part}
    assert compare(part, whole) is None
    assert (compare(part, whole, exact=True) is None) == (len(_composed(whole)) == len(_composed(part)))


def _composed(value: Mapping[str, object]) -> set[str]:
    return {unicodedata.normalize("NFC", k) for k in value}


def show_all(value: object) -> str:
    """A value as JSON text, uncut."""
    return json.dumps(value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("é", '"é"'),
        (Decimal("1.50"), "1.5"),
        (Decimal("0.12345678901234567890"), '"0.12345678901234567890"'),
        (Decimal("NaN"), '"NaN"'),
        (datetime(2026, 3, 2, tzinfo=UTC), '"2026-03-02T00:00:00+00:00"'),
        (
            {
                1,
            },
            '"{1}"',
        ),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        ("x" * 500, '"' + "x" * 158 + "…"),
    ],
)
def test_any_value_can_be_shown(value: object, shown: str) -> None:
    """On one line, cut, never raising."""
    assert show(value) == shown


def test_deep_circular_and_huge_values_can_be_shown() -> None:
    """Depth, circles and size do no harm."""
    circle: list[object] = []
    circle.append(circle)
    assert show(10**5000) == "a int that cannot be shown"
    assert show(circle) == "[[...]]"
    assert decoded("[" * 100_000) == "[" * 100_000
