"""Expiry of progressive profiling: a profile nobody comes back to is put aside, with a last word and no question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.brief import Brief, Line, called
from evalrun.sample_orchestrator.events.occasions import not_yet
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.settings import Settings
from evalrun.sample_orchestrator.stages.registry import STAGES
from evalrun.sample_orchestrator.tables import users
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import StageName, User

NAME = "profiling_expiry"
PROMPT = "This person left their profile unfinished long ago. Say that you put it aside. No reproach, no question."

_STAGES = (StageName.WELCOME, StageName.PROFILING)
_WORDINGS = {
    Language.FR: (
        "je mets ton profil de côté{name}, sans rien effacer. un message de toi et on reprend où on en était.",
        "je range ton profil pour l'instant{name}, il t'attend ici le jour où tu reviens.",
    ),
    Language.EN: (
        "i'm putting your profile aside{name}, nothing is erased. one message from you and we go on from there.",
        "i'm storing your profile for now{name}, it will be here the day you come back.",
    ),
}


def is_relevant(user: User, _now: datetime) -> bool:
    """The profile is not finished, and not put aside yet."""
    return user.stage in _STAGES and not user.expired and not STAGES[user.stage].is_done(user)


def occasion(user: User) -> str:
    """The silence after the user's n-th message."""
    return str(user.inbounds)


def tools(_user: User) -> tuple[ToolUse, ...]:
    """The profile is put aside."""
    return (ToolUse(name="expire_profile"),)


def prepare(user: User) -> User:
    """Put aside, with no question open."""
    return replace(user, expired=True, asked=None, attempts=0)


def say(user: User, _data: Mapping[str, object]) -> Brief:
    """That it is put aside and can be taken up."""
    said = tuple(w.format(name=called(user.first_name)) for w in _WORDINGS[user.language])
    task = "Say that you put their profile aside, that nothing is lost, and that one message is enough to go on."
    return Brief(prompt=PROMPT, told=(Line(task=task, wordings=said, mentions=("profil",)),))


async def due(connection: AsyncConnection, now: datetime, settings: Settings) -> tuple[str, ...]:
    """Users in the middle of the profile who have been silent for very long."""
    query = (
        select(users.c.address)
        .where(users.c.stage.in_(_STAGES), ~users.c.paused, ~users.c.expired)
        .where(users.c.last_seen <= now - settings.expire_after, *not_yet(NAME, users.c.inbounds))
        .order_by(users.c.id)
    )
    return tuple((await connection.execute(query)).scalars())
