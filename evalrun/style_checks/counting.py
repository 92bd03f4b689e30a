"""Checks that count: questions, bubbles, characters, words, emoji."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evalrun.folding import without_code, without_urls
from evalrun.style_checks.spec import Find, Hit, Reply, counted, number

_MARKS = "?？؟⁇⁈⁉"
_QUESTION = re.compile(f"[!！]*[{_MARKS}][{_MARKS}!！]*")
_GREEK_QUESTION = re.compile(r"[;\u037e](?=\s|$)")
_EMOJI = re.compile(
    "(?:[\U0001f1e6-\U0001f1ff]{2}"
    "|[\u2600-\u27bf\U0001f300-\U0001faff\u2b50\u2b55\u231a\u231b\u23e9-\u23f3]"
    "(?:\ufe0f|[\U0001f3fb-\U0001f3ff])*(?:\u200d[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?[\U0001f3fb-\U0001f3ff]?)*)"
)


def questions(text: str, language: str = "") -> int:
    """How many questions a text asks: runs of marks outside code and addresses.

    A question without a mark is left to the judge; a quoted question counts. `;` counts in Greek only.
    """
    plain = without_urls(without_code(text))
    count = len(_QUESTION.findall(plain))
    if language == "el":
        count += len(_GREEK_QUESTION.findall(plain))
    return count


def max_questions(params: Mapping[str, object]) -> Find:
    """At most `max` questions."""
    language = str(params.get("language", ""))
    return counted(params, lambda text: questions(text, language), number(params, "max"), "questions")


def max_chars(params: Mapping[str, object]) -> Find:
    """At most `max` characters."""
    return counted(params, len, number(params, "max"), "characters")


def max_words(params: Mapping[str, object]) -> Find:
    """At most `max` words."""
    return counted(params, lambda text: len(text.split()), number(params, "max"), "words")


def emoji(params: Mapping[str, object]) -> Find:
    """At most `max` emoji."""
    return counted(params, lambda text: len(_EMOJI.findall(text)), number(params, "max", 0), "emoji")


def max_bubbles(params: Mapping[str, object]) -> Find:
    """At most `max` bubbles in a reply."""
    limit = number(params, "max")

    def find(reply: Reply) -> list[Hit]:
        if len(reply.bubbles) <= limit:
            return []
        return [Hit(message=f"{len(reply.bubbles)} bubbles, limit {limit}", quote=reply.bubbles[limit])]

    return find
