"""What a stage is: a module that says when it is entered, what it asks, when it is left, and what is said in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.heard import Heard
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import Field, StageName, User


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The circumstances of a reply.

    `arrived`: the stage was entered with this message. `learnt`: what the message told.
    `gave_up`: the field Ori stopped asking for. `aside`: something to say before the stage's own words.
    `reacted`: what is said to the message itself, by the stage in which it was heard.
    """

    first_contact: bool = False
    arrived: bool = False
    learnt: frozenset[Field] = frozenset()
    gave_up: Field | None = None
    asks_price: bool = False
    aside: Line | None = None
    reacted: tuple[Line, ...] = ()

    @property
    def before(self) -> tuple[Line, ...]:
        """Everything that goes before the stage's own words."""
        return ((self.aside,) if self.aside else ()) + self.reacted


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """What a stage makes of a message: the user after it, the tools to call, and what is said to it."""

    user: User
    tools: tuple[ToolUse, ...] = ()
    told: tuple[Line, ...] = ()


class Stage(Protocol):
    """A stage; plain modules satisfy it. What the model is told in it is in `prompts/stages/`."""

    NAME: StageName
    NEXT: StageName | None
    GOAL: str

    def may_enter(self, user: User) -> bool:
        """Whether a user may be in this stage."""

    def is_done(self, user: User) -> bool:
        """Whether nothing is left to do in it."""

    def asks(self, user: User) -> tuple[Field, ...]:
        """What it may ask this user for, in this order; what is settled is left out by the caller."""

    def hear(self, user: User, heard: Heard, *, last: bool) -> Reaction:
        """What a message means here, beyond the profile. `last`: the open question will not be asked again."""

    def say(self, user: User, scene: Scene) -> Brief:
        """What the reply must do."""
