"""How a meeting was, in the words of who was there."""

from __future__ import annotations

import re

from evalrun.sample_orchestrator.encounters import Impression
from evalrun.sample_orchestrator.extraction.folding import fold

_MISSED = re.compile(
    r"\b(?:lapin|(?:n'est |est )?(?:pas|jamais) venue?|pas (?:eu lieu|vus?)|personne n'est venu"
    r"|stood me up|no show|never came|did(?:n't| not) (?:come|show|turn up))\b"
)
_BAD = re.compile(
    r"\b(?:pas (?:tres |trop |vraiment |super |si |du tout )?(?:bien|top|terrible|genial|ouf|bon|agreable|accroche)|mal passee?|mal a l'aise"
    r"|nulle?|horrible|catastroph\w*|decue?|decevant|penible|lourde?|moche|rate|rien a se dire|ennuye\w*"
    r"|not (?:very |so |really )?(?:good|great|nice|fun)|(?<!not )bad(?:ly)?|awful|terrible|disappoint\w*|boring|awkward|no spark)\b"
)
_MIXED = re.compile(
    r"\b(?:bof|moyen\w*|mitige\w*|comme ci|ca peut aller|pas mal|correct|sympa mais|bien mais|cool mais"
    r"|so[- ]so|ok(?:ay)?ish|meh|mixed|nice but|not bad|good but|fine but)\b"
)
_GOOD = re.compile(
    r"\b(?:bien|super|genial\w*|top|parfait|cool|adore|chouette|agreable|sympa|magique|beau|belle|rigole|ri|connecte"
    r"|good|great|nice|lovely|amazing|wonderful|fun|loved|perfect|well)\b"
)
# What was bad counts before what was so-so: who felt ill at ease and says `bof` is not asked to go back.
_SIGNS = (
    (Impression.MISSED, _MISSED),
    (Impression.BAD, _BAD),
    (Impression.MIXED, _MIXED),
    (Impression.GOOD, _GOOD),
)


def read_impression(text: str) -> Impression | None:
    """What a text says of a meeting; None when nothing tells."""
    folded = fold(text)
    return next((kind for kind, pattern in _SIGNS if pattern.search(folded)), None)
