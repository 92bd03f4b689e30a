"""What a judge's answers to labelled turns say of the judge, and whether it has earned a gate.

Positive is a pass: the true-positive rate is how many good turns it lets pass, the true-negative
rate how many bad ones it stops. A turn it gave no usable answer to counts against it in both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean, pstdev

from evalrun.rubric import Rubric, RubricKind
from evalrun.statistics import bootstrap, correlation, kappa, wilson

LEAST_BOUND = 0.75
LEAST_KAPPA = 0.6
"""A judge gates when the lower bounds of both rates and its kappa are at least these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a judge said of one labelled turn: None and a reason when it said nothing usable.

    `scores` maps a criterion to (the person's, the judge's). `again`: whether it passed the turn
    each further time it was asked.
    """

    label: str
    good: bool
    passed: bool | None
    scores: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    again: tuple[bool | None, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """So many of so many, with its 95 % interval."""

    hits: int
    of: int
    low: float
    high: float

    @classmethod
    def made(cls, hits: int, of: int) -> Rate:
        """With Wilson's interval."""
        low, high = wilson(hits, of)
        return cls(hits=hits, of=of, low=low, high=high)

    @property
    def share(self) -> float:
        """The point; 0 of nothing."""
        return self.hits / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionFigures:
    """One criterion: the judge's mean difference from the person, its sd, and weighted kappa."""

    id: str
    bias: float
    sd: float
    kappa: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How a judge did on one rubric's labels. `alike` maps two criteria to the correlation of the judge's scores."""

    rubric: str
    labels: int
    unanswered: int
    true_positive: Rate
    true_negative: Rate
    kappa: float | None
    kappa_interval: tuple[float, float] | None
    criteria: tuple[CriterionFigures, ...] = ()
    alike: Mapping[str, float] = field(default_factory=dict)
    same_again: Rate | None = None

    @property
    def false_block(self) -> float:
        """The share of good turns that it fails."""
        return 1 - self.true_positive.share

    @property
    def why_not(self) -> tuple[str, ...]:
        """What is missing for a gate; nothing when it is earned."""
        found = []
        if self.true_positive.low < LEAST_BOUND:
            found.append(f"true-positive rate {_bound(self.true_positive)}")
        if self.true_negative.low < LEAST_BOUND:
            found.append(f"true-negative rate {_bound(self.true_negative)}")
        if self.kappa is None or self.kappa < LEAST_KAPPA:
            found.append(f"kappa {'unknown' if self.kappa is None else f'{self.kappa:.2f}'}, {LEAST_KAPPA} is needed")
        return tuple(found)


def figures_of(rubric: Rubric, answers: Sequence[Answer]) -> Figures:
    """The figures of a judge on one rubric."""
    good = [a for a in answers if a.good]
    bad = [a for a in answers if not a.good]
    scored = rubric.kind is RubricKind.SCORED
    units = [_pairs(a, scored=scored) for a in answers if a.passed is not None]
    repeated = [a for a in answers if a.again]
    return Figures(
        rubric=rubric.id,
        labels=len(answers),
        unanswered=sum(a.passed is None for a in answers),
        true_positive=Rate.made(sum(a.passed is True for a in good), len(good)),
        true_negative=Rate.made(sum(a.passed is False for a in bad), len(bad)),
        kappa=kappa([p for unit in units for p in unit]),
        # turns are drawn, not scores: the scores of one turn hang together
        kappa_interval=bootstrap(units, lambda drawn: kappa([p for unit in drawn for p in unit])),
        criteria=tuple(_criterion(c.id, answers) for c in rubric.criteria) if scored else (),
        alike=_alike([c.id for c in rubric.criteria], answers),
        same_again=Rate.made(sum(set(a.again) == {a.passed} for a in repeated), len(repeated)) if repeated else None,
    )


def near_the_threshold(rubric: Rubric, answer: Answer) -> bool:
    """Whether a turn's own scores lie within one point of the mean that passes, or one at the floor."""
    given = [judge for _, judge in answer.scores.values()]
    if not given:
        return answer.passed is not None
    floor = rubric.passing.minimum
    return abs(fmean(given) - float(rubric.passing.mean)) <= 1 or min(given) in (floor - 1, floor)


def _pairs(answer: Answer, *, scored: bool) -> tuple[tuple[int, int], ...]:
    return tuple(answer.scores.values()) if scored else ((int(answer.good), int(answer.passed is True)),)


def _criterion(name: str, answers: Sequence[Answer]) -> CriterionFigures:
    pairs = [a.scores[name] for a in answers if name in a.scores]
    differences = [judge - person for person, judge in pairs]
    return CriterionFigures(
        id=name,
        bias=fmean(differences) if differences else 0.0,
        sd=pstdev(differences) if differences else 0.0,
        kappa=kappa(pairs),
    )


def _alike(names: Sequence[str], answers: Sequence[Answer]) -> dict[str, float]:
    found = {}
    for one, other in combinations(names, 2):
        pairs = [(a.scores[one][1], a.scores[other][1]) for a in answers if one in a.scores and other in a.scores]
        if (r := correlation(pairs)) is not None:
            found[f"{one}, {other}"] = r
    return found


def _bound(rate: Rate) -> str:
    return f"{rate.hits}/{rate.of}, at least {rate.low:.2f}, {LEAST_BOUND} is needed"
