"""The membership: its one price, and the charge that only an explicit yes leads to."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.tables import payments
from evalrun.sample_orchestrator.user import User

CENTS = 1_900
CURRENCY = "EUR"
PRICE = "19 €"
"""The price as it is written to users."""


async def record_payment(connection: AsyncConnection, user: User, at: datetime) -> bool:
    """Store that a user paid; False when they had before, so that nobody pays twice."""
    values = {"user_id": user.id, "cents": CENTS, "currency": CURRENCY, "created_at": at}
    statement = insert(payments).values(values).on_conflict_do_nothing().returning(payments.c.id)
    return (await connection.execute(statement)).first() is not None
