"""The judge chain: judges in order, what gates, and the outcome of a trial from their judgements.

The chain knows judges by their Protocol only. A judge that raises becomes a judgement of status
error; money running out is not a judge's fault and passes through.
"""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalrun.config import Gate
from evalrun.errors import BudgetReached, EvalrunError, JudgeBroken
from evalrun.interfaces.judges import Case, Judge
from evalrun.results import Judgement, JudgementStatus
from evalrun.style import Severity
from evalrun.usage import ModelName
from evalrun.verdict import Outcome, outcome_of

_FAMILY = re.compile("[a-z]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The outcome of a judged trial. `fact`: code alone decided it, no score was weighed."""

    outcome: Outcome
    fact: bool
    code: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChain:
    """Judges in the order of the settings, and whether each model judge gates."""

    judges: tuple[Judge, ...]
    gates: Mapping[str, bool]

    def watch(self, case: Case) -> Judgement | None:
        """The first judgement that must stop the conversation here, or None. No model is asked.

        Raises JudgeBroken when a judge raises: going on without it would hide what it looks for.
        """
        for judge in self.judges:
            if not judge.deterministic:
                continue
            judgement = _watching(judge, case)
            if judgement is not None and judgement.outcome in (Outcome.FAIL, Outcome.ERROR):
                return judgement
        return None

    async def judge(self, case: Case) -> tuple[Judgement, ...]:
        """All judgements of a finished conversation, each judge seeing the earlier ones.

        Raises BudgetReached when a judge's call would pass the cap.
        """
        said: list[Judgement] = []
        for judge in self.judges:
            started = time.monotonic()
            judgement = await _asked(judge, replace(case, earlier=tuple(said)))
            said.append(
                replace(
                    judgement,
                    deterministic=judge.deterministic,
                    gates=judge.deterministic or self.gates.get(judge.name, False),
                    seconds=round(time.monotonic() - started, 3),
                )
            )
        return tuple(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a model judge was measured to be worth on the rubrics it is used for, in words.

    `measured` is False when nobody has, or when it has changed since.
    """

    measured: bool = False
    earned: bool = False
    line: str = "not calibrated on labelled turns"


def may_gate(gate: Gate, standing: Standing) -> tuple[bool, str]:
    """Whether a model judge gates under a setting, and why."""
    if gate is Gate.ALWAYS:
        known = f"vouched for; measured: {standing.line}" if standing.measured else "vouched for, not measured"
        return True, f"gates because judge.gate is always ({known})"
    if gate is Gate.NEVER:
        return False, "is advisory: judge.gate is never"
    if standing.earned:
        return True, f"gates because it has earned it ({standing.line})"
    return False, f"is advisory: it has not earned a gate ({standing.line})"


def akin(judge: ModelName, agent: ModelName) -> str:
    """The family that two models share ("gpt", "claude"), "" when they share none that can be told by their names."""
    one, other = (_FAMILY.match(m.model.rpartition("/")[2].casefold()) for m in (judge, agent))
    return one[0] if one is not None and other is not None and one[0] == other[0] else ""


def _watching(judge: Judge, case: Case) -> Judgement | None:
    try:
        return judge.watch(case)
    except EvalrunError:
        raise
    except (Exception, SystemExit) as e:
        raise JudgeBroken(_told(judge, e), remedy=f"correct watch() of judge {judge.name}") from e


async def _asked(judge: Judge, case: Case) -> Judgement:
    try:
        return await judge.judge(case)
    except BudgetReached:
        raise
    except EvalrunError as e:
        return _broken(judge, e.reason, str(e))
    except (Exception, SystemExit) as e:  # noqa: BLE001  one broken judge must not take the trial down
        return _broken(judge, JudgeBroken.reason, _told(judge, e))


def _told(judge: Judge, error: BaseException) -> str:
    """What it raised, and the line that did."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"{judge.name} raised {type(error).__name__}: {error} ({at.filename.rpartition('/')[2]}:{at.lineno})"


def _broken(judge: Judge, code: str, reason: str) -> Judgement:
    return Judgement(judge=judge.name, version=judge.version, status=JudgementStatus.ERROR, code=code, reason=reason)


def rule(judgements: Sequence[Judgement]) -> Ruling:
    """The outcome of a trial: only judgements that gate count, and nothing evaluated is never a pass."""
    counted = [j for j in judgements if j.gates and j.status is not JudgementStatus.SKIPPED]
    if not counted:
        return Ruling(
            outcome=Outcome.ERROR,
            fact=True,
            code="nothing_evaluated",
            reason="no judge that gates evaluated anything",
        )
    outcome = outcome_of(j.outcome for j in counted)
    decisive = [j for j in counted if j.outcome is outcome]
    if outcome is Outcome.PASS:
        return Ruling(outcome=outcome, fact=False, code="pass", reason=_praise(counted))
    first = decisive[0]
    return Ruling(outcome=outcome, fact=_is_fact(first), code=first.code or first.judge, reason=first.reason)


def _is_fact(judgement: Judgement) -> bool:
    hard = any(f.severity is Severity.HARD for f in judgement.findings)
    critical = any(c.violated and c.critical for c in judgement.checks)
    return judgement.deterministic or hard or bool(judgement.unmet) or critical


def _praise(counted: Sequence[Judgement]) -> str:
    reasons = [j.reason for j in counted if j.reason]
    return "; ".join(reasons) or "all that gates holds"
