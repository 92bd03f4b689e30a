"""The tool that raises a signal, and the alerts that wait for a person of the team. Neither stops anything."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from evalrun.sample_orchestrator.errors import ToolRefused
from evalrun.sample_orchestrator.safety.wellbeing import SEVERITY, Concern, Severity
from evalrun.sample_orchestrator.tables import admin_alerts, wellbeing_signals
from evalrun.sample_orchestrator.tool_use import ToolCall

_ALERTED = (Severity.CRITICAL, Severity.HIGH)


async def raise_wellbeing_signal(call: ToolCall) -> object:
    """Store a signal and, when it is grave, an alert. Raises ToolRefused for a concern that does not exist."""
    said = str(call.arguments.get("concern", ""))
    if said not in set(Concern):
        raise ToolRefused(f"raise_wellbeing_signal: there is no concern {said!r}")
    severity = SEVERITY[Concern(said)]
    values = {
        "user_id": call.user.id,
        "concern": said,
        "severity": severity.value,
        "words": str(call.arguments.get("words", "")),
        "created_at": call.at,
    }
    stored = await call.connection.execute(insert(wellbeing_signals).values(values).returning(wellbeing_signals.c.id))
    alerted = severity in _ALERTED
    if alerted:
        await alert(call.connection, {"user_id": call.user.id, "kind": said}, call.at)
    return {"signal": stored.scalar_one(), "alert": alerted}


async def alert(connection: AsyncConnection, values: dict[str, object], at: datetime) -> None:
    """Open an alert for the team; one that is open already for the same reason is enough."""
    row = values | {"status": "open", "created_at": at}
    await connection.execute(insert(admin_alerts).values(row).on_conflict_do_nothing())
