"""The well-being evaluator: what in a message worries, found by code and never by a model.

It raises signals and nothing else: whatever it finds, the conversation goes on. Idioms and stories
are taken out first, then each sign is looked for, with the negations that undo it. In doubt it
raises: a needless signal costs a glance, a missed one costs more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from evalrun.sample_orchestrator.extraction.folding import fold
from evalrun.sample_orchestrator.safety.signs import DANGER, DISTRESS, HARASSMENT, IDIOMS, SELF_HARM, STORIES, THREAT

_ADVERBS = re.compile(
    r"\b(?:vraiment|juste|parfois|souvent|encore|toujours|franchement|honnetement|grave|presque|carrement"
    r"|really|just|sometimes|often|honestly|still|almost|literally) "
)
_SLURRED = re.compile(r"\bj(veux|vais|suis|peux|pense|voudrais)\b")
_CLAUSE = re.compile(r"[^,;.!?\n]+")
_CONTRAST = re.compile(r"\b(?:mais|but|sauf que|except that|pourtant|though)\b")
_DENIED = re.compile(
    r"(?:\b(?:ne|n'|pas|jamais|aucun\w*|rien|sans|not|never|no|without|nobody|personne)\b|n't\b)[^,;.!?]{0,30}$"
)
_AFFIRMED = re.compile(
    r"\b(?:ne|n'|pas|not|don't|can't)\s*(?:\w+ ){0,2}"
    r"(?:(?:mens|rigole|plaisante|blague|exagere|deconne)\w*|(?:joking|kidding|lying|exaggerating))"
    r"|\b(?:mens|rigole|plaisante|blague|exagere|deconne)\w* (?:pas|jamais|plus)\b"
)


class Concern(StrEnum):
    """What a signal is about, the gravest first."""

    SELF_HARM = "self_harm"
    DANGER = "danger"
    THREAT = "threat"
    """Harm announced to somebody else."""
    HARASSMENT = "harassment"
    DISTRESS = "distress"


class Severity(StrEnum):
    """How soon a person must look: `critical` now, `high` today, `low` when the day's signals are read."""

    CRITICAL = "critical"
    HIGH = "high"
    LOW = "low"


SEVERITY = {
    Concern.SELF_HARM: Severity.CRITICAL,
    Concern.DANGER: Severity.CRITICAL,
    Concern.THREAT: Severity.CRITICAL,
    Concern.HARASSMENT: Severity.HIGH,
    Concern.DISTRESS: Severity.LOW,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One concern and the words that raised it, folded."""

    concern: Concern
    words: str

    @property
    def severity(self) -> Severity:
        """How soon a person must look."""
        return SEVERITY[self.concern]


def evaluate(text: str) -> tuple[Signal, ...]:
    """The concerns in a message, the gravest first; a graver one about oneself leaves no mere distress beside it."""
    folded = _ADVERBS.sub("", _SLURRED.sub(r"je \1", fold(text)))
    for harmless in (IDIOMS, STORIES, _AFFIRMED):
        folded = harmless.sub(" ", folded)
    clauses = [part for c in _CLAUSE.findall(folded) for part in _CONTRAST.split(c)]
    found = [Signal(concern=c, words=words) for c in Concern if (words := _first(c, clauses))]
    grave = any(s.severity is Severity.CRITICAL for s in found)
    return tuple(s for s in found if not (grave and s.concern is Concern.DISTRESS))


def _first(concern: Concern, clauses: list[str]) -> str:
    """The first words that stand for a concern, empty when there are none."""
    for clause in clauses:
        signs = _SIGNS[concern]
        if found := signs.always.search(clause):
            return found.group().strip()
        for found in signs.unless_denied.finditer(clause):
            if not _DENIED.search(clause[: found.start()]):
                return found.group().strip()
    return ""


_SIGNS = {
    Concern.SELF_HARM: SELF_HARM,
    Concern.DANGER: DANGER,
    Concern.THREAT: THREAT,
    Concern.HARASSMENT: HARASSMENT,
    Concern.DISTRESS: DISTRESS,
}
