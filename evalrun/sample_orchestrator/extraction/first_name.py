"""The first name."""

from __future__ import annotations

import re

from evalrun.sample_orchestrator.extraction.folding import NOT_A_NAME, SMALL_TALK, fold, titled, words

_NAME = r"([^\W\d_]{2,20}(?:['-][^\W\d_]{2,20})?)"
_SAID = re.compile(
    r"(?:je m'appelle|moi,? c'est|mon (?:petit )?(?:pr[ée]nom|nom)(?:,? c'est| est)|appelle[- ]moi|on m'appelle"
    rf"|my (?:first )?name(?: is|'s)|call me)\s+{_NAME}",
    re.IGNORECASE,
)
_SAID_WHEN_ASKED = re.compile(rf"(?:c'est|je suis|i'm|i am|it's|it is|this is)\s+{_NAME}", re.IGNORECASE)
_DOUBLE = frozenset({"jean", "marie", "anne", "pierre"})


def read_first_name(text: str, *, asked: bool) -> str | None:
    """A name the user introduces, or the bare answer to the question; None when there is none."""
    straight = text.replace("’", "'")
    for pattern in (_SAID, _SAID_WHEN_ASKED) if asked else (_SAID,):
        found = pattern.search(straight)
        if found and _may_be_a_name(found.group(1)):
            return titled(found.group(1))
    return _bare(straight) if asked else None


def _bare(text: str) -> str | None:
    if NOT_A_NAME.search(text):
        return None
    said = words(text)
    while said and fold(said[0]) in SMALL_TALK:
        said = said[1:]
    if not 1 <= len(said) <= 2 or not all(_may_be_a_name(w) for w in said):
        return None
    double = len(said) == 2 and fold(said[0]) in _DOUBLE
    return titled(" ".join(said) if double else said[0])


def _may_be_a_name(word: str) -> bool:
    folded = fold(word)
    return 2 <= len(word) <= 40 and folded not in SMALL_TALK and not folded.startswith(("j'", "c'", "n'", "d'", "qu'"))
