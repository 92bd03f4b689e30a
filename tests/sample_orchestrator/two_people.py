"""Léa and Noah, who were brought together: arranged in one line, and written as either of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from evalrun.sample_orchestrator.fixtures import arrange, snapshot
from evalrun.sample_orchestrator.heard import Inbound
from tests.sample_orchestrator.stage_door import LEA, NOON, Door

NOAH = "+33600000002"
KIM = "+33600000003"
SOON = NOON + timedelta(hours=1)
DONE = {"city": "Lyon", "age": 34, "looking_for": "relationship", "agreed": True, "plan": "member"}
MATCHED = {"with": NOAH, "told": True, "their_told": True, "answer": True, "their_answer": True}


async def given_pair(door: Door, *, lea: dict[str, Any] | None = None, noah: dict[str, Any] | None = None) -> None:
    """Arrange the two in the stage of the meeting; `lea` holds what is between them."""
    await arrange(
        door.ori.engine,
        {
            LEA: {"first_name": "Léa", "stage": "meeting", **DONE, **(lea or {"match": MATCHED})},
            NOAH: {"first_name": "Noah", "stage": "meeting", **DONE, **(noah or {})},
        },
        door.time,
    )


def meeting(hours: float, status: str = "confirmed", **more: object) -> dict[str, object]:
    """Fields of Léa: a meeting with Noah so many hours from noon."""
    return {"meeting": {"with": NOAH, "at": NOON + timedelta(hours=hours), "place": "Lyon", "status": status, **more}}


async def say_as(door: Door, address: str, text: str) -> list[tuple[str, str]]:
    """Write as somebody; everything that was sent, with its recipient."""
    before = len(door.sender.sent)
    await door.ori.handle(Inbound(id=f"{address}-{before}-{text[:8]}", sender=address, text=text))
    return door.sender.sent[before:]


async def state_of(door: Door, address: str) -> Any:
    """The snapshot of somebody."""
    return await snapshot(door.ori.engine, address)


def to(sent: list[tuple[str, str]], address: str) -> str:
    """What went to one address, in one text."""
    return " | ".join(text for whom, text in sent if whom == address)
