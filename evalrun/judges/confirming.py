"""Asking again before a bad answer counts: the median of the scores decides, and most answers of a check.

A single low score is noise once in a while; a turn that is judged low three times is low.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median_low

from evalrun.judges.answers import Mark, ReadCheck, ReadScores
from evalrun.judges.asking import Answer, Asked


def wants_confirming(asked: Asked) -> bool:
    """Whether an answer would count against the agent: a score under the floor, or a violation."""
    if isinstance(asked.value, ReadScores):
        return any(m.value < asked.question.rubric.passing.minimum for m in asked.value.marks)
    return asked.value is not None and asked.value.violated


def confirmed(first: Asked, again: Sequence[Asked]) -> Asked:
    """The first answer and those that were asked for after it as one; the first that has no value stands for all."""
    every = (first, *again)
    broken = next((a for a in every if a.value is None), None)
    value = None if broken is not None else _joined([a.value for a in every if a.value is not None])
    returned = tuple(dict.fromkeys(name for a in every for name in a.returned))
    warnings = tuple(dict.fromkeys(w for a in every for w in a.warnings))
    stands = broken or first
    return replace(
        first,
        value=value,
        code=stands.code,
        reason=stands.reason,
        budget=stands.budget,
        returned=returned,
        warnings=warnings,
    )


def _joined(values: Sequence[Answer]) -> Answer:
    scores = [v for v in values if isinstance(v, ReadScores)]
    return _scores(scores) if scores else _check([v for v in values if isinstance(v, ReadCheck)])


def _scores(reads: Sequence[ReadScores]) -> ReadScores:
    by_name: list[Mapping[str, Mark]] = [{m.criterion: m for m in r.marks} for r in reads]
    marks = tuple(_median([names[m.criterion] for names in by_name]) for m in reads[0].marks)
    warnings = tuple(dict.fromkeys(w for r in reads for w in r.warnings))
    return ReadScores(marks=marks, claimed=None, warnings=warnings)


def _median(marks: Sequence[Mark]) -> Mark:
    """The mark whose value is the median, with all values; its own words stand with it."""
    given = tuple(m.value for m in marks)
    middle = median_low(given)
    return replace(next(m for m in marks if m.value == middle), given=given)


def _check(reads: Sequence[ReadCheck]) -> ReadCheck:
    given = tuple(r.violated for r in reads)
    violated = 2 * sum(given) > len(given)
    return replace(next(r for r in reads if r.violated is violated), given=given)
