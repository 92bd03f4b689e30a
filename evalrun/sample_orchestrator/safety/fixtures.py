"""Arranging what safety knows, and looking at it: for tests, demonstrations and support staff.

Among the fields of a user, `blocked: [noah]` says whom they blocked, `signals: [self_harm]` what was
raised of them, with the alerts that follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Table, case, func, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.elements import KeyedColumnElement

from evalrun.sample_orchestrator.errors import FixtureRefused, ToolRefused
from evalrun.sample_orchestrator.safety.blocks import between, block
from evalrun.sample_orchestrator.safety.raising import raise_wellbeing_signal
from evalrun.sample_orchestrator.safety.wellbeing import Concern
from evalrun.sample_orchestrator.tables import admin_alerts, blocks, users, wellbeing_signals
from evalrun.sample_orchestrator.tool_use import ToolCall
from evalrun.sample_orchestrator.user import User


async def arrange_safety(
    connection: AsyncConnection, people: Mapping[str, User], given: Mapping[str, Mapping[str, object]], now: datetime
) -> None:
    """Store blocks and signals. Raises FixtureRefused for somebody who is not given, and a concern that does not exist."""
    for address, fields in given.items():
        for other in _names(address, fields, "blocked"):
            if other not in people or other == address:
                raise FixtureRefused(f"{address}: blocked names {other!r}, who is not among those given")
            await block(connection, (people[address].id, people[other].id), "arranged", now)
        for concern in _names(address, fields, "signals"):
            arguments = {"concern": concern, "words": "arranged"}
            call = ToolCall(connection=connection, user=people[address], arguments=arguments, at=now)
            try:
                await raise_wellbeing_signal(call)
            except ToolRefused as e:
                raise FixtureRefused(f"{address}: there is no concern {concern!r}; known: {', '.join(Concern)}") from e


def _names(address: str, fields: Mapping[str, object], what: str) -> tuple[str, ...]:
    named = fields.get(what, ())
    if not isinstance(named, (list, tuple)) or not all(isinstance(n, str) for n in named):
        raise FixtureRefused(f"{address}: {what} needs a list of names, such as [noah]")
    return tuple(named)


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
    query = select(users.c.address).join(blocks, other == users.c.id).where(between(user.id, users.c.id))
    query = query.distinct().order_by(users.c.address)
    return list((await connection.execute(query)).scalars())
