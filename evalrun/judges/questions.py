"""Which questions a trial's judge is asked: turn by turn, or once for the conversation where a rubric says so."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from evalrun.interfaces.judges import Case
from evalrun.judges.answers import read_check, read_scores
from evalrun.judges.asking import Question
from evalrun.judges.prompts import check_messages, check_schema, score_messages, score_schema
from evalrun.judges.transcript_data import fresh_mark, spoken
from evalrun.judges.tripwires import signs_in
from evalrun.rubric import Criterion, Rubric, RubricKind, Scope
from evalrun.style import Finding, Severity
from evalrun.transcript import Transcript, Turn


def questions_of(case: Case) -> list[Question]:
    """All questions of a trial: those of the rubric first, then those of each check."""
    mark = fresh_mark()
    scored = [case.rubric] if case.rubric else []
    return [question_of(case, r, at, mark) for r in (*scored, *case.checks) for at in looks(case.transcript, r)]


def question_of(case: Case, rubric: Rubric, at: int, mark: str) -> Question:
    """The question of a rubric or a check about one turn, or (0) the whole conversation."""
    return _scored(case, rubric, at, mark) if rubric.kind is RubricKind.SCORED else _check(case, rubric, at, mark)


def asked_again(case: Case, question: Question, time: int) -> Question:
    """The same question once more (`time` counts from 1): criteria in another order, under a fresh mark."""
    rubric = replace(question.rubric, criteria=reordered(question.rubric.criteria, time))
    return question_of(case, rubric, question.turn, fresh_mark())


def reordered(criteria: tuple[Criterion, ...], time: int) -> tuple[Criterion, ...]:
    """Another order for each time: backwards, then turned by half, then both."""
    half = len(criteria) // 2 if time % 4 in (2, 3) else 0
    turned = criteria[half:] + criteria[:half]
    return turned[::-1] if time % 2 else turned


def looks(transcript: Transcript, rubric: Rubric) -> list[int]:
    """The numbers of the turns to look at; [0] for the conversation; nothing when none is concerned."""
    concerned = [t.number for t in transcript.agent_turns if _concerns(rubric.only_when, t)]
    if rubric.scope is Scope.CONVERSATION:
        return [0] if concerned else []
    return concerned


def looked_at(transcript: Transcript, at: int) -> tuple[Turn, ...]:
    """The turns a question is about: one, or (0) all."""
    return tuple(t for t in transcript.turns if at in (0, t.number))


def _concerns(only_when: str, turn: Turn) -> bool:
    return not only_when or any(re.search(only_when, b.text) for b in turn.said)


def turns_up_to(transcript: Transcript, at: int) -> tuple[Turn, ...]:
    """The turns a judge is shown: those up to the one it is asked about, or (0) all."""
    return tuple(t for t in transcript.turns if not at or t.number <= at)


def _facts(case: Case, at: int) -> list[Finding]:
    """What code measured: soft findings, and signs that a turn speaks to the judge."""
    soft = [f for j in case.earlier for f in j.findings if f.severity is Severity.SOFT]
    return [f for f in soft if not at or f.turn in (0, at)] + _signs(case, at)


def _signs(case: Case, at: int) -> list[Finding]:
    return [
        Finding(
            rule="speaks_to_the_judge",
            severity=Severity.SOFT,
            message=f"what stands in this turn looks made for the judge, not for the user: {', '.join(signs)}",
            turn=t.number,
        )
        for t in turns_up_to(case.transcript, at)
        if (signs := signs_in(t))
    ]


def _scored(case: Case, rubric: Rubric, at: int, mark: str) -> Question:
    criteria = tuple(c.id for c in rubric.criteria)
    return Question(
        rubric=rubric,
        turn=at,
        messages=score_messages(case, rubric, turns_up_to(case.transcript, at), _facts(case, at), mark),
        schema=score_schema(criteria),
        read=partial(read_scores, criteria=criteria),
    )


def _check(case: Case, check: Rubric, at: int, mark: str) -> Question:
    return Question(
        rubric=check,
        turn=at,
        messages=check_messages(case, check, turns_up_to(case.transcript, at), _signs(case, at), mark),
        schema=check_schema(),
        read=partial(read_check, words=spoken(looked_at(case.transcript, at))),
    )
