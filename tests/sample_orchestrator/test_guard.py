"""The output guard and the wording that replaces what it refuses."""

import pytest

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.guard import Breach, Frame, breach
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.phrasing import PhrasedBy, safe_wording
from evalrun.sample_orchestrator.stages.questions import QUESTIONS

CITY = Line(task="Ask which town they live in.", wordings=("tu vis dans quelle ville ?",), mentions=("vill", "habit"))
ASKING = Brief(prompt="", asked=CITY)
TELLING = Brief(prompt="", told=(Line(task="Thank them.", wordings=("merci à toi.",)),))


def frame(brief=ASKING, **more):
    """A French frame around a brief."""
    return Frame(**({"brief": brief, "language": Language.FR, "max_chars": 200} | more))


@pytest.mark.parametrize(
    ("bubbles", "expected"),
    [
        (("merci léa.", "tu habites dans quelle ville ?"), None),
        ((), Breach.EMPTY),
        (("…",), Breach.EMPTY),
        (("un pour toi", "deux pour moi", "tu habites où ?"), Breach.BUBBLES),
        (("tu habites où, " * 30 + "?",), Breach.TOO_LONG),
        (("tu habites où ? dans quelle ville ?",), Breach.QUESTIONS),
        (("tu habites dans une jolie ville.",), Breach.QUESTIONS),
        (("salut [NOM], tu habites où ?",), Breach.PLACEHOLDER),
        (("salut {name}, tu habites où ?",), Breach.PLACEHOLDER),
        (("salut undefined, tu habites où ?",), Breach.PLACEHOLDER),
        (("salut , tu habites où ?",), Breach.PLACEHOLDER),
        (("c'est noté — tu habites où ?",), Breach.DASH),
        (("c'est noté – tu habites où ?",), Breach.DASH),
        (("- tu habites où ?",), Breach.MARKUP),
        (("**super**, tu habites où ?",), Breach.MARKUP),
        (("1. tu habites où ?",), Breach.MARKUP),
        (("désolé, je ne peux pas. tu habites où ?",), Breach.REFUSAL),
        (("en tant qu'ia, je te demande où tu habites ?",), Breach.REFUSAL),
        (("c'est 49 €, tu habites où ?",), Breach.PRICE),
        (("ça fait dix euros, tu habites où ?",), Breach.PRICE),
        (("le tarif est de 30, tu habites où ?",), Breach.PRICE),
        (("assistant: tu habites où ?",), Breach.ROLE),
        (("error: 500, tu habites où ?",), Breach.ODD),
        (("va sur https://ori.example, tu habites où ?",), Breach.ODD),
        (("which city do you live in?",), Breach.LANGUAGE),
        (("blorp snarg flim vork ville ?",), Breach.LANGUAGE),
        (("et toi tu préfères le thé ou le café ?",), Breach.MISSING),
        (("tu habites où ?", "tu habites où ?"), Breach.QUESTIONS),
        (("tu habites dans quelle ville ? c'est pour te prop",), Breach.CUT),
        (("le ciel et la mer, le ciel et la mer, tu habites dans quelle ville ?",), Breach.LOOP),
    ],
)
def test_breaches(bubbles, expected):
    """Each rule refuses what it is for, and names itself."""
    assert expected == breach(bubbles, frame())


def test_no_question_where_none_is_asked():
    """A reply that asks nothing may not end in a question."""
    assert Breach.QUESTIONS == breach(("merci à toi, ça va ?",), frame(TELLING))


def test_a_bubble_said_before_is_refused():
    """The model may not say a bubble again word for word."""
    found = breach(("tu habites dans quelle ville ?",), frame(earlier=("Tu habites dans quelle ville ?",)))
    assert Breach.REPEATED == found


def test_leaked_instructions_are_refused():
    """Seven words in a row of the prompt do not leave the house."""
    prompt = "You are warm. Write only the message itself, as plain text, one or two sentences."
    text = ("write only the message itself, as plain text, which city do you live in?",)
    english = Brief(prompt="", asked=Line(task="", wordings=("?",), mentions=("city",)))
    assert Breach.LEAK == breach(text, frame(english, language=Language.EN, instructions=prompt))


def test_safe_wording_does_not_repeat_itself():
    """Of several wordings the least recently said one is taken."""
    line = Line(task="", wordings=("un ?", "deux ?", "trois ?"))
    brief = Brief(prompt="", asked=line)
    said: list[str] = []
    for _ in range(4):
        said += safe_wording(brief, said).bubbles
    assert ["un ?", "deux ?", "trois ?", "un ?"] == said


def test_safe_wording_is_marked():
    """Whoever looks can tell safe wording from the model's."""
    assert PhrasedBy.SAFE == safe_wording(TELLING).by


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("field", list(QUESTIONS))
def test_questions_pass_the_guard(field, language):
    """Every safe wording of every question would pass the guard it stands in for."""
    question = QUESTIONS[field]
    wordings = (*question.first[language], *question.again[language])
    brief = Brief(prompt="", asked=Line(task="", wordings=wordings, mentions=question.mentions))
    found = {w: breach((w,), frame(brief, language=language)) for w in wordings}
    assert dict.fromkeys(wordings) == found
