"""What safety knows of one user, for support staff and for tests."""

from __future__ import annotations

from sqlalchemy import Table, case, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.elements import KeyedColumnElement

from evalrun.sample_orchestrator.tables import admin_alerts, blocks, users, wellbeing_signals
from evalrun.sample_orchestrator.user import User


async def safety_state(connection: AsyncConnection, user: User) -> dict[str, object]:
    """Signals by concern, alerts by kind, and the addresses between whom and this user nothing passes."""
    return {
        "signals": await _counted(connection, wellbeing_signals, wellbeing_signals.c.concern, user),
        "alerts": await _counted(connection, admin_alerts, admin_alerts.c.kind, user),
        "blocked": await _blocked(connection, user),
    }


async def _counted(
    connection: AsyncConnection, table: Table, kind: KeyedColumnElement[str], user: User
) -> dict[str, int]:
    query = select(kind, func.count()).where(table.c.user_id == user.id).group_by(kind)
    return {str(row[0]): int(row[1]) for row in await connection.execute(query)}


async def _blocked(connection: AsyncConnection, user: User) -> list[str]:
    other = case((blocks.c.blocker_id == user.id, blocks.c.blocked_id), else_=blocks.c.blocker_id)
    own = or_(blocks.c.blocker_id == user.id, blocks.c.blocked_id == user.id)
    query = select(users.c.address).join(blocks, other == users.c.id).where(own).order_by(users.c.address)
    return list((await connection.execute(query)).scalars())
