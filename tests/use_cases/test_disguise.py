"""People are taken out of chats."""

from __future__ import annotations

import pytest

from evalrun.use_cases.disguise import Disguise


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("appelle-moi au +33 6 12 34 56 78", "appelle-moi au +00 0 00 00 00 01"),
        ("write to a.b+c@corp.co.uk", "write to someone1@example.com"),
        ("voir https://x.example/u/léa?id=1", "voir https://example.com/1"),
        ("FR76 3000 6000 0112 3456 7890 189", "XX00 0000 0000 0000 0000 0000 001"),
        ("221 Baker Street then", "1 rue des Tilleuls then"),
        ("3 avenue Jean Jaurès", "1 rue des Tilleuls"),
        ("LÉA MARTIN et léa", "Nora et Nora"),
        ("j'ai 34 ans, 45 € et 2 chats", "j'ai 34 ans, 45 € et 2 chats"),
        ("le 14/02 à 19h30", "le 14/02 à 19h30"),
    ],
)
def test_what_identifies_somebody_is_replaced(said: str, shown: str) -> None:
    """By something of the same form; small numbers, dates and hours stay."""
    assert shown == Disguise(["Léa Martin"], "Nora").text(said)


def test_the_same_is_replaced_by_the_same() -> None:
    """Two numbers stay two numbers, and a number named twice stays one."""
    disguise = Disguise([], "Nora")
    said = "0612345678, 0698765432, 0612345678"
    assert "0000000001, 0000000002, 0000000001" == disguise.text(said)
    assert {"number": 3} == dict(disguise.replaced)


def test_names_are_learnt_from_introductions() -> None:
    """Who says their name is known by it from then on, in both languages."""
    disguise = Disguise([], "Nora")
    disguise.learn("salut, moi c'est Karim. my name is Zoe")
    assert "Nora et Nora" == disguise.text("karim et Zoe")
