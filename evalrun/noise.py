"""How noisy a suite is, from trials that were repeated: the sd of a trial's mean, and what follows for its verdicts.

Repeats are trials of one scenario under one ruler and one key: nothing that shapes a result differs.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import prod, sqrt
from statistics import fmean

from evalrun.comparison import scored_trials, scoring
from evalrun.deciding import weight_of
from evalrun.evidence import EvidenceRule, Weight, decide
from evalrun.results import RunResult, TrialResult
from evalrun.statistics import SEED, pooled_variance, upper_variance
from evalrun.verdict import Verdict

FREEDOM_ENOUGH = 30
"""Degrees of freedom under which the upper bound of the variance is used."""
FACTOR, LEAST_CLEAR, MOST_CLEAR = 2.94, 0.3, 1.0
"""A = clamp(2.94·s², 0.3, 1.0), of the simulations behind the evidence rule."""
PLAYS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """One scenario as it was played: the margin of each trial, and how many of them were low."""

    scenario: str
    margins: tuple[Fraction, ...]
    low: int

    @property
    def margin(self) -> float:
        """The mean margin."""
        return float(sum(self.margins) / len(self.margins))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """How trials scatter: the `sd` of their means, and the share of them that is low for no lasting reason."""

    sd: float
    low_share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What repeats say. `sd` is of a trial's mean in score points, its upper bound where `bounded`.

    `clear` is the A that fits, `by_luck` the chance that a build is red though nothing is wrong with
    the rule in force, `close` the scenarios within one sd of the limit: they cannot be stable.
    """

    sd: float
    bounded: bool
    freedom: int
    scenarios: int
    clear: Decimal
    by_luck: float
    low_share: float
    close: tuple[Repeated, ...]
    groups: tuple[Repeated, ...]


def repeated(runs: Iterable[RunResult]) -> tuple[Repeated, ...]:
    """Trials with scores by scenario, ruler and key; of each scenario the newest such group. Runs come newest first."""
    found: dict[str, dict[tuple[str, str], list[TrialResult]]] = {}
    for run in runs:
        for scenario in run.scenarios:
            for trial in scored_trials(scenario):
                judgement = scoring(trial)
                ruler = judgement.ruler.fingerprint if judgement and judgement.ruler else ""
                found.setdefault(scenario.id, {}).setdefault((ruler, trial.key), []).append(trial)
    return tuple(_group(name, groups) for name, groups in sorted(found.items()))


def _group(name: str, groups: dict[tuple[str, str], list[TrialResult]]) -> Repeated:
    """The newest group with repeats, else the newest."""
    trials = next((g for g in groups.values() if len(g) > 1), next(iter(groups.values())))
    margins, low = [], 0
    for trial in trials:
        judgement = scoring(trial)
        if judgement is not None and judgement.marks is not None:
            margins.append(judgement.marks.mean - Fraction(judgement.marks.rule_mean))
            low += weight_of(trial).low or judgement.marks.lowest < judgement.marks.rule_minimum
    return Repeated(scenario=name, margins=tuple(margins), low=low)


def measure(groups: Sequence[Repeated], rule: EvidenceRule) -> Noise | None:
    """The noise of a suite under a rule; None when no scenario was repeated."""
    pooled = pooled_variance([[float(m) for m in g.margins] for g in groups])
    if pooled is None:
        return None
    variance, freedom = pooled
    bounded = freedom < FREEDOM_ENOUGH
    if bounded:
        variance = upper_variance(variance, freedom)
    sd = sqrt(variance)
    trials = sum(len(g.margins) for g in groups if g.margin >= 0)
    low_share = sum(g.low for g in groups if g.margin >= 0) / trials if trials else 0.0
    return Noise(
        sd=sd,
        bounded=bounded,
        freedom=freedom,
        scenarios=sum(len(g.margins) > 1 for g in groups),
        clear=fitting(variance),
        by_luck=1
        - prod(1 - failing(g.margin, Scatter(sd=sd, low_share=low_share), rule) for g in groups if g.margin >= 0),
        low_share=low_share,
        close=tuple(sorted((g for g in groups if abs(g.margin) < sd), key=lambda g: g.margin)),
        groups=tuple(groups),
    )


def fitting(variance: float) -> Decimal:
    """The A for a variance of trial means, to two digits."""
    return Decimal(f"{min(max(FACTOR * variance, LEAST_CLEAR), MOST_CLEAR):.2f}")


def failing(margin: float, scatter: Scatter, rule: EvidenceRule) -> float:
    """How often a scenario of a true margin ends as a fail, by simulation with a fixed seed."""
    return fmean(v is Verdict.FAIL for v in simulated(margin, scatter, rule, PLAYS))


def simulated(margin: float, scatter: Scatter, rule: EvidenceRule, plays: int, seed: int = SEED) -> Iterator[Verdict]:
    """The verdicts of so many plays of a scenario whose trials scatter around a true margin."""
    rng = random.Random(f"{seed}/{margin:.6f}")  # noqa: S311  a simulation, nothing secret
    for _ in range(plays):
        weights: list[Weight] = []
        while (verdict := decide(weights, rule)) is None:
            drawn = Fraction(round(rng.gauss(margin, scatter.sd) * 1000), 1000)
            low = rng.random() < scatter.low_share
            weights.append(Weight(passed=drawn >= 0 and not low, margin=drawn, low=low))
        yield verdict
