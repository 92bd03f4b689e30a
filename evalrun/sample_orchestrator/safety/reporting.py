"""The tool that reports somebody: it checks the meeting itself, whatever the action decided."""

from __future__ import annotations

from evalrun.sample_orchestrator.errors import ToolRefused
from evalrun.sample_orchestrator.safety.blocks import block
from evalrun.sample_orchestrator.safety.raising import alert
from evalrun.sample_orchestrator.tool_use import ToolCall

REPORT = "report"
"""The kind of the alert."""


async def report_user(call: ToolCall) -> object:
    """Block both ways and alert the team. Raises ToolRefused without a real meeting with that person."""
    address = call.arguments.get("user")
    one = next((a for a in call.user.acquaintances if a.partner.address == address), None)
    if one is None:
        raise ToolRefused(f"report_user: {address!r} is nobody this user was brought together with")
    if not one.met(call.at):
        raise ToolRefused(f"report_user: there was no meeting with {address!r}, so there is no block")
    reason = str(call.arguments.get("reason", ""))
    await block(call.connection, (call.user.id, one.partner.id), reason, call.at)
    values = {"user_id": call.user.id, "kind": REPORT, "about_id": one.partner.id}
    await alert(call.connection, values, call.at)
    return {"blocked": address, "alert": True}
