"""Manifesto: for now, thank the user for the profile and say what comes next."""

from __future__ import annotations

from evalrun.sample_orchestrator.brief import Brief, Line, called
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.stages import profiling
from evalrun.sample_orchestrator.stages.stage import Scene
from evalrun.sample_orchestrator.user import Field, StageName, User

NAME = StageName.MANIFESTO
NEXT: StageName | None = None
GOAL = "The user knows that the profile is done and what happens next."
PROMPT = "The profile of this person is done. Thank them and make them look forward to what comes next."
FIELDS: tuple[Field, ...] = ()

_ARRIVED = {
    Language.FR: (
        "merci{name}, j'ai ce qu'il me faut pour ton profil. prochaine étape, je te raconte comment je travaille.",
        "c'est tout bon{name}, ton profil est prêt. ensuite je t'explique ma façon de présenter les gens.",
    ),
    Language.EN: (
        "thanks{name}, i have what i need for your profile. next, i'll tell you how i work.",
        "all good{name}, your profile is ready. next i'll explain how i introduce people.",
    ),
}
_WAITING = {
    Language.FR: (
        "ton profil est bien enregistré, la suite arrive et c'est moi qui t'écris.",
        "rien à faire de ton côté pour l'instant, je reviens vers toi avec la suite.",
        "c'est bien reçu, je te fais signe dès que la suite est prête.",
    ),
    Language.EN: (
        "your profile is safely saved, the next step is coming and i'll write to you.",
        "nothing to do on your side for now, i'll come back to you with the next step.",
        "got it, i'll let you know as soon as the next step is ready.",
    ),
}


_WAITING_MENTIONS = ("profil", "suite", "ecri", "revien", "next", "writ", "back")


def may_enter(user: User) -> bool:
    """The profile is done."""
    return profiling.is_done(user)


def is_done(_user: User) -> bool:
    """The stages after this one are not built yet."""
    return False


def say(user: User, scene: Scene) -> Brief:
    """Thank and announce on arrival, reassure after it; ask nothing."""
    aside = (scene.aside,) if scene.aside else ()
    if scene.arrived:
        said = tuple(w.format(name=called(user.first_name)) for w in _ARRIVED[user.language])
        line = Line(
            task="Thank them: the profile is done. Next you will tell how you work.",
            wordings=said,
            mentions=("profil",),
        )
    else:
        line = Line(
            task="Say that the profile is saved and that you will write again soon.",
            wordings=_WAITING[user.language],
            mentions=_WAITING_MENTIONS,
        )
    return Brief(prompt=PROMPT, told=(*aside, line))
