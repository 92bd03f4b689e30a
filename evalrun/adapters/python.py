"""The in-process adapter: a class, an instance or a bare callable named `module:attribute`.

Only `handle` is mandatory; everything else of the contract is detected. Sync code runs in a
worker thread, so that one slow target does not stop the others.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal, get_args

from evalrun.errors import CapabilityMissing, TargetFailed, UsageError
from evalrun.interfaces import (
    Capability,
    Database,
    Event,
    Inbound,
    Outgoing,
    Session,
    Settle,
    SuiteInfo,
    TargetSetup,
)

Isolation = Literal["instance", "session-key", "process", "serial"]


def connect(setup: TargetSetup) -> PythonTarget:
    """Import the entry of a target and connect it. Raises UsageError with the cure."""
    found = _import(setup)
    adapter = _instance(found, setup)
    return PythonTarget(adapter, name=setup.name)


class PythonTarget:
    """An adapter with everything optional filled in (see `interfaces.Target`)."""

    def __init__(self, adapter: object, *, name: str) -> None:
        self._adapter = adapter
        self._handle = _handler(adapter, name)
        self.capabilities = frozenset(c for c in Capability if callable(getattr(adapter, c.value, None)))
        tools = getattr(adapter, "tools", None)
        self.tools: tuple[str, ...] | None = None if tools is None or callable(tools) else tuple(tools)
        self.isolation: Isolation = _isolation(adapter, name)
        self.settle: Settle = _settle(adapter, name, self.capabilities)
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
        if isinstance(reply, Sequence) and all(isinstance(r, (str, Outgoing)) for r in reply):
            for bubble in reply:
                session.emit(bubble)
            return
        raise TargetFailed(
            f"the adapter returned {type(reply).__name__}: {str(reply)[:80]!r}",
            remedy="return text, an Outgoing, a sequence of them, or None; or call session.emit()",
        )


async def _call(function: Callable[..., Any], *args: object) -> Any:
    """Call sync code in a worker thread and async code here."""
    by_class = getattr(type(function), "__call__", None)  # noqa: B004  not whether it can be called, but how
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(by_class):
        return await function(*args)
    result = await _in_thread(function, *args)
    return await result if inspect.isawaitable(result) else result


async def _in_thread(function: Callable[..., Any], *args: object) -> Any:
    """Run sync code in a thread that does not keep the process alive: one that hangs cannot be ended."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def work() -> None:
        try:
            outcome = (function(*args), None)
        except BaseException as e:  # noqa: BLE001  handed to whoever waits
            outcome = (None, e)
        with suppress(RuntimeError):  # the loop may be closed by now: nobody waits any more
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=work, daemon=True, name="evalrun-target").start()
    return await done


def _import(setup: TargetSetup) -> object:
    module, colon, attribute = setup.entry.partition(":")
    if not (module and colon and attribute):
        raise UsageError(
            f"target {setup.name!r}: entry {setup.entry!r} is not module:attribute",
            remedy='write entry = "my_bot:reply" in its table',
        )
    root = str(setup.root)
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as e:
        if e.name and (module == e.name or module.startswith(f"{e.name}.")):
            raise UsageError(
                f"target {setup.name!r}: there is no module {e.name!r}",
                remedy=f"entry is looked up from {setup.file or 'the project folder'} and among installed packages",
            ) from e
        raise UsageError(_trouble(setup, e), remedy="install what it needs, or correct it") from e
    except Exception as e:
        raise UsageError(_trouble(setup, e), remedy="it must be importable: python -c 'import …'") from e
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UsageError(
                f"target {setup.name!r}: {module} has no {attribute!r}", remedy="name a class, instance or function"
            )
        found = getattr(found, part)
    return found


def _trouble(setup: TargetSetup, error: Exception) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename]
    at = f" ({frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno})" if len(frames) > 1 else ""
    return f"target {setup.name!r}: importing {setup.entry} raised {type(error).__name__}: {error}{at}"


def _instance(found: object, setup: TargetSetup) -> object:
    if not isinstance(found, type):
        return found
    try:
        return found()
    except Exception as e:
        raise UsageError(_trouble(setup, e), remedy="an adapter class is made without arguments") from e


def _handler(adapter: object, name: str) -> Callable[..., Any]:
    handle = getattr(adapter, "handle", None)
    if callable(handle):
        return handle  # type: ignore[no-any-return]
    if not callable(adapter):
        raise UsageError(
            f"target {name!r} is a {type(adapter).__name__} without handle()",
            remedy="give it handle(session, inbound), or name a function",
        )
    if len(_positional(adapter)) == 1:
        return _text_only(adapter)
    return adapter


def _positional(function: Callable[..., Any]) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = inspect.signature(function).parameters.values()
    return [p for p in needed if p.kind in kinds and p.default is inspect.Parameter.empty]


def _text_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """A bare `reply(text)` as a handler."""
    if inspect.iscoroutinefunction(function):

        async def handle(_session: Session, inbound: Inbound) -> object:
            return await function(inbound.text)

        return handle

    def handle_in_thread(_session: Session, inbound: Inbound) -> object:
        return function(inbound.text)

    return handle_in_thread


def _isolation(adapter: object, name: str) -> Isolation:
    isolation: Isolation = getattr(adapter, "isolation", "session-key")
    if isolation not in get_args(Isolation):
        raise UsageError(
            f"target {name!r}: isolation {isolation!r} is unknown", remedy=f"known: {', '.join(get_args(Isolation))}"
        )
    if isolation == "process":
        raise UsageError(
            f"target {name!r}: the python adapter runs in this process and cannot isolate by process",
            remedy='use "serial" to play its trials one after another',
        )
    return isolation


def _settle(adapter: object, name: str, capabilities: frozenset[Capability]) -> Settle:
    settle = getattr(adapter, "settle", Settle())
    if not isinstance(settle, Settle):
        raise UsageError(f"target {name!r}: settle must be an evalrun Settle", remedy='for example Settle(how="quiet")')
    if settle.how == "idle" and Capability.IDLE not in capabilities:
        raise CapabilityMissing(f"target {name!r}: settle is idle but there is no idle()", remedy="add idle(session)")
    return settle
