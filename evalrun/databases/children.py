"""How a child process is started: as whom, on which port, and that it does not outlive us."""

from __future__ import annotations

import ctypes
import pwd
import re
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from evalrun.errors import DatabaseFailed

PR_SET_PDEATHSIG = 1
_TROUBLE = re.compile(rb"\b(?:FATAL|PANIC|error):")


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Whom a child runs as."""

    uid: int
    gid: int


def unprivileged() -> User:
    """An existing user without rights, for Postgres refuses to run as root. Raises DatabaseFailed."""
    for name in ("nobody", "daemon"):
        with suppress(KeyError):
            found = pwd.getpwnam(name)
            return User(uid=found.pw_uid, gid=found.pw_gid)
    raise DatabaseFailed("running as root and there is no user nobody", remedy="run as another user, or give a DSN")


def ending_with_parent() -> Callable[[], None] | None:
    """What the child does before it becomes another program: ask the kernel to end it when we die.

    Linux only; elsewhere the sweep of the next start does it. The C library is loaded here, for
    the child may not load anything: another thread may have held the loader's lock.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl

    def ask() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)

    return ask


def free_port() -> int:
    """A port on loopback that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def telling_line(said: bytes) -> str:
    """The line of a program's output that says what went wrong, else its last."""
    lines = said.strip().splitlines()
    if not lines:
        return "it said nothing"
    line = next((one for one in lines if _TROUBLE.search(one)), lines[-1])
    return line.decode("utf-8", "replace").strip()
