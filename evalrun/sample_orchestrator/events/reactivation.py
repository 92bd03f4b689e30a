"""Reactivation: somebody who is done with the profile and has been silent for long is written to, once a silence."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.brief import Brief, Line, called
from evalrun.sample_orchestrator.course import open_question
from evalrun.sample_orchestrator.events.occasions import not_yet
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.outbox import Kind
from evalrun.sample_orchestrator.settings import Settings
from evalrun.sample_orchestrator.stages.registry import STAGES
from evalrun.sample_orchestrator.stages.stage import Scene
from evalrun.sample_orchestrator.tables import outbox, users
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import StageName, User

NAME = "reactivation"
PROMPT = "This person has been away for weeks. Write first, warmly, in one line. No reproach, no offer, no pressure."

_STAGES = (StageName.MANIFESTO, StageName.PRICING, StageName.MATCHING, StageName.COACHING)
_WORDINGS = {
    Language.FR: (
        "hello{name}, ça fait un moment. rien n'a bougé de mon côté, tout est encore là.",
        "coucou{name}, je passe prendre de tes nouvelles.",
        "un petit signe de ma part{name}, on reprend quand tu veux.",
    ),
    Language.EN: (
        "hello{name}, it's been a while. nothing has changed here, all is still in place.",
        "hi{name}, just looking in on you.",
        "a little sign from me{name}, we go on whenever you like.",
    ),
}


def is_relevant(user: User, _now: datetime) -> bool:
    """The profile is behind them, and no meeting or feedback is in the way."""
    return user.stage in _STAGES


def occasion(user: User) -> str:
    """The silence after the user's n-th message."""
    return str(user.inbounds)


def tools(_user: User) -> tuple[ToolUse, ...]:
    """None."""
    return ()


def prepare(user: User) -> User:
    """The stage's question is open again; that is not one more try."""
    return open_question(user, counts=False)


def say(user: User, _data: Mapping[str, object]) -> Brief:
    """A sign, then what is still open, if anything is."""
    said = tuple(w.format(name=called(user.first_name)) for w in _WORDINGS[user.language])
    lead = Line(task="Greet them by name and say that you are still here.", wordings=said)
    asked = STAGES[user.stage].say(user, Scene()).asked if user.asked else None
    return Brief(prompt=PROMPT, told=(lead,), asked=asked)


async def due(connection: AsyncConnection, now: datetime, settings: Settings) -> tuple[str, ...]:
    """Users silent long enough to whom nothing was sent unasked of late."""
    lately = outbox.c.created_at > now - settings.between_events
    bothered = exists().where(outbox.c.user_id == users.c.id, outbox.c.kind == Kind.EVENT.value, lately)
    query = (
        select(users.c.address)
        .where(users.c.stage.in_(_STAGES), ~users.c.paused, users.c.last_seen <= now - settings.reactivate_after)
        .where(~bothered, *not_yet(NAME, users.c.inbounds))
        .order_by(users.c.id)
    )
    return tuple((await connection.execute(query)).scalars())
