"""Folding: what counts as the same words, and the original that is quoted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.folding import fold, invisible_in, quote_of, visible, without_code, without_urls
from evalrun.style_checks.wording import word_pattern

TRICKY = st.text(alphabet="ab A*_~`'’ʼ\"«»-‑…\u200b\u00ad\u0301\u00a0\u202f\u1fef\u037eéŉİΐẞǅ?.\n")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("n’hésitez", "n'hésitez"),
        ("nʼhésitez", "N'HÉSITEZ"),
        ("a\u0300 biento\u0302t", "à bientôt"),
        ("point\u00a0de\n contact", "point de contact"),
        ("e\u2011mail", "e-mail"),
        ("gar\u200bantie", "garantie"),
        ("gar\u00adantie", "garantie"),
        ("**n'hésitez** pas", "n'hésitez pas"),
        ("_très_ ~~bien~~", "très bien"),
        ("attends…", "attends..."),
        ("« oui »", '" oui "'),
        ("Straße", "STRASSE"),
        ("\U000e0041garantie", "garantie"),
    ],
)
def test_the_same_words_fold_to_the_same_text(left: str, right: str) -> None:
    """Apostrophes, accents, blanks, hyphens, hidden characters and emphasis make no difference."""
    assert fold(left) == fold(right)


@pytest.mark.parametrize(("left", "right"), [("vip_client", "vip client"), ("a — b", "a - b"), ("ete", "été")])
def test_different_words_stay_different(left: str, right: str) -> None:
    """A snake_case word is one word, a long dash is no hyphen, an accent counts."""
    assert fold(left) != fold(right)


@given(st.one_of(st.text(), TRICKY))
def test_folding_twice_changes_nothing(text: str) -> None:
    """Folding is idempotent for every text."""
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize("text", ["", " \n", "\u200b \n", "\ufeff", "\u3164", "\u2800", "\u2060\u00ad", "\u00a0\u202f"])
def test_what_nobody_can_see_is_empty(text: str) -> None:
    """Blanks, zero-width characters and fillers leave nothing visible."""
    assert visible(text) == ""


@pytest.mark.parametrize(("text", "hidden"), [("a\u200bb", 1), ("a\u202eb", 1), ("\U000e0068\U000e0069", 2)])
def test_hidden_characters_are_found(text: str, hidden: int) -> None:
    """Zero-width spaces, direction overrides and tag characters are pointed out."""
    assert len(invisible_in(text)) == hidden


@pytest.mark.parametrize(
    "text",
    ["👨‍👩‍👧", "❤️", "می\u200cخواهم", "co\u00adopération", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "\u200fشكرا"],
)
def test_joiners_that_scripts_and_emoji_need_are_not_suspect(text: str) -> None:
    """Emoji sequences, Persian joiners, soft hyphens and flags are ordinary text."""
    assert invisible_in(text) == ""


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("voir https://ex.fr/?a=1&b=2 ok ?", "voir  ok ?"),
        ("https://ex.fr/page?", "?"),
        ("ex.fr/?a=1", ""),
        ("(www.ex.fr/a).", "()."),
        ("et/ou 3/5", "et/ou 3/5"),
        ("pas d'adresse.", "pas d'adresse."),
    ],
)
def test_addresses_are_blanked(text: str, kept: str) -> None:
    """An address goes, with or without a scheme; a sign that ends it stays; the length is the same."""
    assert without_urls(text).replace("\ufffc", "") == kept
    assert len(without_urls(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("`a ?` b", " b"),
        ("x\n```\na ?\n```\ny", "x\n\ny"),
        ("```\na ?", ""),
        ("~~~\na\n~~~ b", " b"),
        ("a ` b", "a ` b"),
    ],
)
def test_code_is_blanked(text: str, kept: str) -> None:
    """Spans and fences go, a fence that is never closed to the end; the length is the same."""
    assert without_code(text).replace("\ufffc", "") == kept
    assert len(without_code(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "entry", "quote"),
    [
        ("ah, **n’HÉSITEZ**\u00a0pas !", "n'hésitez pas", "**n’HÉSITEZ**\u00a0pas"),
        ("la construction est con, non ?", "con", "con,"),
        ("C++ ! encore C++", "c++", "C++"),
        ("un gar\u200bantie", "garantie", "gar\u200bantie"),
        ("rien", "garantie", "rien"),
    ],
)
def test_the_original_words_are_quoted(text: str, entry: str, quote: str) -> None:
    """The quote is the original around the hit, never a longer word that merely contains it."""
    assert quote_of(text, word_pattern(entry)) == quote


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_quote_is_part_of_the_original(before: str, after: str) -> None:
    """Whatever surrounds it, a quote is a piece of the text and holds the hit."""
    text = f"{before} garantie {after}"
    quote = quote_of(text, word_pattern("garantie"))
    assert quote in text
    assert "garantie" in fold(quote)
