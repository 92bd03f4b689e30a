"""Matching: waiting for somebody who fits, then a yes or a no to meeting them. The search itself is a job."""

from __future__ import annotations

from dataclasses import replace

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.encounters import Match
from evalrun.sample_orchestrator.extraction.consent import Consent, read_consent
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.stages import pricing
from evalrun.sample_orchestrator.stages.questions import Question, put
from evalrun.sample_orchestrator.stages.stage import Reaction, Scene
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Field, StageName, User

NAME = StageName.MATCHING
NEXT = StageName.MEETING
GOAL = "Both people who fit say whether they want to meet."

FR, EN = Language.FR, Language.EN
_SEARCHING = {
    FR: (
        "je cherche pour toi et je t'écris dès que j'ai quelqu'un qui te correspond.",
        "ma recherche est en cours, je reviens vers toi avec un prénom, pas avant.",
        "rien à faire de ton côté, je te fais signe quand je trouve la bonne personne.",
    ),
    EN: (
        "i'm looking for you and i'll write as soon as i have somebody who fits.",
        "my search is on, i'll come back to you with a name and not before.",
        "nothing to do on your side, i'll let you know when i find the right person.",
    ),
}
_SEARCHING_MENTIONS = ("cherch", "trouv", "ecri", "revien", "signe", "look", "search", "find", "found", "write", "back")
_MEETS = Question(
    task="Ask whether they want to meet {name}.",
    first={FR: ("tu as envie de rencontrer {name} ?",), EN: ("would you like to meet {name}?",)},
    again={
        FR: (
            "je ne dis rien à {name} sans ton accord, c'est oui ou non pour une rencontre ?",
            "pour {name}, je note plutôt oui ou plutôt non ?",
        ),
        EN: (
            "i tell {name} nothing without your word, is it yes or no to meeting?",
            "about {name}, do i write down yes or no?",
        ),
    },
    mentions=("rencontr", "voir", "oui", "meet", "see", "yes"),
)
_ASKING_THEM = {
    FR: (
        "top. j'attends la réponse de {name} et je te dis.",
        "c'est noté, je demande à {name} et je reviens vers toi.",
        "{name} n'a pas encore répondu, je te préviens aussitôt.",
    ),
    EN: (
        "great. i'm waiting for {name} to answer and i'll tell you.",
        "noted, i'm asking {name} and i'll come back to you.",
        "{name} has not answered yet, i'll let you know at once.",
    ),
}
_DECLINED = {
    FR: ("c'est noté, je ne donne pas suite.", "entendu, ça reste entre nous."),
    EN: ("noted, i won't take it further.", "understood, it stays between us."),
}
_THINK = {
    FR: (
        "je te laisse y penser. réponds oui ou non pour {name} quand tu veux.",
        "prends ton temps pour {name}, un oui ou un non me suffira.",
    ),
    EN: (
        "take your time. answer yes or no about {name} whenever you like.",
        "no hurry about {name}, a yes or a no will do.",
    ),
}


def may_enter(user: User) -> bool:
    """Paid, after everything before it."""
    return pricing.may_enter(user) and pricing.is_done(user)


def is_done(user: User) -> bool:
    """Both want to meet."""
    return user.match is not None and user.match.mutual


def asks(user: User) -> tuple[Field, ...]:
    """Whether they want to meet who they were told of."""
    return (Field.WANTS_TO_MEET,) if user.match and user.match.told else ()


def hear(user: User, heard: Heard, *, last: bool) -> Reaction:  # noqa: ARG001  the shape of a stage
    """The answer to a match they were told of."""
    match = user.match
    consent = read_consent(heard.answer)
    if match is None or not match.told or match.answer is not None or consent is None:
        return Reaction(user=user)
    arguments = {"match": match.id, "with": match.partner.first_name or match.partner.address}
    if consent is Consent.YES:
        accepted = replace(user, match=replace(match, answer=True))
        return Reaction(user=accepted, tools=(ToolUse(name="accept_match", arguments=arguments),))
    line = Line(task="Say that you will not take it further.", wordings=_DECLINED[user.language])
    declined = replace(user, match=None)
    return Reaction(user=declined, tools=(ToolUse(name="decline_match", arguments=arguments),), told=(line,))


def say(user: User, scene: Scene) -> Brief:
    """Where the search is, and the question when it found somebody."""
    match = user.match
    if match is None or not match.told:
        line = Line(
            task="Say that you are looking and will write when you have found somebody.",
            wordings=_SEARCHING[user.language],
            mentions=_SEARCHING_MENTIONS,
        )
        return Brief(stage=NAME, told=(*scene.before, line))
    if match.answer:
        line = _about(user, match, "Say that you are waiting for the answer of {name}.", _ASKING_THEM[user.language])
        return Brief(stage=NAME, told=(*scene.before, line))
    if Field.WANTS_TO_MEET in user.skipped:
        line = _about(user, match, "Say that they may take their time and answer yes or no.", _THINK[user.language])
        return Brief(stage=NAME, told=(*scene.before, line))
    return Brief(stage=NAME, told=scene.before, asked=meets(user, match))


def meets(user: User, match: Match) -> Line:
    """The question whether they want to meet."""
    return put(_MEETS, Field.WANTS_TO_MEET, user, name=named(match, user.language))


def named(match: Match, language: Language) -> str:
    """How the other one is called, also when Ori knows no name."""
    return match.partner.first_name or {FR: "cette personne", EN: "this person"}[language]


def _about(user: User, match: Match, task: str, wordings: tuple[str, ...]) -> Line:
    name = named(match, user.language)
    return Line(
        task=task.format(name=name),
        wordings=tuple(w.format(name=name) for w in wordings),
        holds=(name,),
    )
