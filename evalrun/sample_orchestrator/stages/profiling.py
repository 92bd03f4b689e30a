"""Profiling: the fields of the profile, one question at a time, with a graceful way on."""

from __future__ import annotations

from evalrun.sample_orchestrator.brief import Brief, Line, called
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.stages.questions import question
from evalrun.sample_orchestrator.stages.stage import Reaction, Scene
from evalrun.sample_orchestrator.stages.welcome import introduction
from evalrun.sample_orchestrator.user import Field, StageName, User

NAME = StageName.PROFILING
NEXT = StageName.MANIFESTO
GOAL = "Ori knows where the user lives, how old they are and what they hope to find."
FIELDS = (Field.CITY, Field.AGE, Field.LOOKING_FOR)

_MET = {
    Language.FR: ("enchanté{name}.", "ravi de te rencontrer{name}."),
    Language.EN: ("nice to meet you{name}.", "good to meet you{name}."),
}
_MET_MENTIONS = ("enchant", "ravi", "plais", "content", "rencontr", "nice", "good", "glad", "meet")
_NOTED = {
    Language.FR: ("merci, c'est noté.", "parfait, je garde ça.", "très bien, ça m'aide.", "ok, je l'ajoute."),
    Language.EN: ("thanks, noted.", "perfect, i'll keep that.", "good, that helps.", "ok, i'm adding it."),
}
_MOVED_ON = {
    Language.FR: (
        "pas de souci, on y reviendra plus tard.",
        "ça marche, on laisse ça de côté pour l'instant.",
    ),
    Language.EN: ("no worries, we'll come back to it later.", "that's fine, let's leave it for now."),
}


def may_enter(user: User) -> bool:
    """The welcome is over."""
    return user.settled(Field.FIRST_NAME)


def is_done(user: User) -> bool:
    """Every field is known, or was given up."""
    return all(user.settled(field) for field in FIELDS)


def next_field(user: User) -> Field | None:
    """The field to ask for: the open one first, then the order of the profile."""
    if user.asked in FIELDS and not user.settled(user.asked):
        return user.asked
    return next((f for f in FIELDS if not user.settled(f)), None)


def asks(_user: User) -> tuple[Field, ...]:
    """The fields of the profile."""
    return FIELDS


def hear(user: User, _heard: Heard, *, last: bool) -> Reaction:  # noqa: ARG001  the shape of a stage
    """Nothing beyond the profile."""
    return Reaction(user=user)


def say(user: User, scene: Scene) -> Brief:
    """React in a few words, then ask for the next field."""
    field = next_field(user)
    told = reaction(user, scene)
    return Brief(stage=NAME, told=told, asked=question(field, user) if field else None)


def reaction(user: User, scene: Scene) -> tuple[Line, ...]:
    """What is said before the question: who Ori is, that an answer is noted, that one is left open."""
    lines = [introduction(user.language)] if scene.first_contact else []
    if Field.FIRST_NAME in scene.learnt:
        met = tuple(w.format(name=called(user.first_name)) for w in _MET[user.language])
        lines.append(Line(task="Say that it is nice to meet them.", wordings=met, mentions=_MET_MENTIONS))
    elif scene.learnt:
        lines.append(Line(task="Thank them for what they just told.", wordings=_NOTED[user.language]))
    elif scene.gave_up:
        lines.append(Line(task="Say that it is fine to leave this for later.", wordings=_MOVED_ON[user.language]))
    if scene.aside:
        lines.append(scene.aside)
    return tuple(lines)
