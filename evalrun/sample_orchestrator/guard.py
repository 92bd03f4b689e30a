"""The output guard: what a model's text must pass before a user may see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evalrun.sample_orchestrator.brief import Brief
from evalrun.sample_orchestrator.extraction.folding import fold, words
from evalrun.sample_orchestrator.language import Language, detect

_SHINGLE = 7
_SHORT = 4
_LOOP = 4
_ENDED = re.compile(r"[.!?…»\")\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?$")
_QUESTION = re.compile(r"[?？؟⁇⁈⁉]+")
_DASH = re.compile(r"[\u2012-\u2015]|\s--\s|\s-\s")
_MARKUP = re.compile(r"(?m)^\s*(?:[-*•‣#>]|\d{1,2}[.)])\s|\*\*|__|```|^\s*\||</?\w+>")
_PLACEHOLDER = re.compile(
    r"\[[^\]\n]*\]?|[{}]|<[^>\n]+>|%[sd]\b|%\(|\$\w*\{|\b(?:undefined|null|nan|lorem ipsum|x{3,})\b|\bNone\b|_{2,}"
    r"|\b(?:bonjour|bonsoir|salut|coucou|hello|hi|hey|dear)\s+[,!]",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:je ne peux pas|je ne suis pas (?:en mesure|autorise|capable)|en tant qu'(?:ia|assistant|intelligence)"
    r"|modele de langage|intelligence artificielle|as an? (?:ai|language|assistant)|language model|artificial intelligence"
    r"|i (?:cannot|can't|can not|am unable|am not able)|i'm (?:unable|not able|sorry)|i am sorry|desolee?,? (?:mais|je))\b"
)
_PRICE = re.compile(
    r"[€$£]|\b(?:euros?|eur|dollars?|usd|gbp|balles|gratuit\w*|free of charge|for free)\b"
    r"|\b(?:prix|tarif\w*|cout\w*|abonnement|pric\w+|cost\w*|fee\w*)\b[^.!?]*\d|\d[^.!?]*\b(?:prix|tarif|price|cost)"
)
_FIGURE = re.compile(r"\d|[€$£]")
_FREE = re.compile(r"\b(?:gratuit\w*|offert\w*|promo\w*|rabais|reduction|free|discount|refund\w*|rembours\w*)\b")
_ROLE = re.compile(r"(?m)^\s*(?:ori|user|assistant|system|human|ai|bot|client|reponse|reply|message)\s*:|<\|")
_ODD = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ufffd]|https?://|www\.|\b(?:error|erreur|exception|traceback)\b\s*:?\s*\d*",
    re.IGNORECASE,
)


class Breach(StrEnum):
    """Why a text may not be sent."""

    EMPTY = "empty"
    TOO_LONG = "too_long"
    BUBBLES = "too_many_bubbles"
    QUESTIONS = "wrong_number_of_questions"
    LANGUAGE = "wrong_language"
    PLACEHOLDER = "placeholder"
    DASH = "dash"
    MARKUP = "markup"
    REFUSAL = "refusal"
    PRICE = "price"
    ROLE = "role_line"
    ODD = "odd_content"
    LEAK = "leaked_instructions"
    REPEATED = "repeated"
    MISSING = "missing_content"
    CUT = "cut_off"
    LOOP = "goes_in_circles"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a text is held against: the brief, the user's language, what was said before, what the model was told."""

    brief: Brief
    language: Language
    max_chars: int
    earlier: tuple[str, ...] = ()
    instructions: str = ""


def breach(bubbles: Sequence[str], frame: Frame) -> Breach | None:
    """The first rule that a reply breaks, None when it may be sent."""
    return next((name for name, broken in _RULES if broken(bubbles, frame)), None)


def _wrong_language(bubbles: Sequence[str], frame: Frame) -> bool:
    text = " ".join(bubbles)
    length = len(words(text))
    if length < _SHORT:
        return detect(text) not in (frame.language, None)
    return detect(text, least=length // _SHORT + 1) is not frame.language


def _leaked(bubbles: Sequence[str], frame: Frame) -> bool:
    told = _shingles(frame.instructions)
    return any(told & _shingles(b) for b in bubbles)


def _shingles(text: str) -> set[tuple[str, ...]]:
    said = words(fold(text))
    return {tuple(said[i : i + _SHINGLE]) for i in range(len(said) - _SHINGLE + 1)}


def _repeated(bubbles: Sequence[str], frame: Frame) -> bool:
    earlier = {fold(t) for t in frame.earlier}
    said = [fold(b) for b in bubbles]
    return len(set(said)) < len(said) or any(b in earlier for b in said)


def _loops(bubbles: Sequence[str], _frame: Frame) -> bool:
    """Whether four words in a row come back: small models go in circles when they have nothing to say."""
    said = words(fold(" ".join(bubbles)))
    runs = [tuple(said[i : i + _LOOP]) for i in range(len(said) - _LOOP + 1)]
    return len(set(runs)) < len(runs)


def _missing(bubbles: Sequence[str], frame: Frame) -> bool:
    said = words(fold(" ".join(bubbles)).replace("'", " "))
    text = fold(" ".join(bubbles))
    return any(
        (line.mentions and not any(w.startswith(line.mentions) for w in said))
        or not all(fold(part) in text for part in line.holds)
        for line in frame.brief.lines
    )


def _priced(bubbles: Sequence[str], frame: Frame) -> bool:
    """Whether money is named: at all, or, where the brief has a price, any other figure or promise."""
    texts = [fold(b) for b in bubbles]
    if frame.brief.price is None:
        return any(_PRICE.search(t) for t in texts)
    rest = [t.replace(fold(frame.brief.price), " ") for t in texts]
    return any(_FIGURE.search(t) or _FREE.search(t) for t in rest)


def _matches(pattern: re.Pattern[str], *, folded: bool = False) -> Callable[[Sequence[str], Frame], bool]:
    return lambda bubbles, _frame: any(pattern.search(fold(b) if folded else b) for b in bubbles)


_RULES: tuple[tuple[Breach, Callable[[Sequence[str], Frame], bool]], ...] = (
    (Breach.EMPTY, lambda bubbles, _: not bubbles or any(not words(b) for b in bubbles)),
    (Breach.BUBBLES, lambda bubbles, frame: len(bubbles) > frame.brief.max_bubbles),
    (Breach.TOO_LONG, lambda bubbles, frame: any(len(b) > frame.max_chars for b in bubbles)),
    (Breach.ODD, _matches(_ODD)),
    (Breach.ROLE, _matches(_ROLE, folded=True)),
    (Breach.PLACEHOLDER, _matches(_PLACEHOLDER)),
    (Breach.DASH, _matches(_DASH)),
    (Breach.MARKUP, _matches(_MARKUP)),
    (Breach.REFUSAL, _matches(_REFUSAL, folded=True)),
    (Breach.PRICE, _priced),
    (Breach.LEAK, _leaked),
    (Breach.LANGUAGE, _wrong_language),
    (
        Breach.QUESTIONS,
        lambda bubbles, frame: len(_QUESTION.findall(" ".join(bubbles))) != bool(frame.brief.asked),
    ),
    (Breach.REPEATED, _repeated),
    (Breach.MISSING, _missing),
    (Breach.CUT, lambda bubbles, _: any(not _ENDED.search(b) for b in bubbles)),
    (Breach.LOOP, _loops),
)
