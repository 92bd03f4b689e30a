"""Resume: the pause ends and the conversation goes on where it was."""

from __future__ import annotations

from dataclasses import replace

from evalrun.sample_orchestrator.actions.action import Answer, Situation
from evalrun.sample_orchestrator.brief import Line
from evalrun.sample_orchestrator.extraction.intents import Intent
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.tool_use import ToolUse

TOOL = "resume_account"
PROMPT = "This person is back after a pause. Be glad, briefly, and go on."

_WORDINGS = {
    Language.FR: ("ça fait plaisir de te retrouver.", "te revoilà, on reprend où on en était."),
    Language.EN: ("good to have you back.", "you're back, let's pick up where we were."),
}
_MENTIONS = ("retrouv", "revoi", "repren", "retour", "content", "plaisir", "back", "again", "glad", "good")


def answer(situation: Situation) -> Answer | None:
    """The welcome back, then the stage's own words, for a user in a pause who asks to leave it."""
    user = situation.user
    if not user.paused or Intent.RESUME not in situation.heard.intents:
        return None
    back = Line(task="Say that it is good to have them back.", wordings=_WORDINGS[user.language], mentions=_MENTIONS)
    resumed = replace(user, paused=False)
    return Answer(user=resumed, prompt=PROMPT, told=(back,), tools=(ToolUse(name=TOOL),), goes_on=True)
