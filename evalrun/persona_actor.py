"""The simulated user: plays a persona on a small model, and sends nothing that code has not looked at.

It sees the persona, its goal, the clock and the bubbles meant for it; never the objective, the
rubric or the expectations. A faulty draft is asked for once more with the fault named; a second
one raises SimulatorFault, which makes the trial invalid: neither for nor against the agent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from evalrun.drafts import UNUSABLE, Draft, faults_of
from evalrun.errors import AnswerRefused, AnswerTruncated, SimulatorFault
from evalrun.folding import visible
from evalrun.goodbyes import closing
from evalrun.interfaces.models import Finish, Message, ModelEndpoint, ModelReply
from evalrun.json_object import Unreadable, only_object
from evalrun.persona import Persona
from evalrun.transcript import InboundKind, Transcript, Turn

__all__ = ["Drafted", "PersonaActor", "closing"]

TEMPERATURES = (0.7, 1.0)
"""Of the first draft, and of the second: it must not be the first one again."""
LEAST_TOKENS = 300
LANGUAGES = {"en": "English", "fr": "French", "de": "German", "es": "Spanish", "it": "Italian", "pt": "Portuguese"}
TASK = (
    "one short message, as one types in a chat."
    " Answer as JSON: message is what you type; done is true when you want nothing more."
)
EXAMPLES = {
    "en": ("Hello!", "Hello, I need some information for myself."),
    "fr": ("Bonjour !", "Bonjour, je cherche des informations pour moi."),
    "de": ("Guten Tag!", "Guten Tag, ich brauche eine Auskunft."),
    "es": ("¡Hola!", "Hola, busco información para mí."),
    "it": ("Buongiorno!", "Buongiorno, cerco informazioni per me."),
    "pt": ("Olá!", "Olá, procuro informações para mim."),
}
"""An exchange shown before the first message: without one a small model speaks as the assistant in a draft of seven."""
NOTHING_YET = "(The conversation begins. Type your first message.)"
NO_ANSWER = "(no answer)"
_AS_JSON = json.JSONEncoder(ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """A message that may be sent; empty only with `done`. `faults` are those of a draft that was refused before it."""

    message: str
    done: bool = False
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The conversation as the persona knows it."""

    own: tuple[str, ...]
    heard: tuple[str, ...]
    messages: tuple[Message, ...]


class PersonaActor:
    """Speaks for one persona in one trial.

    `goal` defaults to the persona's. `seed` is any text that names the trial: with it, the turn
    and the attempt, every draft has a seed of its own.
    """

    def __init__(self, persona: Persona, model: ModelEndpoint, *, goal: str = "", seed: str = "") -> None:
        self._persona = persona
        self._model = model
        self._goal = goal or persona.goal
        self._seed = seed

    async def draft(self, transcript: Transcript, *, turns_left: int, now: datetime | None = None) -> Drafted:
        """The next user message; `now` is the trial's clock (by default the last turn's).

        Raises SimulatorFault after a second faulty draft, ModelFailed and BudgetReached.
        """
        del turns_left  # a person does not know how many turns a test leaves
        seen = _seen(transcript, self._persona)
        clock = now or (transcript.turns[-1].now if transcript.turns else None)
        system = Message(role="system", content=_character(self._persona, self._goal, clock))
        # later its own messages are the example, and one shown for ever would be repeated
        example = [] if seen.own else _example(self._persona.language)
        messages = [system, *example, *seen.messages]
        limit = max(LEAST_TOKENS, self._persona.max_chars)
        reply = await self._ask(messages, limit, len(transcript.turns), attempt=1)
        first = self._checked(reply, seen)
        if isinstance(first, Drafted):
            return first
        fault, say = first
        # the refused draft is not shown: a small model would only write it again
        again = (
            f"(Your first draft cannot be sent: {say}. Write another one, in your own words, as {self._persona.name}.)"
        )
        messages.append(Message(role="user", content=again))
        if fault == "cut":
            limit *= 2
        reply = await self._ask(messages, limit, len(transcript.turns), attempt=2)
        second = self._checked(reply, seen)
        if isinstance(second, Drafted):
            warning = f"turn {len(transcript.turns) + 1}: a drafted message was refused ({fault})"
            return Drafted(
                message=second.message, done=second.done, faults=(fault,), warnings=(*second.warnings, warning)
            )
        raise self._fault(second, reply)

    async def _ask(self, messages: Sequence[Message], limit: int, turn: int, *, attempt: int) -> ModelReply:
        reply = await self._model.complete(
            messages,
            max_output_tokens=limit,
            schema=_schema(self._persona.max_chars),
            schema_name="message",
            temperature=TEMPERATURES[attempt - 1],
            seed=_number(f"{self._seed}/{turn}/{attempt}"),
            lane=f"persona:{self._persona.id}",
        )
        if reply.finish is Finish.REFUSAL:
            raise AnswerRefused(
                f"the persona's model refused to play {self._persona.id}: {reply.text[:120]!r}",
                remedy="choose another persona model, or reword the persona",
            )
        return reply

    def _checked(self, reply: ModelReply, seen: _Seen) -> Drafted | tuple[str, str]:
        """The draft, or the name of its first fault and what to say of it."""
        if reply.finish is Finish.LENGTH:
            return "cut", UNUSABLE["cut"]
        try:
            message, done, warnings = _read(reply.text)
        except Unreadable:
            return "unreadable", UNUSABLE["unreadable"]
        faults = faults_of(Draft(message=message, done=done, persona=self._persona, own=seen.own, heard=seen.heard))
        if faults:
            return faults[0].name, faults[0].say
        return Drafted(message=visible(message) and message.strip(), done=done, warnings=warnings)

    def _fault(self, found: tuple[str, str], reply: ModelReply) -> Exception:
        fault, say = found
        who, quote = self._persona.id, " ".join(reply.text.split())[:120]
        if fault == "cut":
            return AnswerTruncated(
                f"the message drafted for {who} was cut again ({reply.tokens.output} tokens)",
                remedy="choose a persona model that reasons less, or raise the persona's max_chars",
            )
        return SimulatorFault(
            f"the simulated user {who} was refused twice: {say}: {quote!r}",
            fault=fault,
            remedy="choose a larger persona model, or make the persona's lines clearer",
        )


def _read(text: str) -> tuple[str, bool, tuple[str, ...]]:
    """Message, done and warnings of an answer; plain text is taken as the message. Raises Unreadable."""
    if not visible(text):
        return "", False, ()
    try:
        found = only_object(text, ("message", "done"))
    except Unreadable:
        # a broken or foreign structure is never sent as if it were words
        if "{" in text or text.lstrip()[:1] in ("[", '"'):
            raise
        return text, False, ("the persona's model answered in plain text",)
    message, done = found.get("message"), found.get("done")
    if not isinstance(done, bool) or not (message is None or isinstance(message, str)):
        raise Unreadable("message must be a text and done true or false")
    return message or "", done, ()


def _seen(transcript: Transcript, persona: Persona) -> _Seen:
    """Own messages as the assistant's and the agent's as the user's, so that a small model keeps its role."""
    own: list[str] = []
    heard: list[str] = []
    messages: list[Message] = []
    pending: list[str] = []
    for turn in transcript.turns:
        if turn.opening.kind is InboundKind.USER and turn.opening.sender in ("", persona.id):
            messages.append(_said_to_it(pending or ([NO_ANSWER] if own else [NOTHING_YET])))
            messages.append(Message(role="assistant", content=_form(turn.opening.text)))
            own.append(turn.opening.text)
            pending = []
        bubbles = _bubbles(turn, persona)
        heard += ["\n".join(bubbles)] if bubbles else []
        pending += bubbles
    messages.append(_said_to_it(pending or ([NO_ANSWER] if own else [NOTHING_YET])))
    return _Seen(own=tuple(own), heard=tuple(heard), messages=tuple(messages))


def _bubbles(turn: Turn, persona: Persona) -> list[str]:
    return [b.text for b in turn.said if b.kind == "text" and b.to in ("", persona.id) and visible(b.text)]


def _said_to_it(bubbles: Sequence[str]) -> Message:
    # a chat template must not take the agent's text for its own control marks
    return Message(role="user", content="\n".join(bubbles).replace("<|", "< |"))


def _form(message: str) -> str:
    return f'{{"message": {_AS_JSON.encode(message)}, "done": false}}'


def _character(persona: Persona, goal: str, now: datetime | None) -> str:
    """The instructions: the same for all turns of a trial, but for the clock at their end."""
    told = [f"{k}: {v}" for k, v in persona.facts.items() if k not in persona.only_if_asked]
    held = [f"{k}: {v}" for k, v in persona.facts.items() if k in persona.only_if_asked]
    lines = [
        f"You play {persona.name}, a customer who writes to a service by chat. You ask and answer; you never offer help.",
        f"{persona.name}: {persona.background}",
        f"Character: {', '.join(persona.traits)}" if persona.traits else "",
        f"Facts: {'; '.join(told)}" if told else "",
        f"Facts you tell only if asked for: {'; '.join(held)}" if held else "",
        f"Goal: {goal}" if goal else "",
        f"Write in {LANGUAGES.get(persona.language, persona.language)}: {TASK} At most {persona.max_chars} characters.",
        f"It is {now.isoformat(' ', 'minutes')}." if now else "",
    ]
    return "\n".join(line for line in lines if line)


def _example(language: str) -> list[Message]:
    heard, typed = EXAMPLES.get(language, EXAMPLES["en"])
    return [Message(role="user", content=heard), Message(role="assistant", content=_form(typed))]


@cache  # one and the same for all calls: each is kept with what was sent
def _schema(max_chars: int) -> Mapping[str, object]:
    return {
        "type": "object",
        "properties": {"message": {"type": "string", "maxLength": max_chars}, "done": {"type": "boolean"}},
        "required": ["message", "done"],
        "additionalProperties": False,
    }


def _number(text: str) -> int:
    """A seed of 31 bits from a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1
