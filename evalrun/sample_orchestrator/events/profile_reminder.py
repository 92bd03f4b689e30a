"""Profile reminder: somebody left in the middle of the profile is asked once more, once for each silence."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.brief import Brief, Line, called
from evalrun.sample_orchestrator.course import open_question
from evalrun.sample_orchestrator.events.occasions import not_yet
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.settings import Settings
from evalrun.sample_orchestrator.stages.questions import question
from evalrun.sample_orchestrator.stages.registry import STAGES
from evalrun.sample_orchestrator.tables import users
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import StageName, User

NAME = "profile_reminder"
PROMPT = "This person stopped answering in the middle of their profile. Write first, lightly, with no reproach."

_STAGES = (StageName.WELCOME, StageName.PROFILING)
_WORDINGS = {
    Language.FR: (
        "coucou{name}, ton profil est presque prêt, il me manque juste une chose.",
        "hello{name}, je repense à ton profil, on le termine en un message.",
        "c'est encore moi{name}, il reste un petit trou dans ton profil.",
    ),
    Language.EN: (
        "hi{name}, your profile is almost ready, i'm only missing one thing.",
        "hello{name}, i was thinking of your profile, one message and it's done.",
        "it's me again{name}, there is still one gap in your profile.",
    ),
}


def is_relevant(user: User, _now: datetime) -> bool:
    """The profile is not finished, and not put aside."""
    return user.stage in _STAGES and not user.expired and not STAGES[user.stage].is_done(user)


def occasion(user: User) -> str:
    """The silence after the user's n-th message."""
    return str(user.inbounds)


def tools(_user: User) -> tuple[ToolUse, ...]:
    """None."""
    return ()


def prepare(user: User) -> User:
    """The question is open; a reminder is not one more try."""
    return open_question(user, counts=False)


def say(user: User, _data: Mapping[str, object]) -> Brief:
    """Say what is missing, then ask for it."""
    wordings = tuple(w.format(name=called(user.first_name)) for w in _WORDINGS[user.language])
    lead = Line(
        task="Greet them by name and say that their profile is almost ready.",
        wordings=wordings,
        mentions=("profil",),
    )
    return Brief(prompt=PROMPT, told=(lead,), asked=question(user.asked, user) if user.asked else None)


async def due(connection: AsyncConnection, now: datetime, settings: Settings) -> tuple[str, ...]:
    """Users in the middle of the profile who have been silent long enough and were not reminded in this silence."""
    query = (
        select(users.c.address)
        .where(users.c.stage.in_(_STAGES), ~users.c.paused, users.c.last_seen <= now - settings.remind_after)
        .where(~users.c.expired, *not_yet(NAME, users.c.inbounds))
        .order_by(users.c.id)
    )
    return tuple((await connection.execute(query)).scalars())
