"""Checks on words and signs: forbidden texts, dashes, Markdown, case, openers, patterns, errors said aloud."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from evalrun.folding import fold, quote_of, without_code, without_urls
from evalrun.style_checks.spec import Find, Hit, Reply, texts

LONGEST_FOR_REGEX = 20_000
_DASH = re.compile(r"[\u2012-\u2015]")
_MARKDOWN = (
    ("bullet", re.compile(r"(?m)^\s*(?:[-*•‣]|\d{1,2}[.)])\s+\S")),
    ("heading", re.compile(r"(?m)^\s{0,3}#{1,6}\s+\S")),
    ("bold", re.compile(r"\*\*\S.*?\S?\*\*|__\S.*?\S?__")),
    ("table", re.compile(r"(?m)^\s*\|.*\|\s*$")),
    ("fence", re.compile(r"```")),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2400\ufffd]")
_ERRORS = re.compile(
    r"^\s*(?:error|erreur)\s*[:#]?\s*\d{3}\b|^\s*(?:error|exception)\s*:|\binternal server error\b"
    r"|\berreur interne\b|Traceback \(most recent call last\)|\b(?:bad gateway|service unavailable|gateway timeout)\b"
    r"|\b[A-Z]\w+(?:Error|Exception)\b\s*[:(]|\bHTTP/?\s?[45]\d\d\b",
    re.IGNORECASE | re.MULTILINE,
)
_APOLOGY = re.compile(r"\b(?:désolée?|navrée?|pardon|excuse[zs]?|sorry|apolog\w+|je m'excuse)\b")
_OPENER = re.compile(
    r"^(?:bien sûr|certainement|absolument|excellente question|avec plaisir|sure|certainly|of course|absolutely"
    r"|great question)\b"
)


def word_pattern(entry: str) -> re.Pattern[str]:
    """A pattern over folded text for one entry: whole words on Unicode letters, `prefix*` for a family.

    No boundary is asked beside a symbol, so `c++` and `...` work.
    """
    family = entry.endswith("*") and len(entry) > 1
    folded = fold(entry[:-1] if family else entry)
    if not folded:
        raise ValueError(f"{entry!r} has nothing to look for")
    before = r"(?<!\w)" if re.match(r"\w", folded) else ""
    after = r"\w*" if family else (r"(?!\w)" if re.search(r"\w$", folded) else "")
    return re.compile(before + re.escape(folded) + after)


def user_regex(text: str) -> re.Pattern[str]:
    """A user's regular expression. Raises ValueError with what is wrong in it."""
    try:
        return re.compile(text)
    except re.error as e:
        raise ValueError(f"{text!r} is not a regular expression: {e}") from e


def contains(text: str, wanted: str) -> bool:
    """Whether a text holds the wanted words, folded, as whole words, outside addresses."""
    return word_pattern(wanted).search(fold(without_urls(text))) is not None


def forbidden(params: Mapping[str, object]) -> Find:
    """None of `texts`: whole words; `prefix*` for a family; `re:` for a regular expression on the original."""
    entries = texts(params, "texts")
    if not entries:
        raise ValueError("texts must name at least one text")
    regexes = [(e, user_regex(e[3:])) for e in entries if e.startswith("re:")]
    words = [(e, word_pattern(e)) for e in entries if not e.startswith("re:")]

    def find(reply: Reply) -> list[Hit]:
        hits = []
        for i, text in enumerate(reply.bubbles, 1):
            folded = fold(without_urls(text))
            for entry, pattern in words:
                if (found := pattern.search(folded)) and entry not in reply.allow:
                    hits.append(Hit(message=f"forbidden {entry!r}", quote=quote_of(text, found.group()), bubble=i))
            for entry, pattern in regexes:
                if (found := pattern.search(text[:LONGEST_FOR_REGEX])) and entry not in reply.allow:
                    hits.append(Hit(message=f"forbidden {entry!r}", quote=found.group(), bubble=i))
        return hits

    return find


def _each(pattern: re.Pattern[str], what: str, clean: Callable[[str], str], _params: Mapping[str, object]) -> Find:
    """A check without parameters: the first hit of a pattern in each bubble."""

    def find(reply: Reply) -> list[Hit]:
        hits = []
        for i, text in enumerate(reply.bubbles, 1):
            found = pattern.search(clean(text))
            if found and found.group().strip() not in reply.allow:
                start = max(found.start() - 30, 0)
                quote = text[start : found.end() + 30] if clean is without_code else text
                hits.append(Hit(message=what, quote=quote.strip(), bubble=i))
        return hits

    return find


no_dash = partial(_each, _DASH, "an em or en dash", without_code)
control_characters = partial(_each, _CONTROL, "a control character", str)
error_text = partial(_each, _ERRORS, "an error said to the user", without_code)
apology = partial(_each, _APOLOGY, "an apology", fold)


def opener(params: Mapping[str, object]) -> Find:
    """A reply does not open with a stock word; `texts` adds more."""
    more = [fold(t) for t in texts(params, "texts")]

    def find(reply: Reply) -> list[Hit]:
        if not reply.bubbles:
            return []
        first = fold(reply.bubbles[0])
        if _OPENER.match(first) or any(first.startswith(m) for m in more):
            return [Hit(message="a stock opener", quote=reply.bubbles[0][:60], bubble=1)]
        return []

    return find


def no_markdown(params: Mapping[str, object]) -> Find:
    """No bullets, headings, bold, tables or fences, but those named in `allow`."""
    allowed = texts(params, "allow")

    def find(reply: Reply) -> list[Hit]:
        return [
            Hit(message=f"markdown ({name})", quote=found.group().strip()[:80], bubble=i)
            for i, text in enumerate(reply.bubbles, 1)
            for name, pattern in _MARKDOWN
            if name not in allowed and (found := pattern.search(text))
        ]

    return find


def lowercase(params: Mapping[str, object]) -> Find:
    """No capital letters outside code, addresses and the words in `except`."""
    kept = set(texts(params, "except"))

    def find(reply: Reply) -> list[Hit]:
        hits = []
        for i, text in enumerate(reply.bubbles, 1):
            words = re.findall(r"[^\W\d_][\w'’-]*", without_urls(without_code(text)))
            bad = [w for w in words if w != w.lower() and w not in kept and w not in reply.allow]
            if bad:
                hits.append(Hit(message="a capital letter", quote=" ".join(bad[:3]), bubble=i))
        return hits

    return find


def capitals(params: Mapping[str, object]) -> Find:
    """No word of three or more letters all in capitals, but those in `except`."""
    kept = set(texts(params, "except"))

    def find(reply: Reply) -> list[Hit]:
        hits = []
        for i, text in enumerate(reply.bubbles, 1):
            words = re.findall(r"[^\W\d_]{3,}", without_urls(without_code(text)))
            bad = [w for w in words if w == w.upper() != w.lower() and w not in kept and w not in reply.allow]
            if bad:
                hits.append(Hit(message="a word in capitals", quote=" ".join(bad[:3]), bubble=i))
        return hits

    return find


def regex(params: Mapping[str, object]) -> Find:
    """`absent`: no bubble matches it; `present`: the reply as a whole matches it."""
    absent = user_regex(str(params["absent"])) if params.get("absent") else None
    present = user_regex(str(params["present"])) if params.get("present") else None
    if not (absent or present):
        raise ValueError("regex needs `absent` or `present`")

    def find(reply: Reply) -> list[Hit]:
        hits = []
        for i, text in enumerate(reply.bubbles, 1):
            if absent and (found := absent.search(text[:LONGEST_FOR_REGEX])):
                hits.append(Hit(message=f"matches {absent.pattern!r}", quote=found.group(), bubble=i))
        whole = "\n".join(reply.bubbles)[:LONGEST_FOR_REGEX]
        if present and not present.search(whole):
            hits.append(Hit(message=f"does not match {present.pattern!r}", quote=whole[:200]))
        return hits

    return find


def repeated(params: Mapping[str, object]) -> Find:
    """No bubble of at least `min_chars` characters said word for word in an earlier reply."""
    shortest = params.get("min_chars", 20)
    if isinstance(shortest, bool) or not isinstance(shortest, int):
        raise ValueError(f"min_chars must be a whole number, got {shortest!r}")  # noqa: TRY004  one error for a bad parameter

    def find(reply: Reply) -> list[Hit]:
        earlier = {fold(t) for t in reply.earlier}
        return [
            Hit(message="said before, word for word", quote=text, bubble=i)
            for i, text in enumerate(reply.bubbles, 1)
            if len(text) >= shortest and fold(text) in earlier
        ]

    return find
