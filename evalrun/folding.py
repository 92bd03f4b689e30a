"""One folding of text for every comparison that people would call "the same words".

NFC, typographic quotes and hyphens as typed ones, blanks collapsed, zero-width characters and
soft hyphens dropped, Markdown emphasis dropped, case folded. Em and en dashes stay: a rule may
be about them. Both sides of a comparison are folded; reports quote the original.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from functools import lru_cache

_ALIKE = {
    **dict.fromkeys("’‘ʼ‛`´＇′", "'"),
    **dict.fromkeys("“”„«»＂", '"'),
    **dict.fromkeys("‐‑−﹣－", "-"),
    "…": "...",
}
_ALIKE_SIGNS = re.compile(f"[{''.join(_ALIKE)}]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e007f]"
)
_AT_HOME = re.compile("[\u00ad\u061c\u200c-\u200f\ufe00-\ufe0f\ufeff]|\U0001f3f4[\U000e0000-\U000e007f]+")
_EMPHASIS = re.compile(r"(?<=\S)[*~]{1,3}|[*~]{1,3}(?=\S)|(?<![^\W_])_{1,3}(?=[^\W_])|(?<=[^\W_])_{1,3}(?![\w])")
_URL = re.compile(
    r"(?:https?://|www\.|\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,5}\.[a-z]{2,24}/)[^\s<>]*[^\s<>?!.,;:…)\]»\"'’]",
    re.IGNORECASE,
)
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
REMEMBERED = 1_000
"""Up to so many characters a folded text is kept for the next who asks."""
_BLANK = "\ufffc"  # no blank and no letter: what stands on both sides is not joined
_CODE = re.compile(r"``[^`]+``|`[^`\n]+`")


def fold(text: str) -> str:
    """The folded text; folding twice changes nothing."""
    return _remembered(text) if len(text) <= REMEMBERED else _folded(text)


def _folded(text: str) -> str:
    once = _fold(text)
    while (again := _fold(once)) != once:
        once = again
    return once


@lru_cache(maxsize=1024)
def _remembered(text: str) -> str:
    """The folded text: every check of a message folds it again."""
    return _folded(text)


def _fold(text: str) -> str:
    plain = text
    if not plain.isascii():
        plain = _INVISIBLE.sub("", plain)
    plain = _ALIKE_SIGNS.sub(lambda m: _ALIKE[m.group()], plain)
    if "*" in plain or "_" in plain or "~" in plain:
        plain = _EMPHASIS.sub("", plain)
    plain = " ".join(plain.split())
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", plain).casefold())


def visible(text: str) -> str:
    """The text without zero-width characters and outer blanks; empty when nothing can be seen."""
    return _INVISIBLE.sub("", text).strip()


def invisible_in(text: str) -> str:
    """The hidden characters of a text that no script or emoji needs: zero-width spaces, direction overrides, tags."""
    return "".join(_INVISIBLE.findall(_AT_HOME.sub("", text)))


def without_code(text: str) -> str:
    """The text with fenced blocks (an unclosed one to the end) and code spans blanked, same length."""
    return _CODE.sub(_blank, _FENCE.sub(_blank, text))


def without_urls(text: str) -> str:
    """The text with addresses blanked, same length; a mark that ends an address stays."""
    if "/" not in text and "www." not in text.casefold():
        return text
    return _URL.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    return _BLANK * len(found.group())


def quote_of(text: str, pattern: re.Pattern[str], seen: str | None = None) -> str:
    """The words of the original that hold the first hit of a pattern over folded text.

    `seen` is the part of `text` that was looked at, of the same length (addresses blanked).
    The last word is found by halving, then the first one, so that long texts cost little.
    """
    looked = text if seen is None else seen
    words = [m.span() for m in re.finditer(r"\S+", looked)]

    def holds(first: int, last: int) -> bool:
        return pattern.search(fold(looked[words[first][0] : words[last][1]])) is not None

    if not words or not holds(0, len(words) - 1):
        return text.strip()
    last = bisect_left(range(len(words)), x=True, key=lambda i: holds(0, i))
    first = bisect_left(range(last + 1), x=True, key=lambda i: not holds(i, last)) - 1
    return text[words[max(first, 0)][0] : words[min(last, len(words) - 1)][1]]
