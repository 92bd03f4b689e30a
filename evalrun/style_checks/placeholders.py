"""Placeholders that leaked into a reply: a table of patterns, each with its own rule on case and place."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evalrun.folding import without_code
from evalrun.style_checks.spec import Find, Hit, Reply, readable, texts

_HTML = "a|abbr|b|blockquote|br|code|div|em|h[1-6]|hr|i|img|li|ol|p|pre|s|small|span|strong|sub|sup|table|td|th|tr|u|ul"

_GREETING = "bonjour|bonsoir|salut|coucou|chère?|hello|hi|hey|dear"
_MOST = 10

PATTERNS: Mapping[str, re.Pattern[str]] = {
    "object": re.compile(r"\[object \w{1,40}\]"),
    "double_brace": re.compile(r"\{\{(?:[^{}\n]{0,200}\}\})?"),
    "template_tag": re.compile(r"\{%.{0,200}?%\}"),
    "dollar_brace": re.compile(r"\$\{[^}\n]{0,200}\}"),
    "brace": re.compile(r"(?<![{$%])\{[^\W\d][\w.]{0,60}\}(?!\})"),
    "bracket": re.compile(r"\[[^\W\d_][\w'’ -]{1,40}\](?!\()"),
    "angle": re.compile(rf"<(?!/?(?:{_HTML})\b)[^\W\d_][\w' -]{{1,40}}>", re.IGNORECASE),
    "percent": re.compile(r"(?<![\w%])%[sd](?!\w)"),
    "percent_name": re.compile(r"%\(\w{1,60}\)[sdrf]"),
    "bare_value": re.compile(
        r"(?<=[:=])\s{0,9}\b(?:undefined|null)\b|\b(?:undefined|null)\b(?=\s{0,9},)"
        rf"|\b(?i:{_GREETING})\s(?:undefined|null)\b|\A\s{{0,9}}(?:undefined|null)\s{{0,9}}[.!]?\s{{0,9}}\Z"
    ),
    "none": re.compile(r"(?<=[\w:,=(] )None\b(?! of\b)|(?<=[:=(])None\b|\A\s{0,9}None\s{0,9}[.!,]?\s{0,9}\Z"),
    "nan": re.compile(r"\bNaN\b"),
    "dunder": re.compile(r"__[A-Z][A-Z0-9_]{0,60}__"),
    "xxx": re.compile(r"\bX{3,}\b"),
    "lorem": re.compile(r"\blorem ipsum\b", re.IGNORECASE),
    "empty_slot": re.compile(rf"\b(?:{_GREETING})[ \u00a0]{{1,9}},", re.IGNORECASE),
}


SIGNS: Mapping[str, str] = {
    "object": "[",
    "double_brace": "{{",
    "template_tag": "{%",
    "dollar_brace": "${",
    "brace": "{",
    "bracket": "[",
    "angle": "<",
    "percent": "%",
    "percent_name": "%(",
    "none": "None",
    "nan": "NaN",
    "dunder": "__",
    "xxx": "XXX",
}
"""What a text must hold for a pattern to be worth a look."""


def placeholders(params: Mapping[str, object]) -> Find:
    """No unreplaced variable; code and Markdown links are left out, and the texts in `allow`.

    At most ten are reported for a bubble.
    """
    allowed = frozenset(texts(params, "allow"))

    def find(reply: Reply) -> list[Hit]:
        passed = allowed | reply.allow
        return [hit for i, text in readable(reply.bubbles) for hit in _leaks(text, i, passed)]

    return find


def _leaks(text: str, bubble: int, passed: frozenset[str]) -> list[Hit]:
    plain = without_code(text)
    taken: list[range] = []
    hits = []
    for name, pattern in PATTERNS.items():
        if SIGNS.get(name, "") not in plain:
            continue
        for found in pattern.finditer(plain):
            quote = found.group().strip()
            if quote in passed or any(found.start() in span for span in taken):
                continue
            taken.append(range(found.start(), found.end()))
            hits.append(Hit(message=f"a placeholder ({name})", quote=quote, bubble=bubble))
            if len(hits) == _MOST:
                return hits
    return hits
