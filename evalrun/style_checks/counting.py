"""Checks that count: questions, bubbles, characters, words, emoji."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evalrun.folding import without_code, without_urls
from evalrun.style_checks.spec import Find, Hit, Reply, counted, number, option

_MARKS = "?？؟⁇⁈⁉"
_QUESTION = re.compile(rf"[{_MARKS}](?:[\s!！]*[{_MARKS}])*")
_GREEK_QUESTION = re.compile(r"[;\u037e](?=\s|$)")
_LETTER = re.compile(r"\w")
_PICTURE = (
    "\u231a\u231b\u23cf\u23e9-\u23f3\u23f8-\u23fa\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f004\U0001f0cf\U0001f170-\U0001f251\U0001f300-\U0001f3fa\U0001f400-\U0001faff"
)
_ONE = f"[{_PICTURE}][\ufe0f\U0001f3fb-\U0001f3ff]*"
_EMOJI = re.compile(
    f"[\U0001f1e6-\U0001f1ff]{{2}}|{_ONE}(?:\u200d{_ONE})*|[0-9#*]\ufe0f?\u20e3"
    "|[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u25aa-\u25fe\u3030\u303d\u3297\u3299]\ufe0f"
)


def questions(text: str, language: str = "") -> int:
    """How many questions a text asks: runs of marks outside code and addresses, blanks between them included.

    A question without a mark is left to the judge; a quoted question counts. `;` counts in Greek only.
    """
    plain = without_urls(without_code(text))
    count = len(_QUESTION.findall(plain))
    if language == "el":
        count += len(_GREEK_QUESTION.findall(plain))
    return count


def max_questions(params: Mapping[str, object]) -> Find:
    """At most `max` questions."""
    language = option(params, "language").casefold()
    return counted(params, lambda text: questions(text, language), number(params, "max"), "questions")


def max_chars(params: Mapping[str, object]) -> Find:
    """At most `max` characters, counted as code points."""
    return counted(params, len, number(params, "max"), "characters")


def max_words(params: Mapping[str, object]) -> Find:
    """At most `max` words: runs without a blank that hold a letter or a digit."""

    def words(text: str) -> int:
        return sum(_LETTER.search(piece) is not None for piece in text.split())

    return counted(params, words, number(params, "max"), "words")


def emoji(params: Mapping[str, object]) -> Find:
    """At most `max` emoji."""
    return counted(params, lambda text: len(_EMOJI.findall(text)), number(params, "max", 0), "emoji")


def max_bubbles(params: Mapping[str, object]) -> Find:
    """At most `max` bubbles in a reply."""
    limit = number(params, "max")

    def find(reply: Reply) -> list[Hit]:
        if len(reply.bubbles) <= limit:
            return []
        return [Hit(message=f"{len(reply.bubbles)} bubbles, limit {limit}", quote=reply.bubbles[limit].strip())]

    return find
