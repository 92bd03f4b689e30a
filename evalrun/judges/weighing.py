"""From a judge's answers to scores, doubts about them, a readable reason, and the ruler they were measured with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from evalrun.interfaces.judges import Case
from evalrun.judges.answers import PARSER_VERSION, ReadCheck, ReadScores, quoted_in
from evalrun.judges.asking import Asked
from evalrun.judges.prompts import prompt_hash
from evalrun.judges.questions import turns_up_to
from evalrun.judges.transcript_data import spoken
from evalrun.judges.tripwires import repeats_a_verdict
from evalrun.results import Ruler
from evalrun.rubric import Rubric
from evalrun.verdict import CheckAnswer, Marks, Score, shown, weigh


def scores_of(asked: Sequence[Asked]) -> tuple[Score, ...]:
    """All scores, in the order asked."""
    return tuple(
        Score(turn=a.question.turn, criterion=m.criterion, value=m.value, reason=m.reason, quote=m.quote, given=m.given)
        for a in asked
        if isinstance(a.value, ReadScores)
        for m in a.value.marks
    )


def checks_of(asked: Sequence[Asked]) -> tuple[CheckAnswer, ...]:
    """All answers to checks, in the order asked."""
    return tuple(
        CheckAnswer(
            check=a.question.rubric.id,
            turn=a.question.turn,
            violated=a.value.violated,
            critical=a.question.rubric.critical,
            quote=a.value.quote,
            reason=a.value.reason,
            given=a.value.given,
        )
        for a in asked
        if isinstance(a.value, ReadCheck)
    )


def guarded(case: Case, asked: Asked) -> Asked:
    """The answer, unless it gives good scores that stand word for word in what it was shown."""
    value = asked.value
    if not isinstance(value, ReadScores) or min(m.value for m in value.marks) < asked.question.rubric.passing.minimum:
        return asked
    if not repeats_a_verdict(value.marks, turns_up_to(case.transcript, asked.question.turn)):
        return asked
    reason = "judge compromised: it gave exactly the scores that a verdict inside the transcript asks for"
    return replace(asked, value=None, code="judge_compromised", reason=reason)


def doubts(case: Case, asked: Sequence[Asked]) -> tuple[str, ...]:
    """Warnings: odd spellings, verdicts against scores, quotes nobody said, a judge model that changed midway."""
    found: list[str] = []
    for a in asked:
        found += a.warnings
        found += [f"{a.question.about}: {w}" for w in _asked_again(a)]
        if isinstance(a.value, ReadScores):
            found += [f"{a.question.about}: {w}" for w in _score_doubts(case, a, a.value)]
        elif a.value is not None and a.value.claimed and not a.value.violated:
            found.append(f"{a.question.about}: a violation was claimed without words the agent used; not counted")
    returned = _returned(asked)
    if len(returned) > 1:
        found.append(f"the judge model changed within the trial: {', '.join(returned)}")
    return tuple(found)


def _asked_again(asked: Asked) -> list[str]:
    """What came of asking again, where it was done."""
    if isinstance(asked.value, ReadScores):
        floor = asked.question.rubric.passing.minimum
        low = [m for m in asked.value.marks if m.given and min(m.given) < floor]
        return [f"{m.criterion} was judged {len(m.given)} times: {_listed(m.given)}; {m.value} counts" for m in low]
    if asked.value is not None and asked.value.given:
        given = asked.value.given
        return [f"asked {len(given)} times, {sum(given)} times a violation"]
    return []


def _listed(values: Sequence[int]) -> str:
    return ", ".join(str(v) for v in values)


def _score_doubts(case: Case, asked: Asked, read: ReadScores) -> list[str]:
    found = list(read.warnings)
    marks = weigh(scores_of([asked]), asked.question.rubric.passing)
    if read.claimed is not None and marks is not None and read.claimed is not marks.passed:
        claim, fact = ("pass", "fail") if read.claimed else ("fail", "pass")
        found.append(f"the judge's own verdict is {claim}, its scores {fact}; only the scores count")
    at = asked.question.turn
    words = spoken(turns_up_to(case.transcript, at))
    unfound = [m.criterion for m in read.marks if m.quote and not quoted_in(m.quote, words)]
    if unfound:
        found.append(f"quotes the agent did not say: {', '.join(unfound)}")
    return found


def reason_of(marks: Marks | None, checks: Sequence[CheckAnswer]) -> tuple[str, str]:
    """The code and the readable reason of a judgement that was reached."""
    broken = [c for c in checks if c.violated]
    why = [_violation(c) for c in broken] + list(marks.why if marks else ())
    if broken:
        return "check_violated", "; ".join(why)
    if marks is not None and not marks.passed:
        return ("score_low" if marks.lowest < marks.rule_minimum else "mean_low"), "; ".join(why)
    parts = [f"{len(checks)} check answers, none violated"] if checks else []
    if marks is not None:
        mean = shown(marks.mean, Decimal(marks.rule_mean))
        parts.insert(0, f"mean {mean} over {marks.count} scores, lowest {marks.lowest}")
    return "pass", "; ".join(parts)


def _violation(check: CheckAnswer) -> str:
    at = f" at turn {check.turn}" if check.turn else ""
    return f"check {check.check} is violated{at}: {check.quote[:120]!r}"


def ruler_of(case: Case, asked: Sequence[Asked], version: str, *, confirm: int) -> Ruler:
    """Everything that shapes a score, part by part; nothing that is drawn anew for each trial.

    `confirm`: how often a bad answer is asked for again.
    """
    rubrics = [*([case.rubric] if case.rubric else []), *case.checks]
    schemas = {a.question.rubric.id: a.question.schema for a in asked}
    sent = sorted({json.dumps(a.sent, sort_keys=True, default=str) for a in asked if a.sent is not None})
    return Ruler(
        parts={
            "judge": version,
            "parser": PARSER_VERSION,
            "model": str(case.model.model) if case.model else "",
            "returned": ", ".join(_returned(asked)),
            "parameters": "; ".join(sent),
            "prompt": prompt_hash(),
            "rubrics": ", ".join(f"{r.id}:{r.digest or _content_hash(r)}" for r in rubrics),
            "criteria": ", ".join(c.id for r in rubrics for c in r.criteria),
            "schemas": ", ".join(f"{k}:{_hash(v)}" for k, v in sorted(schemas.items())),
            "confirm": str(confirm),
        }
    )


def _returned(asked: Sequence[Asked]) -> list[str]:
    return sorted({name for a in asked for name in a.returned})


def _content_hash(rubric: Rubric) -> str:
    return _hash(
        [rubric.ask, rubric.only_when, rubric.scope, [(c.id, c.ask, dict(c.anchors)) for c in rubric.criteria]]
    )


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=False, ensure_ascii=True).encode()).hexdigest()[:16]
