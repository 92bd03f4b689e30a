"""The outbox: every message is stored with the turn that made it, then sent, and never sent twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import RowMapping, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.clock import Now
from evalrun.sample_orchestrator.errors import SendFailed
from evalrun.sample_orchestrator.phrasing import Phrased
from evalrun.sample_orchestrator.sender import Sender
from evalrun.sample_orchestrator.tables import outbox
from evalrun.sample_orchestrator.user import User

_FIRST_RETRY = timedelta(minutes=1)


class Kind(StrEnum):
    """Whether a message answers the user, comes unasked, or passes on what another user said.

    An urgent one passes on what cannot wait for the morning.
    """

    REPLY = "reply"
    EVENT = "event"
    RELAY = "relay"
    URGENT = "urgent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One message to store: `key` names the occasion, so that the same occasion is stored once."""

    user: User
    kind: Kind
    key: str
    phrased: Phrased


def dedupe_key(occasion: str, place: int) -> str:
    """The unique key of one bubble of an occasion."""
    return f"{occasion}:{place}"


async def enqueue(connection: AsyncConnection, post: Post, at: datetime) -> bool:
    """Store the bubbles of a post in the turn's transaction; False when the occasion is already there."""
    rows = [
        {
            "user_id": post.user.id,
            "dedupe_key": dedupe_key(post.key, place),
            "kind": post.kind.value,
            "text": text,
            "phrased_by": post.phrased.by.value,
            "reason": post.phrased.reason,
            "status": "pending",
            "attempts": 0,
            "created_at": at,
        }
        for place, text in enumerate(post.phrased.bubbles, 1)
    ]
    stored = await connection.execute(insert(outbox).values(rows).on_conflict_do_nothing().returning(outbox.c.id))
    return stored.first() is not None


async def is_stored(connection: AsyncConnection, occasion: str) -> bool:
    """Whether an occasion has its message already."""
    query = select(outbox.c.id).where(outbox.c.dedupe_key == dedupe_key(occasion, 1))
    return (await connection.execute(query)).first() is not None


async def drop_events(connection: AsyncConnection, user: User) -> None:
    """Let go of unasked messages that still wait: the user has spoken, and they would come after the fact."""
    waiting = (outbox.c.user_id == user.id, outbox.c.status == "pending", outbox.c.kind == Kind.EVENT)
    await connection.execute(update(outbox).where(*waiting).values(status="dropped"))


class Courier:
    """Takes a user's waiting messages to the channel, in order, inside the user's lane."""

    def __init__(self, sender: Sender, now: Now, attempts: int) -> None:
        self._sender = sender
        self._now = now
        self._attempts = attempts

    async def deliver(
        self, connection: AsyncConnection, user: User, kinds: Sequence[Kind], *, only_due: bool = False
    ) -> int:
        """Send what waits; returns how many bubbles went out. Raises SendFailed at the first that did not."""
        sent = 0
        while row := await self._claim(connection, user, kinds, only_due=only_due):
            await self._send(connection, user, row)
            sent += 1
        return sent

    async def _claim(
        self, connection: AsyncConnection, user: User, kinds: Sequence[Kind], *, only_due: bool
    ) -> RowMapping | None:
        """The oldest waiting message, marked as on its way before it is.

        Whatever happens after this commit, no one sends the message again: a crash in the middle
        of sending leaves it in doubt, which is better than saying things twice.
        """
        query = (
            select(outbox)
            .where(outbox.c.user_id == user.id, outbox.c.status == "pending", outbox.c.kind.in_(kinds))
            .order_by(outbox.c.id)
            .limit(1)
        )
        async with connection.begin():
            row = (await connection.execute(query)).mappings().first()
            if row is None or (only_due and row["retry_at"] and row["retry_at"] > self._now()):
                return None
            values = {"status": "sending", "attempts": row["attempts"] + 1}
            await connection.execute(update(outbox).where(outbox.c.id == row["id"]).values(values))
        return row

    async def _send(self, connection: AsyncConnection, user: User, row: RowMapping) -> None:
        try:
            channel_id = await self._sender.send(user.address, row["text"])
        except SendFailed as failure:
            if failure.certain:
                await self._put_back(connection, row, final=failure.final)
            raise
        async with connection.begin():
            values = {"status": "sent", "sent_at": self._now(), "channel_id": channel_id}
            await connection.execute(update(outbox).where(outbox.c.id == row["id"]).values(values))

    async def _put_back(self, connection: AsyncConnection, row: RowMapping, *, final: bool) -> None:
        tried = row["attempts"] + 1
        given_up = final or tried >= self._attempts
        values = {
            "status": "failed" if given_up else "pending",
            "retry_at": None if given_up else self._now() + _FIRST_RETRY * 2 ** (tried - 1),
        }
        async with connection.begin():
            await connection.execute(update(outbox).where(outbox.c.id == row["id"]).values(values))
