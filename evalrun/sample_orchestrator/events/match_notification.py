"""Match notification: each of two people is told of the other, by first name, age and town, and asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from sqlalchemy import and_, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.brief import Brief, Line
from evalrun.sample_orchestrator.course import open_question
from evalrun.sample_orchestrator.encounters import Match
from evalrun.sample_orchestrator.events.occasions import not_yet
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.safety.blocks import not_blocked
from evalrun.sample_orchestrator.settings import Settings
from evalrun.sample_orchestrator.stages import matching
from evalrun.sample_orchestrator.tables import matches, users
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.user import PROFILE, StageName, User

NAME = "match_notification"
PROMPT = "You have found somebody for this person. Say who, with the facts you are given and no other."

_WORDINGS = {
    Language.FR: (
        "bonne nouvelle, j'ai pensé à quelqu'un pour toi, {name}{age}, {city}.",
        "j'ai trouvé quelqu'un qui cherche la même chose que toi, {name}{age}, {city}.",
    ),
    Language.EN: (
        "good news, i thought of somebody for you, {name}{age}, {city}.",
        "i have found somebody who looks for the same as you, {name}{age}, {city}.",
    ),
}
_AGE = {Language.FR: ", {age} ans", Language.EN: ", {age}"}


def is_relevant(user: User, _now: datetime) -> bool:
    """There is a match they were not told of, and they are waiting for one."""
    return user.stage is StageName.MATCHING and user.match is not None and not user.match.told


def occasion(user: User) -> str:
    """The match."""
    return str(user.match.id) if user.match else ""


def tools(_user: User) -> tuple[ToolUse, ...]:
    """None: the tool that found the match was called by the search."""
    return ()


def prepare(user: User) -> User:
    """Told, with the question open; what was left open about an earlier match is over."""
    told = replace(user.match, told=True) if user.match else None
    kept = tuple(f for f in user.skipped if f in PROFILE)
    return open_question(replace(user, match=told, skipped=kept, topic=None), counts=True)


def say(user: User, _data: Mapping[str, object]) -> Brief:
    """Who it is, then whether they want to meet."""
    assert user.match is not None
    return Brief(prompt=PROMPT, told=(_who(user, user.match),), asked=matching.meets(user, user.match))


def _who(user: User, match: Match) -> Line:
    name, partner = matching.named(match, user.language), match.partner
    age = _AGE[user.language].format(age=partner.age) if partner.age else ""
    city = partner.city or user.city or ""
    said = (w.format(name=name, age=age, city=city) for w in _WORDINGS[user.language])
    facts = tuple(str(f) for f in (name, partner.age, partner.city) if f)
    return Line(task=f"Say that you have found {name}{age}, {city}.", wordings=tuple(said), holds=facts)


async def due(connection: AsyncConnection, _now: datetime, _settings: Settings) -> tuple[str, ...]:
    """Users whose notification was dropped, in a pause for instance, and who can be told now."""
    untold = or_(
        and_(matches.c.a_user_id == users.c.id, ~matches.c.a_told),
        and_(matches.c.b_user_id == users.c.id, ~matches.c.b_told),
    )
    query = (
        select(users.c.address)
        .join(matches, untold)
        .where(matches.c.status == "open", not_blocked(matches), users.c.stage == StageName.MATCHING, ~users.c.paused)
        .where(*not_yet(NAME, matches.c.id))
        .order_by(users.c.id)
    )
    return tuple((await connection.execute(query)).scalars())
