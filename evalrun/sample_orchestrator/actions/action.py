"""What an action is: a module that reads a message and, when it is asked for, says what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from evalrun.sample_orchestrator.brief import Line
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.relay import Relay
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Awaiting, User


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What an action decides on: the message, and the user, who waits for nothing any more.

    `awaited` is what Ori waited to be told before the message; an answer that still waits for it
    says so again.
    """

    user: User
    heard: Heard
    awaited: Awaiting | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What follows from a message: the user after it, what is called, told, asked and passed on.

    `goes_on`: the stage's own words follow in the same reply. `fixed`: the reply is said in code's
    own words, and no model is asked for any.
    """

    user: User
    prompt: str
    told: tuple[Line, ...] = ()
    asked: Line | None = None
    tools: tuple[ToolUse, ...] = ()
    relays: tuple[Relay, ...] = ()
    goes_on: bool = False
    fixed: bool = False


class Action(Protocol):
    """Something a user can ask for at any time; plain modules satisfy it."""

    def answer(self, situation: Situation) -> Answer | None:
        """What follows, None when the message does not ask for it."""
