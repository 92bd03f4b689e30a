"""Acquaintances as rows."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Select, Table, case, func, or_, select, union
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.encounters import Partner
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.safety.acquaintance import Acquaintance
from evalrun.sample_orchestrator.safety.blocks import between
from evalrun.sample_orchestrator.tables import blocks, matches, meetings, users
from evalrun.sample_orchestrator.user import User

_PARTNER = ("id", "address", "first_name", "age", "city", "language", "time_zone")


async def with_acquaintances(connection: AsyncConnection, user: User) -> User:
    """The user with everybody they were matched with or had a meeting with, the latest meeting first."""
    others = union(_others(matches, user.id), _others(meetings, user.id)).subquery()
    pair = or_(
        (meetings.c.a_user_id == user.id) & (meetings.c.b_user_id == users.c.id),
        (meetings.c.b_user_id == user.id) & (meetings.c.a_user_id == users.c.id),
    )
    agreed = func.min(meetings.c.at).filter(meetings.c.status == "confirmed")
    held = func.coalesce(func.bool_or(meetings.c.status == "held"), False)
    blocked = select(blocks.c.reason).where(between(user.id, users.c.id)).exists()
    query = (
        select(*(users.c[n] for n in _PARTNER), held.label("held"), agreed.label("agreed_at"), blocked.label("blocked"))
        .join(others, others.c.id == users.c.id)
        .outerjoin(meetings, pair)
        .group_by(users.c.id)
        .order_by(func.max(meetings.c.at).desc().nulls_last(), users.c.id.desc())
    )
    rows = (await connection.execute(query)).mappings().all()
    known = tuple(_acquaintance(dict(r)) for r in rows)
    return replace(user, acquaintances=known)


def _others(pairs: Table, user_id: int) -> Select[int]:
    one, other = pairs.c.a_user_id, pairs.c.b_user_id
    return select(case((one == user_id, other), else_=one).label("id")).where(or_(one == user_id, other == user_id))


def _acquaintance(row: dict[str, object]) -> Acquaintance:
    partner = {n: row[n] for n in _PARTNER} | {"language": Language(str(row["language"]))}
    agreed_at = row["agreed_at"]
    return Acquaintance(
        partner=Partner(**partner),  # type: ignore[arg-type]
        held=bool(row["held"]),
        agreed_at=agreed_at if isinstance(agreed_at, datetime) else None,
        blocked=bool(row["blocked"]),
    )
