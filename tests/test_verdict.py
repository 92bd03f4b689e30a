"""The arithmetic of a verdict: exact, and nothing evaluated is never a pass."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.rubric import PassRule
from evalrun.verdict import Outcome, Score, Stop, Verdict, exit_code, outcome_of, shown, weigh

RULE = PassRule(mean=Decimal("6.5"), minimum=5)
VALUES = st.lists(st.integers(1, 10), min_size=1, max_size=60)


def scores(*values: int) -> list[Score]:
    """A score a turn of one criterion."""
    return [Score(turn=n, criterion="tone", value=v) for n, v in enumerate(values, 1)]


@pytest.mark.parametrize(
    ("values", "passed", "why"),
    [
        ((6, 7, 6, 7), True, ()),
        ((6, 7, 6, 6), False, ("mean 6.25 is under 6.5",)),
        ((7, 7, 7, 4), False, ("tone 4 at turn 4 is under the floor of 5", "mean 6.25 is under 6.5")),
        ((10, 10, 10, 4), False, ("tone 4 at turn 4 is under the floor of 5",)),
        ((10, 3, 10, 2), False, ("tone 2 at turn 4 is under the floor of 5, and 1 more", "mean 6.25 is under 6.5")),
        ((5, 8), True, ()),
        ((10,), True, ()),
        ((1,), False, ("tone 1 at turn 1 is under the floor of 5", "mean 1.00 is under 6.5")),
        # 6.4999…: binary floats would round it to the threshold
        ((6,) * 500 + (7,) * 499, False, ("mean 6.499 is under 6.5",)),
    ],
)
def test_b71_the_rule_is_exact(values: tuple[int, ...], passed: bool, why: tuple[str, ...]) -> None:
    """Mean at least 6.5 and no score under 5, with reasons that show on which side of the limit a mean is."""
    marks = weigh(scores(*values), RULE)
    assert marks is not None
    assert (passed, why) == (marks.passed, marks.why)


def test_no_score_is_no_pass() -> None:
    """Nothing was weighed, and that is said as nothing."""
    assert weigh([], RULE) is None


def test_a_score_of_the_whole_conversation_names_no_turn() -> None:
    """Turn 0 is the whole conversation."""
    marks = weigh([Score(turn=0, criterion="tone", value=2)], RULE)
    assert marks is not None
    assert "tone 2 is under the floor of 5" == marks.why[0]


@given(VALUES)
def test_the_rule_holds_for_any_scores(values: list[int]) -> None:
    """Passing is the same as a mean of 6.5 or more and a lowest score of 5 or more; every failure has a reason."""
    marks = weigh(scores(*values), RULE)
    assert marks is not None
    assert (Fraction(sum(values), len(values)) >= Fraction(13, 2) and min(values) >= 5) == marks.passed
    assert marks.passed == (not marks.why)


@given(VALUES, st.integers(0, 59))
def test_a_better_score_never_turns_a_pass_into_a_failure(values: list[int], at: int) -> None:
    """Raising one score by one keeps a pass a pass."""
    before = weigh(scores(*values), RULE)
    values[at % len(values)] = min(10, values[at % len(values)] + 1)
    after = weigh(scores(*values), RULE)
    assert before is not None
    assert after is not None
    assert after.passed or not before.passed


@given(VALUES, st.randoms())
def test_order_is_of_no_matter(values: list[int], random: object) -> None:
    """The same scores in another order give the same verdict."""
    mixed = sorted(values)
    first, second = weigh(scores(*values), RULE), weigh(scores(*mixed), RULE)
    assert first is not None
    assert second is not None
    assert (first.passed, first.mean, first.lowest) == (second.passed, second.mean, second.lowest)


@given(st.fractions(1, 10), st.decimals("1", "10", places=2))
def test_a_mean_is_shown_on_its_side_of_the_limit(value: Fraction, against: Decimal) -> None:
    """Whoever reads the figure beside the limit sees why it passes or fails."""
    text = shown(value, against)
    assert (Fraction(text) < Fraction(against)) == (value < Fraction(against))


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], Outcome.ERROR),
        ([Outcome.PASS, Outcome.PASS], Outcome.PASS),
        ([Outcome.PASS, Outcome.NOT_RUN], Outcome.PASS),
        ([Outcome.FAIL, Outcome.PASS], Outcome.FAIL),
        ([Outcome.FAIL, Outcome.ERROR], Outcome.ERROR),
        ([Outcome.INVALID, Outcome.ERROR, Outcome.FAIL], Outcome.INVALID),
        ([Outcome.NOT_RUN], Outcome.NOT_RUN),
    ],
)
def test_which_outcome_stands(outcomes: list[Outcome], expected: Outcome) -> None:
    """What keeps a trial from being judged stands above what the judges say; nothing at all is an error."""
    assert expected == outcome_of(outcomes)


V = Verdict


@pytest.mark.parametrize(
    ("verdicts", "stop", "selected", "unstable_fails", "expected"),
    [
        ([V.PASS, V.PASS], Stop(), 2, False, 0),
        ([], Stop(), 0, False, 0),
        ([V.PASS], Stop(), 2, False, 3),
        ([], Stop(), 1, False, 3),
        ([V.PASS, V.FAIL], Stop(), 2, False, 1),
        ([V.ERROR, V.FAIL], Stop(), 2, False, 1),
        ([V.PASS, V.ERROR], Stop(), 2, False, 3),
        ([V.PASS, V.INVALID], Stop(), 2, False, 3),
        ([V.PASS, V.NOT_RUN], Stop(), 2, False, 3),
        ([V.PASS, V.NOT_RUN], Stop(budget=True), 2, False, 4),
        ([V.FAIL, V.NOT_RUN], Stop(budget=True), 2, False, 1),
        ([V.ERROR, V.NOT_RUN], Stop(budget=True), 2, False, 3),
        ([V.FAIL], Stop(signal=2), 1, False, 130),
        ([V.PASS], Stop(signal=15), 1, False, 143),
        ([V.UNSTABLE], Stop(), 1, False, 0),
        ([V.UNSTABLE], Stop(), 1, True, 1),
    ],
)
def test_the_exit_code(verdicts: list[Verdict], stop: Stop, selected: int, unstable_fails: bool, expected: int) -> None:
    """The first that applies of 130/143, 1, 3, 4, 0."""
    assert expected == exit_code(verdicts, stop=stop, selected=selected, unstable_fails=unstable_fails)


@given(st.lists(st.sampled_from(Verdict), max_size=6), st.integers(0, 8))
def test_zero_means_that_all_selected_hold(verdicts: list[Verdict], selected: int) -> None:
    """A missing, failed, broken or unplayed scenario is never exit code 0."""
    code = exit_code(verdicts, stop=Stop(), selected=selected)
    holds = len(verdicts) >= selected and set(verdicts) <= {Verdict.PASS, Verdict.UNSTABLE}
    assert holds == (code == 0)
