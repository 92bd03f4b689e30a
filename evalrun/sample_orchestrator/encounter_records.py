"""Matches and meetings as rows, seen from one of the two: the only place that turns one into the other."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Table, and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.encounters import Impression, Match, Meeting, MeetingStatus, Partner
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.safety.blocks import not_blocked
from evalrun.sample_orchestrator.tables import feedback, matches, meetings, users
from evalrun.sample_orchestrator.user import User

MEETING_LASTS = timedelta(hours=2)
"""After this long a confirmed meeting counts as held."""


async def with_encounters(connection: AsyncConnection, user: User) -> User:
    """The user with the open match and the meeting in view."""
    match = await _open_match(connection, user.id)
    return replace(user, match=match, meeting=await _meeting(connection, user.id, match))


async def lock_match(connection: AsyncConnection, match: Match) -> None:
    """Let the two of a match change what is between them one after the other, until the transaction ends."""
    await connection.execute(select(matches.c.id).where(matches.c.id == match.id).with_for_update())


async def save_match(connection: AsyncConnection, user: User) -> None:
    """Store this user's side of the open match: whether they were told, and their answer."""
    if user.match is None:
        return
    for side, column in (("a", matches.c.a_user_id), ("b", matches.c.b_user_id)):
        own = {f"{side}_told": user.match.told, f"{side}_answer": user.match.answer}
        await connection.execute(update(matches).where(matches.c.id == user.match.id, column == user.id).values(own))


async def hold_past_meetings(connection: AsyncConnection, now: datetime) -> None:
    """Note the confirmed meetings whose time has passed as held."""
    past = (meetings.c.status == MeetingStatus.CONFIRMED, meetings.c.at <= now - MEETING_LASTS)
    await connection.execute(update(meetings).where(*past).values(status=MeetingStatus.HELD.value))


def of_pair(table: Table, one: int, other: int) -> ColumnElement[bool]:
    """The rows of a pair, whoever is named first."""
    return or_(
        and_(table.c.a_user_id == one, table.c.b_user_id == other),
        and_(table.c.a_user_id == other, table.c.b_user_id == one),
    )


async def _open_match(connection: AsyncConnection, user_id: int) -> Match | None:
    query = (
        select(matches)
        .where(or_(matches.c.a_user_id == user_id, matches.c.b_user_id == user_id), matches.c.status == "open")
        .where(not_blocked(matches))
        .order_by(matches.c.id.desc())
        .limit(1)
    )
    row = (await connection.execute(query)).mappings().first()
    if row is None:
        return None
    own, theirs = ("a", "b") if row["a_user_id"] == user_id else ("b", "a")
    return Match(
        id=row["id"],
        partner=await _partner(connection, row[f"{theirs}_user_id"]),
        told=row[f"{own}_told"],
        answer=row[f"{own}_answer"],
        their_answer=row[f"{theirs}_answer"],
    )


async def _meeting(connection: AsyncConnection, user_id: int, match: Match | None) -> Meeting | None:
    pair = of_pair(meetings, user_id, match.partner.id) if match else None
    own = or_(meetings.c.a_user_id == user_id, meetings.c.b_user_id == user_id) if pair is None else pair
    said = and_(feedback.c.meeting_id == meetings.c.id, feedback.c.user_id == user_id)
    query = (
        select(meetings, feedback.c.impression, feedback.c.again)
        .outerjoin(feedback, said)
        .where(own, meetings.c.status != MeetingStatus.CANCELLED, not_blocked(meetings))
        .order_by(meetings.c.id.desc())
        .limit(1)
    )
    row = (await connection.execute(query)).mappings().first()
    if row is None:
        return None
    other = row["b_user_id"] if row["a_user_id"] == user_id else row["a_user_id"]
    return Meeting(
        id=row["id"],
        partner=await _partner(connection, other),
        at=row["at"],
        place=row["place"],
        status=MeetingStatus(row["status"]),
        proposed_by=row["proposed_by"],
        impression=Impression(row["impression"]) if row["impression"] else None,
        again=row["again"],
    )


async def _partner(connection: AsyncConnection, user_id: int) -> Partner:
    names = ("id", "address", "first_name", "age", "city", "language", "time_zone")
    query = select(*(users.c[n] for n in names)).where(users.c.id == user_id)
    row = (await connection.execute(query)).mappings().one()
    return Partner(**{**row, "language": Language(row["language"])})
