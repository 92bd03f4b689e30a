"""Start a project of one's own, and add files to it. What exists is never overwritten unless asked, and then kept."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Literal

from evalrun.errors import UsageError
from evalrun.loading.schemas import KINDS, schema_text
from evalrun.loading.settings import find_settings

SCHEMAS = "schemas"
_KIND_OF = {"scenarios": "scenario", "personas": "persona", "rubrics": "rubric"}
_TOML_KIND_OF = {"style_rules.toml": "style_rules", "evalrun.toml": "settings"}
_IGNORE = "# what evalrun writes: history, logs\n.evalrun/\n__pycache__/\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What became of one file: written, kept as it was, or replaced (the old one is beside it under `backup`)."""

    path: str
    how: Literal["written", "kept", "replaced"]
    backup: str = ""


def init(folder: Path, *, force: bool = False) -> tuple[Written, ...]:
    """Write a project that validates and runs; files that exist are kept, or with `force` moved aside.

    Everything is checked before the first file is written, and a failure takes back what was
    written. Raises UsageError.
    """
    wanted = dict(_project())
    if _has_settings(folder):
        # two files of settings would contradict each other
        wanted.pop("evalrun.toml", None)
    return write_all(folder, wanted, force=force)


def modeline(path: str) -> str:
    """The first line that tells editors the schema of a file of the project, "" for other files."""
    where = PurePosixPath(path)
    up = "../" * (len(where.parts) - 1)
    if where.suffix == ".toml":
        kind = _TOML_KIND_OF.get(path)
        return f"#:schema {up}{SCHEMAS}/{kind}.json\n" if kind else ""
    kind = _KIND_OF.get(where.parts[0])
    return f"# yaml-language-server: $schema={up}{SCHEMAS}/{kind}.json\n" if kind else ""


def write_all(folder: Path, wanted: Mapping[str, str], *, force: bool = False) -> tuple[Written, ...]:
    """Write texts by relative path, all or none. Raises UsageError when one cannot be written."""
    done: list[Written] = []
    try:
        plans = [_plan(folder, path, force=force) for path in wanted]
        for plan in plans:
            if plan.how == "kept":
                continue
            done.append(plan)
            _write(folder, plan, wanted[plan.path])
    except OSError as e:
        for plan in reversed(done):
            _take_back(folder, plan)
        raise UsageError(
            f"{e.filename or done[-1].path} cannot be written: {e.strerror}; nothing was changed",
            remedy="free space, or correct the permissions of the folder",
        ) from e
    return tuple(plans)


def _project() -> Iterator[tuple[str, str]]:
    """The files of a new project by relative path."""
    root = files("evalrun") / "scaffold" / "project"
    for path, file in sorted(_walk(root, PurePosixPath())):
        yield path, modeline(path) + file.read_text("utf-8")
    yield ".gitignore", _IGNORE
    for kind in KINDS:
        yield f"{SCHEMAS}/{kind}.json", schema_text(kind)


def _walk(folder: Traversable, at: PurePosixPath) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _walk(entry, at / entry.name)
        elif not entry.name.endswith(".pyc"):
            yield str(at / entry.name), entry


def _has_settings(folder: Path) -> bool:
    """Whether the pyproject.toml of this very folder has the settings."""
    found = find_settings(folder.absolute())
    return found is not None and found == folder.absolute() / "pyproject.toml"


def _plan(folder: Path, path: str, *, force: bool) -> Written:
    """What will become of a file. Raises UsageError when it cannot be written there."""
    place = folder / path
    for parent in reversed(place.parents):
        if parent.exists() and not parent.is_dir():
            raise UsageError(f"{parent} is a file, expected a folder; nothing was changed", remedy="move it away")
    if place.is_dir():
        raise UsageError(f"{path} is a folder, expected a file; nothing was changed", remedy="move it away")
    if os.path.lexists(place) and not force:
        return Written(path=path, how="kept")
    nearest = next(p for p in place.parents if p.exists())
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UsageError(
            f"{nearest} cannot be written; nothing was changed", remedy="correct its permissions, or choose another"
        )
    if not os.path.lexists(place):
        return Written(path=path, how="written")
    return Written(path=path, how="replaced", backup=_backup(folder, path))


def _backup(folder: Path, path: str) -> str:
    names = (f"{path}.bak{n or ''}" for n in range(1000))
    return next(name for name in names if not os.path.lexists(folder / name))


def _write(folder: Path, plan: Written, text: str) -> None:
    place = folder / plan.path
    place.parent.mkdir(parents=True, exist_ok=True)
    if plan.backup:
        place.rename(folder / plan.backup)
    with place.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _take_back(folder: Path, plan: Written) -> None:
    """Undo one file and the folders it needed."""
    place = folder / plan.path
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        place.unlink()
    if plan.backup and (folder / plan.backup).exists():
        (folder / plan.backup).rename(place)
    for parent in place.parents:
        if parent == folder:
            break
        with contextlib.suppress(OSError):
            parent.rmdir()  # only when it is empty


def summary(written: Sequence[Written]) -> tuple[str, ...]:
    """One line for each file, those that were kept last."""
    order = sorted(written, key=lambda w: w.how == "kept")
    return tuple(f"{w.how:8} {w.path}{f' (the old one is {w.backup})' if w.backup else ''}" for w in order)
