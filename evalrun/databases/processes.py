"""Which process something belongs to, and whether it is still alive."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path


def started_at(pid: int) -> str:
    """When a process started, in the kernel's ticks, so that a number used again is not taken for it; "0" if unknown."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "0"


def alive(pid: int, started: str) -> bool:
    """Whether the process with this number and start is there, whoever owns it."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return started == "0" or started == started_at(pid)


def place() -> str:
    """The machine and the container in which process numbers mean what they mean here."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return "/".join(parts)
