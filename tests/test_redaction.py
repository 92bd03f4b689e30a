"""Secrets are hidden, and text that no store takes is shown otherwise."""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.redaction import HIDDEN, LONGEST_TEXT, Redactor, sanitise, sanitise_value
from evalrun.transcript import ToolCall
from tests.cases import turn

ENVIRON = {
    "AGENT_DB_URL": "postgresql://app:s3cr3t%40x@db/agent",
    "OPENAI_API_KEY": "sk-test-0123456789abcdef",
    "LANG": "fr_FR.UTF-8",
}


class Colour(StrEnum):
    """A text that must stay what it is."""

    RED = "s3cr3t@x"


@dataclass(frozen=True)
class Holder:
    """A value with a text in it."""

    text: str
    number: int = 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "could not connect to postgresql://app:s3cr3t%40x@db/agent",
            "could not connect to postgresql://app:***@db/agent",
        ),
        ("ma clé est sk-test-0123456789abcdef", "ma clé est ***"),
        ("s3cr3t@x", "***"),
        ("fr_FR.UTF-8", "fr_FR.UTF-8"),
    ],
)
def test_b49_secrets_are_hidden_raw_and_decoded(text: str, shown: str) -> None:
    """Keys and passwords of connection strings, as written and URL-decoded, and nothing else."""
    assert Redactor.from_environ(ENVIRON).text(text) == shown


def test_b49_secrets_are_hidden_in_every_value() -> None:
    """Tool arguments, bubbles and mapping keys are walked; what holds no secret is the same object."""
    redactor = Redactor.from_environ(ENVIRON)
    said = turn(
        1, "?", "ma clé est sk-test-0123456789abcdef", tools=[ToolCall(name="t", arguments={"token": "s3cr3t@x"})]
    )
    clean = redactor.value(said)
    assert clean.bubbles[0].text == "ma clé est ***"
    assert clean.tools is not None
    assert clean.tools[0].arguments == {"token": HIDDEN}
    untouched = turn(1, "?", "bonjour", tools=[ToolCall(name="t", arguments={"a": ["b", {"c": 1}]})])
    assert redactor.value(untouched) is untouched


@pytest.mark.parametrize("value", ["12345", "abc", "", "    "])
def test_b49_short_values_are_no_pattern(value: str) -> None:
    """Values under six characters would shred reports."""
    assert Redactor.from_environ({"PASSWORD": value}).text(f"abc 12345 {value}") == f"abc 12345 {value}"


@pytest.mark.parametrize(
    "name",
    [
        "API_KEY",
        "OPENAI_APIKEY",
        "KEY",
        "SECRET_KEY",
        "GITHUB_TOKEN",
        "TOKEN_2",
        "ACCESSTOKEN",
        "CLIENT_SECRET",
        "PGPASSWORD",
        "DB_PASSWORD",
        "db_pass",
        "MYSQL_PWD",
        "CREDENTIAL",
        "AWS_CREDENTIALS",
        "KEY_PASSPHRASE",
        "GITHUB_PAT",
        "BASIC_AUTH",
    ],
)
def test_b49_names_that_look_secret(name: str) -> None:
    """The usual names of secrets are known, in any case."""
    assert Redactor.from_environ({name: "hunter22"}).text("x hunter22 y") == "x *** y"


@pytest.mark.parametrize(
    "name", ["PWD", "PATH", "KEYBOARD_LAYOUT", "MAX_TOKENS", "MONKEY", "COMPASS", "AUTHOR", "SSH_AUTH_SOCK"]
)
def test_b49_names_that_do_not(name: str) -> None:
    """Folders, layouts, limits and sockets are no secrets."""
    assert Redactor.from_environ({name: "hunter22"}).text("hunter22") == "hunter22"


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("postgresql+asyncpg://u:hunter22@h:5432/d", "hunter22"),
        ("redis://:hunter22@h/0", "hunter22"),
        ("host=h user=u password=hunter22 dbname=d", "hunter22"),
        ("host=h password='hunter 22'", "hunter 22"),
        ("postgresql://h/d?user=u&password=hunter22&x=1", "hunter22"),
        ("https://0123456789abcdef@errors.ex.fr/7", "0123456789abcdef"),
        ("postgresql://u:hunt%2Fer22@h/d", "hunt/er22"),
        ("postgresql://u:hunt@er22@h/d", "hunt@er22"),
        ("a://u:hunter22@h,b://u:other222@h", "other222"),
    ],
)
def test_b49_passwords_inside_addresses(url: str, secret: str) -> None:
    """Passwords of any connection string are hidden, from variables of any name and from settings."""
    assert secret not in Redactor.from_environ({"X": url}).text(f"-{secret}-")
    assert secret not in Redactor.from_environ({}, [url]).text(f"-{secret}-")


def test_b49_other_forms_of_a_secret() -> None:
    """A secret is hidden when it turns up URL-encoded, and each long line of one with several lines."""
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nshort\n-----END KEY-----"
    redactor = Redactor.from_environ({"A_PASSWORD": "p@ss w/rd", "PRIVATE_KEY": key})
    assert redactor.text("u:p%40ss%20w%2Frd@h p%40ss+w%2Frd") == "u:***@h ***"
    assert redactor.text("line MIIEvQIBADANBgkqhkiG, short") == "line ***, short"


def test_a_longer_secret_is_hidden_whole() -> None:
    """When one secret begins another, nothing of the longer one is left."""
    assert Redactor(["secret", "secret-and-more"]).text("secret-and-more") == HIDDEN


@given(
    st.lists(st.text(min_size=6, alphabet=st.characters(blacklist_characters="*")), min_size=1, max_size=4), st.text()
)
def test_no_secret_is_left(secrets: list[str], around: str) -> None:
    """Whatever stands around it, a known secret is gone from texts and from values."""
    redactor = Redactor(secrets)
    for secret in (s.strip() for s in secrets):
        if len(secret) >= 6:
            assert secret not in redactor.text(f"{around}{secret}{around}")
            assert secret not in str(redactor.value({"a": [f"{around}{secret}"]})["a"][0])


def test_nothing_known_changes_nothing() -> None:
    """Without secrets every value is the same object."""
    value = {"a": ["b"]}
    assert Redactor().value(value) is value
    assert Redactor().text("x") == "x"


def test_every_kind_of_value_is_walked() -> None:
    """Tuples, lists, sets, named tuples, dataclasses and mappings; enumerations and numbers stay."""
    pair = namedtuple("pair", "left right")  # noqa: PYI024  a stranger's type
    redactor = Redactor(["s3cr3t@x"])
    value: Mapping[str, object] = MappingProxyType(
        {
            "s3cr3t@x": (1, "s3cr3t@x", None),
            "set": {"s3cr3t@x"},
            "frozen": frozenset({"s3cr3t@x", "b"}),
            "pair": pair("s3cr3t@x", 2),
            "held": Holder("s3cr3t@x"),
            "colour": Colour.RED,
        }
    )
    assert redactor.value(value) == {
        "***": (1, "***", None),
        "set": {"***"},
        "frozen": frozenset({"***", "b"}),
        "pair": pair("***", 2),
        "held": Holder("***"),
        "colour": Colour.RED,
    }


@pytest.mark.parametrize(
    ("text", "stored"),
    [("a\x00b", "a␀b"), ("ok " + chr(0xD83D), "ok �"), (chr(0xDC00) + "\x00", "�␀")],
    ids=["nul", "surrogate", "both"],
)
def test_b68_what_cannot_be_stored_is_replaced_visibly(text: str, stored: str) -> None:
    """NUL and half a surrogate have visible substitutes, and the change is flagged."""
    assert sanitise(text) == (stored, True)


def test_b68_five_megabytes_are_cut_with_a_note() -> None:
    """A huge bubble keeps its beginning and says how much was cut."""
    text, changed = sanitise("x" * 5_000_000)
    assert changed
    assert text == "x" * LONGEST_TEXT + "… [4800000 characters cut]"
    assert sanitise("x" * LONGEST_TEXT) == ("x" * LONGEST_TEXT, False)


def test_b68_tool_arguments_are_made_storable() -> None:
    """Texts inside values are replaced too; clean values stay the same object."""
    assert sanitise_value(ToolCall(name="t", arguments={"note": "\x00"})).arguments == {"note": "␀"}
    clean = ToolCall(name="t", arguments={"note": "é"})
    assert sanitise_value(clean) is clean


@given(st.text(alphabet=st.characters(codec=None)))
def test_b68_any_text_can_be_stored_afterwards(text: str) -> None:
    """After it, a text encodes as UTF-8 and holds no NUL; an ordinary text is the same object."""
    clean, changed = sanitise(text)
    assert json.loads(json.dumps(clean).encode("utf-8")) == clean
    assert "\x00" not in clean.encode("utf-8").decode("utf-8")
    assert changed == (clean != text)
    assert sanitise(clean) == (clean, False)


class Fresh(Mapping[str, object]):
    """A mapping that makes its values anew each time it is read."""

    def __getitem__(self, key: str) -> object:
        return [f"{key} s3cr3t@x"]

    def __iter__(self) -> Iterator[str]:
        return iter("abc")

    def __len__(self) -> int:
        return 3


def test_b49_values_made_while_they_are_read_are_walked() -> None:
    """An object whose place in memory an earlier one had is looked at, too."""
    assert Redactor(["s3cr3t@x"]).clean({"all": [Fresh(), Fresh()]}) == {
        "all": [{"a": ["a ***"], "b": ["b ***"], "c": ["c ***"]}] * 2
    }


def test_a_value_that_holds_itself_ends() -> None:
    """A target may hand over such a thing; what cannot be stored of it is the archive's matter."""
    loop: list[object] = ["plain"]
    loop.append(loop)
    assert Redactor(["s3cr3t@x"]).clean(loop) is loop


def test_texts_are_stored_and_hidden_at_once() -> None:
    """A secret that only appears when half a surrogate is replaced is hidden, and keys are texts, too."""
    assert Redactor(["s3cr3t\ufffdx"]).clean(({"s3cr3t\ud800x": "a\x00"},)) == ({"***": "a␀"},)
