"""Check the files of a project without running anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalrun.errors import Problem, UsageError
from evalrun.loading.settings import Overrides, load_settings
from evalrun.loading.suite import read_all


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationReport:
    """How many files were looked at, and what is wrong with them, in the order of files and lines."""

    files: int
    problems: tuple[Problem, ...] = ()


def validate(
    start: Path, paths: Sequence[Path] = (), *, overrides: Overrides | None = None, environ: Mapping[str, str]
) -> ValidationReport:
    """Check all files of the project around `start`, or report only on some files or folders.

    The whole project is read either way, since files refer to one another. Raises FileProblems for
    the settings, UsageError and UnknownName; a path that holds no file of the project is one.
    """
    settings = load_settings(start, overrides or Overrides(), environ)
    loaded = read_all(settings)
    problems = sorted(loaded.problems.found, key=lambda p: p.where)
    if not paths:
        return ValidationReport(files=len(loaded.files), problems=tuple(problems))
    asked = [_absolute(start, p) for p in paths]
    places = {file: _absolute(settings.root, Path(file)) for file in (*loaded.files, settings.file)}
    for path, given in zip(asked, paths, strict=True):
        if not any(p.is_relative_to(path) for p in places.values()):
            raise UsageError(
                f"{given} is no file of this project, nor a folder that holds one",
                remedy=f"correct the path; files are read from {settings.scenarios}/, {settings.personas}/, "
                f"{settings.rubrics}/ and {settings.style_rules}",
            )
    wanted = {file for file, place in places.items() if any(place.is_relative_to(p) for p in asked)}
    found = (p for p in problems if p.where.file in wanted or p.where.file not in places)
    return ValidationReport(files=len(wanted), problems=tuple(found))


def _absolute(start: Path, path: Path) -> Path:
    return (start / path).resolve()
