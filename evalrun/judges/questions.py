"""Which questions a trial's judge is asked: turn by turn, or once for the conversation where a rubric says so."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from functools import partial

from evalrun.interfaces.judges import Case
from evalrun.judges.answers import read_check, read_scores
from evalrun.judges.asking import Question
from evalrun.judges.prompts import check_messages, check_schema, score_messages, score_schema
from evalrun.judges.transcript_data import spoken
from evalrun.rubric import Rubric, Scope
from evalrun.style import Finding, Severity
from evalrun.transcript import Transcript, Turn


def questions_of(case: Case) -> list[Question]:
    """All questions of a trial: those of the rubric first, then those of each check."""
    # drawn after the conversation has ended, so that nothing in it can hold the mark; one mark
    # for all calls of a trial, so that vendors cache the shared beginning of its transcripts
    mark = secrets.token_hex(4)
    found = [_scored(case, case.rubric, at, mark) for at in looks(case.transcript, case.rubric)] if case.rubric else []
    return found + [_check(case, check, at, mark) for check in case.checks for at in looks(case.transcript, check)]


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


def _shown(transcript: Transcript, at: int) -> tuple[Turn, ...]:
    """The turns a judge sees: those up to the one it is asked about, or (0) all."""
    return tuple(t for t in transcript.turns if not at or t.number <= at)


def _facts(case: Case, at: int) -> Sequence[Finding]:
    soft = (f for j in case.earlier for f in j.findings if f.severity is Severity.SOFT)
    return [f for f in soft if not at or f.turn in (0, at)]


def _scored(case: Case, rubric: Rubric, at: int, mark: str) -> Question:
    criteria = [c.id for c in rubric.criteria]
    return Question(
        rubric=rubric,
        turn=at,
        messages=score_messages(case, rubric, _shown(case.transcript, at), _facts(case, at), mark),
        schema=score_schema(criteria),
        read=partial(read_scores, criteria=criteria),
    )


def _check(case: Case, check: Rubric, at: int, mark: str) -> Question:
    return Question(
        rubric=check,
        turn=at,
        messages=check_messages(case, check, _shown(case.transcript, at), mark),
        schema=check_schema(),
        read=partial(read_check, words=spoken(looked_at(case.transcript, at))),
    )
