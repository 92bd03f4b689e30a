"""Tier 1: the deterministic expectations of checkpoints and of the end."""

from __future__ import annotations

from evalrun.expectation import Checkpoint, Unmet
from evalrun.interfaces.judges import Case, JudgeSetup
from evalrun.matching import evaluate
from evalrun.results import Judgement, JudgementStatus
from evalrun.scenario import ExpectStep, Scenario


class Met:
    """The judge of expectations (see `interfaces.judges.Judge`)."""

    name = "expectations"
    version = "1"
    deterministic = True

    def __init__(self, setup: JudgeSetup) -> None:
        self._options = setup.options

    def watch(self, case: Case) -> Judgement | None:
        """The newest checkpoint, when it has just been met."""
        if not case.checkpoints:
            return None
        newest = case.checkpoints[-1]
        if newest.final or newest.turn != len(case.transcript.turns):
            return None
        return self._judgement(case, (newest,))

    async def judge(self, case: Case) -> Judgement:
        """All checkpoints met, the end included."""
        return self._judgement(case, case.checkpoints)

    def _judgement(self, case: Case, checkpoints: tuple[Checkpoint, ...]) -> Judgement:
        wanted = [c for c in checkpoints if c.expectations or c.silence]
        unmet = tuple(u for c in wanted for u in evaluate(c, case.transcript.turns))
        status = JudgementStatus.OK if wanted else JudgementStatus.SKIPPED
        first = next((u for u in unmet if u.broken), unmet[0] if unmet else None)
        code, reason = (_code(unmet), "expectations met") if wanted else _nothing(case.scenario)
        return Judgement(
            judge=self.name,
            version=self.version,
            status=status,
            deterministic=True,
            unmet=unmet,
            code=code,
            reason=describe(first) if first else reason,
        )


def _code(unmet: tuple[Unmet, ...]) -> str:
    if not unmet:
        return "pass"
    return "expectation_broken" if any(u.broken for u in unmet) else "expectation_unmet"


def _nothing(scenario: Scenario) -> tuple[str, str]:
    """Code and sentence for a trial in which no expectation was looked at."""
    if scenario.expect or any(isinstance(s, ExpectStep) for s in scenario.steps):
        return "not_reached", "no expectation was reached: the conversation stopped before"
    return "nothing_expected", "no expectation"


def describe(unmet: Unmet) -> str:
    """An unmet expectation in one sentence, with its place."""
    verb = "cannot be checked" if unmet.broken else "is not met"
    return f"{unmet.path} {verb}: expected {unmet.expected}, got {unmet.got} ({unmet.where})"
