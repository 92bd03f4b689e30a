"""One turn on a target: open it, wait until it settles, and say what was observed.

Silence and a timeout are different observations. A fault of the target is raised with what it
had sent so far, which is kept and never judged.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from types import TracebackType
from typing import Any, TypeVar

from evalrun.errors import EvalrunError, TargetFailed
from evalrun.interfaces.targets import Capability, Event, Inbound, Target
from evalrun.session import LiveSession
from evalrun.transcript import Observed, Opening, Turn

T = TypeVar("T")
POLL_SECONDS = 0.02
GRACE_SECONDS = 1.0
CALLERS = (__name__, "evalrun.adapters.")
"""Modules whose frames call a target and are none of its own."""
LONGEST_SAID = 300


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

    Raises TargetFailed when the target raises; ModelFailed, BudgetReached and DatabaseFailed
    raised inside it pass as themselves, also when the target wrapped them. The error's `turn`
    holds what had been said before.
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
    # a task of its own: a target that swallows its cancellation must not hold the run
    task = asyncio.ensure_future(_play(target, view, move))
    try:
        ended, _ = await asyncio.wait({task}, timeout=move.timeout)
    except asyncio.CancelledError:
        view.recorder.settle(move.number)
        await _abandon(task)
        raise
    if not ended:
        closed = _closed(turn, view, started, "deadline")
        await _abandon(task)
        return replace(closed, observed=Observed.TIMED_OUT)
    error = _error(task)
    if error is None:
        return _closed(turn, view, started, task.result())
    closed = _closed(turn, view, started, "raised")
    known = _fault(error, f"turn {move.number}")
    known.turn = closed
    if known is error:
        raise known
    raise known from error


async def done_by_target(work: Coroutine[Any, Any, T], during: str) -> T:
    """What a target does outside a turn, in the task of the trial: what it keeps in its context stays there.

    Raises TargetFailed when it raises, leaves or cancels itself, and what is not its fault as itself.
    """
    try:
        return await _staying(work)
    except asyncio.CancelledError as e:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise _fault(e, during) from e
    except Exception as e:
        known = _fault(e, during)
        if known is e:
            raise
        raise known from e


async def state_of(target: Target, session: LiveSession) -> Mapping[str, object]:
    """The target's observable state. Raises TargetFailed when it raises, what is not its fault as itself."""
    task = asyncio.ensure_future(_staying(target.state(session)))
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        await _abandon(task)
        raise
    error = _error(task)
    if error is None:
        return task.result()
    known = _fault(error, "state()")
    if known is error:
        raise known
    raise known from error


async def _play(target: Target, view: LiveSession, move: Move) -> str:
    """Open the turn and wait until it settles; returns how that was known."""
    await _staying(_open(target, view, move))
    return await _staying(_settle(target, view))


async def _staying(work: Coroutine[Any, Any, T]) -> T:
    """What a target does. Raises TargetFailed where it would end the whole run, with an exit code of its own."""
    try:
        return await work
    except SystemExit as e:
        raise TargetFailed(f"the target called sys.exit({e.code})", remedy="let it raise an error instead") from e


async def _abandon(task: asyncio.Task[Any]) -> None:
    """Cancel what the target does and give it a moment; one that goes on has nothing left to write to."""
    task.cancel()
    task.add_done_callback(_error)
    await asyncio.wait({task}, timeout=GRACE_SECONDS)


def _error(task: asyncio.Task[Any]) -> BaseException | None:
    """What a task ended with."""
    return asyncio.CancelledError("cancelled by itself") if task.cancelled() else task.exception()


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


def _fault(error: BaseException, during: str) -> EvalrunError:
    """Whose fault it is: an error of evalrun inside is passed on, anything else is the target's."""
    return _own_error(error) or _failed(error, during)


def _own_error(error: BaseException) -> EvalrunError | None:
    """An error of evalrun that the target wrapped in its own: the model or the budget failed, not the product."""
    seen: set[int] = set()
    open_ends: list[BaseException] = [error]
    while open_ends:
        current = open_ends.pop(0)
        if isinstance(current, EvalrunError):
            return current
        if id(current) not in seen:
            seen.add(id(current))
            inner = current.exceptions if isinstance(current, BaseExceptionGroup) else ()
            open_ends += [e for e in (*inner, current.__cause__, current.__context__) if e is not None]
    return None


def _failed(error: BaseException, during: str) -> TargetFailed:
    at = traceback.extract_tb(error.__traceback__)
    place = f" at {at[-1].filename.rpartition('/')[2]}:{at[-1].lineno}" if at else ""
    said = " ".join("".join(traceback.format_exception_only(error)).split())
    return TargetFailed(
        f"the target raised {said[:LONGEST_SAID]}{place} in {during}",
        remedy="its traceback is in the report",
        detail="".join(traceback.format_exception(type(error), error, _theirs(error.__traceback__))),
    )


def _theirs(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from where the target's code begins: how it was called says nothing to its author."""
    found = trace
    while found is not None and str(found.tb_frame.f_globals.get("__name__")).startswith(CALLERS):
        found = found.tb_next
    return found or trace
