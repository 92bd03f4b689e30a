"""A live session and a target from a few lines of an adapter, for tests of sessions, turns and adapters."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalrun.adapters.python import PythonTarget
from evalrun.clock import TrialClock
from evalrun.interfaces.databases import Database
from evalrun.interfaces.models import ModelEndpoint
from evalrun.interfaces.targets import Inbound, Target
from evalrun.scenario import Participant
from evalrun.session import LiveSession, Recorder
from evalrun.testing import FixedModel
from evalrun.transcript import InboundKind, Opening, Turn
from evalrun.turn_play import Move, play_turn

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
LEA = Participant(id="lea", name="Léa", address="+33600000001")
NOAH = Participant(id="noah", name="Noah", address="+33600000002")


def target_of(adapter: object) -> PythonTarget:
    """An adapter, connected."""
    return PythonTarget(adapter, name="bot")


def session_of(
    *, sees_tools: bool = False, database: Database | None = None, model: ModelEndpoint | None = None, name: str = "s-1"
) -> LiveSession:
    """The session of a trial with Léa, in which Noah exists too."""
    return LiveSession(
        id=name,
        persona=LEA,
        participants={"lea": LEA, "noah": NOAH},
        clock=TrialClock(NOON),
        database=database,
        model=model or FixedModel(),
        tmp=Path("/nonexistent"),
        given={},
        recorder=Recorder(sees_tools=sees_tools),
    )


def move_of(text: str = "salut", *, number: int = 1, timeout: float = 5.0, **more: Any) -> Move:
    """A message of Léa."""
    opening = Opening(kind=InboundKind.USER, text=text, sender="lea")
    inbound = Inbound(id=f"in-{number}", text=text, sender=LEA)
    return Move(opening=opening, allowed=("lea",), inbound=inbound, number=number, timeout=timeout, **more)


async def played(adapter: object, session: LiveSession, **how: Any) -> Turn:
    """One turn of an adapter."""
    target: Target = target_of(adapter)
    return await play_turn(target, session, move_of(**how))


def blank(number: int = 1) -> Turn:
    """A turn as it was opened, to be filled from a record."""
    return Turn(number=number, opening=Opening(kind=InboundKind.USER), now=NOON)
