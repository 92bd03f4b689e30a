"""The tools that concern two people: the answer to a match, the meeting, the feedback, the end of a match.

None tells the other one: `coordination.py` passes on at once, in the same turn, what changed.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import case, insert, update
from sqlalchemy.dialects.postgresql import insert as upsert

from evalrun.sample_orchestrator.encounters import Impression, Match, Meeting, MeetingStatus
from evalrun.sample_orchestrator.errors import ToolRefused
from evalrun.sample_orchestrator.records import update_user
from evalrun.sample_orchestrator.tables import feedback, matches, meetings
from evalrun.sample_orchestrator.tool_use import ToolCall
from evalrun.sample_orchestrator.user import Topic


async def accept_match(call: ToolCall) -> object:
    """Note that the user wants to meet who they were told of."""
    match = await _answer(call, yes=True)
    return {"accepted": True, "mutual": bool(match.their_answer)}


async def decline_match(call: ToolCall) -> object:
    """Note that the user does not want to meet them, and close the match for both."""
    match = await _answer(call, yes=False)
    await call.connection.execute(update(matches).where(matches.c.id == match.id).values(status="closed"))
    return {"accepted": False}


async def close_match(call: ToolCall) -> object:
    """End a match that led to a meeting, so that both are free for somebody new."""
    match = _match(call)
    await call.connection.execute(update(matches).where(matches.c.id == match.id).values(status="closed"))
    return {"closed": True}


async def propose_meeting(call: ToolCall) -> object:
    """Store the user's proposal. Raises ToolRefused for a time past or no mutual match."""
    match = _match(call)
    if not match.mutual:
        raise ToolRefused("propose_meeting: they have not both said yes")
    at, place = datetime.fromisoformat(str(call.arguments["at"])), str(call.arguments.get("place") or "")
    if at.tzinfo is None or at <= call.at or not place:
        raise ToolRefused(f"propose_meeting: {at} in {place!r} cannot be proposed")
    values = {
        "a_user_id": call.user.id,
        "b_user_id": match.partner.id,
        "proposed_by": call.user.id,
        "at": at,
        "place": place,
        "status": MeetingStatus.PROPOSED.value,
        "created_at": call.at,
    }
    identifier = (await call.connection.execute(insert(meetings).values(values).returning(meetings.c.id))).scalar_one()
    return {"meeting": identifier, "status": "proposed"}


async def confirm_meeting(call: ToolCall) -> object:
    """Confirm what the other one proposed. Raises ToolRefused for one's own proposal."""
    meeting = _meeting(call)
    if meeting.status is not MeetingStatus.PROPOSED or meeting.proposed_by == call.user.id:
        raise ToolRefused("confirm_meeting: there is nothing of the other one's to confirm")
    await _set_status(call, meeting, MeetingStatus.CONFIRMED)
    return {"meeting": meeting.id, "status": "confirmed"}


async def cancel_meeting(call: ToolCall) -> object:
    """Call a meeting that lies ahead off."""
    meeting = _meeting(call)
    if meeting.status not in (MeetingStatus.PROPOSED, MeetingStatus.CONFIRMED):
        raise ToolRefused(f"cancel_meeting: a meeting that is {meeting.status} cannot be called off")
    await _set_status(call, meeting, MeetingStatus.CANCELLED)
    return {"meeting": meeting.id, "status": "cancelled"}


async def save_feedback(call: ToolCall) -> object:
    """Note how a meeting was, or whether to meet again. Raises ToolRefused before the meeting was held."""
    meeting = _meeting(call)
    if meeting.status is not MeetingStatus.HELD:
        raise ToolRefused("save_feedback: the meeting has not been held")
    told = {name: call.arguments[name] for name in ("impression", "again") if name in call.arguments}
    try:
        impression = Impression(str(told["impression"])) if "impression" in told else None
    except ValueError as e:
        raise ToolRefused(f"save_feedback: {told['impression']!r} is no impression") from e
    if not told or not isinstance(told.get("again", True), bool):
        raise ToolRefused("save_feedback: there is nothing to save")
    values = told | ({"impression": impression.value} if impression else {})
    row = values | {"user_id": call.user.id, "meeting_id": meeting.id, "created_at": call.at}
    kept = upsert(feedback).values(row).on_conflict_do_update(index_elements=["user_id", "meeting_id"], set_=values)
    await call.connection.execute(kept)
    return {"saved": sorted(told)}


async def save_topic(call: ToolCall) -> object:
    """Note what a user wants to work on."""
    try:
        topic = Topic(str(call.arguments.get("topic")))
    except ValueError as e:
        raise ToolRefused(f"save_topic: {call.arguments.get('topic')!r} is no topic") from e
    await update_user(call.connection, call.user.id, {"topic": topic.value})
    return {"topic": topic.value}


async def _answer(call: ToolCall, *, yes: bool) -> Match:
    match = _match(call)
    if not match.told:
        raise ToolRefused("nobody was told of this match yet")
    own = {
        "a_answer": case((matches.c.a_user_id == call.user.id, yes), else_=matches.c.a_answer),
        "b_answer": case((matches.c.b_user_id == call.user.id, yes), else_=matches.c.b_answer),
    }
    await call.connection.execute(update(matches).where(matches.c.id == match.id).values(own))
    return match


def _match(call: ToolCall) -> Match:
    if call.user.match is None:
        raise ToolRefused("there is no open match")
    return call.user.match


def _meeting(call: ToolCall) -> Meeting:
    if call.user.meeting is None:
        raise ToolRefused("there is no meeting")
    return call.user.meeting


async def _set_status(call: ToolCall, meeting: Meeting, status: MeetingStatus) -> None:
    change = update(meetings).where(meetings.c.id == meeting.id).values(status=status.value)
    await call.connection.execute(change)
