"""Arranging a situation and looking at one: for tests, demonstrations and support staff."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from sqlalchemy import Table, func, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from evalrun.sample_orchestrator.errors import FixtureRefused, UnknownUser
from evalrun.sample_orchestrator.funnel import open_question
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.records import add_user, find_user
from evalrun.sample_orchestrator.stages.registry import STAGES
from evalrun.sample_orchestrator.tables import jobs, outbox
from evalrun.sample_orchestrator.user import PROFILE, Field, LookingFor, StageName, User


async def arrange(engine: AsyncEngine, people: Mapping[str, Mapping[str, object]], now: datetime) -> None:
    """Store users by address. Raises FixtureRefused for a field or a value that does not exist.

    Values may be text, as files hold them. Whoever is arranged has written before: the question of
    their stage is open, unless `inbounds: 0` says otherwise.
    """
    people_read = {address: _user(address, given) for address, given in people.items()}
    async with engine.begin() as connection:
        for user in people_read.values():
            await add_user(connection, user, user.last_seen or now)


async def snapshot(engine: AsyncEngine, address: str) -> dict[str, object]:
    """The observable state around one user, for expectations such as `user.stage`.

    Raises UnknownUser.
    """
    async with engine.connect() as connection:
        user = await find_user(connection, address)
        if user is None:
            raise UnknownUser(f"nobody ever wrote from {address!r}")
        last = select(outbox.c.kind, outbox.c.phrased_by, outbox.c.reason).where(outbox.c.user_id == user.id)
        row = (await connection.execute(last.order_by(outbox.c.id.desc()).limit(1))).mappings().first()
        return {
            "user": _seen(user),
            "outbox": sum((await _by_status(connection, outbox, user)).values()),
            "messages": await _by_status(connection, outbox, user),
            "jobs": await _by_status(connection, jobs, user),
            "last_reply": dict(row) if row else {},
        }


def _seen(user: User) -> dict[str, object]:
    plain = {f.value: user.value(f) for f in PROFILE}
    return plain | {
        "stage": user.stage.value,
        "language": user.language.value,
        "time_zone": user.time_zone,
        "looking_for": user.looking_for.value if user.looking_for else None,
        "asked": user.asked.value if user.asked else None,
        "attempts": user.attempts,
        "skipped": [f.value for f in user.skipped],
        "paused": user.paused,
        "inbounds": user.inbounds,
        "last_seen": user.last_seen.isoformat() if user.last_seen else None,
    }


async def _by_status(connection: AsyncConnection, table: Table, user: User) -> dict[str, int]:
    query = select(table.c.status, func.count()).where(table.c.user_id == user.id).group_by(table.c.status)
    return {str(row[0]): int(row[1]) for row in await connection.execute(query)}


def _user(address: str, given: Mapping[str, object]) -> User:
    unknown = sorted(set(given) - set(_READ))
    if unknown:
        raise FixtureRefused(f"{address}: there is no field {', '.join(unknown)}; known: {', '.join(_READ)}")
    values: dict[str, object] = {"inbounds": 1}
    for name, value in given.items():
        try:
            values[name] = None if value is None or value == "null" else _READ[name](value)
        except (KeyError, TypeError, ValueError) as e:
            raise FixtureRefused(f"{address}: {name} cannot be {value!r}") from e
    values = {name: value for name, value in values.items() if value is not None}
    user = User(id=0, address=address, **values)  # type: ignore[arg-type]
    if not STAGES[user.stage].may_enter(user):
        raise FixtureRefused(f"{address}: nobody like this can be in stage {user.stage}")
    return user if user.asked or not user.inbounds else open_question(user, counts=True)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(value)
    return value


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TypeError(value)
    return int(value)


def _yes_or_no(value: object) -> bool:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}[str(value)]


def _moment(value: object) -> datetime:
    read = value if isinstance(value, datetime) else datetime.fromisoformat(_text(value))
    if read.tzinfo is None:
        raise ValueError(value)
    return read


def _fields(value: object) -> tuple[Field, ...]:
    if not isinstance(value, (list, tuple)):
        raise TypeError(value)
    return tuple(Field(_text(v)) for v in value)


_READ: Mapping[str, Callable[[object], object]] = {
    "stage": lambda v: StageName(_text(v)),
    "language": lambda v: Language(_text(v)),
    "time_zone": _text,
    "first_name": _text,
    "city": _text,
    "age": _whole,
    "looking_for": lambda v: LookingFor(_text(v)),
    "asked": lambda v: Field(_text(v)),
    "attempts": _whole,
    "skipped": _fields,
    "paused": _yes_or_no,
    "inbounds": _whole,
    "last_seen": _moment,
}
