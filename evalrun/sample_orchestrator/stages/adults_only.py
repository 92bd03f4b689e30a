"""Adults only: somebody under age is told so kindly, and nothing more is asked of them."""

from __future__ import annotations

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.stages.stage import Reaction, Scene
from evalrun.sample_orchestrator.user import ADULT, Field, StageName, User

NAME = StageName.ADULTS_ONLY
NEXT: StageName | None = None
GOAL = "Nobody under age is in the funnel."

_WORDINGS = {
    Language.FR: (
        "merci de ta franchise. mes rencontres sont réservées aux adultes, alors je m'arrête là. prends soin de toi.",
        "je ne présente que des personnes majeures, on pourra en reparler quand tu seras adulte.",
        "rien ne change de mon côté, c'est réservé aux adultes. bonne route à toi.",
    ),
    Language.EN: (
        "thanks for being honest. my introductions are for adults only, so i'll stop here. take care of yourself.",
        "i only introduce people who are of age, we can talk again when you are an adult.",
        "nothing has changed on my side, this is for adults. all the best to you.",
    ),
}


def may_enter(user: User) -> bool:
    """The user gave an age under the limit."""
    return user.age is not None and user.age < ADULT


def is_done(_user: User) -> bool:
    """There is no way on from here in the chat."""
    return False


def asks(_user: User) -> tuple[Field, ...]:
    """Nothing."""
    return ()


def hear(user: User, _heard: Heard, *, last: bool) -> Reaction:  # noqa: ARG001  the shape of a stage
    """Nothing beyond the profile."""
    return Reaction(user=user)


def say(user: User, _scene: Scene) -> Brief:
    """Say that this is for adults; ask nothing."""
    line = Line(
        task="Say that introductions are for adults only and wish them well.",
        wordings=_WORDINGS[user.language],
        mentions=("adulte", "majeur", "adult"),
    )
    return Brief(stage=NAME, told=(line,))
