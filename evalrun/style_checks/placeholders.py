"""Placeholders that leaked into a reply: a table of patterns, each with its own rule on case and place."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evalrun.folding import without_code
from evalrun.style_checks.spec import Find, Hit, Reply, texts

_HTML = "a|abbr|b|blockquote|br|code|div|em|h[1-6]|hr|i|img|li|ol|p|pre|s|small|span|strong|sub|sup|table|td|th|tr|u|ul"

PATTERNS: Mapping[str, re.Pattern[str]] = {
    "object": re.compile(r"\[object \w+\]"),
    "double_brace": re.compile(r"\{\{(?:[^{}\n]*\}\})?"),
    "template_tag": re.compile(r"\{%.*?%\}"),
    "dollar_brace": re.compile(r"\$\{[^}\n]*\}"),
    "brace": re.compile(r"(?<![{$%])\{[^\W\d][\w.]*\}(?!\})"),
    "bracket": re.compile(r"\[[^\W\d_][\w'’ -]{1,40}\](?!\()"),
    "angle": re.compile(rf"<(?!/?(?:{_HTML})\b)[^\W\d_][\w' -]{{1,40}}>", re.IGNORECASE),
    "percent": re.compile(r"(?<![\w%])%[sd](?!\w)"),
    "percent_name": re.compile(r"%\(\w+\)[sdrf]"),
    "bare_value": re.compile(r"(?<=[:=])\s*\b(?:undefined|null)\b|\b(?:undefined|null)\b(?=\s*,)"),
    "none": re.compile(r"(?<=[\w:,=(] )None\b(?! of\b)|(?<=[:=(])None\b"),
    "nan": re.compile(r"\bNaN\b"),
    "dunder": re.compile(r"__[A-Z][A-Z0-9_]*__"),
    "xxx": re.compile(r"\bX{3,}\b"),
    "lorem": re.compile(r"\blorem ipsum\b", re.IGNORECASE),
    "empty_slot": re.compile(r"\b(?:bonjour|bonsoir|salut|coucou|chère?|hello|hi|hey|dear)[ \u00a0]+,", re.IGNORECASE),
}


def placeholders(params: Mapping[str, object]) -> Find:
    """No unreplaced variable; code spans and Markdown links are left out, and the texts in `allow`."""
    allowed = frozenset(texts(params, "allow"))

    def find(reply: Reply) -> list[Hit]:
        passed = allowed | reply.allow
        hits = []
        for i, text in enumerate(reply.bubbles, 1):
            plain = without_code(text)
            taken: list[range] = []
            for name, pattern in PATTERNS.items():
                for found in pattern.finditer(plain):
                    quote = found.group().strip()
                    if quote in passed or any(found.start() in span for span in taken):
                        continue
                    taken.append(range(found.start(), found.end()))
                    hits.append(Hit(message=f"a placeholder ({name})", quote=quote, bubble=i))
        return hits

    return find
