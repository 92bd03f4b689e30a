"""Welcome: greet, say in a line who Ori is, learn the first name."""

from __future__ import annotations

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.stages.questions import question
from evalrun.sample_orchestrator.stages.stage import Reaction, Scene
from evalrun.sample_orchestrator.user import Field, StageName, User

NAME = StageName.WELCOME
NEXT = StageName.PROFILING
GOAL = "The user knows who Ori is and Ori knows how to call the user."
FIELDS = (Field.FIRST_NAME,)

_WORDINGS = {
    Language.FR: (
        "salut, moi c'est ori, je présente entre elles des personnes qui ont de bonnes chances de se plaire.",
        "hello, ici ori, mon métier c'est de faire se rencontrer des gens faits pour s'entendre.",
    ),
    Language.EN: (
        "hi, i'm ori, i introduce people to each other when i think they will get on.",
        "hello, ori here, my job is to help people who suit each other to meet.",
    ),
}


def may_enter(_user: User) -> bool:
    """Everybody starts here."""
    return True


def is_done(user: User) -> bool:
    """The first name is known, or was given up."""
    return user.settled(Field.FIRST_NAME)


def asks(_user: User) -> tuple[Field, ...]:
    """The first name."""
    return FIELDS


def hear(user: User, _heard: Heard, *, last: bool) -> Reaction:  # noqa: ARG001  the shape of a stage
    """Nothing beyond the profile."""
    return Reaction(user=user)


def introduction(language: Language) -> Line:
    """The greeting and the line on who Ori is, said at the first contact whatever follows."""
    task = "Greet them and say in one line that you are ori and introduce people who may get on."
    return Line(task=task, wordings=_WORDINGS[language], mentions=("ori",))


def say(user: User, scene: Scene) -> Brief:
    """Greet at the first contact, then ask the first name."""
    told = (introduction(user.language),) if scene.first_contact else ()
    aside = (scene.aside,) if scene.aside else ()
    return Brief(stage=NAME, told=(*told, *aside), asked=question(Field.FIRST_NAME, user))
