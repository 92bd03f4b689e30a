"""Pause: Ori asks nothing and writes nothing unasked until the user comes back."""

from __future__ import annotations

from dataclasses import replace

from evalrun.sample_orchestrator.actions.action import Answer, Situation
from evalrun.sample_orchestrator.brief import Line
from evalrun.sample_orchestrator.extraction.intents import Intent
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import User

TOOL = "pause_account"
PROMPT = "This person wants a break from you. Respect it at once, without a question and without keeping them."

_CONFIRMED = {
    Language.FR: (
        "c'est en pause, je ne t'écris plus. pour revenir, il suffit de m'écrire « reprends ».",
        "ok, pause activée, tu n'auras plus de message de ma part. écris « reprends » quand tu veux.",
    ),
    Language.EN: (
        "you are on pause, i won't write any more. to come back, just write « resume ».",
        "ok, pause is on, no more messages from me. write « resume » whenever you like.",
    ),
}
_REMINDERS = {
    Language.FR: (
        "tu es toujours en pause. écris « reprends » pour continuer avec moi.",
        "je garde la pause. un simple « reprends » et on repart.",
        "la pause est encore active, « reprends » suffit pour en sortir.",
    ),
    Language.EN: (
        "you are still on pause. write « resume » to go on with me.",
        "i'm keeping the pause. a simple « resume » and we start again.",
        "the pause is still on, « resume » is all it takes to end it.",
    ),
}


def answer(situation: Situation) -> Answer | None:
    """The pause, confirmed with the way back, for a user who asks for one and is not in one."""
    user = situation.user
    if Intent.PAUSE not in situation.heard.intents or user.paused:
        return None
    paused = replace(user, paused=True)
    return Answer(user=paused, prompt=PROMPT, told=(_confirmed(user),), tools=(ToolUse(name=TOOL),))


def _confirmed(user: User) -> Line:
    return Line(
        task="Confirm the pause: you will not write any more. To come back they only have to write « resume » (« reprends » in French).",
        wordings=_CONFIRMED[user.language],
        mentions=("pause",),
    )


def reminder(user: User) -> Line:
    """What a paused user is told when they write something else."""
    return Line(
        task="Remind them that they are on pause and that « resume » (« reprends » in French) ends it.",
        wordings=_REMINDERS[user.language],
        mentions=("reprend", "resume"),
    )
