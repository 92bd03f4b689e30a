"""The checks of drafted messages: each named fault is found, and what people really type passes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.drafts import FAULTS, Draft, faults_of
from evalrun.persona import Persona
from tests.cases import PERSONA

LEA = replace(
    PERSONA,
    facts={
        "city": "Lyon",
        "budget": "4 200 €",
        "phone": "06 12 34 56 78",
        "email": "lea@example.org",
        "order": "CMD-20417",
        "âge": "31",
    },
    only_if_asked=("budget",),
    max_chars=200,
)


def names(
    message: str,
    *,
    done: bool = False,
    own: tuple[str, ...] = ("bonjour à tous",),
    heard: tuple[str, ...] = ("Bonjour.",),
    persona: Persona = LEA,
) -> tuple[str, ...]:
    """The names of the faults of a draft."""
    return tuple(f.name for f in faults_of(Draft(message=message, done=done, persona=persona, own=own, heard=heard)))


@pytest.mark.parametrize("message", ["", "   ", "\u200b", "```\n```", "~~~", "\u2060 \ufeff\n"])
def test_b15_nothing_visible_is_empty(message: str) -> None:
    """Zero-width characters, blanks and an empty fence are nothing."""
    assert names(message) == ("empty",)


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("Bonjour ! Comment puis-je vous aider aujourd'hui ?", "speaks_as_assistant"),
        ("Bonjour, comment puis-je t’aider ?", "speaks_as_assistant"),
        ("Bien sûr, voici le message que vous pouvez envoyer : …", "speaks_as_assistant"),
        ("Hello Ori. How can I assist you?", "speaks_as_assistant"),
        ("I'm here to help you with your business.", "speaks_as_assistant"),
        ("<think>the user wants me to insist</think>vous pouvez me rappeler ?", "leaked_reasoning"),
        ("Okay, the user wants a refund. I'd say: hello", "leaked_reasoning"),
        ("Je dois répondre en tant que Marc. Bonjour.", "leaked_reasoning"),
        ("User: je veux relancer mon devis\nAssistant: d'accord", "both_sides"),
        ("**Assistant** : d'accord", "both_sides"),
        ("*sighs* fine, go on", "stage_direction"),
        ("*Soupire longuement* bon, d'accord", "stage_direction"),
        ("(soupire) bon d'accord", "stage_direction"),
        ("d'accord [smiles]", "stage_direction"),
        ("As an AI language model, I have no city.", "says_it_is_a_model"),
        ("Je suis une intelligence artificielle", "says_it_is_a_model"),
        ("en tant qu'IA je n'ai pas d'âge", "says_it_is_a_model"),
        ("x" * 201, "too_long"),
    ],
)
def test_b11_a_broken_role_has_a_name(message: str, fault: str) -> None:
    """Reasoning, stage directions, the other side's lines and being a machine are found."""
    assert fault in names(message)


@pytest.mark.parametrize(
    "message",
    [
        "oui",
        "non merci",
        "c'est *vraiment* cher quand même",
        "vous êtes une IA ou une vraie personne ?",
        "are you an AI?",
        "I don't want to talk to a chatbot",
        "pouvez-vous m'aider à relancer mon devis ?",
        "can you help me?",
        "je voulais savoir : comment ça marche",
        "un ami (rigolo) m'a parlé de vous",
        "the user manual says otherwise",
        "mon agent: il est en vacances",
        "je pense que oui (je regarde demain)",
        "mon numéro c'est le 0612345678",
        "+33 6 12 34 56 78",
        "ma commande CMD-20417 n'est pas arrivée",
        "lea@example.org",
        "je suis à Lyon depuis 12 ans, j'ai 31 ans",
        "100 € c'est trop pour moi",
        "on se voit le 12/03 à 18h30 ?",
        "au 3 rue de la République 69002 Lyon",
        "😀",
    ],
)
def test_what_people_type_passes(message: str) -> None:
    """The checks are precise: everyday messages are no faults."""
    assert names(message) == ()


def test_b15_a_verbatim_repeat_is_a_fault_and_three_in_a_row_are_stuck() -> None:
    """The opening again is a repeat; a short answer may come twice, not three times in a row."""
    opening = "bonjour, je voudrais relancer un devis"
    assert names(opening.upper() + "  ", own=(opening, "autre")) == ("repeats",)
    assert names("oui", own=("oui", "et alors ?", "oui")) == ()
    assert names("oui", own=("oui", "oui")) == ("stuck",)


def test_b12_a_goodbye_may_come_again() -> None:
    """Closing phrases repeat; ending the conversation is not the checks' work."""
    assert names("merci beaucoup, à vous aussi !", own=("merci beaucoup, à vous aussi !",)) == ()


@pytest.mark.parametrize(
    ("done", "own", "heard", "expected"),
    [
        (True, ("bonjour",), ("j'envoie le devis, vous confirmez ?",), ("ended_early",)),
        (True, (), (), ("ended_early",)),
        (True, ("bonjour",), ("c'est noté.",), ()),
        (False, ("bonjour",), ("c'est noté.",), ("empty",)),
    ],
)
def test_b13_leaving_without_a_word(
    done: bool, own: tuple[str, ...], heard: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    """Leaving is fine once there is nothing to answer."""
    assert names("", done=done, own=own, heard=heard) == expected


@pytest.mark.parametrize(
    ("message", "heard", "expected"),
    [
        ("j'ai 4 200 € à mettre", ("Bonjour.",), ("reveals",)),
        ("j'ai 4 200 € à mettre", ("Bonjour, que cherchez-vous ?",), ()),
        ("j'ai 4 200 € à mettre", ("Parlons de votre budget.", "D'accord."), ()),
        ("j'ai 31 ans", ("Bonjour.",), ()),
    ],
)
def test_a_fact_held_back_waits_for_a_question(message: str, heard: tuple[str, ...], expected: tuple[str, ...]) -> None:
    """It may be told once the agent asked something, or named the fact."""
    assert names(message, heard=heard) == expected


@pytest.mark.parametrize(
    ("message", "heard", "expected"),
    [
        ("mon numéro est le 07 98 76 54 32", ("Votre numéro ?",), ("contradicts",)),
        ("écrivez à marc@example.org", ("Votre mail ?",), ("contradicts",)),
        ("c'est la commande CMD-99999", ("Laquelle ?",), ("contradicts",)),
        ("mon budget est de 3000 €", ("Votre budget ?",), ("contradicts",)),
        ("mon budget est de 4200€", ("Votre budget ?",), ()),
        ("mon budget est de 4.200,00 €", ("Votre budget ?",), ()),
        ("pour ce budget, 3000 € ça va ?", ("On fait 3000 € ?",), ()),
        ("c'est bien le 07 98 76 54 32 ?", ("Appelez le 07 98 76 54 32 ?",), ()),
        ("la facture FAC-99999", ("Laquelle ?",), ()),
    ],
)
def test_its_own_identifiers_are_not_contradicted(
    message: str, heard: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    """An identifier of a known kind given otherwise is a fault, unless the agent brought it up."""
    assert names(message, heard=heard) == expected


def test_names_of_faults_are_unique() -> None:
    """A name is the reason code of an invalid trial."""
    assert len({f.name for f in FAULTS}) == len(FAULTS)


@given(st.text(max_size=300), st.booleans(), st.lists(st.text(max_size=40), max_size=4).map(tuple))
def test_any_text_gets_named_faults_and_no_exception(message: str, done: bool, said: tuple[str, ...]) -> None:
    """The checks end for any text."""
    assert set(names(message, done=done, own=said, heard=said)) <= {f.name for f in FAULTS}
