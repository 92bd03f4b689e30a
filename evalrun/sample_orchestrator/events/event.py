"""What an event is: a module that says when it applies, on which occasion, and what is said."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.brief import Brief
from evalrun.sample_orchestrator.settings import Settings
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import User


class EventOutcome(StrEnum):
    """What came of an event."""

    SENT = "sent"
    DEFERRED = "deferred"
    """It waits for the end of the quiet hours."""
    PAUSED = "paused"
    DUPLICATE = "duplicate"
    """It was already sent or is already waiting, on the same occasion."""
    NOT_RELEVANT = "not_relevant"
    BLOCKED = "blocked"
    """It concerns somebody between whom and the user there is a block."""


class Event(Protocol):
    """Something about which Ori speaks first; plain modules satisfy it."""

    NAME: str
    PROMPT: str

    def is_relevant(self, user: User, now: datetime) -> bool:
        """Whether there is something to say to this user now."""

    def occasion(self, user: User) -> str:
        """What makes two dispatches the same. Never a time: a count, so that clocks cannot double a message."""

    def tools(self, user: User) -> tuple[ToolUse, ...]:
        """What is called when it is sent."""

    def prepare(self, user: User) -> User:
        """The user once the message is sent."""

    def say(self, user: User, data: Mapping[str, object]) -> Brief:
        """What the message must do, for the prepared user."""

    async def due(self, connection: AsyncConnection, now: datetime, settings: Settings) -> tuple[str, ...]:
        """Addresses of the users for whom time alone has made it due."""
