"""Scenarios as they really come out of a run, for tests of stores and reports: every verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from evalrun.deciding import final, reason_for, verdict_so_far
from evalrun.errors import Where
from evalrun.evidence import EvidenceRule
from evalrun.expectation import Unmet
from evalrun.results import (
    Exchange,
    Judgement,
    JudgementStatus,
    Ruler,
    ScenarioResult,
    TrialResult,
)
from evalrun.rubric import PassRule
from evalrun.scenario import Category
from evalrun.style import Finding, Severity
from evalrun.transcript import Bubble, Ending, InboundKind, Observed, Opening, ToolCall, Transcript, Turn
from evalrun.usage import Role, RoleTotal, Spending, Tokens
from evalrun.verdict import Outcome, Score, Verdict, weigh

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
NAMES = ("character", "objective", "responsiveness", "format")
RULER = Ruler(parts={"model": "anthropic:judge-1", "rubrics": "conversation:abc"})


def money(agent: str = "0", persona: str = "0", judge: str = "0") -> Spending:
    """What a trial cost by role, in USD."""
    return Spending.from_roles(
        {
            role: RoleTotal(calls=3, tokens=Tokens(input=900, output=60), cost=Decimal(cost))
            for role, cost in ((Role.AGENT, agent), (Role.PERSONA, persona), (Role.JUDGE, judge))
        }
    )


def said(number: int, user: str, *bubbles: str, tools: Sequence[ToolCall] = (), observed: str = "replied") -> Turn:
    """A simulated turn of Léa and what the agent sent back."""
    return Turn(
        number=number,
        opening=Opening(kind=InboundKind.USER, text=user, sender="lea", simulated=True),
        bubbles=tuple(Bubble(id=f"b{number}-{i}", text=b, to="lea") for i, b in enumerate(bubbles)),
        tools=tuple(tools),
        observed=Observed(observed),
        allowed=("lea",),
        now=NOW,
        seconds=2.5,
    )


def transcript(*turns: Turn, ending: Ending = Ending.TURNS_USED, detail: str = "") -> Transcript:
    """A conversation with Léa."""
    return Transcript(
        turns=turns, ending=ending, ending_detail=detail, names={"lea": "Léa", "noah": "Noah", "marc": "Marc"}
    )


def scored(rows: Sequence[Sequence[int]], reasons: Mapping[tuple[int, str], str] | None = None) -> tuple[Score, ...]:
    """Scores of the four criteria, one row a turn."""
    given = reasons or {}
    return tuple(
        Score(turn=t, criterion=c, value=v, reason=given.get((t, c), f"{c} is fine"))
        for t, row in enumerate(rows, 1)
        for c, v in zip(NAMES, row, strict=True)
    )


def rules(*findings: Finding) -> Judgement:
    """What the style judge says."""
    hard = next((f for f in findings if f.severity is Severity.HARD), None)
    return Judgement(
        judge="rules",
        version="1",
        deterministic=True,
        gates=True,
        findings=findings,
        code=hard.rule if hard else "pass",
        reason=f"{hard.rule}: {hard.message} in turn {hard.turn}" if hard else "no hard finding",
    )


def expectations(*unmet: Unmet) -> Judgement:
    """What the judge of expectations says."""
    reason = f"{unmet[0].path}: expected {unmet[0].expected}, got {unmet[0].got}" if unmet else "expectations met"
    return Judgement(
        judge="expectations",
        version="1",
        deterministic=True,
        gates=True,
        unmet=unmet,
        code="expectation",
        reason=reason,
    )


def rubric(scores: Sequence[Score], *, gates: bool = True) -> Judgement:
    """What the model judge says, with the arithmetic of the default rule."""
    marks = weigh(scores, PassRule())
    assert marks is not None
    return Judgement(
        judge="rubric",
        version="1.1",
        gates=gates,
        scores=tuple(scores),
        marks=marks,
        code="pass" if marks.passed else "score_low",
        reason="; ".join(marks.why) or f"mean {float(marks.mean):.2f} over {marks.count} scores",
        ruler=RULER,
        seconds=1.5,
    )


SKIPPED = Judgement(
    judge="rubric",
    version="1.1",
    gates=True,
    status=JudgementStatus.SKIPPED,
    code="not_asked",
    reason="not asked: rules had already decided",
)


def trial(
    scenario: str,
    outcome: str,
    reason: str,
    *,
    number: int = 1,
    talk: Transcript | None = None,
    judgements: Sequence[Judgement] = (),
    cost: Spending | None = None,
    **rest: object,
) -> TrialResult:
    """One trial; `rest` are more fields of it."""
    result = TrialResult(
        scenario=scenario,
        number=number,
        outcome=Outcome(outcome),
        code=outcome,
        reason=reason,
        transcript=talk or transcript(said(1, "salut", "coucou Léa")),
        judgements=tuple(judgements),
        spending=money() if cost is None else cost,
        started=NOW + timedelta(seconds=number),
        seconds=9.25,
        key="scenario=1;persona=2",
    )
    return replace(result, **rest)  # type: ignore[arg-type]


def scenario(name: str, *trials: TrialResult, stage: str = "pricing", **rest: object) -> ScenarioResult:
    """A scenario with its verdict by the real rule."""
    rule = EvidenceRule(exactly=len(final(trials)))
    verdict = verdict_so_far(trials, rule) or Verdict.NOT_RUN
    result = ScenarioResult(
        id=name,
        title=name.replace("-", " "),
        category=Category.STAGE,
        stage=stage,
        path=f"scenarios/stage/{name}.yaml",
        line=14,
        objective="Say when pricing comes and go on with the profile.",
        persona="lea-guarded",
        verdict=verdict,
        reason=reason_for(verdict, trials, rule),
        selected_because=("prompts/pricing.md changed (stage pricing)",),
        rule=rule,
        trials=trials,
    )
    return replace(result, **rest)  # type: ignore[arg-type]


PRICE = transcript(
    said(1, "salut", "coucou Léa, on commence par ton profil"),
    said(
        2, "je vis à Lyon", "Lyon, noté", tools=[ToolCall(name="save_profile", arguments={"city": "Lyon"}, result="ok")]
    ),
    said(3, "ok mais c'est combien ?", "on en reparle.", "et toi, c'est quoi ton budget ?"),
)


def passed() -> ScenarioResult:
    """A pass on scores."""
    judged = rubric(scored([(8, 8, 8, 9), (8, 8, 9, 9)]))
    one = trial("pricing-not-before-profile", "pass", judged.reason, judgements=[rules(), expectations(), judged])
    ended = replace(one.transcript, ending=Ending.UNTIL_MET)
    return scenario(one.scenario, replace(one, transcript=ended, spending=money("0.0011", "0.0005", "0.00243")))


def failed_on_floor() -> ScenarioResult:
    """One score under the floor, in both trials; the mean is good."""
    why = {
        (3, "objective"): "answers a question with a question; the objective asks to say when pricing comes",
    }
    judged = rubric(scored([(8, 8, 7, 8), (7, 7, 7, 8), (7, 4, 7, 8)], why))
    trials = [
        trial(
            "pricing-asked-twice",
            "fail",
            judged.reason,
            number=n,
            talk=PRICE,
            judgements=[rules(), expectations(), judged],
            cost=money("0.0031", "0.0007", "0.0019"),
            seconds=21.4,
        )
        for n in (1, 2)
    ]
    return scenario("pricing-asked-twice", *trials)


def failed_on_mean() -> ScenarioResult:
    """No score under the floor and a mean just under 6.5."""
    judged = rubric(scored([(6, 6, 7, 7), (6, 7, 6, 6), (7, 6, 7, 6)]))
    one = trial("pricing-mean-low", "fail", judged.reason, talk=PRICE, judgements=[rules(), expectations(), judged])
    return scenario(one.scenario, replace(one, spending=money("0.0021", "0.0004", "0.0018")))


def unstable() -> ScenarioResult:
    """Two passes of three."""
    good, bad = rubric(scored([(8, 7, 7, 8)])), rubric(scored([(6, 4, 6, 7)]))
    trials = [
        trial(
            "pricing-free-trial",
            "pass" if j is good else "fail",
            j.reason,
            number=n,
            judgements=[rules(), expectations(), j],
            cost=money("0.0013", "0.0002", "0.0012"),
        )
        for n, j in enumerate((good, bad, good), 1)
    ]
    return scenario("pricing-free-trial", *trials)


def failed_on_rule() -> ScenarioResult:
    """A hard finding; the model judge was not asked."""
    hard = Finding(
        rule="max-questions",
        severity=Severity.HARD,
        message="2 questions, at most 1",
        quote="et toi, c'est quoi ton budget ? tu préfères le soir ?",
        turn=2,
        bubble=1,
    )
    soft = Finding(rule="bubbles", severity=Severity.SOFT, message="4 bubbles, limit 3", turn=1)
    talk = transcript(
        said(1, "salut", "coucou", "moi c'est Ori", "ravie", "on y va ?"),
        said(2, "oui", "et toi, c'est quoi ton budget ? tu préfères le soir ?"),
        ending=Ending.HARD_FINDING,
    )
    judged = rules(soft, hard)
    one = trial("welcome-one-question", "fail", judged.reason, talk=talk, judgements=[judged, expectations(), SKIPPED])
    return scenario(one.scenario, replace(one, fact=True, spending=money("0.0004", "0.0001")), stage="welcome")


def failed_on_expectation() -> ScenarioResult:
    """A tool that was not called as expected."""
    unmet = Unmet(
        path="tools.called.save_profile",
        expected='a call with {"city": "Lyon", "budget": 49}',
        got='`city` is "Paris", not "Lyon"',
        turn=2,
        where=Where(file="scenarios/stage/profile-saved.yaml", line=22, column=7),
    )
    call = ToolCall(name="save_profile", arguments={"city": "Paris"}, result={"saved": True})
    talk = transcript(
        said(1, "salut", "coucou"),
        said(2, "je vis à Lyon, budget 49 €", "c'est noté", tools=[call]),
        ending=Ending.EXPECTATION_FAILED,
    )
    judged = expectations(unmet)
    one = trial("profile-saved", "fail", judged.reason, talk=talk, judgements=[rules(), judged, SKIPPED], fact=True)
    return scenario(one.scenario, replace(one, spending=money("0.0006", "0.0002")), stage="profiling")


def errored() -> ScenarioResult:
    """The target raised."""
    trace = "Traceback (most recent call last):\n  File \"ori/stages/pricing.py\", line 31, in reply\n    price = prices[city]\nKeyError: 'Lyon'\n"
    one = trial(
        "pricing-city",
        "error",
        "the target raised KeyError: 'Lyon' in turn 1 (its traceback is in the report)",
        talk=transcript(said(1, "c'est combien à Lyon ?", observed="silent"), ending=Ending.AGENT_ERROR),
        cost=money("0.0002", "0.0001"),
        detail=trace,
        fact=True,
    )
    return scenario(one.scenario, replace(one, code="target"))


def spoiled() -> ScenarioResult:
    """The simulated user spoke as the assistant, in the replay too."""
    why = "the simulated user spoke as the assistant twice (persona marc; use a larger persona model)"
    trials = [
        trial(
            "pricing-hardship",
            "invalid",
            why,
            number=n,
            replays=n - 1,
            talk=transcript(said(1, "salut", "coucou"), ending=Ending.SIMULATOR_FAULT),
            cost=money("0.0004", "0.0003"),
            seconds=4.0,
        )
        for n in (1, 2)
    ]
    return scenario("pricing-hardship", *trials)


def left_out() -> ScenarioResult:
    """The budget was reached before it was played."""
    one = trial(
        "reset-mid-pricing", "not_run", "the budget was reached", talk=Transcript(ending=Ending.BUDGET), seconds=0.0
    )
    return scenario(one.scenario, replace(one, spending=Spending(), code="budget"), stage="reset")


def exchange(role: Role = Role.AGENT, cost: str = "0.0011") -> Exchange:
    """One model call as it was."""
    return Exchange(
        role=role,
        asked="openai:agent-1",
        returned="agent-1-2026-11",
        sent={"messages": [{"role": "user", "content": "salut"}]},
        received={"choices": [{"message": {"content": "coucou"}}]},
        tokens=Tokens(input=12, output=3),
        cost=Decimal(cost),
        seconds=0.2,
    )
