"""The membership: its one price, and the charge that only an explicit yes leads to."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.errors import ToolRefused
from evalrun.sample_orchestrator.records import update_user
from evalrun.sample_orchestrator.tables import payments
from evalrun.sample_orchestrator.tool_use import ToolCall
from evalrun.sample_orchestrator.user import PROFILE, Plan, User

CENTS = 1_900
CURRENCY = "EUR"
PRICE = "19 €"
"""The price as it is written to users."""


async def record_payment(connection: AsyncConnection, user: User, at: datetime) -> bool:
    """Store that a user paid; False when they had before, so that nobody pays twice."""
    values = {"user_id": user.id, "cents": CENTS, "currency": CURRENCY, "created_at": at}
    statement = insert(payments).values(values).on_conflict_do_nothing().returning(payments.c.id)
    return (await connection.execute(statement)).first() is not None


async def charge_card(call: ToolCall) -> object:
    """Charge the membership, once. Raises ToolRefused before the profile, without words of consent, for another sum."""
    asked = (call.arguments.get("cents"), call.arguments.get("currency"))
    if asked != (CENTS, CURRENCY):
        raise ToolRefused(f"charge_card: {asked} is not the price, {CENTS} {CURRENCY}")
    if not str(call.arguments.get("consent") or "").strip():
        raise ToolRefused("charge_card: nobody consented")
    if not all(call.user.settled(field) for field in PROFILE):
        raise ToolRefused("charge_card: the profile is not complete")
    if not await record_payment(call.connection, call.user, call.at):
        raise ToolRefused("charge_card: this user has paid already")
    await update_user(call.connection, call.user.id, {"plan": Plan.MEMBER.value})
    return {"charged": CENTS}


async def save_plan(call: ToolCall) -> object:
    """Note that a user does not want to pay now. Raises ToolRefused for anything else."""
    if call.arguments != {"plan": Plan.LATER.value}:
        raise ToolRefused("save_plan: only `later` can be saved; the membership comes from charge_card")
    await update_user(call.connection, call.user.id, call.arguments)
    return {"plan": Plan.LATER.value}


async def save_agreement(call: ToolCall) -> object:
    """Note whether Ori's way suits a user."""
    agreed = call.arguments.get("agreed")
    if not isinstance(agreed, bool):
        raise ToolRefused("save_agreement: agreed is yes or no")
    await update_user(call.connection, call.user.id, {"agreed": agreed})
    return {"agreed": agreed}
