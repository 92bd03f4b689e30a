"""A noisy agent under a noisy judge, to measure what the evidence rule does: five turns by four criteria a trial.

A trial's scores scatter around the scenario's true mean by a part of the run, of the turn and of
the criterion, which a second judgement of the same transcript shares, and by a part of the judge,
which it does not. They are rounded and clipped to 1-10, and one in two hundred is anything at all.
The first three parts are .4 of the whole sd each and the judge has the rest; a healthy suite of 35
has seven scenarios at each of five means. With these the model gives the table of the design's
measured facts (see `FACTS`).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod, sqrt
from statistics import median_low

from evalrun.evidence import EvidenceRule, Weight, decide
from evalrun.rubric import PassRule
from evalrun.verdict import Verdict

TURNS, CRITERIA = 5, 4
SHARED_PART = 0.4
GLITCH = 0.005
HEALTHY = (7.0, 7.5, 8.0, 8.5, 9.0)
EACH = 7
"""Scenarios at each of the healthy means: 35 in all."""
DROPPED = 6.0
"""The lowest healthy mean after a drop of one point."""
RULE = PassRule()
MEAN = Fraction(RULE.mean)


@dataclass(slots=True)
class Judged:
    """One trial as the judge and its confirming answers give it."""

    total: int
    low: bool
    calls: int

    @property
    def weight(self) -> Weight:
        """As the evidence rule takes it."""
        margin = Fraction(self.total, TURNS * CRITERIA) - MEAN
        return Weight(passed=margin >= 0 and not self.low, margin=margin, low=self.low)


def trial(rng: random.Random, mean: float, sd: float, *, confirm: int = 2) -> Judged:
    """One trial of a scenario with a true mean. `confirm`: how often a turn with a low score is judged again."""
    shared, own = SHARED_PART * sd, sd * sqrt(1 - 3 * SHARED_PART**2)
    gauss = rng.gauss
    base = mean + gauss(0, shared)
    criteria = [base + gauss(0, shared) for _ in range(CRITERIA)]
    total, low, calls = 0, False, TURNS
    for _ in range(TURNS):
        turn = gauss(0, shared)

        def judged(turn: float = turn) -> list[int]:
            return [
                rng.randint(1, 10) if rng.random() < GLITCH else min(max(round(c + turn + gauss(0, own)), 1), 10)
                for c in criteria
            ]

        scores = judged()
        if confirm and min(scores) < RULE.minimum:
            every = [scores, *(judged() for _ in range(confirm))]
            scores = [median_low(given) for given in zip(*every, strict=True)]
            calls += confirm
        total += sum(scores)
        low = low or min(scores) < RULE.minimum
    return Judged(total=total, low=low, calls=calls)


@dataclass(slots=True)
class Tally:
    """What became of many plays of one scenario."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    trials: int = 0
    calls: int = 0

    @property
    def plays(self) -> int:
        """How many there were."""
        return self.verdicts.total()

    def share(self, verdict: Verdict) -> float:
        """Of the plays that ended so."""
        return self.verdicts[verdict] / self.plays


Policy = Callable[[random.Random, float, float], tuple[Verdict, int, int]]
"""How a scenario of a true mean and sd is played: its verdict, trials, judge calls."""


def evidence(rule: EvidenceRule) -> Policy:
    """As a run plays it: another trial until the rule decides."""

    def play(rng: random.Random, mean: float, sd: float) -> tuple[Verdict, int, int]:
        weights: list[Weight] = []
        calls = 0
        while (verdict := decide(weights, rule)) is None:
            found = trial(rng, mean, sd)
            weights.append(found.weight)
            calls += found.calls
        return verdict, len(weights), calls

    return play


def majority(trials: int, *, confirm: int = 2, of: Callable[[Sequence[bool]], bool] | None = None) -> Policy:
    """The common rule: so many trials by the raw rule, and most (or `of` them) must pass."""

    def play(rng: random.Random, mean: float, sd: float) -> tuple[Verdict, int, int]:
        found = [trial(rng, mean, sd, confirm=confirm) for _ in range(trials)]
        passed = [f.weight.passed for f in found]
        holds = of(passed) if of else 2 * sum(passed) > trials
        return Verdict.PASS if holds else Verdict.FAIL, trials, sum(f.calls for f in found)

    return play


def play_many(policy: Policy, mean: float, sd: float, plays: int, seed: int) -> Tally:
    """Play one scenario many times."""
    rng, tally = random.Random(f"{seed}/{mean}/{sd}"), Tally()
    for _ in range(plays):
        verdict, trials, calls = policy(rng, mean, sd)
        tally.verdicts[verdict] += 1
        tally.trials += trials
        tally.calls += calls
    return tally


@dataclass(frozen=True, slots=True)
class Rates:
    """What a policy does to a suite: `red` builds though nothing is wrong, `missed` drops; trials and judge calls of a build."""

    red: float
    missed: float
    trials: float
    calls: float
    dropped: Tally
    by_mean: dict[float, Tally]


def rates(policy: Policy, sd: float, plays: int, *, seed: int = 1) -> Rates:
    """Measure a policy on the healthy suite and on a scenario after the drop."""
    by_mean = {mean: play_many(policy, mean, sd, plays, seed) for mean in HEALTHY}
    dropped = play_many(policy, DROPPED, sd, plays, seed)
    return Rates(
        red=1 - prod((1 - t.share(Verdict.FAIL)) ** EACH for t in by_mean.values()),
        missed=dropped.share(Verdict.PASS),
        trials=EACH * sum(t.trials / t.plays for t in by_mean.values()),
        calls=EACH * sum(t.calls / t.plays for t in by_mean.values()),
        dropped=dropped,
        by_mean=by_mean,
    )


POLICIES: dict[str, Policy] = {
    "one run, raw rule": majority(1, confirm=0),
    "3 of 3 with confirm": majority(3, of=all),
    "majority of 3 with confirm": majority(3),
    "majority of 5 with confirm": majority(5),
    "evidence rule": evidence(EvidenceRule()),
}
FACTS = {
    "one run, raw rule": (0.87, 35, 175, 0.105),
    "3 of 3 with confirm": (0.82, 105, 535, 0.001),
    "majority of 3 with confirm": (0.13, 105, 535, 0.036),
    "majority of 5 with confirm": (0.041, 175, 891, 0.013),
    "evidence rule": (0.033, 40, 202, 0.011),
}
"""What was measured when the rule was designed, at sd .75: red builds, trials, judge calls, missed drops."""
