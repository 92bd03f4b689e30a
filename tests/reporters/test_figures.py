"""The numbers all reports share."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.reporters.figures import amount, amounts, digits_for, figures_of, usd
from tests.results_samples import failed_on_floor, passed, spoiled, unstable
from tests.runs_samples import mixed_run, run_of

MONEY = st.decimals(min_value=0, max_value=50, places=9)


@given(st.lists(MONEY, max_size=40), st.integers(2, 6))
def test_parts_add_up_to_the_whole_as_shown(parts: list[Decimal], digits: int) -> None:
    """The amounts of the rows sum to the amount of the total, to the last digit; none is off by a unit."""
    shown = [Decimal(a) for a in amounts(parts, digits)]
    assert sum(shown, Decimal()) == Decimal(amount(sum(parts, Decimal()), digits))
    assert all(abs(a - p) < Decimal(1).scaleb(-digits) for a, p in zip(shown, parts, strict=True))


def test_thirty_five_small_costs() -> None:
    """Rounding each row by itself would lose more than a cent."""
    parts = [Decimal("0.00049")] * 35
    shown = amounts(parts, 3)
    assert sum(map(Decimal, shown)) == Decimal("0.017")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", "$0"),
        ("0.0057", "$0.0057"),
        ("0.039", "$0.039"),
        ("1.5", "$1.500"),
        ("12.3456", "$12.346"),
        ("0.0000004", "$0.000000"),
        ("0.0005", "$0.00050"),
    ],
)
def test_usd(value: str, expected: str) -> None:
    """At least two digits that count, at most six decimals."""
    assert usd(Decimal(value)) == expected


def test_digits_show_the_smallest_cost() -> None:
    """No cost that is not nothing is shown as nothing, down to a millionth."""
    assert digits_for([Decimal("0.5"), Decimal("0.0003"), Decimal()]) == 4
    assert digits_for([]) == 3


def test_rows_of_a_run() -> None:
    """Means, plays and sums of every kind of row."""
    run = mixed_run()
    figures = figures_of(run)
    assert [r.plays for r in figures.rows] == ["1/1", "0/2", "0/1", "2/3", "0/1", "0/1", "0/1", "0/1", "0/0"]
    assert [r.mean_text for r in figures.rows][:4] == ["8.38", "7.17", "6.42", "6.92"]
    assert [r.mean for r in figures.rows][4:] == [None] * 5
    assert figures.rows[1].low == {"objective"}
    assert sum(Decimal(r.cost) for r in figures.rows) == Decimal(figures.total)
    assert sum(Decimal(c) for c in figures.by_role.values()) == Decimal(figures.total)
    assert figures.judged == 4


def test_criteria_are_averaged_by_trial_first() -> None:
    """Turns of one trial, then trials."""
    row = figures_of(run_of(unstable())).rows[0]
    assert row.averages["character"] == Fraction(8 + 6 + 8, 3)


def test_a_trial_that_was_played_again_does_not_count() -> None:
    """Only the replay is final; its cost is counted all the same."""
    row = figures_of(run_of(spoiled())).rows[0]
    assert ([t.number for t in row.final], row.plays) == ([2], "0/1")
    assert row.cost == "0.001"
    assert spoiled().spending.cost == Decimal("0.0014")


def test_the_mean_has_as_many_digits_as_show_the_side_it_is_on() -> None:
    """The figures a verdict rests on are never rounded over the threshold."""
    assert figures_of(run_of(passed())).rows[0].mean_text == "8.38"
    assert figures_of(run_of(failed_on_floor())).rows[0].mean_text == "7.17"
