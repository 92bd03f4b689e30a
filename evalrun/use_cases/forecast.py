"""What a selection is expected to take: calls by role, seconds, USD, and what that rests on.

A scenario with past trials under the same models takes what they took on average; for another one
it is estimated from its turns, with the figures below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from evalrun.budget import Ledger
from evalrun.config import Settings
from evalrun.interfaces.stores import PastTrials
from evalrun.rubric import Scope
from evalrun.scenario import PersonaStep, Scenario
from evalrun.suite import Suite
from evalrun.usage import ZERO, Role, Tokens

TOKENS: Mapping[Role, Tokens] = {
    Role.AGENT: Tokens(input=1500, output=120),
    Role.PERSONA: Tokens(input=700, output=60),
    Role.JUDGE: Tokens(input=1400, output=350),
}
"""A call's tokens where nothing is known: middling prompts of a chat agent, our own prompts as measured."""
SECONDS: Mapping[Role, float] = {Role.AGENT: 2.5, Role.PERSONA: 1.5, Role.JUDGE: 3.0}
"""A call's seconds where nothing is known; the judge's calls of a conversation go side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Of one scenario, or of many. `past` are scenarios that rest on history, of `scenarios`.

    `seconds` are those of the trials one after another; `elapsed` with so many side by side as set.
    """

    scenarios: int = 0
    trials: int = 0
    calls: Mapping[Role, float] = field(default_factory=dict)
    cost: Mapping[Role, Decimal] = field(default_factory=dict)
    seconds: float = 0.0
    elapsed: float = 0.0
    past: int = 0
    past_trials: int = 0

    @property
    def usd(self) -> Decimal:
        """Over all roles."""
        return sum(self.cost.values(), ZERO)

    @property
    def basis(self) -> str:
        """What it rests on, for people."""
        guess = f"estimated from turns, at {', '.join(f'{t.input}+{t.output}' for t in TOKENS.values())} tokens a call"
        if not self.past:
            return f"{guess} of agent, persona and judge" if self.scenarios else "nothing to run"
        known = f"{self.past} of {self.scenarios} scenarios from {self.past_trials} past trials under these models"
        return known if self.past == self.scenarios else f"{known}, the others {guess}"


class Forecast:
    """Expectations of the scenarios of a suite."""

    def __init__(self, settings: Settings, suite: Suite, past: Mapping[str, PastTrials], ledger: Ledger) -> None:
        self._settings = settings
        self._suite = suite
        self._past = past
        self._price = {r: ledger.price(settings.models[r], TOKENS[r])[0] for r in Role}
        self._known: dict[str, Expected] = {}

    def of(self, scenario: Scenario) -> Expected:
        """One scenario with its repeats."""
        known = self._known.get(scenario.id)
        if known is None:
            known = self._known[scenario.id] = self._of(scenario)
        return known

    def _of(self, scenario: Scenario) -> Expected:
        repeats = self._settings.rule_of(scenario.repeats).at_first
        guess = self._calls(scenario)
        past = self._past.get(scenario.id)
        if past is None:
            turns = guess[Role.AGENT]
            seconds = turns * SECONDS[Role.AGENT] + guess[Role.PERSONA] * SECONDS[Role.PERSONA]
            seconds += SECONDS[Role.JUDGE] if guess[Role.JUDGE] else 0
            cost = {r: price * int(guess[r]) for r, price in self._price.items()}
            calls: Mapping[Role, float] = guess
        else:
            seconds, cost, calls = past.seconds, dict(past.cost), past.calls or guess
        return Expected(
            scenarios=1,
            trials=repeats,
            calls={r: calls.get(r, 0.0) * repeats for r in Role},
            cost={r: cost[r] * repeats for r in Role},
            seconds=seconds * repeats,
            elapsed=seconds,
            past=1 if past else 0,
            past_trials=past.trials if past else 0,
        )

    def over(self, scenarios: Sequence[Scenario]) -> Expected:
        """Many scenarios, their trials side by side as the settings say."""
        each = [self.of(s) for s in scenarios]
        seconds = sum(e.seconds for e in each)
        return Expected(
            scenarios=len(each),
            trials=sum(e.trials for e in each),
            calls={r: sum(e.calls[r] for e in each) for r in Role},
            cost={r: sum((e.cost[r] for e in each), ZERO) for r in Role},
            seconds=seconds,
            elapsed=max([seconds / self._settings.side_by_side, *(e.elapsed for e in each)]),
            past=sum(e.past for e in each),
            past_trials=sum(e.past_trials for e in each),
        )

    def _calls(self, scenario: Scenario) -> dict[Role, float]:
        """Calls of one trial from its turns: one of the agent each, and what rubric and checks ask for."""
        turns = scenario.turns_at_most()
        simulated = sum(s.turns for s in scenario.steps if isinstance(s, PersonaStep))
        rulers = [self._suite.rubrics.get(n) for n in (scenario.judge.rubric, *scenario.judge.checks)]
        judged = "rubric" in self._settings.judges
        judge = sum(1 if r.scope is Scope.CONVERSATION else turns for r in rulers if r is not None) if judged else 0
        return {Role.AGENT: float(turns), Role.PERSONA: float(simulated), Role.JUDGE: float(judge)}
