"""Manifesto: how Ori works, in a few words, and whether that suits the user."""

from __future__ import annotations

from dataclasses import replace

from evalrun.sample_orchestrator.brief import Brief, Line, called
from evalrun.sample_orchestrator.extraction.consent import Consent, read_consent
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.stages import profiling
from evalrun.sample_orchestrator.stages.questions import Question, put
from evalrun.sample_orchestrator.stages.stage import Reaction, Scene
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Field, StageName, User

NAME = StageName.MANIFESTO
NEXT = StageName.PRICING
GOAL = "The user knows how Ori works and says that it suits them."

FR, EN = Language.FR, Language.EN
_WAY = {
    FR: (
        "merci{name}, ton profil est prêt. je présente une seule personne à la fois, pour une vraie rencontre.",
        "c'est tout bon{name} pour ton profil. chez moi c'est une personne à la fois, et on se voit vite en vrai.",
    ),
    EN: (
        "thanks{name}, your profile is ready. i introduce one person at a time, and you really meet.",
        "all good{name}, your profile is done. with me it's one person at a time, and meeting for real soon.",
    ),
}
_SUITS = Question(
    task="Ask whether this way of doing suits them.",
    first={FR: ("ça te va comme façon de faire ?",), EN: ("does that suit you?",)},
    again={
        FR: (
            "avant d'aller plus loin je veux juste ton avis, tu veux essayer comme ça ?",
            "un oui ou un non me suffit, on continue ensemble de cette manière ?",
        ),
        EN: (
            "before we go further i'd just like your view, would you try it this way?",
            "a yes or a no is enough, shall we go on together like this?",
        ),
    },
    mentions=("va", "convien", "partant", "avis", "essay", "continu", "suit", "try", "ok", "go", "view"),
)
_NOT_FOR_THEM = {
    FR: (
        "je comprends, rien ne presse. ton profil reste au chaud, écris-moi « oui » si l'envie revient.",
        "pas de souci, je n'insiste pas. un « oui » de ta part et on reprend ici.",
        "c'est noté, je te laisse le temps. il suffit d'un « oui » pour continuer.",
    ),
    EN: (
        "i understand, there is no hurry. your profile is safe here, just write « yes » if you change your mind.",
        "no worries, i won't insist. one « yes » from you and we go on from here.",
        "noted, take your time. a « yes » is all it takes to continue.",
    ),
}


def may_enter(user: User) -> bool:
    """The profile is done."""
    return profiling.is_done(user)


def is_done(user: User) -> bool:
    """It suits them, or they did not say and Ori goes on."""
    return user.agreed is True or Field.AGREED in user.skipped


def asks(_user: User) -> tuple[Field, ...]:
    """Whether it suits them."""
    return (Field.AGREED,)


def hear(user: User, heard: Heard, *, last: bool) -> Reaction:  # noqa: ARG001  the shape of a stage
    """A yes or a no, also a yes that comes after a no."""
    consent = read_consent(heard.answer)
    agreed = {Consent.YES: True, Consent.NO: False, None: None}[consent]
    if agreed is None or agreed is user.agreed:
        return Reaction(user=user)
    use = ToolUse(name="save_agreement", arguments={"agreed": agreed})
    return Reaction(user=replace(user, agreed=agreed), tools=(use,))


def say(user: User, scene: Scene) -> Brief:
    """Tell the way on arrival, then ask whether it suits; no question to who said no."""
    if user.agreed is False:
        line = Line(task="Say that there is no hurry and that « oui » (« yes » in English) is enough to go on.", wordings=_NOT_FOR_THEM[user.language], mentions=("oui", "yes"))  # fmt: skip
        return Brief(stage=NAME, told=(*scene.before, line))
    told = scene.before
    if scene.arrived:
        said = tuple(w.format(name=called(user.first_name)) for w in _WAY[user.language])
        task = "Thank them: the profile is ready. Say that you introduce one person at a time, for a real meeting."
        told = (*told, Line(task=task, wordings=said, mentions=("profil",)))
    return Brief(stage=NAME, told=told, asked=put(_SUITS, Field.AGREED, user))
