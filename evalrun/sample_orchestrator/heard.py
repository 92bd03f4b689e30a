"""A user's message once code has read it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evalrun.sample_orchestrator.extraction.folding import clean
from evalrun.sample_orchestrator.extraction.intents import Intent, read_intents, without_price
from evalrun.sample_orchestrator.language import Language, detect
from evalrun.sample_orchestrator.safety.wellbeing import Signal, evaluate


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """A message as the channel delivers it; `id` is the channel's, `sender` an address."""

    id: str
    sender: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """`answer` is the part that may hold an answer; `language` is what the text shows, if anything; `at` is when.

    `signals` are what worries in it, the gravest first.
    """

    text: str
    answer: str
    intents: frozenset[Intent]
    language: Language | None
    at: datetime
    signals: tuple[Signal, ...] = ()


def listen(text: str, *, first_contact: bool, at: datetime) -> Heard:
    """Read a message. One borrowed word does not switch the language of a conversation that has begun."""
    cleaned = clean(text)
    intents = read_intents(cleaned)
    answer = without_price(cleaned) if Intent.PRICE in intents else cleaned
    return Heard(
        text=cleaned,
        answer=answer,
        intents=intents,
        language=detect(cleaned, least=1 if first_contact else 2),
        at=at,
        signals=evaluate(cleaned),
    )
