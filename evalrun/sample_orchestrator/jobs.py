"""Jobs: events that wait for a better hour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.tables import jobs, users
from evalrun.sample_orchestrator.user import User


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An event to dispatch to `address` once it is due."""

    id: int
    address: str
    event: str
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """An event put off until `due_at`; `key` names the occasion."""

    user: User
    event: str
    data: Mapping[str, object]
    key: str
    due_at: datetime


async def put_off(connection: AsyncConnection, job: NewJob, at: datetime) -> bool:
    """Store a job, or take up again the one that was dropped; False when the occasion waits already, or had its turn."""
    values = {
        "user_id": job.user.id,
        "event": job.event,
        "data": dict(job.data),
        "dedupe_key": job.key,
        "status": "pending",
        "due_at": job.due_at,
        "created_at": at,
    }
    anew = {name: values[name] for name in ("data", "status", "due_at")}
    statement = insert(jobs).values(values)
    statement = statement.on_conflict_do_update(
        index_elements=["dedupe_key"], set_=anew, where=jobs.c.status == "dropped"
    )
    stored = await connection.execute(statement.returning(jobs.c.id))
    return stored.first() is not None


async def due_jobs(connection: AsyncConnection, now: datetime) -> tuple[Job, ...]:
    """The jobs whose time has come, oldest first."""
    query = (
        select(jobs.c.id, users.c.address, jobs.c.event, jobs.c.data)
        .join(users, users.c.id == jobs.c.user_id)
        .where(jobs.c.status == "pending", jobs.c.due_at <= now)
        .order_by(jobs.c.due_at, jobs.c.id)
    )
    rows = (await connection.execute(query)).mappings()
    return tuple(Job(id=r["id"], address=r["address"], event=r["event"], data=r["data"]) for r in rows)


async def is_waiting(connection: AsyncConnection, job_id: int) -> bool:
    """Whether a job is still to be done, asked again once its user's lane is ours."""
    query = select(jobs.c.id).where(jobs.c.id == job_id, jobs.c.status == "pending")
    return (await connection.execute(query)).first() is not None


async def postpone(connection: AsyncConnection, job_id: int, due_at: datetime) -> None:
    """Let a job wait longer."""
    await connection.execute(update(jobs).where(jobs.c.id == job_id).values(due_at=due_at))


async def finish(connection: AsyncConnection, job_id: int, *, sent: bool) -> None:
    """Close a job: done when something was sent, dropped otherwise."""
    status = "done" if sent else "dropped"
    await connection.execute(update(jobs).where(jobs.c.id == job_id).values(status=status))
