"""The age, in figures or in words."""

from __future__ import annotations

import re

from evalrun.sample_orchestrator.extraction.folding import fold

_SAID = re.compile(
    r"(?:j'ai|jai|agee? de|mon age(?: est| c'est)?)\s+(\d{1,3})\s*ans\b|i(?:'m| am)\s+(\d{1,3})\b(?!\s*(?:%|min|km))"
)
_BARE = re.compile(r"(?<![\d,.])(\d{1,3})(?![\d,.]*\d)")
_OTHERS = re.compile(
    r"\b(?:de|depuis|pendant|dans|il y a|for|since|ago)\s+(?:\w+\s+)?\d{1,3}\b|\d{1,3}\s*(?:ans de|years ago)"
)
_TENS = {
    "vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60, "quatre-vingt": 80, "quatre-vingts": 80,
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
}  # fmt: skip
_UNITS = {
    "un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "six": 6, "sept": 7, "huit": 8, "neuf": 9,
    "dix": 10, "onze": 11, "douze": 12, "treize": 13, "quatorze": 14, "quinze": 15, "seize": 16, "dix-sept": 17,
    "dix-huit": 18, "dix-neuf": 19,
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "seven": 7, "eight": 8, "nine": 9,
    "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_IN_WORDS = re.compile(
    rf"\b(?:({'|'.join(sorted(_TENS, key=len, reverse=True))})(?:(?:-| )(?:et(?:-| ))?"
    rf"({'|'.join(sorted(_UNITS, key=len, reverse=True))}))?|(dix-huit|dix-neuf|eighteen|nineteen))\b"
)
_LEAST, _MOST = 5, 110


def read_age(text: str, *, asked: bool) -> int | None:
    """An age the user gives as their own; None when there is none, or no believable one."""
    folded = fold(text)
    found = _SAID.search(folded)
    if found:
        return _believable(int(found.group(1) or found.group(2)))
    if not asked or _OTHERS.search(folded):
        return None
    figures = _BARE.findall(folded)
    if len(figures) == 1:
        return _believable(int(figures[0]))
    spoken = _IN_WORDS.search(folded)
    return _believable(_number(spoken)) if spoken and not figures else None


def _number(found: re.Match[str]) -> int:
    tens, unit, teen = found.groups()
    return _UNITS[teen] if teen else _TENS[tens] + _UNITS.get(unit or "", 0)


def _believable(age: int) -> int | None:
    return age if _LEAST <= age <= _MOST else None
