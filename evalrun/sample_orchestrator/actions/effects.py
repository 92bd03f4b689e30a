"""The tools of the actions: what they change, checked once more where it is changed."""

from __future__ import annotations

from evalrun.sample_orchestrator.actions.running_late import AFTER, BEFORE
from evalrun.sample_orchestrator.encounters import MeetingStatus
from evalrun.sample_orchestrator.errors import ToolRefused
from evalrun.sample_orchestrator.records import update_user
from evalrun.sample_orchestrator.tool_use import ToolCall
from evalrun.sample_orchestrator.user import PROFILE


async def running_late(call: ToolCall) -> object:
    """Let the other one of the meeting be told. Raises ToolRefused for anybody else, and for no meeting at this time."""
    meeting, to = call.user.meeting, call.arguments.get("to")
    if meeting is None or meeting.status is not MeetingStatus.CONFIRMED:
        raise ToolRefused("running_late: there is no agreed meeting")
    if to != meeting.partner.address:
        raise ToolRefused(f"running_late: the meeting is not with {to!r}")
    if not meeting.at - BEFORE <= call.at <= meeting.at + AFTER:
        raise ToolRefused("running_late: the meeting is not now")
    return {"told": to}


async def reset_profile(call: ToolCall) -> object:
    """Delete the answers of the profile and the agreement; payments, meetings and safety records stay."""
    answers = (*(f.value for f in PROFILE), "agreed", "topic")
    await update_user(call.connection, call.user.id, dict.fromkeys(answers))
    return {"deleted": sorted(answers)}
