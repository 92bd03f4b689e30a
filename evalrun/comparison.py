"""Two runs against each other: paired by scenario, per criterion, with intervals and what cannot be compared.

The unit is the scenario: its mean over its trials. Scores of different rulers, of a scenario or a
persona that was rewritten, are never subtracted. Formulas: `statistics`; figures: docs/explanation/compare.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from math import erfc, sqrt
from statistics import fmean

from evalrun.deciding import JUDGED, final
from evalrun.results import Judgement, RunResult, ScenarioResult, TrialResult
from evalrun.statistics import (
    Interval,
    benjamini_hochberg,
    holm,
    paired_interval,
    pooled_variance,
    sign_flip,
    smallest_detectable,
    student_quantile,
)
from evalrun.verdict import Verdict

EQUIVALENT_WITHIN = 0.3
"""Score points that nobody would act on."""
ASSUMED_SD, ASSUMED_SPREAD = 0.35, 0.2
"""Of a trial's mean, and of true differences over scenarios, where nothing was measured."""
FALSE_SHARE = 0.10
"""Of the exploratory list of scenarios (Benjamini-Hochberg)."""
MEAN = "mean"
RESULT_KEYS = {"scenario": "the scenario changed", "persona": "its persona changed"}


class Word(StrEnum):
    """What is said of B against A."""

    BETTER = "BETTER"
    WORSE = "WORSE"
    EQUIVALENT = "EQUIVALENT"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """B minus A of one criterion, or of the mean of all: over how many scenarios, how sure, in score points.

    `p_value` is of the sign-flip test. `detectable` is the smallest difference that so many scenarios
    and trials find four times in five. `at_equal_length`: the same with the length of replies taken out.
    """

    criterion: str
    scenarios: int
    a: float
    b: float
    difference: float
    interval: Interval | None
    p_value: float | None
    detectable: float
    word: Word
    at_equal_length: tuple[float, Interval] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One scenario in both runs. `differences` by criterion, `p_value` where repeats measured the noise."""

    id: str
    a: ScenarioResult
    b: ScenarioResult
    differences: Mapping[str, float] = field(default_factory=dict)
    p_value: float | None = None
    holm: float | None = None
    listed: bool = False

    @property
    def flipped(self) -> bool:
        """Whether the verdict is another one."""
        return self.a.verdict is not self.b.verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """A scenario whose scores cannot be compared, and why."""

    id: str
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Run B against run A. `sd` is that of a trial's mean, `measured` in these runs or assumed.

    `apart` are scenarios in one run only, or measured differently; `caveats` are differences between
    the runs that a reader must know of.
    """

    a: RunResult
    b: RunResult
    differences: tuple[Difference, ...]
    pairs: tuple[Pair, ...]
    apart: tuple[Apart, ...]
    caveats: tuple[str, ...]
    sd: float
    measured: bool
    trials: float

    @property
    def word(self) -> Word:
        """Of the mean over all criteria."""
        return next((d.word for d in self.differences if d.criterion == MEAN), Word.INCONCLUSIVE)

    @property
    def flips(self) -> tuple[Pair, ...]:
        """Scenarios with another verdict, also those whose scores cannot be compared."""
        return tuple(p for p in self.pairs if p.flipped)

    @property
    def cost(self) -> Decimal:
        """What B cost more than A, USD."""
        return self.b.spending.cost - self.a.spending.cost


def compare(a: RunResult, b: RunResult) -> Comparison:
    """Compare run B with run A. Never raises: what cannot be compared is said."""
    of_a, of_b = ({s.id: s for s in run.scenarios} for run in (a, b))
    only = [
        Apart(id=i, why=(f"only in {n}",))
        for n, one, other in (("A", of_a, of_b), ("B", of_b, of_a))
        for i in one
        if i not in other
    ]
    pairs, apart = [], []
    for name in (i for i in of_a if i in of_b):
        why = _unlike(of_a[name], of_b[name])
        if why:
            apart.append(Apart(id=name, why=why))
        differences = {} if why else _differences(of_a[name], of_b[name])
        pairs.append(Pair(id=name, a=of_a[name], b=of_b[name], differences=differences))
    measured = [p for p in pairs if p.differences]
    groups = [[float(m) for m in means_of(s)] for p in measured for s in (p.a, p.b)]
    noise = pooled_variance(groups)
    sd = sqrt(noise[0]) if noise and noise[0] else ASSUMED_SD
    trials = fmean(len(g) for g in groups) if groups else 1.0
    names = dict.fromkeys(c for p in measured for c in p.differences)
    return Comparison(
        a=a,
        b=b,
        differences=tuple(_difference(c, measured, sd, trials) for c in names),
        pairs=tuple(_tested(pairs, sd) if noise and noise[0] else pairs),
        apart=(*apart, *only),
        caveats=tuple(_caveats(a, b, measured)),
        sd=sd,
        measured=bool(noise and noise[0]),
        trials=trials,
    )


def scoring(trial: TrialResult) -> Judgement | None:
    """The judgement with scores of a trial, gating or advisory."""
    return next((j for j in trial.judgements if j.scores and j.marks is not None), None)


def scored_trials(scenario: ScenarioResult) -> list[TrialResult]:
    """The trials that count and have scores."""
    return [t for t in final(scenario.trials) if t.outcome in JUDGED and scoring(t) is not None]


def means_of(scenario: ScenarioResult) -> list[Fraction]:
    """The mean of each trial with scores, over turns and criteria."""
    found = (scoring(t) for t in scored_trials(scenario))
    return [j.marks.mean for j in found if j is not None and j.marks is not None]


def by_criterion(scenario: ScenarioResult) -> dict[str, float]:
    """The mean over trials of each criterion's mean over turns, and of all of them as `mean`. Empty without scores."""
    trials = scored_trials(scenario)
    if not trials:
        return {}
    found: dict[str, list[float]] = {MEAN: [float(m) for m in means_of(scenario)]}
    for trial in trials:
        judgement = scoring(trial)
        scores = judgement.scores if judgement is not None else ()
        for criterion in dict.fromkeys(s.criterion for s in scores):
            found.setdefault(criterion, []).append(fmean(s.value for s in scores if s.criterion == criterion))
    return {c: fmean(values) for c, values in found.items()}


def reply_length(scenario: ScenarioResult) -> float:
    """The mean length of a turn's replies in characters, over the trials with scores."""
    turns = [
        sum(len(b.text) for b in turn.bubbles if not b.retracted)
        for trial in scored_trials(scenario)
        for turn in trial.transcript.turns
        if turn.bubbles
    ]
    return fmean(turns) if turns else 0.0


def _differences(a: ScenarioResult, b: ScenarioResult) -> dict[str, float]:
    of_a, of_b = by_criterion(a), by_criterion(b)
    return {c: of_b[c] - of_a[c] for c in of_a if c in of_b}


def _difference(criterion: str, pairs: Sequence[Pair], sd: float, trials: float) -> Difference:
    kept = [p for p in pairs if criterion in p.differences]
    found = [p.differences[criterion] for p in kept]
    interval = paired_interval(found)
    n = len(found)
    return Difference(
        criterion=criterion,
        scenarios=n,
        a=fmean(by_criterion(p.a)[criterion] for p in kept),
        b=fmean(by_criterion(p.b)[criterion] for p in kept),
        difference=fmean(found),
        interval=interval,
        p_value=sign_flip(found),
        detectable=smallest_detectable(between=ASSUMED_SPREAD, within=sd, trials=max(round(trials), 1), scenarios=n),
        word=word_of(interval),
        at_equal_length=_at_equal_length(kept, found) if criterion == MEAN else None,
    )


def word_of(interval: Interval | None) -> Word:
    """The word for an interval of B minus A: it excludes 0, lies within what nobody would act on, or says too little."""
    if interval is None:
        return Word.INCONCLUSIVE
    low, high = interval
    if low > 0 or high < 0:
        return Word.BETTER if low > 0 else Word.WORSE
    inside = low >= -EQUIVALENT_WITHIN and high <= EQUIVALENT_WITHIN
    return Word.EQUIVALENT if inside else Word.INCONCLUSIVE


def _at_equal_length(pairs: Sequence[Pair], found: Sequence[float]) -> tuple[float, Interval] | None:
    """The difference where replies are as long as before: the intercept of a line over the change in length."""
    lengths = [(reply_length(p.b) - reply_length(p.a)) / 100 for p in pairs]
    n = len(found)
    if n < 4 or len(set(lengths)) < 2:
        return None
    x, y = fmean(lengths), fmean(found)
    squares = sum((v - x) ** 2 for v in lengths)
    slope = sum((v - x) * (d - y) for v, d in zip(lengths, found, strict=True)) / squares
    intercept = y - slope * x
    rest = sum((d - intercept - slope * v) ** 2 for v, d in zip(lengths, found, strict=True)) / (n - 2)
    half = student_quantile(0.975, n - 2) * sqrt(rest * (1 / n + x * x / squares))
    return intercept, (intercept - half, intercept + half)


def _tested(pairs: Sequence[Pair], sd: float) -> Iterable[Pair]:
    """Each pair with its p-value by the measured noise, adjusted for all of them."""
    known = [p for p in pairs if MEAN in p.differences]
    p_values = []
    for p in known:
        error = sd * sqrt(1 / len(means_of(p.a)) + 1 / len(means_of(p.b)))
        p_values.append(erfc(abs(p.differences[MEAN]) / error / sqrt(2)))
    strict, shares = holm(p_values), benjamini_hochberg(p_values)
    at = {p.id: i for i, p in enumerate(known)}
    for p in pairs:
        i = at.get(p.id)
        yield p if i is None else _with(p, p_values[i], strict[i], shares[i])


def _with(pair: Pair, p_value: float, strict: float, share: float) -> Pair:
    return Pair(
        id=pair.id,
        a=pair.a,
        b=pair.b,
        differences=pair.differences,
        p_value=p_value,
        holm=strict,
        listed=share <= FALSE_SHARE,
    )


def _unlike(a: ScenarioResult, b: ScenarioResult) -> tuple[str, ...]:
    """Why the scores of a scenario cannot be subtracted; empty when they can, or when there are none."""
    one, other = scored_trials(a), scored_trials(b)
    if not one or not other:
        missing = [n for n, t in (("A", one), ("B", other)) if not t]
        return () if len(missing) == 2 else (f"no score in {missing[0]}",)
    keys = [_key(t[-1].key) for t in (one, other)]
    why = [said for part, said in RESULT_KEYS.items() if keys[0].get(part) != keys[1].get(part)]
    return (*why, *_ruler_parts(one, other))


def _ruler_parts(one: Sequence[TrialResult], other: Sequence[TrialResult]) -> list[str]:
    """The parts of the ruler that differ, by name."""
    rulers = [[j.ruler for t in trials if (j := scoring(t)) and j.ruler] for trials in (one, other)]
    prints = [{r.fingerprint for r in found} for found in rulers]
    if prints[0] == prints[1] and len(prints[0]) == 1:
        return []
    if not rulers[0] or not rulers[1]:
        return ["the ruler of one is not known"]
    within = [n for n, p in (("A", prints[0]), ("B", prints[1])) if len(p) > 1]
    if within:
        return [f"the ruler changed within {' and '.join(within)}"]
    first, second = rulers[0][0].parts, rulers[1][0].parts
    names = [n for n in dict.fromkeys((*first, *second)) if first.get(n) != second.get(n)]
    return [f"the judge's {n} differs" for n in names]


def _key(text: str) -> dict[str, str]:
    return dict(p.partition("=")[::2] for p in text.split(";"))


def _caveats(a: RunResult, b: RunResult, measured: Sequence[Pair]) -> Iterable[str]:
    for role in ("persona", "judge"):
        one, other = a.header.models.get(role, ""), b.header.models.get(role, "")
        if one != other:
            yield f"the {role} model differs: {one} in A, {other} in B"
    if a.header.target != b.header.target:
        yield f"the target differs: {a.header.target} in A, {b.header.target} in B"
    advisory = any(t.advisory for p in measured for s in (p.a, p.b) for t in s.trials)
    if advisory:
        yield "the judge is advisory: it has not been shown to agree with people"
    for name, run in (("A", a), ("B", b)):
        unjudged = [s.id for s in run.scenarios if s.verdict in (Verdict.ERROR, Verdict.INVALID, Verdict.NOT_RUN)]
        if unjudged:
            yield f"{len(unjudged)} of {len(run.scenarios)} scenarios of {name} have no verdict"
