"""Asking a model judge one question: at most one larger retry and one re-ask, never a guess."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evalrun.errors import BudgetReached, CannotJudge
from evalrun.interfaces.models import Finish, Message, ModelEndpoint, ModelReply
from evalrun.json_object import Unreadable
from evalrun.judges.answers import Doubtful, ReadCheck, ReadScores
from evalrun.judges.prompts import again_messages
from evalrun.rubric import Rubric, RubricKind

Answer = ReadScores | ReadCheck
AskOne = Callable[["Question"], Coroutine[Any, Any, "Asked"]]

PARAMETERS = (
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "reasoning_effort",
    "reasoning",
    "thinking",
)
"""Keys of a request's body that shape an answer; the ruler keeps those really sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question of a rubric about one turn (0: the whole conversation), and the pure reader of its answer."""

    rubric: Rubric
    turn: int
    messages: Sequence[Message]
    schema: Mapping[str, object]
    read: Callable[[str], Answer]

    @property
    def about(self) -> str:
        """The question in words, for reasons and warnings."""
        at = f"turn {self.turn}" if self.turn else "the conversation"
        return at if self.rubric.kind is RubricKind.SCORED else f"check {self.rubric.id}, {at}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What became of a question: a value, or why there is none (`code`, `reason`).

    `budget` is the refusal of money, to be raised once the questions beside it have ended.
    """

    question: Question
    value: Answer | None = None
    code: str = ""
    reason: str = ""
    budget: BudgetReached | None = None
    returned: tuple[str, ...] = ()
    sent: Mapping[str, object] | None = None
    warnings: tuple[str, ...] = ()

    def located(self) -> Asked:
        """The same with its place before its reason."""
        return replace(self, reason=f"{self.question.about}: {self.reason}")


async def ask(model: ModelEndpoint, question: Question, limit: int) -> Asked:
    """Ask. A cut or empty answer is asked for once more with twice the room, an unusable one once more by name.

    `limit`: the room of the first call in tokens. Every way to fail is a value, so that questions asked side by side do not cancel each other.
    """
    asked = Asked(question=question)
    messages = list(question.messages)
    enlarged = repeated = False
    while True:
        try:
            reply = await model.complete(
                messages,
                max_output_tokens=limit,
                schema=question.schema,
                schema_name="judgement",
                temperature=0.0,
                lane=f"judge:{question.rubric.id}",
            )
        except BudgetReached as e:
            return replace(asked, budget=e)
        except CannotJudge as e:
            return replace(asked, code=e.reason, reason=e.message)
        asked = _noted(asked, reply)
        if reply.finish is Finish.REFUSAL:
            return replace(asked, code="refused", reason=f"the judge refused to answer: {reply.text[:120]!r}")
        if reply.finish is Finish.LENGTH or not reply.text.strip():
            if enlarged:
                return replace(asked, code="truncated", reason=_truncated(reply))
            enlarged, limit = True, limit * 2
            continue
        try:
            return replace(asked, value=question.read(reply.text))
        except Unreadable as e:
            if repeated and isinstance(e, Doubtful):
                return replace(asked, value=e.value)
            if repeated:
                return replace(asked, code="unreadable", reason=_unusable(str(e), reply.text))
            repeated = True
            messages += again_messages(reply.text, str(e))


def _noted(asked: Asked, reply: ModelReply) -> Asked:
    """What an answer adds to the ruler: the model that answered, and the parameters of the first call."""
    warnings = asked.warnings
    if reply.finish not in (Finish.STOP, Finish.LENGTH, Finish.REFUSAL):
        warnings = (*warnings, f"{asked.question.about}: the judge stopped for an unusual reason")
    sent = {k: reply.sent[k] for k in PARAMETERS if k in reply.sent} if asked.sent is None else asked.sent
    returned = asked.returned if reply.returned in ("", *asked.returned) else (*asked.returned, reply.returned)
    return replace(asked, returned=returned, sent=sent, warnings=warnings)


def _truncated(reply: ModelReply) -> str:
    used = reply.tokens
    reasoning = f", {used.reasoning} reasoning" if used.reasoning else ""
    return f"judge answer truncated ({used.output} tokens{reasoning})"


def _unusable(fault: str, text: str) -> str:
    return f"judge answer cannot be used: {fault}; it was {' '.join(text.split())[:120]!r}"
