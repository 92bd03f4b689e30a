"""What somebody wants to work on."""

from __future__ import annotations

import re

from evalrun.sample_orchestrator.extraction.folding import fold
from evalrun.sample_orchestrator.user import Topic

_SIGNS = {
    Topic.FIRST_WORDS: r"premiers? (?:mots?|messages?|pas|contacts?|minutes?)|accroche|aborder|commencer|briser la glace"
    r"|first (?:words?|messages?|minutes?)|opening|ice ?breaker|start(?:ing)?",
    Topic.CONVERSATION: r"conversation\w*|discussion|discuter|sujets?|parler|blancs?|silences?|quoi dire|talk\w*|conversations?|topics?",
    Topic.CONFIDENCE: r"confiance|timid\w*|stress\w*|peur|angoiss\w*|a l'aise|oser|confidence|shy\w*|nervous|anxious|afraid",
}
_PATTERNS = tuple((topic, re.compile(rf"\b(?:{signs})\b")) for topic, signs in _SIGNS.items())


def read_topic(text: str) -> Topic | None:
    """The one topic a text names; None when it names none or several."""
    folded = fold(text)
    found = [topic for topic, pattern in _PATTERNS if pattern.search(folded)]
    return found[0] if len(found) == 1 else None
