"""The in-process adapter: a class, an instance or a bare callable named `module:attribute`.

Only `handle` is mandatory; everything else of the contract is detected. Sync code runs in a
worker thread, so that one slow target does not stop the others; async code must not block, for
it runs in the loop of the whole run. A worker that timed out cannot be ended: its session no
longer records and its database is dropped.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from evalrun.adapters import entry
from evalrun.errors import CapabilityMissing, TargetFailed
from evalrun.interfaces.databases import Database
from evalrun.interfaces.targets import Capability, Event, Inbound, Outgoing, Session, Settle, SuiteInfo, TargetSetup


def connect(setup: TargetSetup) -> PythonTarget:
    """Import the entry of a target and connect it. Raises UsageError with the cure."""
    return PythonTarget(entry.adapter_of(setup), name=setup.name)


class PythonTarget:
    """An adapter with everything optional filled in (see `interfaces.targets.Target`)."""

    def __init__(self, adapter: object, *, name: str) -> None:
        self._adapter = adapter
        self._handle = entry.handler(adapter, name)
        self.capabilities = frozenset(c for c in Capability if callable(getattr(adapter, c.value, None)))
        self.tools: tuple[str, ...] | None = entry.tools(adapter, name)
        self.isolation: entry.Isolation = entry.isolation(adapter, name)
        self.settle: Settle = entry.settle(adapter, name, self.capabilities)
        self._turn_of_all = asyncio.Lock() if self.isolation == "serial" else None
        self._holding: set[str] = set()

    async def setup(self, suite: SuiteInfo) -> None:
        """Hand the adapter its run."""
        await self._optional("setup", suite)

    async def migrate(self, database: Database) -> None:
        """Let the adapter fill the template database."""
        await self._needed(Capability.MIGRATE, database)

    async def open(self, session: Session) -> None:
        """Open a trial; a `serial` adapter waits until no other trial is open."""
        if self._turn_of_all is not None:
            await self._turn_of_all.acquire()
            self._holding.add(session.id)
        await self._optional("open", session)

    async def handle(self, session: Session, inbound: Inbound) -> None:
        """Play one message and emit whatever the adapter returned."""
        self._emit(session, await _call(self._handle, session, inbound))

    async def dispatch(self, session: Session, event: Event) -> None:
        """Dispatch an event and emit whatever the adapter returned."""
        self._emit(session, await self._needed(Capability.DISPATCH, session, event))

    async def advance(self, session: Session, now: datetime) -> None:
        """Let the adapter run the jobs that are due, and emit whatever it returned."""
        self._emit(session, await self._needed(Capability.ADVANCE, session, now))

    async def state(self, session: Session) -> Mapping[str, object]:
        """The observable state. Raises TargetFailed when it is not a mapping."""
        state = await self._needed(Capability.STATE, session)
        if not isinstance(state, Mapping):
            raise TargetFailed(f"state() returned {type(state).__name__}", remedy="return a mapping")
        return state

    async def idle(self, session: Session) -> bool:
        """Whether the adapter says that the turn is over."""
        return bool(await self._needed(Capability.IDLE, session))

    async def close(self, session: Session) -> None:
        """Close a trial; may be called twice."""
        try:
            await self._optional("close", session)
        finally:
            if self._turn_of_all is not None and session.id in self._holding:
                self._holding.discard(session.id)
                self._turn_of_all.release()

    async def teardown(self) -> None:
        """End of the run."""
        await self._optional("teardown")

    async def _optional(self, name: str, *args: object) -> object:
        method = getattr(self._adapter, name, None)
        return await _call(method, *args) if callable(method) else None

    async def _needed(self, capability: Capability, *args: object) -> Any:
        if capability not in self.capabilities:
            raise CapabilityMissing(
                f"the adapter has no {capability}()", remedy=f"add a method {capability} to the adapter class"
            )
        return await _call(getattr(self._adapter, capability.value), *args)

    def _emit(self, session: Session, reply: object) -> None:
        if reply is None:
            return
        if isinstance(reply, (str, Outgoing)):
            session.emit(reply)
            return
        if isinstance(reply, (list, tuple)) and all(isinstance(r, (str, Outgoing)) for r in reply):
            for bubble in reply:
                session.emit(bubble)
            return
        raise TargetFailed(
            f"the adapter returned {type(reply).__name__}: {str(reply)[:80]!r}",
            remedy="return text, an Outgoing, a list of them, or None; or call session.emit()",
        )


async def _call(function: Callable[..., Any], *args: object) -> Any:
    """Call sync code in a worker thread and async code here. Raises TargetFailed when it wants to end the process."""
    try:
        if entry.is_async(function):
            return await function(*args)
        result = await _in_thread(function, *args)
        return await result if inspect.isawaitable(result) else result
    except SystemExit as e:  # it would end the whole run, with the exit code of the target
        raise TargetFailed(f"the target called sys.exit({e.code})", remedy="let it raise an error instead") from e


async def _in_thread(function: Callable[..., Any], *args: object) -> Any:
    """Run sync code in a thread that does not keep the process alive: one that hangs cannot be ended."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def work() -> None:
        outcome: tuple[Any, BaseException | None]
        try:
            outcome = (context.run(function, *args), None)
        except BaseException as e:  # noqa: BLE001  handed to whoever waits
            outcome = (None, _carried(e))
        with suppress(RuntimeError):  # the loop may be closed by now: nobody waits any more
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=work, daemon=True, name="evalrun-target").start()
    return await done


def _carried(error: BaseException) -> BaseException:
    """The error as a future can carry it: it refuses StopIteration and takes some others for its own end."""
    if isinstance(error, (Exception, SystemExit)) and not isinstance(error, StopIteration):
        return error
    carried = RuntimeError(f"{type(error).__name__}: {error}")
    carried.__cause__ = error
    return carried
