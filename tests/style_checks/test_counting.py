"""Checks that count."""

from __future__ import annotations

import pytest

from evalrun.style_checks.counting import emoji, max_bubbles, max_chars, max_questions, max_words, questions
from evalrun.style_checks.spec import Reply


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("vous venez\u202f? et demain\u00a0?", 2),
        ("voir https://ex.fr/?a=1&b=2", 0),
        ("https://ex.fr/?a=1 ok ?", 1),
        ("vraiment ?!", 1),
        ("quoi ???", 1),
        ("¿cuándo vienes?", 1),
        ("你好吗？", 1),
        ("كيف حالك؟", 1),
        ("vraiment⁇", 1),
        ("`SELECT ?` marche", 0),
        ("```\na ? b : c\n```", 0),
        ("(?)", 1),
        ("dites-moi votre adresse", 0),
        ("il a dit « tu viens ? » et rien d'autre", 1),
        ("https://ex.fr/page?", 1),
        ("Τι κάνεις;", 0),
    ],
)
def test_b57_questions_are_counted_exactly(text: str, count: int) -> None:
    """Code and addresses are out, runs of marks are one, marks of other scripts count."""
    assert questions(text) == count


def test_b57_the_greek_mark_counts_in_greek() -> None:
    """`;` is a question mark in Greek and nowhere else."""
    assert questions("Τι κάνεις;", "el") == 1
    assert questions("Τι κάνεις; και μετά\u037e", "el") == 2


def test_b57_two_bubbles_with_one_question_each_break_one_per_reply() -> None:
    """The count is over all bubbles of a reply, and the message shows it bubble by bubble."""
    (hit,) = max_questions({"max": 1})(Reply(bubbles=("tu viens ?", "ok", "quand ?")))
    assert hit.message == "2 questions, limit 1 (1 + 0 + 1 by bubble)"
    assert hit.quote == "tu viens ? / quand ?"
    assert hit.bubble == 0


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("quoi ? ? ?", 1),
        ("quoi ? ! ?", 1),
        ("ah ? `x` ?", 2),
        ("```\na ? b", 0),
        ("[là](https://e.fr/?q)", 0),
        ("quoi?! sérieux?", 2),
        ("!!!", 0),
    ],
)
def test_questions_around_code_and_blanks(text: str, count: int) -> None:
    """Marks parted by blanks are one question, marks parted by code are two; an open fence is code."""
    assert questions(text) == count


def test_per_bubble_counts_each_bubble_alone() -> None:
    """With `per = "bubble"` the limit holds in each bubble."""
    find = max_questions({"max": 1, "per": "bubble"})
    assert find(Reply(bubbles=("tu viens ?", "quand ?"))) == []
    (hit,) = find(Reply(bubbles=("ok", "tu viens ? ou pas ?")))
    assert (hit.bubble, hit.message) == (2, "2 questions in bubble 2, limit 1")


@pytest.mark.parametrize(
    ("text", "count"), [("un deux", 2), ("vraiment ? oui — non", 3), ("l'ami", 1), ("", 0), ("?? — !", 0), ("你好", 1)]
)
def test_words_hold_a_letter_or_a_digit(text: str, count: int) -> None:
    """French signs that stand alone are no words."""
    assert (max_words({"max": count})(Reply(bubbles=(text,)))) == []
    if count:
        assert max_words({"max": count - 1})(Reply(bubbles=(text,)))[0].message == f"{count} words, limit {count - 1}"


def test_characters_are_counted_over_the_reply() -> None:
    """The limit of characters holds for all bubbles together."""
    assert max_chars({"max": 6})(Reply(bubbles=("abc", "def"))) == []
    assert max_chars({"max": 5})(Reply(bubbles=("abc", "def")))[0].message == "6 characters, limit 5 (3 + 3 by bubble)"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("ok 👍", 1),
        ("👍🏽", 1),
        ("👨‍👩‍👧", 1),
        ("❤️‍🔥", 1),
        ("🇫🇷🇧🇪", 2),
        ("1️⃣", 1),
        ("☀️⭐", 2),
        ("🆗", 1),
        ("↔️ ™️", 2),
        ("3 → 4 © ™ #1 *", 0),
        ("日本 :-)", 0),
    ],
)
def test_emoji_are_counted_as_seen(text: str, count: int) -> None:
    """A sequence of joined characters is one emoji; plain signs are none."""
    hits = emoji({})(Reply(bubbles=(text,)))
    assert [h.message for h in hits] == ([f"{count} emoji, limit 0"] if count else [])


def test_bubbles_are_counted() -> None:
    """The first bubble too many is quoted."""
    (hit,) = max_bubbles({"max": 2})(Reply(bubbles=("un", "deux", "trois")))
    assert (hit.message, hit.quote) == ("3 bubbles, limit 2", "trois")


@pytest.mark.parametrize("value", [True, -1, "3", 1.5, None])
def test_a_limit_must_be_a_whole_number(value: object) -> None:
    """A wrong limit is refused when the rule is made ready."""
    with pytest.raises(ValueError, match="max must be a whole number"):
        max_questions({"max": value})


def test_a_language_must_be_a_text() -> None:
    """A wrong language is refused when the rule is made ready."""
    with pytest.raises(ValueError, match="language must be a text"):
        max_questions({"max": 1, "language": 5})
