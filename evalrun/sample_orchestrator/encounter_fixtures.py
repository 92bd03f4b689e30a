"""Arranging matches and meetings, and looking at them.

Among the fields of a user, `match` and `meeting` say what there is between that user and another one:

    match: {with: ana, told: true, answer: null, their_answer: true}
    meeting: {with: ana, at: now+1d, place: Lyon, status: confirmed}

`with` is who the other one is; everything else has a default: a match nobody was told of or
answered, a confirmed meeting. `their_told` is the other one's side of `told`. `proposed_by` is
`user` or `partner`, `impression` and `again` are the user's feedback. A meeting brings the match
that led to it, answered with yes by both. What is said on one side holds for both, so it is said once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.encounter_records import of_pair
from evalrun.sample_orchestrator.encounters import Impression, MeetingStatus
from evalrun.sample_orchestrator.errors import FixtureRefused
from evalrun.sample_orchestrator.given_values import moment, text_of, yes_or_no
from evalrun.sample_orchestrator.tables import feedback, matches, meetings
from evalrun.sample_orchestrator.user import User

Reader = Mapping[str, Callable[[object], object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two users of an arrangement, the first being the one whose fields are read."""

    user: User
    partner: User


async def arrange_match(connection: AsyncConnection, pair: Pair, given: Mapping[str, object], now: datetime) -> None:
    """Store an open match. Raises FixtureRefused for what cannot be, and for a pair matched twice."""
    values = _read(pair, "match", given, _MATCH)
    if await _are_matched(connection, pair):
        raise FixtureRefused(f"{pair.user.address}: the match with {pair.partner.address} is given twice; say it once")
    row = {
        "a_user_id": pair.user.id,
        "b_user_id": pair.partner.id,
        "a_told": values.get("told", False),
        "b_told": values.get("their_told", False),
        "a_answer": values.get("answer"),
        "b_answer": values.get("their_answer"),
        "status": "open",
        "created_at": now,
    }
    await connection.execute(insert(matches).values(row))


async def arrange_meeting(connection: AsyncConnection, pair: Pair, given: Mapping[str, object], now: datetime) -> None:
    """Store a meeting, with the match that led to it. Raises FixtureRefused for what cannot be."""
    values = _read(pair, "meeting", given, _MEETING)
    if "at" not in values:
        raise FixtureRefused(f"{pair.user.address}: the meeting needs a time, such as at: now+1d")
    if not await _are_matched(connection, pair):
        yes = {"told": True, "their_told": True, "answer": True, "their_answer": True}
        await arrange_match(connection, pair, yes, now)
    by = {"user": pair.user.id, "partner": pair.partner.id}
    row = {
        "a_user_id": pair.user.id,
        "b_user_id": pair.partner.id,
        "proposed_by": by[str(values.get("proposed_by", "user"))],
        "at": values["at"],
        "place": values.get("place", pair.user.city or "Paris"),
        "status": values.get("status", MeetingStatus.CONFIRMED),
        "created_at": now,
    }
    stored = await connection.execute(insert(meetings).values(row).returning(meetings.c.id))
    told: dict[str, object] = {name: values[name] for name in ("impression", "again") if name in values}
    if told:
        told |= {"user_id": pair.user.id, "meeting_id": stored.scalar_one(), "created_at": now}
        await connection.execute(insert(feedback).values(told))


def encounters_of(user: User) -> dict[str, object]:
    """Match and meeting of a user as plain values."""
    match, meeting = user.match, user.meeting
    return {
        "match": match
        and {
            "with": match.partner.first_name,
            "told": match.told,
            "answer": match.answer,
            "their_answer": match.their_answer,
        },
        "meeting": meeting
        and {
            "with": meeting.partner.first_name,
            "at": meeting.at.isoformat(),
            "place": meeting.place,
            "status": meeting.status.value,
            "proposed_by": None
            if meeting.proposed_by is None
            else ("user" if meeting.proposed_by == user.id else "partner"),
            "impression": meeting.impression.value if meeting.impression else None,
            "again": meeting.again,
        },
    }


async def _are_matched(connection: AsyncConnection, pair: Pair) -> bool:
    query = select(matches.c.id).where(of_pair(matches, pair.user.id, pair.partner.id))
    return (await connection.execute(query)).first() is not None


def _read(pair: Pair, what: str, given: Mapping[str, object], reader: Reader) -> dict[str, object]:
    fields = {name: value for name, value in given.items() if name != "with"}
    if unknown := sorted(set(fields) - set(reader)):
        known = ", ".join(("with", *reader))
        raise FixtureRefused(f"{pair.user.address}: {what} has no {', '.join(unknown)}; known: {known}")
    values: dict[str, object] = {}
    for name, value in fields.items():
        if value is None or value == "null":
            continue
        try:
            values[name] = reader[name](value)
        except (KeyError, TypeError, ValueError) as e:
            raise FixtureRefused(f"{pair.user.address}: {what}.{name} cannot be {value!r}") from e
    return values


def _whose(value: object) -> str:
    return {"user": "user", "partner": "partner"}[text_of(value)]


_MATCH: Reader = {"told": yes_or_no, "their_told": yes_or_no, "answer": yes_or_no, "their_answer": yes_or_no}
_MEETING: Reader = {
    "at": moment,
    "place": text_of,
    "status": lambda v: MeetingStatus(text_of(v)).value,
    "proposed_by": _whose,
    "impression": lambda v: Impression(text_of(v)).value,
    "again": yes_or_no,
}
