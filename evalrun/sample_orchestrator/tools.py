"""The tools: everything that changes a user goes through one of them and is seen by the hook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.actions.effects import reset_profile, running_late
from evalrun.sample_orchestrator.errors import ToolRefused
from evalrun.sample_orchestrator.extraction.folding import fold
from evalrun.sample_orchestrator.matchmaking import find_match
from evalrun.sample_orchestrator.membership import charge_card, save_agreement, save_plan
from evalrun.sample_orchestrator.pair_tools import (
    accept_match,
    cancel_meeting,
    close_match,
    confirm_meeting,
    decline_match,
    propose_meeting,
    save_feedback,
    save_topic,
)
from evalrun.sample_orchestrator.records import update_user
from evalrun.sample_orchestrator.safety.raising import raise_wellbeing_signal
from evalrun.sample_orchestrator.safety.reporting import report_user
from evalrun.sample_orchestrator.tool_use import Tool, ToolCall, ToolUse
from evalrun.sample_orchestrator.user import PROFILE, User

_EMPTY = frozenset({"", "null", "none", "undefined", "unknown", "inconnu", "n/a", "nan"})


class ToolHook(Protocol):
    """Whoever wants to see tool calls: called once for each, after it ran or was refused."""

    def __call__(self, name: str, arguments: Mapping[str, object], result: object, error: str | None, /) -> object:
        """See one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """Runs tools for one user in the transaction of a turn."""

    connection: AsyncConnection
    user: User
    at: datetime
    on_tool: ToolHook | None = None

    async def run(self, use: ToolUse) -> object:
        """Call a tool and show the call to the hook, refused ones too. Raises ToolRefused."""
        tool = _TOOLS.get(use.name, _no_such_tool(use.name))
        try:
            result = await tool(
                ToolCall(connection=self.connection, user=self.user, arguments=use.arguments, at=self.at)
            )
        except ToolRefused as refusal:
            self._show(use, None, str(refusal))
            raise
        self._show(use, result, None)
        return result

    def _show(self, use: ToolUse, result: object, error: str | None) -> None:
        if self.on_tool:
            self.on_tool(use.name, dict(use.arguments), result, error)


def _no_such_tool(name: str) -> Tool:
    async def refuse(_call: ToolCall) -> object:
        raise ToolRefused(f"there is no tool {name!r}")

    return refuse


async def _save_profile(call: ToolCall) -> object:
    known = {f.value for f in PROFILE}
    for name, value in call.arguments.items():
        if name not in known:
            raise ToolRefused(f"save_profile: there is no field {name!r}")
        if fold(str(value)) in _EMPTY or any(sign in str(value) for sign in "[]{}<>"):
            raise ToolRefused(f"save_profile: {value!r} is not a value for {name}")
    if not call.arguments:
        raise ToolRefused("save_profile: nothing to save")
    await update_user(call.connection, call.user.id, call.arguments)
    return {"saved": sorted(call.arguments)}


async def _pause_account(call: ToolCall) -> object:
    await update_user(call.connection, call.user.id, {"paused": True})
    return {"paused": True}


async def _resume_account(call: ToolCall) -> object:
    await update_user(call.connection, call.user.id, {"paused": False})
    return {"paused": False}


async def _expire_profile(call: ToolCall) -> object:
    await update_user(call.connection, call.user.id, {"expired": True})
    return {"expired": True}


_TOOLS: Mapping[str, Tool] = {
    "save_profile": _save_profile,
    "pause_account": _pause_account,
    "resume_account": _resume_account,
    "save_agreement": save_agreement,
    "save_plan": save_plan,
    "charge_card": charge_card,
    "accept_match": accept_match,
    "decline_match": decline_match,
    "close_match": close_match,
    "propose_meeting": propose_meeting,
    "confirm_meeting": confirm_meeting,
    "cancel_meeting": cancel_meeting,
    "save_feedback": save_feedback,
    "save_topic": save_topic,
    "find_match": find_match,
    "expire_profile": _expire_profile,
    "raise_wellbeing_signal": raise_wellbeing_signal,
    "report_user": report_user,
    "running_late": running_late,
    "reset_profile": reset_profile,
}
TOOLS = tuple(_TOOLS)
"""The names of all tools."""
