"""The evidence rule: when the trials of a scenario say pass, fail or unstable, and when another must be played.

A single trial is the minimum and the mean of a score of noisy numbers; the rule adds up how far
trials lie from the limit and stops as soon as the sum is clear. Exact arithmetic; the error rates
are held by a simulation in the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from evalrun.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRule:
    """`clear` is A: how far the margins must sum from 0 (score points). `most` is K, `least` the fewest trials for a pass.

    `exactly` so many trials instead, 0 for as many as it takes. One trial exactly is the plain rule.
    """

    clear: Decimal = Decimal("0.5")
    most: int = 5
    least: int = 1
    exactly: int = 0

    @property
    def at_first(self) -> int:
        """Trials that are played whatever they say."""
        return self.exactly or self.least

    @property
    def at_most(self) -> int:
        """Trials after which nothing more is played."""
        return self.exactly or max(self.most, self.least)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """What one judged trial weighs: its `margin`, mean minus the mean that passes, and whether it was `low`.

    `margin` is None where no score gates. `low`: a score under the floor or a violation that is not
    critical, confirmed. `certain`: nothing but code decided, so that a pass is no matter of noise.
    """

    passed: bool
    margin: Fraction | None = None
    low: bool = False
    certain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What trials add up to: S, the sum of margins, and B, how many were low."""

    trials: int
    sum: Fraction
    low: int


def gathered(weights: Sequence[Weight], rule: EvidenceRule) -> Evidence:
    """The evidence in some trials.

    Where no score gates, a clean trial counts A when code alone decided and half of it when a model
    said no more than pass: two clean trials more than bad ones are needed then.
    """
    return Evidence(
        trials=len(weights), sum=sum((_margin(w, rule) for w in weights), Fraction(0)), low=sum(w.low for w in weights)
    )


def _margin(weight: Weight, rule: EvidenceRule) -> Fraction:
    if weight.margin is not None:
        return weight.margin
    clear = Fraction(rule.clear)
    if weight.certain:
        return clear
    return clear / 2 if weight.passed else Fraction(0)


def decide(weights: Sequence[Weight], rule: EvidenceRule) -> Verdict | None:
    """The verdict of judged trials without a failed fact among them; None: play another.

    Fail when two were low, or S ≤ -A in two or more. Pass when none was low, S ≥ A and there are at
    least `least`. Unstable at the last trial, or when one was low among three or more that are clear
    otherwise. With `exactly`, only what can no longer change is said before the last.
    """
    of = gathered(weights, rule)
    if rule.exactly == 1:
        return _plain(weights)
    if of.low >= 2:
        return Verdict.FAIL
    if of.trials >= 2 and of.sum <= -Fraction(rule.clear):
        decided = Verdict.FAIL
    elif of.low == 0 and of.sum >= Fraction(rule.clear) and of.trials >= rule.at_first:
        decided = Verdict.PASS
    elif of.trials >= rule.at_most or (of.low == 1 and of.trials >= 3 and of.sum >= Fraction(rule.clear)):
        decided = Verdict.UNSTABLE
    else:
        return None
    return decided if of.trials >= rule.exactly else None


def _plain(weights: Sequence[Weight]) -> Verdict | None:
    """The rule of one run; should there be more after all, they must agree."""
    passed = {w.passed for w in weights}
    if len(passed) != 1:
        return Verdict.UNSTABLE if passed else None
    return Verdict.PASS if True in passed else Verdict.FAIL


def distance(weights: Sequence[Weight], rule: EvidenceRule) -> Fraction:
    """How far a scenario is from its decision, in score points: those nearest are played again first."""
    of = gathered(weights, rule)
    return abs(Fraction(rule.clear) - of.sum) + 2 * of.low * Fraction(rule.clear)
