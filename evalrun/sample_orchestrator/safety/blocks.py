"""Blocks: between two people nothing passes any more, in neither direction."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import ColumnElement, Table, and_, exists, or_, select, true, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.tables import blocks, matches, meetings, users

_AHEAD = ("proposed", "confirmed")
_ABOUT_A_PAIR = ("meeting", "feedback")


def not_blocked(pairs: Table) -> ColumnElement[bool]:
    """The rows of a table of pairs (`a_user_id`, `b_user_id`) between whom there is no block."""
    one, other = pairs.c.a_user_id, pairs.c.b_user_id
    return ~exists().where(between(one, other))


async def are_blocked(connection: AsyncConnection, one: int, other: int) -> bool:
    """Whether either of two users blocked the other."""
    return (await connection.execute(select(true()).where(exists().where(between(one, other))))).first() is not None


async def concerns_blocked(connection: AsyncConnection, user_id: int, data: Mapping[str, object]) -> bool:
    """Whether the data of an event is about somebody between whom and this user there is a block.

    People are named by address; a match and a meeting may be named by their id.
    """
    said = [v for v in data.values() if isinstance(v, str)]
    about = [exists().where(users.c.address.in_(said), users.c.id != user_id, between(user_id, users.c.id))]
    for name, pairs in (("match", matches), ("meeting", meetings)):
        if isinstance(identifier := data.get(name), int):
            about.append(exists().where(pairs.c.id == identifier, ~not_blocked(pairs)))
    return (await connection.execute(select(true()).where(or_(*about)))).first() is not None


async def block(connection: AsyncConnection, pair: tuple[int, int], reason: str, at: datetime) -> None:
    """Block the second for the first and the first for the second; what lay ahead of them is called off, silently."""
    blocker, blocked = pair
    row = {"blocker_id": blocker, "blocked_id": blocked, "reason": reason, "created_at": at}
    await connection.execute(insert(blocks).values(row).on_conflict_do_nothing())
    await connection.execute(update(matches).where(_of(matches, pair)).values(status="closed"))
    ahead = (_of(meetings, pair), meetings.c.status.in_(_AHEAD), meetings.c.at > at)
    await connection.execute(update(meetings).where(*ahead).values(status="cancelled"))
    back = {"stage": "matching", "asked": None, "attempts": 0}
    await connection.execute(update(users).where(users.c.id == blocked, users.c.stage.in_(_ABOUT_A_PAIR)).values(back))


def _of(pairs: Table, pair: tuple[int, int]) -> ColumnElement[bool]:
    return and_(pairs.c.a_user_id.in_(pair), pairs.c.b_user_id.in_(pair))


def between(one: object, other: object) -> ColumnElement[bool]:
    """The blocks of two users, whoever blocked; each an id or a column."""
    return or_(
        and_(blocks.c.blocker_id == one, blocks.c.blocked_id == other),
        and_(blocks.c.blocker_id == other, blocks.c.blocked_id == one),
    )
