"""Checks on words and signs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from evalrun.style_checks import wording
from evalrun.style_checks.spec import Find, Reply

PHRASES = ("n'hésitez pas", "à bientôt", "point de contact", "e-mail", "garantie")
WORDS = ("con", "ia", "vip", "garantie", "c++", "...")
Check = Callable[[Mapping[str, object]], Find]


def quotes(find: Find, *bubbles: str, earlier: tuple[str, ...] = (), allow: tuple[str, ...] = ()) -> list[str]:
    """What a check quotes of a reply."""
    return [h.quote for h in find(Reply(bubbles=bubbles, earlier=earlier, allow=frozenset(allow)))]


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("n’hésitez pas", "n'hésitez pas"),
        ("nʼhésitez pas", "n'hésitez pas"),
        ("N'HÉSITEZ PAS", "n'hésitez pas"),
        ("a\u0300 biento\u0302t", "à bientôt"),
        ("point\u00a0de\ncontact", "point de contact"),
        ("point  de contact", "point de contact"),
        ("e\u2011mail", "e-mail"),
        ("gar\u200bantie", "garantie"),
        ("gar\u00adantie", "garantie"),
        ("**n'hésitez** pas", "n'hésitez pas"),
    ],
)
def test_b58_a_phrase_is_found_however_it_is_typed(text: str, entry: str) -> None:
    """Quotes, accents, blanks, hyphens and emphasis hide nothing, and the original is quoted."""
    (hit,) = wording.forbidden({"texts": PHRASES})(Reply(bubbles=("ah", f"oui, {text} !")))
    assert (hit.message, hit.quote, hit.bubble) == (f"forbidden {entry!r}", text, 2)


def test_b58_another_form_of_the_verb_is_not_found() -> None:
    """`n'hésite pas` is not the forbidden phrase."""
    assert quotes(wording.forbidden({"texts": PHRASES}), "n'hésite pas") == []


@pytest.mark.parametrize(
    "text", ["construction", "maria", "spécial", "vip_client", "https://ex.fr/vip-con.pdf", "garanties"]
)
def test_b59_a_word_inside_another_is_not_found(text: str) -> None:
    """Whole words only, accented letters are letters, addresses are out; `garanties` is another word."""
    assert quotes(wording.forbidden({"texts": WORDS}), text) == []


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("con", "con"),
        ("l'ia", "l'ia"),
        ("l’IA", "l’IA"),
        ("VIP,", "VIP,"),
        ("C++ !", "C++"),
        ("attends...", "attends..."),
        ("attends…", "attends…"),
    ],
)
def test_b59_a_whole_word_is_found(text: str, quote: str) -> None:
    """Words after an apostrophe, entries that end with a symbol, and an ellipsis as one sign are found."""
    assert quotes(wording.forbidden({"texts": WORDS}), text) == [quote]


def test_b59_a_family_and_a_pattern_are_asked_for() -> None:
    """`prefix*` finds all words that begin so; `re:` is a pattern on the original."""
    assert quotes(wording.forbidden({"texts": ["garanti*"]}), "nos garanties") == ["garanties"]
    assert quotes(wording.forbidden({"texts": [r"re:\d+ ?€"]}), "c'est 49 € ou 5€") == ["49 €"]
    assert quotes(wording.forbidden({"texts": [r"re:\d+ ?€"]}), "gratuit") == []


def test_an_entry_that_looks_like_an_address_is_looked_for_in_addresses() -> None:
    """A forbidden site is found although addresses are left out for words."""
    find = wording.forbidden({"texts": ["bit.ly", "https://ex.fr/old"]})
    assert quotes(find, "voir https://bit.ly/x") == ["https://bit.ly/x"]
    assert quotes(find, "voir https://ex.fr/old ok") == ["https://ex.fr/old"]


@pytest.mark.parametrize(("entry", "text"), [("保证", "我们保证质量"), ("รับประกัน", "เรารับประกันคุณภาพ")])
def test_scripts_without_blanks_need_no_boundary(entry: str, text: str) -> None:
    """In Chinese or Thai a word is found inside a run of letters."""
    assert quotes(wording.forbidden({"texts": [entry]}), text) == [text]


def test_a_scenario_lets_a_text_pass() -> None:
    """What a scenario allows is no hit, and does not hide another hit of the same entry."""
    find = wording.forbidden({"texts": ["vip*"]})
    assert quotes(find, "une vipère", allow=("vipère",)) == []
    assert quotes(find, "une vipère, un vipcard", allow=("Vipère",)) == ["vipcard"]
    assert quotes(find, "une vipère", allow=("vip*",)) == []


@pytest.mark.parametrize(
    "params",
    [
        {"texts": []},
        {"texts": "con"},
        {"texts": [""]},
        {"texts": ["**"]},
        {"texts": ["\u200b"]},
        {"texts": ["re:("]},
        {"texts": ["re:x*"]},
        {"texts": [5]},
        {},
    ],
)
def test_a_list_that_looks_for_nothing_is_refused(params: Mapping[str, object]) -> None:
    """An empty list, an entry of signs only, a broken or all-matching pattern are errors when made ready."""
    with pytest.raises(ValueError, match=r".+"):
        wording.forbidden(params)


@pytest.mark.parametrize(
    ("text", "hit"), [("a — b", True), ("10–12", True), ("a - b, e-mail", False), ("`a — b`", False)]
)
def test_dashes(text: str, hit: bool) -> None:
    """Em and en dashes are found, hyphens and code are not."""
    assert bool(quotes(wording.no_dash({}), text)) is hit


def test_an_allowed_sign_does_not_hide_the_next_one() -> None:
    """The first hit that is not allowed is reported."""
    find = wording.no_dash({})
    assert quotes(find, "a – b — c", allow=("–",)) == ["a – b — c"]
    assert quotes(find, "a – b", allow=("–",)) == []


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("voici :\n- un\n- deux", "bullet"),
        ("1. un", "bullet"),
        ("• un", "bullet"),
        ("## titre", "heading"),
        ("c'est **important**", "bold"),
        ("**a**", "bold"),
        ("__oui__", "bold"),
        ("| a | b |", "table"),
        ("```\nx\n```", "fence"),
    ],
)
def test_markdown_is_found_unless_allowed(text: str, form: str) -> None:
    """Each form is named, and let pass when the rule allows it."""
    hits = wording.no_markdown({})(Reply(bubbles=(text,)))
    assert [h.message for h in hits] == [f"markdown ({form})"]
    assert wording.no_markdown({"allow": [form]})(Reply(bubbles=(text,))) == []


@pytest.mark.parametrize(
    "text", ["c'est -5°", "un-deux", "#1 des ventes", "2*3*4", "le 3. oui", "a || b", "snake_case"]
)
def test_plain_signs_are_no_markdown(text: str) -> None:
    """Hyphens, numbers and stars inside a sentence are plain text."""
    assert wording.no_markdown({})(Reply(bubbles=(text,))) == []


def test_an_unknown_form_of_markdown_is_refused() -> None:
    """`allow` names known forms only."""
    with pytest.raises(ValueError, match="known: bullet, heading, bold, table, fence"):
        wording.no_markdown({"allow": ["bullets"]})


def test_lowercase_leaves_code_addresses_and_named_words() -> None:
    """Capitals are quoted; code, addresses and the words in `except` or allowed keep theirs."""
    find = wording.lowercase({"except": ["Ori"]})
    assert quotes(find, "je suis Ori, voir https://EX.fr et `SELECT`") == []
    assert quotes(find, "Bonjour Léa et Ori") == ["Bonjour Léa"]
    assert quotes(find, "bonjour Léa", allow=("Léa",)) == []
    assert quotes(find, "你好 123 !") == []


def test_capitals_are_words_of_three_letters_or_more() -> None:
    """Shouting is found, short initials and named words are not."""
    find = wording.capitals({"except": ["PDF"]})
    assert quotes(find, "le PDF de la TV est OK, code JG7FMM") == []
    assert quotes(find, "c'est TRÈS URGENT") == ["TRÈS URGENT"]


@pytest.mark.parametrize(
    "text",
    [
        "Bien sûr, je regarde",
        "😊 bien sûr !",
        "Certainly! Here",
        "**Of course**, done",
        "avec plaisir",
    ],
)
def test_a_stock_opener_is_found(text: str) -> None:
    """Stock openers are found behind emoji and emphasis too."""
    assert len(quotes(wording.opener({}), text)) == 1


@pytest.mark.parametrize("text", ["bonjour", "surement pas", "ok, bien sûr", "assured"])
def test_other_openings_are_fine(text: str) -> None:
    """Whole phrases at the head of the first bubble only."""
    assert quotes(wording.opener({"texts": ["bon", "génial*"]}), text) == []
    assert len(quotes(wording.opener({"texts": ["bon", "génial*"]}), "Génialissime !", text)) == 1


def test_an_apology_is_found_in_both_languages() -> None:
    """The word of apology is quoted as written."""
    assert quotes(wording.apology({}), "je suis **désolée**,", "Sorry!", "toutes nos excuses") == [
        "**désolée**,",
        "Sorry!",
        "excuses",
    ]
    assert quotes(wording.apology({}), "rien d'autre") == []


@pytest.mark.parametrize(
    "text",
    [
        "Error: 500",
        "error 503",
        "Erreur : 404",
        "Internal Server Error",
        "oups\nTraceback (most recent call last):\n",
        "```\nTraceback (most recent call last):\n```",
        "KeyError: 'x'",
        "sqlalchemy.exc.OperationalError(…)",
        "HTTP 502",
        '{"error": "x"}',
        "An unexpected error occurred.",
        "Désolé, une erreur s’est produite",
        "502 Bad Gateway",
    ],
)
def test_b19_an_error_said_to_the_user_is_found(text: str) -> None:
    """Variant 3: an in-band error is a hit, also inside code or an apology."""
    assert len(quotes(wording.error_text({}), text)) == 1


@pytest.mark.parametrize(
    "text", ["c'est mon erreur", "sans exception : oui", "an error: mine", "la terreur: non", "500 euros"]
)
def test_b19_words_about_errors_are_no_error_text(text: str) -> None:
    """A person may speak of errors."""
    assert quotes(wording.error_text({}), text) == []


@pytest.mark.parametrize("text", ["a\x00b", "a␀b", "a�b", "a\x1b[31mb", "a\x9bb", "a\x7fb"])
def test_b68_control_characters_are_found(text: str) -> None:
    """NUL, ESC, half a surrogate and their visible substitutes are a hit."""
    assert len(quotes(wording.control_characters({}), text)) == 1


def test_b68_ordinary_blanks_are_no_control_characters() -> None:
    """Tabs, line ends and joiners are fine."""
    assert quotes(wording.control_characters({}), "a" + chr(0xD83D)) != []
    assert quotes(wording.control_characters({}), "a\tb\r\nc\u200d\u00a0") == []


def test_a_pattern_must_be_absent_or_present() -> None:
    """`absent` is looked for in each bubble, `present` in the whole reply."""
    assert quotes(wording.regex({"absent": r"\d{4}"}), "ok", "code 1234") == ["1234"]
    assert quotes(wording.regex({"present": r"\?"}), "ok", "et toi ?") == []
    assert quotes(wording.regex({"present": r"\?"}), "ok", "non") == ["ok\nnon"]
    assert quotes(wording.regex({"absent": "é"}), "e\u0301") == ["é"]


def test_a_reply_without_text_breaks_no_pattern() -> None:
    """An image alone is not asked to match."""
    assert quotes(wording.regex({"present": r"\?"}), "") == []


@pytest.mark.parametrize("params", [{}, {"absent": "("}, {"absent": ".*"}, {"present": "x?"}, {"present": 5}])
def test_a_pattern_that_says_nothing_is_refused(params: Mapping[str, object]) -> None:
    """No pattern, a broken one, one that matches everything: refused when made ready."""
    with pytest.raises(ValueError, match=r".+"):
        wording.regex(params)


@pytest.mark.parametrize("pattern", ["(a+)+$", r"(\w+)*x", "([a-z]*)+!", "(?:.*)*b", "(a+){2,}"])
def test_a_repeated_repetition_is_refused(pattern: str) -> None:
    """A pattern that may never end is refused when made ready."""
    with pytest.raises(ValueError, match="which may never end"):
        wording.regex({"absent": pattern})


@pytest.mark.parametrize("pattern", [r"(?:ha+)+", r"(\+)+", "(a+)", "(ab)+", "(a+){2}"])
def test_an_ordinary_repetition_is_accepted(pattern: str) -> None:
    """Repetitions of more than one repeated sign are fine."""
    assert quotes(wording.regex({"absent": pattern}), "rien") == []


def test_a_long_text_is_searched_to_its_end() -> None:
    """The windows of a long text leave nothing out, wherever the hit stands."""
    for place in (0, 18_995, 19_000, 19_998, 20_000, 20_500, 57_000, 199_990):
        text = "a" * place + " 1234 " + "b" * (200_000 - place)
        assert quotes(wording.regex({"absent": r"\d{4}"}), text) == ["1234"]


def test_a_bubble_said_before_is_found() -> None:
    """The same words in an earlier reply, or twice in this one, are a repetition; short ones may be."""
    find = wording.repeated({})
    long = "dites-moi votre adresse s'il vous plaît"
    assert quotes(find, "ok", long, earlier=("ok", f"**{long}**")) == [long]
    assert quotes(find, long, long) == [long]
    assert quotes(find, long, earlier=("autre",)) == []
    assert quotes(wording.repeated({"min_chars": 0}), "ok", earlier=("ok",)) == ["ok"]
    with pytest.raises(ValueError, match="min_chars"):
        wording.repeated({"min_chars": "x"})
