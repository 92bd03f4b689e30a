"""Placeholder leaks: wide enough to catch, narrow enough to be usable."""

from __future__ import annotations

import pytest

from evalrun.style_checks.placeholders import PATTERNS, placeholders
from evalrun.style_checks.spec import Reply

LEAKS = (
    ("bonjour {{prenom}}", "{{prenom}}", "double_brace"),
    ("{{ prenom | upper }}", "{{ prenom | upper }}", "double_brace"),
    ("{{", "{{", "double_brace"),
    ("[NOM]", "[NOM]", "bracket"),
    ("[votre nom]", "[votre nom]", "bracket"),
    ("[Prénom]", "[Prénom]", "bracket"),
    ("<nom>", "<nom>", "angle"),
    ("{prenom}", "{prenom}", "brace"),
    ("${prenom}", "${prenom}", "dollar_brace"),
    ("%s", "%s", "percent"),
    ("%(name)s", "%(name)s", "percent_name"),
    ("{% if x %}", "{% if x %}", "template_tag"),
    ("bonjour undefined,", "bonjour undefined", "bare_value"),
    ("rien undefined, quoi", "undefined", "bare_value"),
    ("votre devis : null", "null", "bare_value"),
    ("bonjour None", "None", "none"),
    ("NaN €", "NaN", "nan"),
    ("[object Object]", "[object Object]", "object"),
    ("__NAME__", "__NAME__", "dunder"),
    ("XXX", "XXX", "xxx"),
    ("lorem ipsum", "lorem ipsum", "lorem"),
    ("bonjour , votre devis", "bonjour ,", "empty_slot"),
)


@pytest.mark.parametrize(("text", "quote", "pattern"), LEAKS)
def test_b60_leaks_are_hit_once_with_pattern_and_text(text: str, quote: str, pattern: str) -> None:
    """Each leak is one hit that names the pattern and quotes the text."""
    hits = placeholders({})(Reply(bubbles=("ok", text)))
    assert [(h.message, h.quote, h.bubble) for h in hits] == [(f"a placeholder ({pattern})", quote, 2)]


def test_b60_every_pattern_has_a_leak() -> None:
    """No pattern stands in the table without an example."""
    assert {pattern for _, _, pattern in LEAKS} == set(PATTERNS)


@pytest.mark.parametrize(
    "text",
    [
        "c'est null ton truc",
        "remise 20% sur tout",
        "20%sur",
        "3 < 5",
        "<3",
        "[1]",
        "<br>",
        "[texte](https://ex.fr)",
        "- [ ] tâche",
        "`{{x}}`",
        "none of them",
        "Nonette",
    ],
)
def test_b60_ordinary_text_is_not_hit(text: str) -> None:
    """Ordinary words, code, links, tags and percentages are left alone."""
    assert placeholders({})(Reply(bubbles=(text,))) == []


@pytest.mark.parametrize("text", ["[PDF]", "[OK]"])
def test_b60_the_allow_lists_let_texts_pass(text: str) -> None:
    """A bracket is let pass by the rule's list or by the scenario's, and is a hit without either."""
    assert placeholders({"allow": ["[PDF]", "[OK]"]})(Reply(bubbles=(text,))) == []
    assert placeholders({})(Reply(bubbles=(text,), allow=frozenset((text,)))) == []
    assert [h.quote for h in placeholders({})(Reply(bubbles=(text,)))] == [text]


@pytest.mark.parametrize("text", ["None", " undefined ", "null", "bonjour undefined", "Hi null !"])
def test_a_bare_value_in_the_place_of_words_is_hit(text: str) -> None:
    """A whole bubble, or the name after a greeting, that is a bare value is a leak."""
    assert len(placeholders({})(Reply(bubbles=(text,)))) == 1


@pytest.mark.parametrize(
    "text", ["None of them is free", "bonjour `x`, oui", "- [x] fait", "<https://ex.fr>", "<b>x</b>"]
)
def test_what_only_looks_like_a_leak(text: str) -> None:
    """English at the head of a sentence, code after a greeting, ticked boxes and addresses are no leaks."""
    assert placeholders({})(Reply(bubbles=(text,))) == []


def test_a_flood_is_cut() -> None:
    """A bubble full of leaks gives ten findings, not thousands."""
    assert len(placeholders({})(Reply(bubbles=("{{ " * 5_000,)))) == 10
