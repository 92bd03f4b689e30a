"""Tier 3: the model judge, which scores agent turns under a rubric and asks adversarial checks.

The model weighs, code decides: pass or fail is arithmetic on the integers it gave. It is not
asked at all when code has already failed the trial. All questions of a trial are asked side by
side; one that gets no usable answer makes the judgement an error, never a score. A low score or
a violation is asked about again before it counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from evalrun.interfaces.judges import Case, JudgeSetup
from evalrun.judges.answers import PARSER_VERSION
from evalrun.judges.asking import Asked, AskOne, Question, ask
from evalrun.judges.canaries import Watch, silenced
from evalrun.judges.confirming import confirmed, wants_confirming
from evalrun.judges.prompts import prompt_hash
from evalrun.judges.questions import asked_again, questions_of
from evalrun.judges.weighing import checks_of, doubts, guarded, reason_of, ruler_of, scores_of
from evalrun.results import Judgement, JudgementStatus
from evalrun.rubric import PassRule
from evalrun.verdict import Outcome, weigh


class RubricJudge:
    """The judge of rubrics and checks (see `interfaces.judges.Judge`)."""

    name = "rubric"
    version = f"1.{PARSER_VERSION}"
    deterministic = False
    prompts = prompt_hash()
    """Another one is another judge: what was measured of the old one says nothing of it."""

    def __init__(self, setup: JudgeSetup) -> None:
        self._limit = setup.max_output_tokens
        self._confirm = setup.confirm
        self._watch = Watch() if setup.canaries else None
        self._names: dict[str, None] = {}

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
        ask_one = partial(ask, case.model, limit=self._limit)
        async with asyncio.TaskGroup() as group:
            looking = group.create_task(self._canaries(case, ask_one))
            answering = group.create_task(_side_by_side(ask_one, questions))
        asked, canaries = answering.result(), looking.result()
        if self._confirm and not canaries:
            asked = await self._confirmed(case, asked, ask_one)
        for a in (*asked, *canaries):
            if a.budget is not None:
                raise a.budget
        return self._weighed(case, asked, canaries)

    async def _canaries(self, case: Case, ask_one: AskOne) -> Sequence[Asked]:
        return await self._watch.look(case, ask_one) if self._watch is not None else ()

    async def _confirmed(self, case: Case, asked: Sequence[Asked], ask_one: AskOne) -> Sequence[Asked]:
        """The answers, those that count against the agent asked for again."""
        doubted = [a for a in asked if wants_confirming(a)]
        times = range(1, self._confirm + 1)
        again = await _side_by_side(ask_one, [asked_again(case, a.question, t) for a in doubted for t in times])
        of = {id(a): again[i * self._confirm : (i + 1) * self._confirm] for i, a in enumerate(doubted)}
        return [confirmed(a, of[id(a)]) if id(a) in of else a for a in asked]

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

    def _weighed(self, case: Case, asked: Sequence[Asked], canaries: Sequence[Asked]) -> Judgement:
        asked = [guarded(case, a) for a in asked]
        broken = [silenced(c) for c in canaries] + [a.located() for a in asked if a.code]
        failed = broken[0] if broken else None
        scores = scores_of(asked) if failed is None else ()
        checks = checks_of(asked) if failed is None else ()
        marks = weigh(scores, case.rubric.passing if case.rubric else PassRule())
        if failed is None:
            code, reason = reason_of(marks, checks)
        else:
            code, reason = failed.code, failed.reason
        return Judgement(
            judge=self.name,
            version=self.version,
            status=JudgementStatus.OK if failed is None else JudgementStatus.ERROR,
            scores=scores,
            checks=checks,
            marks=marks,
            code=code,
            reason=reason,
            warnings=doubts(case, asked) + self._changed(asked),
            ruler=ruler_of(case, asked, self.version, confirm=self._confirm),
        )

    def _changed(self, asked: Sequence[Asked]) -> tuple[str, ...]:
        """A warning once another model has answered than the one that answered in the run before."""
        before = len(self._names)
        self._names |= {name: None for a in asked for name in a.returned}
        if before and len(self._names) > before:
            return (f"the judge model changed within the run: {', '.join(self._names)}",)
        return ()

    def _said(self, status: JudgementStatus, code: str, reason: str) -> Judgement:
        return Judgement(judge=self.name, version=self.version, status=status, code=code, reason=reason)


async def _side_by_side(ask_one: AskOne, questions: Sequence[Question]) -> Sequence[Asked]:
    """Ask all at once; every answer and every failure is a value."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask_one(q)) for q in questions]
    return [t.result() for t in tasks]
