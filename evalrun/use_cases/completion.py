"""What a shell can complete in a project: ids, stages, tags, profiles. Broken files leave out what they hold."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalrun.errors import EvalrunError
from evalrun.loading.settings import Overrides, find_settings, load_settings
from evalrun.loading.suite import CACHE, read_all


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words of a project; scenarios with their titles."""

    scenarios: Mapping[str, str]
    stages: tuple[str, ...]
    tags: tuple[str, ...]


NONE = Words(scenarios={}, stages=(), tags=())


def words(start: Path, environ: Mapping[str, str]) -> Words:
    """The words of the project around a folder, none where there is none or its settings are broken."""
    try:
        settings = load_settings(start, Overrides(), environ, connect=False)
        loaded = read_all(settings, settings.root / CACHE)
    except (EvalrunError, OSError):
        return NONE
    stages = {*settings.stages, *(s.stage for s in loaded.scenarios if s.stage)}
    return Words(
        scenarios={s.id: s.title for s in loaded.scenarios},
        stages=tuple(sorted(stages)),
        tags=tuple(sorted({t for s in loaded.scenarios for t in s.tags})),
    )


def profiles(start: Path) -> tuple[str, ...]:
    """The profiles of the settings, none where they cannot be read."""
    try:
        path = find_settings(start.absolute())
        table: Any = tomllib.loads(path.read_text("utf-8-sig")) if path else {}
    except (EvalrunError, OSError, ValueError, RecursionError):
        return ()
    for key in ("tool", "evalrun") if path and path.name == "pyproject.toml" else ():
        table = table.get(key) if isinstance(table, dict) else None
    found = table.get("profiles") if isinstance(table, dict) else None
    return tuple(sorted(found)) if isinstance(found, dict) else ()
