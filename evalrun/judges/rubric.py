"""Tier 3: the model judge, which scores agent turns under a rubric and asks adversarial checks.

The model weighs, code decides: pass or fail is arithmetic on the integers it gave. It is not
asked at all when code has already failed the trial. All questions of a trial are asked side by
side; one that gets no usable answer makes the judgement an error, never a score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from evalrun.interfaces.judges import Case, JudgeSetup
from evalrun.interfaces.models import ModelEndpoint
from evalrun.judges.answers import PARSER_VERSION
from evalrun.judges.asking import Asked, Question, ask
from evalrun.judges.questions import questions_of
from evalrun.judges.weighing import checks_of, doubts, reason_of, ruler_of, scores_of
from evalrun.results import Judgement, JudgementStatus
from evalrun.rubric import PassRule
from evalrun.verdict import Outcome, weigh


class RubricJudge:
    """The judge of rubrics and checks (see `interfaces.judges.Judge`)."""

    name = "rubric"
    version = f"1.{PARSER_VERSION}"
    deterministic = False

    def __init__(self, setup: JudgeSetup) -> None:
        self._limit = setup.max_output_tokens

    def watch(self, case: Case) -> Judgement | None:
        """Nothing: no model is asked while the conversation goes on."""
        del case
        return None

    async def judge(self, case: Case) -> Judgement:
        """Scores and check answers of a finished conversation. Raises BudgetReached."""
        early = self._without_asking(case)
        if early is not None:
            return early
        if case.model is None:
            return self._said(JudgementStatus.ERROR, "no_model", "no judge model is set")
        questions = questions_of(case)
        if not questions:
            return self._said(JudgementStatus.SKIPPED, "not_asked", "not asked: no turn is one that a check is about")
        asked = await _side_by_side(case.model, questions, self._limit)
        return self._weighed(case, asked)

    def _without_asking(self, case: Case) -> Judgement | None:
        """The judgement that needs no model, where there is one."""
        failed = [j for j in case.earlier if j.deterministic and j.outcome in (Outcome.FAIL, Outcome.ERROR)]
        turns = case.transcript.turns
        why = ""
        if failed:
            why = f"{failed[0].judge} had already decided ({failed[0].reason})"
        elif case.rubric is None and not case.checks:
            why = "the scenario names no rubric and no check"
        elif turns and all(t.silence_expected for t in turns):
            why = "silence was expected in every turn"
        if why:
            return self._said(JudgementStatus.SKIPPED, "not_asked", f"not asked: {why}")
        if not case.transcript.agent_turns:
            return self._said(JudgementStatus.ERROR, "nothing_to_judge", "the agent said nothing and called no tool")
        if case.rubric is not None and not case.rubric.criteria:
            return self._said(JudgementStatus.ERROR, "no_criteria", f"rubric {case.rubric.id} has no criteria")
        return None

    def _weighed(self, case: Case, asked: Sequence[Asked]) -> Judgement:
        failed = next((a for a in asked if a.code), None)
        scores = scores_of(asked) if failed is None else ()
        checks = checks_of(asked) if failed is None else ()
        marks = weigh(scores, case.rubric.passing if case.rubric else PassRule())
        if failed is None:
            code, reason = reason_of(marks, checks)
        else:
            code, reason = failed.code, f"{failed.question.about}: {failed.reason}"
        return Judgement(
            judge=self.name,
            version=self.version,
            status=JudgementStatus.OK if failed is None else JudgementStatus.ERROR,
            scores=scores,
            checks=checks,
            marks=marks,
            code=code,
            reason=reason,
            warnings=doubts(case, asked),
            ruler=ruler_of(case, asked, self.version),
        )

    def _said(self, status: JudgementStatus, code: str, reason: str) -> Judgement:
        return Judgement(judge=self.name, version=self.version, status=status, code=code, reason=reason)


async def _side_by_side(model: ModelEndpoint, questions: Sequence[Question], limit: int) -> tuple[Asked, ...]:
    """Ask all at once. Raises BudgetReached once the calls that were paid for have ended."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(model, q, limit)) for q in questions]
    asked = tuple(t.result() for t in tasks)
    for a in asked:
        if a.budget is not None:
            raise a.budget
    return asked
