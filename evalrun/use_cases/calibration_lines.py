"""A calibration in lines to be read."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from evalrun.calibration import Answer, CriterionFigures, Figures, Rate


def head_of(model: str, cost: Decimal) -> str:
    """Who was measured, and for how much."""
    return f"judge {model} · ${cost.normalize():f}"


def figures_lines(figures: Figures, answers: Sequence[Answer], *, mistakes: bool) -> list[str]:
    """The figures of one rubric; with `mistakes` also every label the judge is wrong about."""
    wrong = [_mistake(a) for a in answers if a.passed is not a.good] if mistakes else []
    return [*_figures(figures), *wrong]


def _mistake(answer: Answer) -> str:
    said = "gives no usable answer" if answer.passed is None else "passes it" if answer.passed else "fails it"
    return f"    {answer.label} is {'good' if answer.good else 'bad'}, the judge {said}: {answer.reason}"


def _figures(figures: Figures) -> list[str]:
    """The figures of one rubric."""
    kappa = "unknown" if figures.kappa is None else f"{figures.kappa:.2f}"
    if figures.kappa_interval is not None:
        kappa += f" [{figures.kappa_interval[0]:.2f}, {figures.kappa_interval[1]:.2f}]"
    why = figures.why_not
    lines = [
        f"{figures.rubric} · {figures.labels} labels"
        + (f", {figures.unanswered} without a usable answer" if figures.unanswered else ""),
        f"  good turns passed  {_rate(figures.true_positive)}",
        f"  bad turns stopped  {_rate(figures.true_negative)}",
        f"  kappa {kappa} · blocks {figures.false_block:.0%} of good turns",
        *(_criterion(c) for c in figures.criteria),
        *(f"  {pair}: correlated {r:.2f}" for pair, r in figures.alike.items() if abs(r) >= 0.9),
    ]
    if figures.same_again is not None:
        lines.append(f"  same answer again near the threshold  {_rate(figures.same_again)}")
    lines.append(f"  advisory: {'; '.join(why)}" if why else "  has earned to gate")
    return lines


def _rate(rate: Rate) -> str:
    return f"{rate.hits}/{rate.of} [{rate.low:.2f}, {rate.high:.2f}]"


def _criterion(figures: CriterionFigures) -> str:
    kappa = "unknown" if figures.kappa is None else f"{figures.kappa:.2f}"
    return f"  {figures.id}: kappa {kappa}, bias {figures.bias:+.2f}, sd {figures.sd:.2f}"
