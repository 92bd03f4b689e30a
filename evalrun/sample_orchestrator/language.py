"""Which of Ori's two languages a text is in: counting of small words, cheap and the same every time."""

from __future__ import annotations

import re
from enum import StrEnum


class Language(StrEnum):
    """A language Ori speaks."""

    FR = "fr"
    EN = "en"


_FRENCH_WORDS = (
    "je tu il elle nous vous moi toi mon ma mes ton ta tes ses notre votre le la les un une des du de au aux "
    "et ou où mais donc que qui quoi quel quelle quels quelles lequel ce cette ces ça cela est es suis sommes "
    "êtes sont ai avons avez ont vais vas fait faire dire dis veux peux dans pour avec sans chez sur par pas ne "
    "plus très bien oui bonjour salut bonsoir coucou merci ici cherche habite vis appelle ans prénom ville "
    "aussi comme quand pourquoi comment combien encore déjà bientôt suite "
    "à tout te va vois bon rien lundi mardi mercredi jeudi vendredi samedi dimanche"
)
_ENGLISH_WORDS = (
    "i i'm i'd i've i'll you he she we they my your his her our their the and but so that which who what this "
    "these is am are was were have has do does did don't can could would will to for with without from at of in "
    "not very well yes hello hi hey thanks thank here looking live name how when why where much many still "
    "already also it it's let's please want need know tell stop city years old back "
    "no more whenever write be something anything or we'll see if one just "
    "shall next time first work you're monday tuesday wednesday thursday friday saturday sunday"
)
_FRENCH = frozenset(_FRENCH_WORDS.split())
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_ELISION = re.compile(r"\b(?:j|l|d|qu|n|m|t|s|c)['’](?=\w)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_ACCENT = re.compile(r"[àâçéèêëîïôûù]")


def is_small_word(word: str) -> bool:
    """Whether a lower-case word is one that sentences are made with, in either language."""
    return word in _FRENCH or word in _ENGLISH


def detect(text: str, *, least: int = 1) -> Language | None:
    """The language with at least `least` signs and more than the other; None when there is no telling."""
    lower = text.lower().replace("’", "'")
    english_words = sum(w in _ENGLISH for w in _WORD.findall(lower))
    elisions = len(_ELISION.findall(lower))
    words = _WORD.findall(_ELISION.sub(" ", lower))
    french = sum(w in _FRENCH for w in words) + elisions
    french += any(_ACCENT.search(w) for w in words)
    if max(french, english_words) < least or french == english_words:
        return None
    return Language.FR if french > english_words else Language.EN
