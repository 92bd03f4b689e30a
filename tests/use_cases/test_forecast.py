"""What a selection is expected to take: from the past where there is one, else from turns and tokens."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from evalrun.budget import Ledger, PriceTable
from evalrun.config import Price, Settings
from evalrun.errors import Where
from evalrun.expectation import Expectations
from evalrun.interfaces.stores import PastTrials
from evalrun.persona import Persona
from evalrun.rubric import Rubric, RubricKind, Scope
from evalrun.scenario import Category, ExpectStep, JudgePlan, PersonaStep, Scenario, UserStep
from evalrun.suite import Suite
from evalrun.usage import ModelName, Role
from evalrun.use_cases.forecast import SECONDS, TOKENS, Forecast

HERE = Where(file="x.yaml", line=1)
STEPS = (
    UserStep(text="hi", where=HERE),
    PersonaStep(turns=3, where=HERE),
    ExpectStep(expectations=Expectations(), where=HERE),
)
ONE = Scenario(
    id="one",
    title="t",
    category=Category.ACTION,
    persona="ana",
    objective="o",
    steps=STEPS,
    judge=JudgePlan(rubric="talk", checks=("figures",)),
    where=HERE,
)
TWO = replace(ONE, id="two", repeats=3, judge=JudgePlan())
SUITE = Suite(
    scenarios=(ONE, TWO),
    personas={"ana": Persona(id="ana", name="A", background="b", traits=("t",), where=HERE)},
    rubrics={
        "talk": Rubric(id="talk", kind=RubricKind.SCORED, where=HERE),
        "figures": Rubric(id="figures", kind=RubricKind.CHECK, scope=Scope.CONVERSATION, where=HERE),
    },
)
MODEL = ModelName(provider="compatible", model="m")
SETTINGS = Settings(root=Path("/p"), models=dict.fromkeys(Role, MODEL), concurrency=2)


def no_table() -> PriceTable:
    """Nothing here is priced by the table."""
    raise AssertionError


def forecast(past: dict[str, PastTrials], settings: Settings = SETTINGS) -> Forecast:
    """At a dollar a million tokens in, two out."""
    price = {"m": Price(input=Decimal(1), output=Decimal(2))}
    return Forecast(settings, SUITE, past, Ledger(cap=None, own=price, local=frozenset(), table=no_table))


def test_without_a_past_turns_and_tokens_tell() -> None:
    """One call of the agent a turn, one of the persona where it is simulated, and what rubric and checks ask."""
    found = forecast({}).of(ONE)
    assert {Role.AGENT: 4, Role.PERSONA: 3, Role.JUDGE: 5} == found.calls
    per_call = {r: (t.input + 2 * t.output) / Decimal(1_000_000) for r, t in TOKENS.items()}
    assert {r: per_call[r] * int(found.calls[r]) for r in Role} == found.cost
    assert 4 * SECONDS[Role.AGENT] + 3 * SECONDS[Role.PERSONA] + SECONDS[Role.JUDGE] == found.seconds
    assert "estimated from turns" in found.basis


def test_repeats_count_and_without_a_rubric_nothing_is_judged() -> None:
    """Trials, calls, cost and seconds."""
    found = forecast({}).of(TWO)
    assert (3, {Role.AGENT: 12, Role.PERSONA: 9, Role.JUDGE: 0}) == (found.trials, found.calls)
    unjudged = replace(SETTINGS, judges=("rules",))
    assert 0 == forecast({}, unjudged).of(ONE).calls[Role.JUDGE]


def test_the_past_is_believed_first() -> None:
    """What it does not know, calls of a scenario that was not looked into, is estimated."""
    cost = {Role.AGENT: Decimal("0.5"), Role.PERSONA: Decimal(0), Role.JUDGE: Decimal("0.25")}
    found = forecast({"one": PastTrials(trials=4, seconds=7.0, cost=cost)}).of(ONE)
    assert (7.0, Decimal("0.75")) == (found.seconds, found.usd)
    assert 4 == found.calls[Role.AGENT]
    assert "1 of 1 scenarios from 4 past trials under these models" == found.basis


def test_many_scenarios_add_up_side_by_side() -> None:
    """Never quicker than the longest trial; the basis tells both kinds."""
    past = {"one": PastTrials(trials=1, seconds=1000.0, cost=dict.fromkeys(Role, Decimal(1)))}
    found = forecast(past).over(SUITE.scenarios)
    assert (2, 4, 1) == (found.scenarios, found.trials, found.past)
    assert 1000.0 == found.elapsed
    assert "1 of 2 scenarios from 1 past trials" in found.basis
    assert "the others estimated" in found.basis


def test_of_nothing_nothing_is_expected() -> None:
    """No division by nothing."""
    found = forecast({}).over(())
    assert (0, 0.0, Decimal(0), "nothing to run") == (found.trials, found.elapsed, found.usd, found.basis)
