"""Users and messages as rows: the only place that turns one into the other."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import RowMapping, insert, literal, select, union_all, update
from sqlalchemy.dialects.postgresql import insert as insert_or_nothing
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.encounter_records import save_match, with_encounters
from evalrun.sample_orchestrator.heard import Inbound
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.phrasing import Past
from evalrun.sample_orchestrator.safety.acquaintance_records import with_acquaintances
from evalrun.sample_orchestrator.tables import inbound, outbox, users
from evalrun.sample_orchestrator.user import PROFILE, Awaiting, Field, LookingFor, Plan, StageName, Topic, User

_REMEMBERED = 60
_FUNNEL = ("stage", "language", "asked", "attempts", "awaiting", "inbounds", "last_seen", "expired", "topic")
_TOLD = ("agreed", "plan")


def user_of(row: RowMapping) -> User:
    """A row of `users` as a User."""
    return User(
        id=row["id"],
        address=row["address"],
        stage=StageName(row["stage"]),
        language=Language(row["language"]),
        time_zone=row["time_zone"],
        first_name=row["first_name"],
        city=row["city"],
        age=row["age"],
        looking_for=LookingFor(row["looking_for"]) if row["looking_for"] else None,
        asked=Field(row["asked"]) if row["asked"] else None,
        attempts=row["attempts"],
        skipped=tuple(Field(f) for f in row["skipped"]),
        awaiting=Awaiting(row["awaiting"]) if row["awaiting"] else None,
        paused=row["paused"],
        inbounds=row["inbounds"],
        last_seen=row["last_seen"],
        agreed=row["agreed"],
        plan=Plan(row["plan"]) if row["plan"] else None,
        topic=Topic(row["topic"]) if row["topic"] else None,
        expired=row["expired"],
    )


async def find_user(connection: AsyncConnection, address: str) -> User | None:
    """The user at an address, with match and meeting; None when nobody wrote from there."""
    row = (await connection.execute(select(users).where(users.c.address == address))).mappings().first()
    if row is None:
        return None
    return await with_acquaintances(connection, await with_encounters(connection, user_of(row)))


async def add_user(connection: AsyncConnection, user: User, created_at: datetime) -> User:
    """Store a new user; returns it with its id."""
    values = _funnel_of(user) | {f.value: user.value(f) for f in PROFILE} | {n: getattr(user, n) for n in _TOLD}
    values |= {
        "address": user.address,
        "time_zone": user.time_zone,
        "paused": user.paused,
        "created_at": created_at,
    }
    identifier = (await connection.execute(insert(users).values(values).returning(users.c.id))).scalar_one()
    found = await connection.execute(select(users).where(users.c.id == identifier))
    return user_of(found.mappings().one())


async def save_funnel(connection: AsyncConnection, user: User) -> None:
    """Store where a user stands. The profile, the pause and what was agreed to belong to the tools."""
    await connection.execute(update(users).where(users.c.id == user.id).values(_funnel_of(user)))
    await save_match(connection, user)


async def update_user(connection: AsyncConnection, user_id: int, values: Mapping[str, object]) -> None:
    """Store single columns, for the tools."""
    await connection.execute(update(users).where(users.c.id == user_id).values(dict(values)))


async def add_inbound(connection: AsyncConnection, user: User, message: Inbound, at: datetime) -> bool:
    """Store a message; False when this id was handled before."""
    values = {"user_id": user.id, "message_id": message.id, "text": message.text, "received_at": at}
    statement = insert_or_nothing(inbound).values(values).on_conflict_do_nothing().returning(inbound.c.id)
    return (await connection.execute(statement)).first() is not None


async def past_of(connection: AsyncConnection, user: User, shown: int) -> Past:
    """The conversation with a user so far; `shown` messages of it for the model."""
    said = ("pending", "sending", "sent")
    heard_rows = select(inbound.c.text, inbound.c.received_at.label("at"), literal("user").label("role"), inbound.c.id)
    own_rows = select(outbox.c.text, outbox.c.created_at.label("at"), literal("assistant").label("role"), outbox.c.id)
    both = union_all(
        heard_rows.where(inbound.c.user_id == user.id),
        own_rows.where(outbox.c.user_id == user.id, outbox.c.status.in_(said)),
    ).subquery()
    latest = select(both).order_by(both.c.at.desc(), both.c.role, both.c.id.desc()).limit(_REMEMBERED)
    rows = (await connection.execute(latest)).mappings().all()[::-1]
    return Past(
        messages=tuple({"role": r["role"], "content": r["text"]} for r in rows[-shown:]) if shown else (),
        bubbles=tuple(r["text"] for r in rows if r["role"] == "assistant"),
    )


def _funnel_of(user: User) -> dict[str, object]:
    return {name: getattr(user, name) for name in _FUNNEL} | {"skipped": [f.value for f in user.skipped]}
