"""One folding of text for every comparison that people would call "the same words".

NFC, typographic quotes and hyphens as typed ones, blanks collapsed, zero-width characters and
soft hyphens dropped, Markdown emphasis dropped, case folded. Em and en dashes stay: a rule may
be about them. Both sides of a comparison are folded; reports quote the original.
"""

from __future__ import annotations

import re
import unicodedata

_ALIKE = str.maketrans(
    {
        **dict.fromkeys("’‘ʼ‛`´＇′", "'"),
        **dict.fromkeys("“”„«»＂", '"'),
        **dict.fromkeys("‐‑−﹣－", "-"),
        "…": "...",
    }
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
_EMPHASIS = re.compile(r"(?<=\S)[*~]{1,3}|[*~]{1,3}(?=\S)|(?<![^\W_])_{1,3}(?=[^\W_])|(?<=[^\W_])_{1,3}(?![\w])")
_BLANKS = re.compile(r"\s+")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>]*[^\s<>?!.,;:…)\]»\"'’]", re.IGNORECASE)
_FENCE = re.compile(r"```.*?```|~~~.*?~~~", re.DOTALL)
_CODE = re.compile(r"``[^`]+``|`[^`\n]+`")


def fold(text: str) -> str:
    """The folded text; folding twice changes nothing."""
    plain = _INVISIBLE.sub("", text).translate(_ALIKE)
    plain = _EMPHASIS.sub("", plain)
    plain = _BLANKS.sub(" ", plain).strip()
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", plain).casefold())
    return plain if _settled(plain) else fold(plain)


def _settled(text: str) -> bool:
    return not (_EMPHASIS.search(text) or _INVISIBLE.search(text)) and text.translate(_ALIKE) == text


def visible(text: str) -> str:
    """The text without zero-width characters and outer blanks; empty when nothing can be seen."""
    return _INVISIBLE.sub("", text).strip()


def invisible_in(text: str) -> str:
    """The zero-width and bidirectional control characters of a text, but for joiners and the byte order mark."""
    return "".join(c for c in _INVISIBLE.findall(text) if c not in "\u00ad\u200d\u200c\ufeff\u200e\u200f")


def without_code(text: str) -> str:
    """The text with fenced blocks and code spans blanked, same length."""
    return _CODE.sub(_blank, _FENCE.sub(_blank, text))


def without_urls(text: str) -> str:
    """The text with addresses blanked, same length; a mark that ends an address stays."""
    return _URL.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def quote_of(text: str, folded_hit: str) -> str:
    """The shortest run of whole words of the original whose folding holds the hit; the whole text if none does."""
    words = list(re.finditer(r"\S+", text))
    for size in range(1, len(words) + 1):
        for first in range(len(words) - size + 1):
            piece = text[words[first].start() : words[first + size - 1].end()]
            if folded_hit in fold(piece):
                return piece
        if size > 12:
            break
    return text[:200]
