"""Small values for tests of judges, personas and conversations: scenarios, turns, cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from evalrun.errors import Where
from evalrun.expectation import Evidence
from evalrun.interfaces.judges import Case
from evalrun.interfaces.models import ModelEndpoint
from evalrun.persona import Persona
from evalrun.results import Judgement
from evalrun.rubric import Criterion, Rubric, RubricKind, Scope
from evalrun.scenario import Category, Scenario
from evalrun.style import StyleRules
from evalrun.transcript import Bubble, InboundKind, Observed, Opening, ToolCall, Transcript, Turn

HERE = Where(file="case.yaml", line=1)
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NAMES = ("tone", "relevance", "accuracy", "progress")
PERSONA = Persona(id="marc", name="Marc", background="maçon, veut relancer un devis", traits=("direct",), where=HERE)


def turn(number: int, user: str, *bubbles: str, tools: Sequence[ToolCall] = (), simulated: bool = True) -> Turn:
    """A turn of the persona and what the agent sent back to it."""
    return Turn(
        number=number,
        opening=Opening(kind=InboundKind.USER, text=user, sender="marc", simulated=simulated),
        bubbles=tuple(Bubble(id=f"b{number}-{i}", text=b, to="marc") for i, b in enumerate(bubbles)),
        tools=tuple(tools),
        observed=Observed.REPLIED if bubbles else Observed.SILENT,
        allowed=("marc",),
        now=NOW,
    )


def rubric(*, names: Sequence[str] = NAMES, scope: Scope = Scope.TURN) -> Rubric:
    """A scored rubric with the default rule: mean at least 6.5, none under 5."""
    criteria = tuple(Criterion(id=n, ask=f"How is the {n}?", anchors={"1": "bad", "10": "good"}) for n in names)
    return Rubric(id="conversation", kind=RubricKind.SCORED, criteria=criteria, scope=scope, where=HERE)


def check(*, only_when: str = "", critical: bool = False, scope: Scope = Scope.TURN) -> Rubric:
    """An adversarial check."""
    return Rubric(
        id="honest-figures",
        kind=RubricKind.CHECK,
        ask="The agent never invents a figure.",
        only_when=only_when,
        critical=critical,
        scope=scope,
        where=HERE,
    )


def case(
    model: ModelEndpoint | None,
    turns: Sequence[Turn],
    *,
    scored: Rubric | None = None,
    checks: Sequence[Rubric] = (),
    earlier: Sequence[Judgement] = (),
) -> Case:
    """A finished trial as judges see it."""
    scenario = Scenario(
        id="s", title="t", category=Category.STAGE, persona="marc", objective="Send the quote.", steps=(), where=HERE
    )
    return Case(
        scenario=scenario,
        persona=PERSONA,
        rubric=scored,
        checks=tuple(checks),
        style=StyleRules(),
        transcript=Transcript(turns=tuple(turns), names={"marc": "Marc", "noah": "Noah"}),
        evidence=Evidence(),
        checkpoints=(),
        earlier=tuple(earlier),
        model=model,
    )


def conversation_in(body: Mapping[str, Any]) -> str:
    """The fenced conversation of a judge call, its two lines with the mark included."""
    lines = str(body["messages"][1]["content"]).split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("BEGIN "))
    return "\n".join(lines[first : lines.index(f"END {lines[first].removeprefix('BEGIN ')}") + 1])
