"""The numbers every report shows, computed once: means, plays, costs that add up.

Means are exact fractions over trials that were judged; a scenario without one has no score,
never 0. The mean of a run is over scenarios, not over turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import starmap

from evalrun.results import Judgement, RunResult, ScenarioResult, TrialResult
from evalrun.usage import Role
from evalrun.verdict import Outcome, Score, Verdict, shown

FEWEST_DIGITS = 3
MOST_DIGITS = 6
NO_SCORE = "no score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One scenario. `averages` is by criterion; `low` are criteria with a score under the floor.

    `decisive` is the trial that shows the verdict, `advice` what an advisory judge would have
    held against it. `mean_text` has as many digits as show which side of the rule it is on.
    """

    scenario: ScenarioResult
    final: tuple[TrialResult, ...]
    decisive: TrialResult | None
    averages: Mapping[str, Fraction]
    low: frozenset[str]
    mean: Fraction | None
    mean_text: str
    advisory: bool
    advice: str
    cost: str

    @property
    def plays(self) -> str:
        """Passed of played, as k/n; invalid trials that were played again are left out."""
        played = [t for t in self.final if t.outcome is not Outcome.NOT_RUN]
        return f"{sum(t.outcome is Outcome.PASS for t in played)}/{len(played)}"

    @property
    def reason(self) -> str:
        """Why it did not pass; of an unstable one also which trial, because the mean shown is over all."""
        verdict = self.scenario.verdict
        if verdict is Verdict.PASS:
            return ""
        which = f"trial {self.decisive.number}: " if verdict is Verdict.UNSTABLE and self.decisive else ""
        return f"{which}{self.scenario.reason}" if self.scenario.reason else ""

    @property
    def seconds(self) -> float:
        """Over all trials."""
        return sum(t.seconds for t in self.scenario.trials)

    @property
    def ending(self) -> str:
        """How the decisive trial ended."""
        trial = self.decisive
        if trial is None or (self.scenario.no_key and not trial.transcript.turns):
            return ""
        return trial.transcript.ending.value.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A run in numbers. Costs are texts that add up: rows to the total, roles to the total."""

    rows: tuple[Row, ...]
    criteria: tuple[str, ...]
    total: str
    by_role: Mapping[Role, str]
    mean: Fraction | None

    @property
    def judged(self) -> int:
        """How many scenarios have a mean."""
        return sum(r.mean is not None for r in self.rows)

    @property
    def advisory(self) -> bool:
        """Whether any score shown does not decide."""
        return any(r.advisory for r in self.rows)

    @property
    def mean_line(self) -> str:
        """`mean 8.0 on 7/10 judged`, or that there is none."""
        if self.mean is None:
            return NO_SCORE
        star = "*" if self.advisory else ""
        return f"mean {float(self.mean):.1f}{star} on {self.judged}/{len(self.rows)} judged"


def figures_of(run: RunResult) -> Figures:
    """The numbers of a run."""
    spent = run.spending
    parts = [s.spending.cost for s in run.scenarios]
    digits = digits_for(parts)
    costs = amounts(parts, digits)
    roles = amounts([spent.of(r).cost for r in Role], digits)
    rows = tuple(starmap(_row, zip(run.scenarios, costs, strict=True)))
    means = [r.mean for r in rows if r.mean is not None]
    return Figures(
        rows=rows,
        criteria=tuple(dict.fromkeys(c for r in rows for c in r.averages)),
        total=amount(spent.cost, digits),
        by_role=dict(zip(Role, roles, strict=True)),
        mean=sum(means, Fraction()) / len(means) if means else None,
    )


def final_trials(scenario: ScenarioResult) -> tuple[TrialResult, ...]:
    """The trials that count: not those that were spoiled and played again."""
    replayed = {t.replays for t in scenario.trials}
    return tuple(t for t in scenario.trials if t.number not in replayed)


def _row(scenario: ScenarioResult, cost: str) -> Row:
    final = final_trials(scenario)
    judged = [t for t in final if t.outcome in (Outcome.PASS, Outcome.FAIL) and t.scores]
    mean = _mean([_trial_mean(t) for t in judged]) if judged else None
    judgements = [j for t in judged for j in t.judgements if j.marks is not None]
    rule = Decimal(judgements[0].marks.rule_mean) if judgements and judgements[0].marks else None
    return Row(
        scenario=scenario,
        final=final,
        decisive=_decisive(scenario.verdict, final),
        averages=_averages(judged),
        low=frozenset(s.criterion for j in judgements for s in under_floor(j)),
        mean=mean,
        mean_text="" if mean is None else shown(mean, rule) if rule is not None else f"{float(mean):.2f}",
        advisory=any(t.advisory for t in judged),
        advice=_advice(final),
        cost=cost,
    )


def under_floor(judgement: Judgement) -> tuple[Score, ...]:
    """The scores under the floor of the rule they were weighed by."""
    marks = judgement.marks
    return tuple(s for s in judgement.scores if marks is not None and s.value < marks.rule_minimum)


def _decisive(verdict: Verdict, final: Sequence[TrialResult]) -> TrialResult | None:
    wanted = Outcome.FAIL if verdict is Verdict.UNSTABLE else Outcome(verdict.value)
    return next((t for t in final if t.outcome is wanted), final[-1] if final else None)


def _trial_mean(trial: TrialResult) -> Fraction:
    marks = next((j.marks for j in trial.judgements if j.marks is not None), None)
    return marks.mean if marks is not None else _mean([Fraction(s.value) for s in trial.scores])


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction()) / len(values)


def _averages(judged: Sequence[TrialResult]) -> dict[str, Fraction]:
    """By criterion: over the turns of a trial first, then over trials."""
    found: dict[str, list[Fraction]] = {}
    for trial in judged:
        own: dict[str, list[Fraction]] = {}
        for score in trial.scores:
            own.setdefault(score.criterion, []).append(Fraction(score.value))
        for criterion, values in own.items():
            found.setdefault(criterion, []).append(_mean(values))
    return {criterion: _mean(values) for criterion, values in found.items()}


def _advice(final: Sequence[TrialResult]) -> str:
    against = (Outcome.FAIL, Outcome.ERROR)
    said = [f"{j.judge}: {j.reason}" for t in final for j in t.judgements if not j.gates and j.outcome in against]
    return "; ".join(dict.fromkeys(said))


def digits_for(values: Sequence[Decimal]) -> int:
    """How many decimals amounts of USD need for the smallest of them to be seen."""
    smallest = min((v for v in values if v), default=Decimal(1))
    return min(max(FEWEST_DIGITS, -smallest.adjusted()), MOST_DIGITS)


def amount(value: Decimal, digits: int) -> str:
    """USD with a fixed number of decimals, half rounded up; 0 is plain 0."""
    return f"{_units(value, digits).scaleb(-digits):.{digits}f}" if value else "0"


def usd(value: Decimal) -> str:
    """One amount by itself, with at least two digits that count: `$0.0057`."""
    digits = min(max(FEWEST_DIGITS, 1 - value.adjusted()), MOST_DIGITS) if value else 0
    return f"${amount(value, digits)}"


def budget(value: Decimal) -> str:
    """A budget as it was set, with two digits at least: `$0.50`, `$0.125`."""
    digits = max(2, -int(value.normalize().as_tuple().exponent))
    return f"${value:.{digits}f}"


def _units(value: Decimal, digits: int) -> Decimal:
    return value.scaleb(digits).quantize(Decimal(1), "ROUND_HALF_UP")


def amounts(values: Sequence[Decimal], digits: int) -> tuple[str, ...]:
    """USD of the parts of a whole, rounded so that what is shown adds up to the whole as shown.

    Largest remainder: all are rounded down, then the largest cut-off parts get one unit more.
    """
    exact = [v.scaleb(digits) for v in values]
    down = [v.quantize(Decimal(1), "ROUND_FLOOR") for v in exact]
    missing = int(_units(sum(values, Decimal()), digits) - sum(down, Decimal()))
    for i in sorted(range(len(values)), key=lambda i: (down[i] - exact[i], i))[:missing]:
        down[i] += 1
    return tuple(f"{d.scaleb(-digits):.{digits}f}" if v else "0" for v, d in zip(values, down, strict=True))
