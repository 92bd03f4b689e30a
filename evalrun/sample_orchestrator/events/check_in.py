"""Check-in: after a meeting, Ori asks each of the two how it was, once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import exists, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.brief import Brief, Line, called
from evalrun.sample_orchestrator.course import move, open_question
from evalrun.sample_orchestrator.encounters import MeetingStatus
from evalrun.sample_orchestrator.events.occasions import not_yet
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.safety.blocks import not_blocked
from evalrun.sample_orchestrator.settings import Settings
from evalrun.sample_orchestrator.stages import feedback as stage
from evalrun.sample_orchestrator.stages.stage import Scene
from evalrun.sample_orchestrator.tables import feedback, meetings, users
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import StageName, User

NAME = "check_in"
PROMPT = "You write first, after the meeting."

_STAGES = (StageName.MATCHING, StageName.MEETING, StageName.FEEDBACK)
_WORDINGS = {
    Language.FR: ("hello{name}, je pense à toi après cette rencontre.", "coucou{name}, j'avais envie de t'écouter."),
    Language.EN: ("hello{name}, i'm thinking of you after that meeting.", "hi{name}, i'd like to hear from you."),
}


def is_relevant(user: User, _now: datetime) -> bool:
    """A meeting was held and nothing was said of it."""
    meeting = user.meeting
    held = meeting is not None and meeting.status is MeetingStatus.HELD and meeting.impression is None
    return held and user.stage in _STAGES


def occasion(user: User) -> str:
    """The meeting."""
    return str(user.meeting.id) if user.meeting else ""


def tools(_user: User) -> tuple[ToolUse, ...]:
    """None."""
    return ()


def prepare(user: User) -> User:
    """In the feedback, with its question open."""
    return open_question(move(user), counts=False)


def say(user: User, _data: Mapping[str, object]) -> Brief:
    """A word, then how it was."""
    said = tuple(w.format(name=called(user.first_name)) for w in _WORDINGS[user.language])
    lead = Line(task="Greet them by name and say that you are thinking of them after the meeting.", wordings=said)
    return Brief(stage=stage.NAME, prompt=PROMPT, told=(lead,), asked=stage.say(user, Scene()).asked)


async def due(connection: AsyncConnection, now: datetime, settings: Settings) -> tuple[str, ...]:
    """Both of each held meeting, once the time set has passed, unless they have spoken of it."""
    told = exists().where(feedback.c.meeting_id == meetings.c.id, feedback.c.user_id == users.c.id)
    query = (
        select(users.c.address)
        .join(meetings, or_(meetings.c.a_user_id == users.c.id, meetings.c.b_user_id == users.c.id))
        .where(meetings.c.status == MeetingStatus.HELD, meetings.c.at <= now - settings.check_in_after, ~told)
        .where(not_blocked(meetings), ~users.c.paused, users.c.stage.in_(_STAGES), *not_yet(NAME, meetings.c.id))
        .order_by(users.c.id)
    )
    return tuple((await connection.execute(query)).scalars())
