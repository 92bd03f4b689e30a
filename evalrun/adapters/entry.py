"""What a target's entry names, and what it can do: an adapter class, an instance or a bare function."""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

from evalrun.errors import CapabilityMissing, UsageError
from evalrun.interfaces.targets import Capability, Inbound, Session, Settle, TargetSetup

Isolation = Literal["instance", "session-key", "process", "serial"]


def adapter_of(setup: TargetSetup) -> object:
    """Import the entry; a class is made once for a run. Raises UsageError with the cure."""
    return _instance(_import(setup), setup)


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
                remedy=f"it is looked up beside {setup.file or 'the settings'} and among installed packages",
            ) from e
        raise UsageError(_trouble(setup, e), remedy="install what it needs, or correct it") from e
    except SystemExit as e:
        raise UsageError(
            f"target {setup.name!r}: importing {setup.entry} called sys.exit({e.code})",
            remedy='put what runs as a program under if __name__ == "__main__"',
        ) from e
    except Exception as e:
        raise UsageError(_trouble(setup, e), remedy="it must be importable: python -c 'import …'") from e
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UsageError(
                f"target {setup.name!r}: {module} has no {attribute!r}", remedy="name a class, instance or function"
            )
        found = getattr(found, part)
    return found


def _trouble(setup: TargetSetup, error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__)[1:] if "importlib" not in f.filename]
    at = f" ({frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno})" if frames else ""
    if isinstance(error, SyntaxError):  # its text draws the line and an arrow below it, which does not fit one line
        said, at = f"{type(error).__name__}: {error.msg}", f" ({Path(error.filename or '').name}:{error.lineno})"
    else:
        said = " ".join("".join(traceback.format_exception_only(error)).split())
    return f"target {setup.name!r}: importing {setup.entry} raised {said}{at}"


def _instance(found: object, setup: TargetSetup) -> object:
    if not isinstance(found, type):
        return found
    try:
        return found()
    except SystemExit as e:
        raise UsageError(
            f"target {setup.name!r}: making {setup.entry} called sys.exit({e.code})",
            remedy="let it raise an error instead",
        ) from e
    except Exception as e:
        raise UsageError(_trouble(setup, e), remedy="an adapter class is made without arguments") from e


def handler(adapter: object, name: str) -> Callable[..., Any]:
    """What plays a message: `handle(session, inbound)`, or a function of the session and the message, or of the text."""
    handle = getattr(adapter, "handle", None)
    if callable(handle):
        if not _takes(handle, 2):
            raise UsageError(
                f"target {name!r}: handle{inspect.signature(handle)} does not take a session and a message",
                remedy="write it as handle(self, session, inbound)",
            )
        return handle  # type: ignore[no-any-return]
    if not callable(adapter):
        raise UsageError(
            f"target {name!r} is a {type(adapter).__name__} without handle()",
            remedy="give it handle(session, inbound), or name a function",
        )
    if _needs_one(adapter):
        return _text_only(adapter)
    if not _takes(adapter, 2):
        raise UsageError(
            f"target {name!r}: the function takes neither the text nor a session and a message",
            remedy="write it as reply(text) or reply(session, inbound)",
        )
    return adapter


def _takes(function: Callable[..., Any], number: int) -> bool:
    """Whether it can be called with so many arguments; what has no signature is believed."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*range(number))
    except TypeError:
        return False
    return True


def _needs_one(function: Callable[..., Any]) -> bool:
    """Whether it works with one argument and was not written for two."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in kinds and p.default is inspect.Parameter.empty]
    return len(needed) <= 1 and _takes(function, 1)


def _text_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """A bare `reply(text)` as a handler."""
    if is_async(function):

        async def handle(_session: Session, inbound: Inbound) -> object:
            return await function(inbound.text)

        return handle

    def handle_in_thread(_session: Session, inbound: Inbound) -> object:
        return function(inbound.text)

    return handle_in_thread


def tools(adapter: object, name: str) -> tuple[str, ...] | None:
    """The declared tools; None when none are declared, which is not the same as an empty list."""
    names = getattr(adapter, "tools", None)
    if names is None or callable(names):
        return None
    if isinstance(names, (list, tuple, set, frozenset)) and all(isinstance(n, str) for n in names):
        return tuple(names)
    raise UsageError(f"target {name!r}: tools must be a list of names", remedy='for example tools = ("find_quote",)')


def isolation(adapter: object, name: str) -> Isolation:
    """How its trials are kept apart; by default each session on its own. Raises UsageError."""
    chosen: Isolation = getattr(adapter, "isolation", "session-key")
    if chosen not in get_args(Isolation):
        raise UsageError(
            f"target {name!r}: isolation {chosen!r} is unknown", remedy=f"known: {', '.join(get_args(Isolation))}"
        )
    if chosen == "process":
        raise UsageError(
            f"target {name!r}: the python adapter runs in this process and cannot isolate by process",
            remedy='use "serial" to play its trials one after another',
        )
    return chosen


def settle(adapter: object, name: str, capabilities: frozenset[Capability]) -> Settle:
    """How the end of a turn is known; by default when the handler returns. Raises UsageError, CapabilityMissing."""
    chosen = getattr(adapter, "settle", Settle())
    if not isinstance(chosen, Settle):
        raise UsageError(f"target {name!r}: settle must be an evalrun Settle", remedy='for example Settle(how="quiet")')
    if chosen.how == "idle" and Capability.IDLE not in capabilities:
        raise CapabilityMissing(f"target {name!r}: settle is idle but there is no idle()", remedy="add idle(session)")
    return chosen


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine."""
    by_class = getattr(type(function), "__call__", None)  # noqa: B004  not whether it can be called, but how
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(by_class)
