"""What an action is: a module that knows when it is asked for, which tool it calls and what it says."""

from __future__ import annotations

from typing import Protocol

from evalrun.sample_orchestrator.brief import Line
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.user import User


class Action(Protocol):
    """Something a user can ask for at any time; plain modules satisfy it."""

    TOOL: str
    PROMPT: str
    GOES_ON: bool
    """Whether the stage's own words follow in the same reply."""

    def is_asked(self, user: User, heard: Heard) -> bool:
        """Whether this message asks for it."""

    def apply(self, user: User) -> User:
        """The user once the tool has run."""

    def line(self, user: User) -> Line:
        """What is said of it."""
