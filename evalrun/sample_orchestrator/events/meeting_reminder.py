"""Meeting reminder: a day before a confirmed meeting, both are told with whom, when and where, on their own clock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.dates import moment_said
from evalrun.sample_orchestrator.encounters import MeetingStatus
from evalrun.sample_orchestrator.events.occasions import not_yet
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.safety.blocks import not_blocked
from evalrun.sample_orchestrator.settings import Settings
from evalrun.sample_orchestrator.tables import meetings, users
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import User

NAME = "meeting_reminder"
PROMPT = "This person has a first meeting soon. Remind them of it with exactly the facts you are given."

_WORDINGS = {
    Language.FR: (
        "petit rappel, tu vois {name} {when}, à {place}. passe un bon moment.",
        "ça approche, {name} t'attend {when}, à {place}.",
    ),
    Language.EN: (
        "a little reminder, you are seeing {name} {when}, in {place}. enjoy it.",
        "it's coming up, {name} will be there {when}, in {place}.",
    ),
}


def is_relevant(user: User, now: datetime) -> bool:
    """A confirmed meeting lies ahead."""
    return user.meeting is not None and user.meeting.status is MeetingStatus.CONFIRMED and user.meeting.at > now


def occasion(user: User) -> str:
    """The meeting; another time for it is another meeting."""
    return str(user.meeting.id) if user.meeting else ""


def tools(_user: User) -> tuple[ToolUse, ...]:
    """None."""
    return ()


def prepare(user: User) -> User:
    """Nothing changes."""
    return user


def say(user: User, _data: Mapping[str, object]) -> Brief:
    """With whom, when, where; no question."""
    meeting = user.meeting
    assert meeting is not None
    name = meeting.partner.first_name or {Language.FR: "la personne", Language.EN: "the person"}[user.language]
    when = moment_said(meeting.at, user.time_zone, user.language)
    said = (w.format(name=name, when=when, place=meeting.place) for w in _WORDINGS[user.language])
    task = f"Remind them that they are seeing {name} {when} in {meeting.place}."
    return Brief(prompt=PROMPT, told=(Line(task=task, wordings=tuple(said), holds=(name, when, meeting.place)),))


async def due(connection: AsyncConnection, now: datetime, settings: Settings) -> tuple[str, ...]:
    """Both of each confirmed meeting that begins within the time set."""
    soon = (meetings.c.at > now, meetings.c.at <= now + settings.remind_meeting_before)
    query = (
        select(users.c.address)
        .join(meetings, or_(meetings.c.a_user_id == users.c.id, meetings.c.b_user_id == users.c.id))
        .where(meetings.c.status == MeetingStatus.CONFIRMED, *soon, not_blocked(meetings), ~users.c.paused)
        .where(*not_yet(NAME, meetings.c.id))
        .order_by(users.c.id)
    )
    return tuple((await connection.execute(query)).scalars())
