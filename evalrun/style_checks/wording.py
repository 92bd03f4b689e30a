"""Checks on words and signs: forbidden texts, dashes, Markdown, case, openers, patterns, errors said aloud."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial

from evalrun.folding import fold, quote_of, without_code, without_urls
from evalrun.style_checks.spec import Find, Hit, Reply, number, option, readable, texts

WINDOW = 20_000
"""A user's pattern sees so many characters at a time, so that a slow one cannot hold up a run."""
OVERLAP = 1_000
_KNOWN = 4_096
_AROUND = 30
_DASH = re.compile(r"[\u2012-\u2015\u2e3a\u2e3b\ufe58]")
_MARKDOWN = {
    "bullet": re.compile(r"(?m)^[^\S\n]*(?:[-+*•‣–]|\d{1,2}[.)])[^\S\n]+\S[^\n]{0,60}"),
    "heading": re.compile(r"(?m)^ {0,3}#{1,6}[^\S\n]+\S[^\n]{0,60}"),
    "bold": re.compile(r"\*\*\S(?:[^\n]{0,500}?\S)?\*\*|__\S(?:[^\n]{0,500}?\S)?__"),
    "table": re.compile(r"(?m)^[^\S\n]*\|[^\n]*\|[^\S\n]*$"),
    "fence": re.compile(r"```"),
}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2400\ud800-\udfff\ufffd]")
_ERRORS = re.compile(
    r"^[^\S\n]*(?:error|erreur)[^\S\n]{0,9}[:#]?[^\S\n]{0,9}\d{3}\b|^[^\S\n]*(?:error|exception)[^\S\n]{0,9}:"
    r"|^[^\S\n]*\{\s{0,9}\"error\"\s{0,9}:|\binternal server error\b|\berreur interne\b"
    r"|Traceback \(most recent call last\)|\b(?:bad gateway|service unavailable|gateway timeout)\b"
    r"|\ban (?:unexpected |internal |unknown )?error (?:has )?occurred\b|\bsomething went wrong\b"
    r"|\bune erreur (?:inattendue |inconnue )?(?:s['’]est produite|est survenue)\b"
    r"|(?-i:\b[A-Z]\w{1,60}(?:Error|Exception)\b)\s{0,9}[:(]|\bHTTP/?\s?[45]\d\d\b",
    re.IGNORECASE | re.MULTILINE,
)
_APOLOGY = re.compile(r"\b(?:désolée?s?|navrée?s?|pardon|excuse[rsz]?|sorry|apolog(?:y|ies|i[sz]e\w{0,2}|etic))\b")
_OPENERS = (
    "bien sûr",
    "certainement",
    "absolument",
    "excellente question",
    "avec plaisir",
    "sure",
    "certainly",
    "of course",
    "absolutely",
    "great question",
)
_NO_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_ADDRESS = re.compile(r"\w\.\w|://|\w/\w")
_RUNAWAY = re.compile(r"\((?:\?:)?(?:\\.|\[[^\]]*\]|[^\\()\[\]])[+*]\)(?:[+*]|\{\d*,\})")
Search = Callable[[str], Iterator[tuple[str, str]]]
"""Of a text: what matched, and the words of the original that hold it."""


def word_pattern(entry: str) -> re.Pattern[str]:
    """A pattern over folded text for one entry: whole words on Unicode letters, `prefix*` for a family.

    No boundary is asked beside a symbol, so `c++` and `...` work, nor in scripts that write
    without blanks. Raises ValueError for an entry in which nothing is left to look for.
    """
    family = entry.endswith("*") and len(entry) > 1
    folded = fold(entry[:-1] if family else entry)
    if not folded.strip("*~_ "):
        raise ValueError(f"{entry!r} has nothing to look for once Markdown is taken away; write it as re:…")
    before = r"(?<!\w)" if _bounded(folded[0]) else ""
    after = r"\w*" if family else (r"(?!\w)" if _bounded(folded[-1]) else "")
    return re.compile(before + re.escape(folded) + after)


def _bounded(sign: str) -> bool:
    return re.match(r"\w", sign) is not None and not _NO_BLANKS.match(sign)


def user_regex(text: str) -> re.Pattern[str]:
    """A user's regular expression. Raises ValueError with what is wrong in it.

    A repeated repetition such as `(a+)+` is refused, for it may take for ever on a short text;
    subtler forms of the same are not seen.
    """
    try:
        pattern = re.compile(text)
    except (re.error, OverflowError, RecursionError) as e:
        raise ValueError(f"{text!r} is not a regular expression: {e}") from e
    if found := _RUNAWAY.search(text):
        raise ValueError(f"{text!r} repeats a repetition, {found.group()!r}, which may never end; repeat it once")
    if pattern.search(""):
        raise ValueError(f"{text!r} matches the empty text, so it says nothing about a reply")
    return pattern


def hits_of(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """What a user's pattern matches in a composed text, window by window."""
    composed = unicodedata.normalize("NFC", text)
    for start in range(0, max(len(composed) - OVERLAP, 1), WINDOW - OVERLAP):
        for found in pattern.finditer(composed, start, start + WINDOW):
            yield found.group()


def searcher(entry: str, *, addresses: bool) -> Search:
    """How an entry of a list of texts is found: `re:…` on the original, else folded and as whole words.

    Without `addresses`, web addresses are left out
    unless the entry looks like one. Raises ValueError when nothing can be looked for.
    """
    if entry.startswith("re:"):
        user = user_regex(entry[3:])
        return lambda text: ((hit, hit) for hit in hits_of(user, text))
    pattern = word_pattern(entry)
    whole = addresses or _ADDRESS.search(entry) is not None

    def search(text: str) -> Iterator[tuple[str, str]]:
        seen = text if whole else without_urls(text)
        for hit in dict.fromkeys(m.group() for m in pattern.finditer(fold(seen))):
            yield hit, quote_of(text, word_pattern(hit), seen)

    return search


def forbidden(params: Mapping[str, object]) -> Find:
    """None of `texts`: whole words; `prefix*` for a family; `re:` for a regular expression on the original."""
    entries = texts(params, "texts")
    if not entries:
        raise ValueError("texts must name at least one text")
    searches = [(e, searcher(e, addresses=False)) for e in entries]

    def find(reply: Reply) -> list[Hit]:
        allowed = {fold(a) for a in reply.allow}
        hits = []
        for i, text in readable(reply.bubbles):
            for entry, search in searches:
                quote = next((q for found, q in search(text) if fold(found) not in allowed), None)
                if quote is not None and fold(entry) not in allowed:
                    hits.append(Hit(message=f"forbidden {entry!r}", quote=quote, bubble=i))
        return hits

    return find


def _each(pattern: re.Pattern[str], what: str, clean: Callable[[str], str], _params: Mapping[str, object]) -> Find:
    """A check without parameters: the first hit of a pattern in each bubble, quoted with what is around it."""

    def find(reply: Reply) -> list[Hit]:
        hits = []
        for i, text in enumerate(reply.bubbles, 1):
            spans = (m.span() for m in pattern.finditer(clean(text)) if m.group().strip() not in reply.allow)
            if span := next(spans, None):
                quote = text[max(span[0] - _AROUND, 0) : span[1] + _AROUND].strip()
                hits.append(Hit(message=what, quote=quote, bubble=i))
        return hits

    return find


no_dash = partial(_each, _DASH, "an em or en dash", without_code)
control_characters = partial(_each, _CONTROL, "a control character", str)
error_text = partial(_each, _ERRORS, "an error said to the user", str)


def apology(_params: Mapping[str, object]) -> Find:
    """No word of apology, in French or English."""

    def find(reply: Reply) -> list[Hit]:
        return [
            Hit(message="an apology", quote=quote_of(text, _APOLOGY), bubble=i)
            for i, text in readable(reply.bubbles)
            if _APOLOGY.search(fold(text))
        ]

    return find


def opener(params: Mapping[str, object]) -> Find:
    """The first bubble does not open with a stock phrase; `texts` adds more. Signs before it are skipped."""
    patterns = [word_pattern(t) for t in (*_OPENERS, *texts(params, "texts"))]

    def find(reply: Reply) -> list[Hit]:
        for i, text in readable(reply.bubbles):
            first = re.sub(r"^\W+", "", fold(text[:200]))
            opened = any(p.match(first) for p in patterns)
            return [Hit(message="a stock opener", quote=text.strip()[:60], bubble=i)] if opened else []
        return []

    return find


def no_markdown(params: Mapping[str, object]) -> Find:
    """No bullets, headings, bold, tables or fences, but those named in `allow`. Raises ValueError."""
    allowed = texts(params, "allow")
    if strange := [a for a in allowed if a not in _MARKDOWN]:
        raise ValueError(f"allow names {strange[0]!r}; known: {', '.join(_MARKDOWN)}")
    forms = [(name, pattern) for name, pattern in _MARKDOWN.items() if name not in allowed]

    def find(reply: Reply) -> list[Hit]:
        return [
            Hit(message=f"markdown ({name})", quote=found.group().strip()[:80], bubble=i)
            for i, text in readable(reply.bubbles)
            for name, pattern in forms
            if (found := pattern.search(text))
        ]

    return find


def _words(pattern: str, bad: Callable[[str], bool], what: str, params: Mapping[str, object]) -> Find:
    """A check on single words outside code and addresses, with the words in `except` left out."""
    words = re.compile(pattern)
    kept = frozenset(texts(params, "except"))

    def find(reply: Reply) -> list[Hit]:
        hits = []
        passed = kept | reply.allow
        for i, text in readable(reply.bubbles):
            plain = without_urls(without_code(text))
            found = [w for w in words.findall(plain) if bad(w) and w not in passed]
            if found:
                hits.append(Hit(message=what, quote=" ".join(found[:3]), bubble=i))
        return hits

    return find


lowercase = partial(_words, r"[^\W\d_][\w'’-]*", lambda w: w != w.lower(), "a capital letter")
capitals = partial(_words, r"(?<!\w)[^\W\d_]{3,}(?!\w)", lambda w: w == w.upper() != w.lower(), "a word in capitals")


def regex(params: Mapping[str, object]) -> Find:
    """`absent`: no bubble matches it; `present`: the reply as a whole matches it. Raises ValueError."""
    absent = user_regex(option(params, "absent")) if params.get("absent") else None
    present = user_regex(option(params, "present")) if params.get("present") else None
    if not (absent or present):
        raise ValueError("regex needs `absent` or `present`")

    def find(reply: Reply) -> list[Hit]:
        hits = []
        seen = readable(reply.bubbles)
        for i, text in seen if absent else ():
            quote = next((q for q in hits_of(absent, text) if q not in reply.allow), None) if absent else None
            if quote is not None:
                hits.append(Hit(message=f"matches {params['absent']!r}", quote=quote, bubble=i))
        whole = "\n".join(text for _, text in seen)
        if present and seen and not any(True for _ in hits_of(present, whole)):
            hits.append(Hit(message=f"does not match {params['present']!r}", quote=whole))
        return hits

    return find


def repeated(params: Mapping[str, object]) -> Find:
    """No bubble of at least `min_chars` characters said word for word before. Raises ValueError."""
    shortest = number(params, "min_chars", 20)
    folded = lru_cache(maxsize=_KNOWN)(fold)

    def find(reply: Reply) -> list[Hit]:
        before = {folded(t) for t in reply.earlier if len(t) >= shortest}
        hits = []
        for i, text in readable(reply.bubbles):
            if len(text) >= shortest:
                if folded(text) in before:
                    hits.append(Hit(message="said before, word for word", quote=text.strip(), bubble=i))
                before.add(folded(text))
        return hits

    return find
