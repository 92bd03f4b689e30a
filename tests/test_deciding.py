"""From trials to a verdict: facts first, then the evidence, then what kept a scenario from being judged."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.deciding import final, reason_for, verdict_so_far, weight_of
from evalrun.evidence import EvidenceRule, Weight
from evalrun.results import Judgement, TrialResult
from evalrun.verdict import CheckAnswer, Outcome, Verdict
from tests.results_samples import expectations, rubric, rules, scored, trial

RULE = EvidenceRule()
THREE = EvidenceRule(exactly=3)


def judged(number: int, *row: int, gates: bool = True) -> TrialResult:
    """A trial of one turn with these scores."""
    said = rubric(scored([row]), gates=gates)
    outcome = "pass" if said.marks is None or said.marks.passed or not gates else "fail"
    return trial("s", outcome, said.reason, number=number, judgements=[rules(), expectations(), said])


def checked(number: int, *, violated: bool) -> TrialResult:
    """A trial with one check and no score."""
    answer = CheckAnswer(check="honest", turn=1, violated=violated, quote="about 5" if violated else "")
    said = Judgement(judge="rubric", version="1", gates=True, checks=(answer,), reason="check")
    return trial("s", "fail" if violated else "pass", "check", number=number, judgements=[rules(), said])


def plain(number: int, outcome: str, *, fact: bool = True, **more: object) -> TrialResult:
    """A trial that only code judged, or nobody."""
    return trial("s", outcome, f"why {outcome}", number=number, judgements=[rules()], fact=fact, **more)


GOOD, MIDDLING, BAD, LOW = (9, 9, 9, 9), (7, 7, 6, 7), (6, 6, 6, 6), (9, 9, 9, 4)


@pytest.mark.parametrize(
    ("result", "weight"),
    [
        (judged(1, *GOOD), Weight(passed=True, margin=Fraction("2.5"))),
        (judged(1, *BAD), Weight(passed=False, margin=Fraction("-0.5"))),
        (judged(1, *LOW), Weight(passed=False, margin=Fraction("1.25"), low=True)),
        (judged(1, *BAD, gates=False), Weight(passed=True, certain=True)),
        (checked(1, violated=False), Weight(passed=True)),
        (checked(1, violated=True), Weight(passed=False, low=True)),
        (plain(1, "pass"), Weight(passed=True, certain=True)),
    ],
)
def test_what_a_trial_weighs(result: TrialResult, weight: Weight) -> None:
    """Only judgements that gate count; scores of an advisory judge weigh nothing."""
    assert weight_of(result) == weight


@pytest.mark.parametrize(
    ("trials", "rule", "verdict"),
    [
        ([], RULE, None),
        ([plain(1, "pass")], RULE, Verdict.PASS),
        ([plain(1, "fail")], RULE, Verdict.FAIL),
        ([judged(1, *GOOD)], RULE, Verdict.PASS),
        ([judged(1, *BAD)], RULE, None),
        ([judged(1, *BAD), judged(2, *BAD)], RULE, Verdict.FAIL),
        ([judged(1, *LOW), judged(2, *GOOD), judged(3, *GOOD)], RULE, Verdict.UNSTABLE),
        ([judged(1, *GOOD), plain(2, "fail")], THREE, Verdict.FAIL),
        ([judged(1, *LOW), judged(2, *LOW), plain(3, "error")], THREE, Verdict.FAIL),
        ([judged(1, *LOW), plain(2, "error")], RULE, Verdict.ERROR),
        ([judged(1, *GOOD), plain(2, "error")], THREE, Verdict.ERROR),
        ([plain(1, "invalid"), judged(2, *GOOD)], THREE, Verdict.INVALID),
        ([plain(1, "invalid"), plain(2, "pass", replays=1)], RULE, Verdict.PASS),
        ([judged(1, *MIDDLING), plain(2, "not_run")], RULE, Verdict.NOT_RUN),
        ([plain(1, "error"), plain(2, "invalid")], RULE, Verdict.ERROR),
    ],
)
def test_the_verdict_of_a_scenario(trials: list[TrialResult], rule: EvidenceRule, verdict: Verdict | None) -> None:
    """A failed fact fails at once; what could not be judged keeps the rest from being a pass."""
    assert verdict_so_far(trials, rule) is verdict


@pytest.mark.parametrize(
    ("outcomes", "verdict", "shown"),
    [
        (("fail", "pass", "pass"), Verdict.UNSTABLE, (2, 3)),
        (("pass", "fail", "fail"), Verdict.FAIL, (1, 3)),
        (("error", "pass", "pass"), Verdict.ERROR, (2, 2)),
    ],
)
def test_b70_a_pass_on_retry_hides_nothing(outcomes: tuple[str, ...], verdict: Verdict, shown: tuple[int, int]) -> None:
    """Every trial counts and is shown as k of n; none is a retry that replaces a quality failure."""
    rows = {"pass": GOOD, "fail": LOW}
    trials = [judged(n, *rows[o]) if o in rows else plain(n, o) for n, o in enumerate(outcomes, 1)]
    assert verdict_so_far(trials, THREE) is verdict
    counted = [t for t in trials if t.outcome in (Outcome.PASS, Outcome.FAIL)]
    assert (sum(t.outcome is Outcome.PASS for t in counted), len(counted)) == shown


TRIALS = st.lists(
    st.one_of(
        st.sampled_from([GOOD, MIDDLING, BAD, LOW]).map(lambda row: judged(1, *row)),
        st.sampled_from(["pass", "fail", "error", "invalid", "not_run"]).map(lambda o: plain(1, o)),
    ),
    min_size=1,
    max_size=6,
)


@given(TRIALS, st.integers(0, 6))
def test_never_a_silent_green_and_a_failed_fact_stands(trials: list[TrialResult], exactly: int) -> None:
    """A pass has only judged trials, none of them low; one failed fact is a failure whatever else."""
    rule = EvidenceRule(exactly=exactly)
    numbered = [
        trial("s", t.outcome.value, "", number=n, judgements=t.judgements, fact=t.fact) for n, t in enumerate(trials, 1)
    ]
    verdict = verdict_so_far(numbered, rule)
    if verdict is Verdict.PASS:
        assert all(t.outcome in (Outcome.PASS, Outcome.FAIL) for t in numbered)
        assert any(t.outcome is Outcome.PASS for t in numbered)
    if any(t.fact and t.outcome is Outcome.FAIL for t in numbered):
        assert verdict is Verdict.FAIL
    if len(numbered) >= rule.at_most:
        assert verdict is not None


def test_the_reason_of_repeats_tells_what_they_add_up_to() -> None:
    """How many passed, the sum of margins, how many were low, and the first reason."""
    trials = [judged(1, *LOW), judged(2, *GOOD), judged(3, *GOOD)]
    assert reason_for(Verdict.UNSTABLE, trials, RULE) == (
        "format 4 at turn 1 is under the floor of 5 (2 of 3 trials pass, margins sum to +6.25, 1 low)"
    )
    assert reason_for(Verdict.PASS, [judged(1, *GOOD)], RULE) == "mean 9.00 over 4 scores"


def test_a_replayed_trial_no_longer_counts() -> None:
    """It stays among the trials and out of the verdict."""
    assert [t.number for t in final([plain(1, "invalid"), plain(2, "pass", replays=1)])] == [2]
