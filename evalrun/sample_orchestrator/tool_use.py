"""A tool that the state machine wants called, and the call that the tool gets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.user import User


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A tool to call, with its arguments."""

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What a tool is handed: the turn's transaction, the user as they were before it, the arguments, the present."""

    connection: AsyncConnection
    user: User
    arguments: Mapping[str, object]
    at: datetime


Tool = Callable[[ToolCall], Awaitable[object]]
"""A tool: returns what the hook may see. Raises ToolRefused."""
