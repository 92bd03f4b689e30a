"""From stored numbers to a pass or a fail: the arithmetic of a trial, a scenario and a run.

No model is asked anything here, and no default passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from evalrun.rubric import PassRule


class Outcome(StrEnum):
    """What became of one trial."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    INVALID = "invalid"
    NOT_RUN = "not_run"


class Verdict(StrEnum):
    """What is said of a scenario, from its trials."""

    PASS = "pass"
    FAIL = "fail"
    UNSTABLE = "unstable"
    ERROR = "error"
    INVALID = "invalid"
    NOT_RUN = "not_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One integer from 1 to 10 for one criterion of one turn (turn 0: the whole conversation).

    `given`: all answers in the order asked, where the turn was judged again; `value` is their median.
    """

    turn: int
    criterion: str
    value: int
    reason: str = ""
    quote: str = ""
    given: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer:
    """One answer to an adversarial check of one turn. `violated` only with a quote that code found.

    `given`: all answers in the order asked, where the check was asked again; most of them decide.
    """

    check: str
    turn: int
    violated: bool
    critical: bool = False
    quote: str = ""
    reason: str = ""
    given: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The pass arithmetic of a trial: `total` over `count` scores against the rule.

    `why` holds one readable sentence for each part of the rule that failed.
    """

    total: int
    count: int
    lowest: int
    rule_mean: str
    rule_minimum: int
    passed: bool
    why: tuple[str, ...] = ()

    @property
    def mean(self) -> Fraction:
        """The exact mean; `count` is never 0 (see `weigh`)."""
        return Fraction(self.total, self.count)


def shown(value: Fraction, against: Decimal) -> str:
    """A mean with as many digits as it takes to see which side of `against` it is on (2 to 6)."""
    limit = Fraction(against)
    for digits in range(2, 7):
        text = f"{float(value):.{digits}f}"
        if (Fraction(text) < limit) == (value < limit):
            return text
    return f"{value.numerator}/{value.denominator}"


def weigh(scores: Sequence[Score], rule: PassRule) -> Marks | None:
    """Whether the scores of a trial pass: mean at least `rule.mean` and none under `rule.minimum`.

    Exact arithmetic. None when there is no score, because nothing evaluated is never a pass.
    """
    if not scores:
        return None
    values = [s.value for s in scores]
    total, count, lowest = sum(values), len(values), min(values)
    mean = Fraction(total, count)
    why = []
    low = [s for s in scores if s.value < rule.minimum]
    if low:
        first = min(low, key=lambda s: (s.value, s.turn))
        at = f" at turn {first.turn}" if first.turn else ""
        more = f", and {len(low) - 1} more" if len(low) > 1 else ""
        why.append(f"{first.criterion} {first.value}{at} is under the floor of {rule.minimum}{more}")
    if mean < Fraction(rule.mean):
        why.append(f"mean {shown(mean, rule.mean)} is under {rule.mean}")
    return Marks(
        total=total,
        count=count,
        lowest=lowest,
        rule_mean=str(rule.mean),
        rule_minimum=rule.minimum,
        passed=not why,
        why=tuple(why),
    )


def outcome_of(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome that stands when several apply: invalid > error > fail > pass > not_run.

    Of nothing at all: error.
    """
    found = set(outcomes)
    for outcome in (Outcome.INVALID, Outcome.ERROR, Outcome.FAIL, Outcome.PASS, Outcome.NOT_RUN):
        if outcome in found:
            return outcome
    return Outcome.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why a run stopped before its end: `signal` is 2 or 15 when interrupted, `budget` when the cap was reached."""

    signal: int = 0
    budget: bool = False


def exit_code(verdicts: Sequence[Verdict], *, stop: Stop, selected: int, unstable_fails: bool = False) -> int:
    """The exit code of a run; the first that applies of 130/143, 1, 3, 4, 0 (design, section 7).

    `selected` is how many scenarios were chosen: verdicts missing of them are never a success.
    """
    found = set(verdicts)
    if stop.signal:
        return 128 + stop.signal
    if Verdict.FAIL in found or (unstable_fails and Verdict.UNSTABLE in found):
        return 1
    if found & {Verdict.ERROR, Verdict.INVALID}:
        return 3
    if stop.budget:
        return 4
    if Verdict.NOT_RUN in found or len(verdicts) < selected:
        return 3
    return 0
