"""Arranging a situation and looking at one: for tests, demonstrations and support staff."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from sqlalchemy import Table, func, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from evalrun.sample_orchestrator.course import open_question
from evalrun.sample_orchestrator.encounter_fixtures import Pair, arrange_match, arrange_meeting, encounters_of
from evalrun.sample_orchestrator.errors import FixtureRefused, UnknownUser
from evalrun.sample_orchestrator.given_values import fields, moment, text_of, whole, yes_or_no
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.membership import record_payment
from evalrun.sample_orchestrator.records import add_user, find_user, save_funnel
from evalrun.sample_orchestrator.safety.fixtures import arrange_safety, safety_state
from evalrun.sample_orchestrator.stages.registry import STAGES
from evalrun.sample_orchestrator.tables import jobs, outbox
from evalrun.sample_orchestrator.user import PROFILE, Awaiting, Field, LookingFor, Plan, StageName, Topic, User


async def arrange(engine: AsyncEngine, people: Mapping[str, Mapping[str, object]], now: datetime) -> None:
    """Store users by address, with what is between them. Raises FixtureRefused for what does not exist or cannot be.

    Values may be text, as files hold them. Whoever is arranged has written before: the question of
    their stage is open, unless `inbounds: 0` says otherwise. A `plan: member` has paid. For `match`
    and `meeting` see `encounter_fixtures.py`; `with` is an address there. For `blocked` and `signals`
    see `safety/fixtures.py`.
    """
    people_read = {address: _user(address, given) for address, given in people.items()}
    async with engine.begin() as connection:
        stored = {a: await add_user(connection, u, u.last_seen or now) for a, u in people_read.items()}
        for user in stored.values():
            if user.plan is Plan.MEMBER:
                await record_payment(connection, user, now)
        for what, arrange_it in (("match", arrange_match), ("meeting", arrange_meeting)):
            for address, given in people.items():
                if isinstance(between := given.get(what), Mapping):
                    await arrange_it(connection, _pair(stored, address, what, between), between, now)
        await arrange_safety(connection, stored, people, now)
        for address, given in people.items():
            await _settle(connection, address, asked="asked" in given)


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
            **await safety_state(connection, user),
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
        "awaiting": user.awaiting.value if user.awaiting else None,
        "paused": user.paused,
        "inbounds": user.inbounds,
        "last_seen": user.last_seen.isoformat() if user.last_seen else None,
        "agreed": user.agreed,
        "plan": user.plan.value if user.plan else None,
        "topic": user.topic.value if user.topic else None,
        "expired": user.expired,
        **encounters_of(user),
    }


async def _by_status(connection: AsyncConnection, table: Table, user: User) -> dict[str, int]:
    query = select(table.c.status, func.count()).where(table.c.user_id == user.id).group_by(table.c.status)
    return {str(row[0]): int(row[1]) for row in await connection.execute(query)}


def _user(address: str, given: Mapping[str, object]) -> User:
    known = (*_READ, "match", "meeting", "blocked", "signals")
    if unknown := sorted(set(given) - set(known)):
        raise FixtureRefused(f"{address}: there is no field {', '.join(unknown)}; known: {', '.join(known)}")
    for what in ("match", "meeting"):
        if not isinstance(given.get(what, {}), Mapping):
            raise FixtureRefused(f"{address}: {what} needs fields, such as {{with: ana}}")
    values: dict[str, object] = {"inbounds": 1}
    for name, value in given.items():
        if name not in _READ:
            continue
        try:
            values[name] = None if value is None or value == "null" else _READ[name](value)
        except (KeyError, TypeError, ValueError) as e:
            raise FixtureRefused(f"{address}: {name} cannot be {value!r}") from e
    values = {name: value for name, value in values.items() if value is not None}
    return User(id=0, address=address, **values)  # type: ignore[arg-type]


def _pair(people: Mapping[str, User], address: str, what: str, between: Mapping[str, object]) -> Pair:
    other = between.get("with")
    if not isinstance(other, str) or other not in people or other == address:
        known = ", ".join(a for a in people if a != address) or "nobody"
        raise FixtureRefused(f"{address}: {what} needs `with` and one of those who are given too: {known}")
    return Pair(user=people[address], partner=people[other])


async def _settle(connection: AsyncConnection, address: str, *, asked: bool) -> None:
    """Hold a user, now that all is stored, to their stage; open the question of it."""
    user = await find_user(connection, address)
    assert user is not None
    if not STAGES[user.stage].may_enter(user):
        raise FixtureRefused(f"{address}: nobody like this can be in stage {user.stage}")
    if user.inbounds and not asked:
        await save_funnel(connection, open_question(user, counts=True))


_READ: Mapping[str, Callable[[object], object]] = {
    "stage": lambda v: StageName(text_of(v)),
    "language": lambda v: Language(text_of(v)),
    "time_zone": text_of,
    "first_name": text_of,
    "city": text_of,
    "age": whole,
    "looking_for": lambda v: LookingFor(text_of(v)),
    "asked": lambda v: Field(text_of(v)),
    "attempts": whole,
    "skipped": fields,
    "awaiting": lambda v: Awaiting(text_of(v)),
    "paused": yes_or_no,
    "inbounds": whole,
    "last_seen": moment,
    "agreed": yes_or_no,
    "plan": lambda v: Plan(text_of(v)),
    "topic": lambda v: Topic(text_of(v)),
    "expired": yes_or_no,
}
