"""One turn on a target: open it, wait until it settles, and say what was observed.

Silence and a timeout are different observations. A fault of the target is raised with what it
had sent so far, which is kept and never judged.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from dataclasses import dataclass, replace
from datetime import timedelta

from evalrun.errors import EvalrunError, TargetFailed
from evalrun.interfaces import Capability, Event, Inbound, Target
from evalrun.session import LiveSession
from evalrun.transcript import Observed, Opening, Turn

POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What opens a turn: exactly one of `inbound`, `event` and `interval` is set.

    `allowed` are the participants who may be written to, `silent` says that the agent must say
    nothing, `timeout` is in seconds.
    """

    opening: Opening
    allowed: tuple[str, ...]
    silent: bool = False
    number: int = 1
    inbound: Inbound | None = None
    event: Event | None = None
    interval: timedelta | None = None
    keep_columns: tuple[str, ...] = ()
    timeout: float = 180.0


async def play_turn(target: Target, session: LiveSession, move: Move) -> Turn:
    """Play one turn and return it, also when it timed out (`Observed.TIMED_OUT`).

    Raises TargetFailed (its `turn` holds what came before the fault) when the target raises;
    ModelFailed, BudgetReached and DatabaseFailed raised inside it pass as themselves.
    """
    started = time.monotonic()
    view = session.for_turn(move.number, started + move.timeout)
    turn = Turn(
        number=move.number,
        opening=move.opening,
        allowed=move.allowed,
        silence_expected=move.silent,
        now=session.clock.now(),
    )
    timed_out = False
    try:
        async with asyncio.timeout(move.timeout) as limit:
            await _open(target, view, move)
            settled_by = await _settle(target, view)
    except EvalrunError:
        view.recorder.settle(move.number)
        raise
    except Exception as e:
        if not limit.expired():
            cause = _own_error(e)
            if cause is not None:
                raise cause from e
            raise _failed(e, _closed(turn, view, started, "raised")) from e
        timed_out, settled_by = True, "deadline"
    done = _closed(turn, view, started, settled_by)
    return replace(done, observed=Observed.TIMED_OUT) if timed_out else done


async def _open(target: Target, view: LiveSession, move: Move) -> None:
    if move.inbound is not None:
        await target.handle(view, move.inbound)
    elif move.event is not None:
        await target.dispatch(view, move.event)
    elif move.interval is not None:
        if view.database is not None:
            await view.database.shift_time(move.interval, move.keep_columns)
        if Capability.ADVANCE in target.capabilities:
            await target.advance(view, view.clock.now())


async def _settle(target: Target, view: LiveSession) -> str:
    """Wait for the end of the turn as the target's `settle` says; returns how it was known."""
    how = target.settle.how
    if how == "idle":
        while not await target.idle(view):  # noqa: ASYNC110  the target's own answer can only be polled
            await asyncio.sleep(POLL_SECONDS)
    elif how == "quiet":
        seen, since = view.recorder.changes(view.turn), time.monotonic()
        while time.monotonic() - since < target.settle.quiet:
            await asyncio.sleep(min(POLL_SECONDS, target.settle.quiet))
            if (now := view.recorder.changes(view.turn)) != seen:
                seen, since = now, time.monotonic()
    return how


def _closed(turn: Turn, view: LiveSession, started: float, settled_by: str) -> Turn:
    view.recorder.settle(turn.number)
    full = view.recorder.turn(turn)
    return replace(
        full,
        observed=Observed.REPLIED if full.said else Observed.SILENT,
        settled_by=settled_by,
        seconds=round(time.monotonic() - started, 3),
    )


def _own_error(error: BaseException) -> EvalrunError | None:
    """An error of evalrun that the target wrapped in one of its own: the model or the budget, not the product."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        if isinstance(current, EvalrunError):
            return current
        seen.add(id(current))
        current = current.__cause__ or current.__context__
    return None


def _failed(error: BaseException, turn: Turn) -> TargetFailed:
    at = traceback.extract_tb(error.__traceback__)
    place = f" at {at[-1].filename.rpartition('/')[2]}:{at[-1].lineno}" if at else ""
    return TargetFailed(
        f"the target raised {type(error).__name__}: {error}{place} in turn {turn.number}",
        remedy="its traceback is in the report",
        detail="".join(traceback.format_exception(error)),
        turn=turn,
    )
