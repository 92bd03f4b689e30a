"""What a stage is: a module that says when it is entered, what it asks, when it is left, and what is said in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.user import Field, StageName, User


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The circumstances of a reply.

    `arrived`: the stage was entered with this message. `learnt`: what the message told.
    `gave_up`: the field Ori stopped asking for. `aside`: something to say before the stage's own words.
    """

    first_contact: bool = False
    arrived: bool = False
    learnt: frozenset[Field] = frozenset()
    gave_up: Field | None = None
    aside: Line | None = None


class Stage(Protocol):
    """A stage; plain modules satisfy it."""

    NAME: StageName
    NEXT: StageName | None
    GOAL: str
    PROMPT: str
    FIELDS: tuple[Field, ...]
    """What the stage asks for, in this order."""

    def may_enter(self, user: User) -> bool:
        """Whether a user may be in this stage."""

    def is_done(self, user: User) -> bool:
        """Whether nothing is left to do in it."""

    def say(self, user: User, scene: Scene) -> Brief:
        """What the reply must do."""
