"""Remove what killed runs left: clusters of the embedded Postgres, databases on the targets' servers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from evalrun.config import Settings, TargetSettings
from evalrun.errors import DatabaseFailed, MissingExtra
from evalrun.loading.settings import Overrides, find_settings, load_settings
from evalrun.use_cases.wiring import make_server

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """How many leftovers were removed in one place, or why it could not be looked at."""

    place: str
    removed: int = 0
    problem: DatabaseFailed | None = None

    def __str__(self) -> str:
        """One line."""
        if self.problem is not None:
            return f"{self.place}: {self.problem.message}"
        return f"{self.place}: {self.removed} leftover{'' if self.removed == 1 else 's'} of dead runs removed"


async def clean(start: Path, environ: Mapping[str, str]) -> tuple[Cleaned, ...]:
    """Clean every place a run of this project may have used; runs that live are left alone.

    Without settings, the embedded Postgres only. Raises FileProblems when the settings cannot be read.
    """
    settings = _settings(start, environ)
    places = {EMBEDDED: "the embedded Postgres"}
    for target in settings.targets.values():
        if target.database:
            places.setdefault(target.database, f"the server of target {target.name}")
    return tuple([await _cleaned(settings, location, place, environ) for location, place in places.items()])


def _settings(start: Path, environ: Mapping[str, str]) -> Settings:
    if find_settings(start.absolute()) is None:
        return Settings(root=start)
    return load_settings(start, Overrides(), environ)


async def _cleaned(settings: Settings, location: str, place: str, environ: Mapping[str, str]) -> Cleaned:
    only = TargetSettings(name=place, database=location)
    with tempfile.TemporaryDirectory(prefix="evalrun-") as folder:
        try:
            server = make_server(replace(settings, target=place, targets={place: only}), "clean", environ, Path(folder))
        except MissingExtra as e:  # what is not installed cannot have left anything
            return Cleaned(place=f"{place} ({e.message})")
        assert server is not None
        try:
            return Cleaned(place=place, removed=await server.sweep())
        except DatabaseFailed as e:
            return Cleaned(place=place, problem=e)
        finally:
            await server.close()
