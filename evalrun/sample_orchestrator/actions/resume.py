"""Resume: the pause ends and the conversation goes on where it was."""

from __future__ import annotations

from dataclasses import replace

from evalrun.sample_orchestrator.brief import Line
from evalrun.sample_orchestrator.extraction.intents import Intent
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.user import User

TOOL = "resume_account"
GOES_ON = True
PROMPT = "This person is back after a pause. Be glad, briefly, and go on."

_WORDINGS = {
    Language.FR: ("ça fait plaisir de te retrouver.", "te revoilà, on reprend où on en était."),
    Language.EN: ("good to have you back.", "you're back, let's pick up where we were."),
}


_MENTIONS = ("retrouv", "revoi", "repren", "retour", "content", "plaisir", "back", "again", "glad", "good")


def is_asked(user: User, heard: Heard) -> bool:
    """The user is in a pause and asks to leave it."""
    return user.paused and Intent.RESUME in heard.intents


def apply(user: User) -> User:
    """The user, no longer paused."""
    return replace(user, paused=False)


def line(user: User) -> Line:
    """The welcome back."""
    return Line(task="Say that it is good to have them back.", wordings=_WORDINGS[user.language], mentions=_MENTIONS)
