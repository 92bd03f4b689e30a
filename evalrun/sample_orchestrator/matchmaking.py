"""Matchmaking: the search for two people who fit, run as a job. Whom it finds it has notified, both, by a job each.

Fit means: the same town, ages at most `AGES_APART` years apart, the same hope or an open one; both waiting in
`matching`, paid and not on pause, both with a whole profile; never matched before; no block between them.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, FromClause, and_, exists, func, insert, or_, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.jobs import NewJob, put_off
from evalrun.sample_orchestrator.records import find_user
from evalrun.sample_orchestrator.safety.blocks import between
from evalrun.sample_orchestrator.tables import matches, users
from evalrun.sample_orchestrator.tool_use import ToolCall, ToolUse
from evalrun.sample_orchestrator.user import LookingFor, Plan, StageName, User

AGES_APART = 10
_LOCK = 20_260_302

_one, _other = users.alias("one"), users.alias("other")


def search_for(user: User) -> ToolUse:
    """The call that looks for somebody who fits a user."""
    arguments = {"for": user.first_name, "city": user.city, "age": user.age, "looking_for": user.looking_for}
    return ToolUse(name="find_match", arguments=arguments)


async def with_candidates(connection: AsyncConnection) -> tuple[str, ...]:
    """Addresses of the users for whom somebody fits, those first who wait the longest."""
    query = select(_one.c.address).where(exists().where(_fit())).order_by(_one.c.id)
    return tuple((await connection.execute(query)).scalars())


async def find_match(call: ToolCall) -> object:
    """Match the user with who fits best and have both told; says whom, or that there is nobody."""
    await call.connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    nearest = func.abs(_one.c.age - _other.c.age)
    query = select(_other.c.address).where(_one.c.id == call.user.id, _fit()).order_by(nearest, _other.c.id).limit(1)
    address = (await call.connection.execute(query)).scalar_one_or_none()
    other = await find_user(call.connection, address) if address else None
    if other is None:
        return {"match": None}
    values: dict[str, object] = {"a_user_id": call.user.id, "b_user_id": other.id, "a_told": False, "b_told": False}
    values |= {"status": "open", "created_at": call.at}
    stored = await call.connection.execute(insert(matches).values(values).returning(matches.c.id))
    identifier = stored.scalar_one()
    for user in (call.user, other):
        await _notify(call.connection, user, identifier, call.at)
    return {"match": identifier, "with": other.first_name}


async def _notify(connection: AsyncConnection, user: User, match: int, at: datetime) -> None:
    key = f"match_notification:{user.id}:{match}"
    job = NewJob(user=user, event="match_notification", data={"match": match}, key=key, due_at=at)
    await put_off(connection, job, at)


def _fit() -> ColumnElement[bool]:
    """Whether `one` and `other` fit. A field that is not known fits nobody."""
    hopes = or_(
        _one.c.looking_for == _other.c.looking_for,
        _one.c.looking_for.in_((LookingFor.OPEN.value,)),
        _other.c.looking_for.in_((LookingFor.OPEN.value,)),
    )
    return and_(
        _one.c.id != _other.c.id,
        _waits(_one),
        _waits(_other),
        func.lower(_one.c.city) == func.lower(_other.c.city),
        func.abs(_one.c.age - _other.c.age) <= AGES_APART,
        hopes,
        ~exists().where(between(_one.c.id, _other.c.id)),
        ~exists().where(_are(_one.c.id, _other.c.id)),
    )


def _waits(person: FromClause) -> ColumnElement[bool]:
    """Waiting for a match: in the stage, paid, not on pause, profile whole, no open match."""
    columns = person.c
    whole = and_(*(columns[f].is_not(None) for f in ("first_name", "city", "age", "looking_for")))
    own = or_(matches.c.a_user_id == columns.id, matches.c.b_user_id == columns.id)
    waiting = and_(columns.stage == StageName.MATCHING.value, columns.plan == Plan.MEMBER.value, ~columns.paused)
    return and_(waiting, whole, ~exists().where(own, matches.c.status == "open"))


def _are(one: ColumnElement[int], other: ColumnElement[int]) -> ColumnElement[bool]:
    """The matches of two users, old ones too."""
    return or_(
        and_(matches.c.a_user_id == one, matches.c.b_user_id == other),
        and_(matches.c.a_user_id == other, matches.c.b_user_id == one),
    )
