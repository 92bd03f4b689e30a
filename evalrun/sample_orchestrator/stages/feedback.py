"""Feedback: how the meeting was, and whether to see each other again. Gentle when it was not good."""

from __future__ import annotations

from dataclasses import replace

from evalrun.sample_orchestrator.brief import Brief, Line, Wordings
from evalrun.sample_orchestrator.encounters import Impression, Meeting, MeetingStatus
from evalrun.sample_orchestrator.extraction.consent import Consent, read_consent
from evalrun.sample_orchestrator.extraction.impression import read_impression
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.stages.questions import Question, put
from evalrun.sample_orchestrator.stages.stage import Reaction, Scene
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Field, StageName, User

NAME = StageName.FEEDBACK
NEXT = StageName.COACHING
GOAL = "Ori knows how the meeting was; nobody who had a bad time is asked to go back."

FR, EN = Language.FR, Language.EN
_HOW = Question(
    task="Ask how the meeting with {name} was.",
    first={FR: ("alors, ce moment avec {name}, c'était comment ?",), EN: ("so, how was it with {name}?",)},
    again={
        FR: (
            "ton ressenti m'aide à mieux chercher et reste entre nous, plutôt bien, moyen ou pas terrible ?",
            "en un mot, la rencontre avec {name} s'est passée comment ?",
        ),
        EN: (
            "how you felt helps me search better and stays between us, was it good, so-so or not great?",
            "in one word, how did it go with {name}?",
        ),
    },
    mentions=("comment", "ressenti", "moment", "rencontre", "passe", "how", "go", "felt", "feel", "meeting"),
)
_AGAIN = Question(
    task="Ask whether they want to see {name} again.",
    first={FR: ("tu as envie de revoir {name} ?",), EN: ("would you like to see {name} again?",)},
    again={
        FR: (
            "je le garde pour moi tant que vous n'êtes pas deux à le vouloir, un second moment avec {name}, oui ou non ?",
            "pour {name}, je note qu'on en reste là ou que tu veux une suite ?",
        ),
        EN: (
            "i keep it to myself unless you both want it, a second time with {name}, yes or no?",
            "about {name}, do i write down that it ends here or that you want more?",
        ),
    },
    mentions=("revoir", "second", "suite", "encore", "again", "second", "more"),
)
_HEARD: dict[Impression, Wordings] = {
    Impression.GOOD: {
        FR: ("ça me fait plaisir de lire ça.", "quelle bonne nouvelle."),
        EN: ("that makes me happy to read.", "what good news."),
    },
    Impression.MIXED: {
        FR: ("merci de me le dire comme c'est.", "je vois, un peu des deux."),
        EN: ("thanks for telling me as it is.", "i see, a bit of both."),
    },
    Impression.BAD: {
        FR: (
            "merci de me le dire, ce n'est pas ce que je te souhaitais. on ne se force à rien.",
            "je t'entends, ça n'a pas dû être simple. on en reste là avec cette personne.",
        ),
        EN: (
            "thank you for telling me, that is not what i wished for you. nothing is forced.",
            "i hear you, that can't have been easy. we leave it there with this person.",
        ),
    },
    Impression.MISSED: {
        FR: (
            "attendre pour rien, ce n'est pas juste. tu n'y es pour rien.",
            "merci de me prévenir, ça ne se fait pas. je n'insiste pas avec cette personne.",
        ),
        EN: (
            "waiting for nobody is not fair. it has nothing to do with you.",
            "thanks for telling me, that is not right. i won't insist with this person.",
        ),
    },
}
_LET_DOWN = (Impression.BAD, Impression.MISSED)


def may_enter(user: User) -> bool:
    """A meeting was held."""
    return user.meeting is not None and user.meeting.status is MeetingStatus.HELD


def is_done(user: User) -> bool:
    """Both questions are settled."""
    return user.settled(Field.IMPRESSION) and user.settled(Field.AGAIN)


def asks(_user: User) -> tuple[Field, ...]:
    """How it was, and whether again."""
    return (Field.IMPRESSION, Field.AGAIN)


def hear(user: User, heard: Heard, *, last: bool) -> Reaction:  # noqa: ARG001  the shape of a stage
    """An impression, then a yes or a no. Who was let down is not asked to see the other again."""
    meeting = user.meeting
    if meeting is None:
        return Reaction(user=user)
    if meeting.impression is None and not user.settled(Field.IMPRESSION):
        impression = read_impression(heard.answer)
        return _impressed(user, meeting, impression) if impression else Reaction(user=user)
    consent = read_consent(heard.answer)
    if consent is None or meeting.again is not None:
        return Reaction(user=user)
    again = consent is Consent.YES
    told = replace(user, meeting=replace(meeting, again=again))
    return Reaction(user=told, tools=(_save(meeting, {"again": again}),))


def say(user: User, scene: Scene) -> Brief:
    """Ask what is not settled yet."""
    name = _name(user.meeting)
    if not user.settled(Field.IMPRESSION):
        return Brief(stage=NAME, told=scene.before, asked=put(_HOW, Field.IMPRESSION, user, name=name))
    return Brief(stage=NAME, told=scene.before, asked=put(_AGAIN, Field.AGAIN, user, name=name))


def _impressed(user: User, meeting: Meeting, impression: Impression) -> Reaction:
    found: dict[str, object] = {"impression": impression.value}
    meeting = replace(meeting, impression=impression)
    if impression in _LET_DOWN:
        found["again"] = False
        meeting = replace(meeting, again=False)
    line = Line(task="Answer to how it was in a few warm words.", wordings=_HEARD[impression][user.language])
    return Reaction(user=replace(user, meeting=meeting), tools=(_save(meeting, found),), told=(line,))


def _save(meeting: Meeting, found: dict[str, object]) -> ToolUse:
    return ToolUse(name="save_feedback", arguments={"with": _name(meeting), "meeting": meeting.id, **found})


def _name(meeting: Meeting | None) -> str:
    return (meeting.partner.first_name if meeting else None) or "l'autre"
