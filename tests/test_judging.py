"""The judge chain: what gates, what a broken judge becomes, and the outcome of a trial from its judgements."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.config import Gate
from evalrun.errors import BudgetReached, ModelFailed, Where
from evalrun.expectation import Evidence
from evalrun.interfaces.judges import Case
from evalrun.judging import JudgeChain, Standing, akin, may_gate, rule
from evalrun.persona import Persona
from evalrun.results import Judgement, JudgementStatus
from evalrun.rubric import PassRule
from evalrun.scenario import Category, Scenario, UserStep
from evalrun.style import Finding, Severity, StyleRules
from evalrun.transcript import Transcript
from evalrun.usage import ModelName
from evalrun.verdict import CheckAnswer, Outcome, Score, weigh

HERE = Where(file="x.yaml", line=1)
RULE = PassRule(mean=Decimal("6.5"), minimum=5)
CASE = Case(
    scenario=Scenario(
        id="s",
        title="t",
        category=Category.ACTION,
        persona="ana",
        objective="o",
        steps=(UserStep(text="hi", where=HERE),),
        where=HERE,
    ),
    persona=Persona(id="ana", name="Ana", background="b", traits=("brief",), where=HERE),
    rubric=None,
    checks=(),
    style=StyleRules(),
    transcript=Transcript(),
    evidence=Evidence(),
    checkpoints=(),
    earlier=(),
    model=None,
)


def said(name: str = "j", **more: object) -> Judgement:
    """A judgement that gates."""
    return Judgement(**{"judge": name, "version": "1", "gates": True, "reason": f"{name} holds", **more})  # type: ignore[arg-type]


def finding(severity: Severity) -> Finding:
    """A finding of a style rule."""
    return Finding(rule="r", severity=severity, message="m")


def scored(*values: int) -> dict[str, object]:
    """Scores and their marks."""
    scores = tuple(Score(turn=n, criterion="tone", value=v) for n, v in enumerate(values, 1))
    return {"scores": scores, "marks": weigh(scores, RULE)}


HARD = said("rules", deterministic=True, findings=(finding(Severity.HARD),), code="r", reason="r is broken")
SOFT = said("rules", deterministic=True, findings=(finding(Severity.SOFT),), code="pass")
GOOD, LOW = said("rubric", **scored(8, 8)), said("rubric", code="scores", reason="too low", **scored(2, 8))
ADVISORY = said("rubric", gates=False, reason="too low", **scored(1, 1))
BROKEN = said("rubric", status=JudgementStatus.ERROR, code="judge_broken", reason="it raised")
SKIPPED = said("rubric", status=JudgementStatus.SKIPPED)
MINOR, CRITICAL = (
    said("rubric", code="check", checks=(CheckAnswer(check="c", turn=1, violated=True, critical=critical),))
    for critical in (False, True)
)


@pytest.mark.parametrize(
    ("judgements", "outcome", "fact", "code"),
    [
        ([SOFT, GOOD], Outcome.PASS, False, "pass"),
        ([SOFT, LOW], Outcome.FAIL, False, "scores"),
        ([HARD, SKIPPED], Outcome.FAIL, True, "r"),
        ([SOFT, ADVISORY], Outcome.PASS, False, "pass"),
        ([SOFT, BROKEN], Outcome.ERROR, False, "judge_broken"),
        ([HARD, BROKEN], Outcome.ERROR, False, "judge_broken"),
        ([SOFT, MINOR], Outcome.FAIL, False, "check"),
        ([SOFT, CRITICAL], Outcome.FAIL, True, "check"),
        ([], Outcome.ERROR, True, "nothing_evaluated"),
        ([ADVISORY], Outcome.ERROR, True, "nothing_evaluated"),
        ([SKIPPED], Outcome.ERROR, True, "nothing_evaluated"),
    ],
)
def test_the_outcome_of_a_trial(judgements: list[Judgement], outcome: Outcome, fact: bool, code: str) -> None:
    """Only what gates counts; nothing evaluated is an error; a fact is told from a score."""
    ruling = rule(judgements)
    assert (outcome, fact, code) == (ruling.outcome, ruling.fact, ruling.code)


@given(st.lists(st.sampled_from([HARD, SOFT, GOOD, LOW, ADVISORY, BROKEN, SKIPPED, MINOR, CRITICAL]), max_size=6))
def test_a_pass_has_something_that_holds_and_nothing_against_it(judgements: list[Judgement]) -> None:
    """However the judgements are put together."""
    counted = [j for j in judgements if j.gates and j.status is not JudgementStatus.SKIPPED]
    holds = bool(counted) and all(j.outcome is Outcome.PASS for j in counted)
    assert holds == (rule(judgements).outcome is Outcome.PASS)


STRONG = Standing(measured=True, earned=True, line="kappa 0.82")
WEAK = Standing(measured=True, line="kappa 0.31")


@pytest.mark.parametrize(
    ("gate", "standing", "allowed", "why"),
    [
        (Gate.ALWAYS, Standing(), True, "gates because judge.gate is always (vouched for, not measured)"),
        (Gate.ALWAYS, WEAK, True, "gates because judge.gate is always (vouched for; measured: kappa 0.31)"),
        (Gate.NEVER, STRONG, False, "is advisory: judge.gate is never"),
        (Gate.AUTO, Standing(), False, "is advisory: it has not earned a gate (not calibrated on labelled turns)"),
        (Gate.AUTO, WEAK, False, "is advisory: it has not earned a gate (kappa 0.31)"),
        (Gate.AUTO, STRONG, True, "gates because it has earned it (kappa 0.82)"),
    ],
)
def test_what_lets_a_judge_gate(gate: Gate, standing: Standing, allowed: bool, why: str) -> None:
    """A measurement that is good enough, or the user's word; the report says which, with the numbers."""
    assert may_gate(gate, standing) == (allowed, why)


class Fixed:
    """A judge that says what it is told to say, or raises it."""

    version = "1"

    def __init__(self, name: str, says: Judgement | Exception, *, deterministic: bool = False) -> None:
        self.name, self.says, self.deterministic = name, says, deterministic
        self.saw: Case | None = None

    def watch(self, case: Case) -> Judgement | None:
        """What it says."""
        return self.says if isinstance(self.says, Judgement) else None

    async def judge(self, case: Case) -> Judgement:
        """What it says."""
        self.saw = case
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


def asked(*judges: Fixed, gates: dict[str, bool] | None = None) -> tuple[Judgement, ...]:
    """The judgements of a chain."""
    return asyncio.run(JudgeChain(judges=judges, gates=gates or {}).judge(CASE))


def test_each_judge_sees_the_earlier_ones() -> None:
    """So that a later tier can spare its tokens."""
    last = Fixed("rubric", GOOD)
    asked(Fixed("rules", HARD, deterministic=True), last)
    assert last.saw is not None
    assert ["rules"] == [j.judge for j in last.saw.earlier]


@pytest.mark.parametrize("claims", [True, False])
def test_a_judge_cannot_vouch_for_itself(claims: bool) -> None:
    """Whether it gates and is deterministic comes from the chain, whatever its judgement says."""
    told = said("mine", gates=claims, deterministic=claims)
    [model] = asked(Fixed("mine", told))
    [code] = asked(Fixed("mine", told, deterministic=True))
    [vouched] = asked(Fixed("mine", told), gates={"mine": True})
    assert [(False, False), (True, True), (False, True)] == [(j.deterministic, j.gates) for j in (model, code, vouched)]


@pytest.mark.parametrize(
    ("raised", "code"),
    [(RuntimeError("oops"), "judge_broken"), (ModelFailed("no answer", remedy="wait"), "model")],
)
def test_a_judge_that_raises_is_an_error_and_the_others_go_on(raised: Exception, code: str) -> None:
    """One broken judge is a judgement of status error that names what it raised."""
    first, second = asked(Fixed("mine", raised), Fixed("rules", SOFT, deterministic=True), gates={"mine": True})
    assert (JudgementStatus.ERROR, code, True) == (first.status, first.code, str(raised) in first.reason)
    assert Outcome.PASS is second.outcome
    assert Outcome.ERROR is rule([first, second]).outcome


def test_money_running_out_is_not_the_judges_fault() -> None:
    """It passes through: the trial is not judged for lack of money, and no judge is to blame."""
    with pytest.raises(BudgetReached):
        asked(Fixed("rubric", BudgetReached("cap", remedy="raise it")))


@pytest.mark.parametrize(
    ("judges", "stops"),
    [
        ((Fixed("rules", HARD, deterministic=True),), True),
        ((Fixed("rules", SOFT, deterministic=True),), False),
        ((Fixed("rubric", LOW),), False),
        ((), False),
    ],
)
def test_only_code_stops_a_conversation(judges: tuple[Fixed, ...], stops: bool) -> None:
    """A hard finding ends it at once; model judges are not asked in the middle."""
    assert stops == (JudgeChain(judges=judges, gates={}).watch(CASE) is not None)


@pytest.mark.parametrize(
    ("judge", "agent", "family"),
    [
        ("openai:gpt-6", "openai:gpt-6-mini", "gpt"),
        ("openai:gpt-6", "router:openai/gpt-6-mini", "gpt"),
        ("anthropic:claude-large", "openai:gpt-6", ""),
        ("compatible:judge-1", "compatible:agent-1", ""),
        ("compatible:7", "compatible:7", ""),
    ],
)
def test_a_judge_of_the_agents_own_family_is_known_by_its_name(judge: str, agent: str, family: str) -> None:
    """Whoever vouches for a judge is told that it may favour its kin."""
    assert akin(ModelName.parse(judge), ModelName.parse(agent)) == family
