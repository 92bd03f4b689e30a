"""Which scenarios a run or a plan takes: what is asked for, and of that what a change can affect."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from evalrun import changes, plugins
from evalrun.affected import Closure, affected
from evalrun.changes import Changes
from evalrun.config import Settings
from evalrun.errors import NoMergeBase
from evalrun.path_patterns import composed
from evalrun.selection import Change, Selection, Wanted, select
from evalrun.suite import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """Only what changed since a reference; `otherwise`: what holds when git cannot tell."""

    reference: str
    otherwise: Literal["error", "all"] = "error"


def choose(suite: Suite, settings: Settings, wanted: Wanted, since: Since | None) -> Selection:
    """Choose scenarios, each with its reasons. Raises UnknownName, NoMergeBase, UsageError for a pattern or module."""
    if since is None:
        return select(suite, wanted, settings.root)
    try:
        found = changes.changed_since(settings.root, since.reference)
    except NoMergeBase as e:
        if since.otherwise == "error":
            raise
        everything = select(suite, replace(wanted, everything=not wanted.categories), settings.root)
        notice = f"{e.message}: everything is run, as --on-missing-base all says"
        return replace(everything, notices=(notice,), line=f"{everything.line}, {notice}")
    found = replace(found, found=tuple(c for c in found.found if not _ours(c.path, settings)))
    hit = affected(
        suite, settings, found.found, closures_of(settings), settings_changed=_settings_changed(settings, found)
    )
    selection = select(suite, wanted, settings.root, Change(affected=hit, line=found.line))
    notices = found.notices
    if not settings.source and found.found:
        notices += ("`source` is not set: a changed file that is no document selects all; set it to the agent's code",)
    return replace(selection, notices=notices)


def _ours(path: str, settings: Settings) -> bool:
    """What running leaves behind where nobody ignores it: no change that anybody made."""
    store = settings.store
    lines = str(Path(store).with_suffix(".jsonl")) if store else ""
    own = path.startswith(".evalrun/") or path in (store, f"{store}-wal", f"{store}-shm", lines)
    return own or "__pycache__" in path.split("/")


def closures_of(settings: Settings) -> Mapping[str, Closure]:
    """What the modules of each stage import, as paths of the project."""
    modules = {name: stage.modules for name, stage in settings.stages.items() if stage.modules}
    if not modules:
        return {}
    plugins.look_in(settings.root)
    read = plugins.load("imports", "python")
    root = settings.root.resolve()
    return {
        name: Closure(files=_relative(files, root), named=_relative(own, root))
        for name, (files, own) in read(modules, settings.root).items()
    }


def _relative(files: frozenset[Path], root: Path) -> frozenset[str]:
    return frozenset(composed(f.resolve().relative_to(root).as_posix()) for f in files)


def _settings_changed(settings: Settings, found: Changes) -> bool:
    """Whether our part of the settings file is another than it was; the rest of a pyproject.toml is not ours."""
    if not any(c.path == settings.file for c in found.found):
        return False
    now = _table((settings.root / settings.file).read_bytes())
    return any(_table(changes.file_at(settings.root, base, settings.file)) != now for base in found.bases)


def _table(data: bytes | None) -> object:
    """Our table of a settings file; None where it was not there or not readable."""
    try:
        read = tomllib.loads(data.decode("utf-8-sig")) if data is not None else {}
    except (ValueError, RecursionError):
        return None
    tool = read.get("tool", {})
    return tool.get("evalrun", read) if isinstance(tool, dict) else read
