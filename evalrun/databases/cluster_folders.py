"""The folder of an embedded cluster: where it is, whose it is, and the sweep of those whose owner is dead."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path

from evalrun.databases import binaries, processes
from evalrun.databases.children import User, unprivileged
from evalrun.errors import DatabaseFailed

NAME = "evalrun-pg-"
MEMORY_DISK = Path("/dev/shm")  # noqa: S108  a folder of our own is made inside it
NEEDED_BYTES = 2_000_000_000
LONGEST_BASE = 50
"""Bytes of a base path that leave room for our folder and the socket's name under the system's 104."""
_STATUS_LINE = 7


def base() -> Path:
    """Where clusters go: the memory disk when there is room, else the temporary folder. Paths stay short."""
    if os.access(MEMORY_DISK, os.W_OK) and shutil.disk_usage(MEMORY_DISK).free > NEEDED_BYTES:
        return MEMORY_DISK
    temporary = Path(tempfile.gettempdir())
    return temporary if len(os.fsencode(temporary)) <= LONGEST_BASE else Path("/tmp")  # noqa: S108  same


class ClusterFolder:
    """A folder of our own; a lock held on it shows that its owner lives, also across containers."""

    def __init__(self, base: Path) -> None:
        pid = os.getpid()
        self.path = Path(tempfile.mkdtemp(prefix=f"{NAME}{pid}-{processes.started_at(pid)}-", dir=base))
        self._copy: Path | None = None
        self._lock = (self.path / "owner").open("wb")
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.path / "data"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.path / "log"

    def copy_of(self, programs: Path) -> Path:
        """The programs where another user can run them; not on the memory disk, which may forbid running."""
        pid = os.getpid()
        folder = tempfile.mkdtemp(prefix=f"{NAME}{pid}-{processes.started_at(pid)}-", dir=tempfile.gettempdir())
        self._copy = Path(folder)
        self._copy.chmod(0o755)
        return binaries.copied(programs, self._copy)

    def give_to(self, user: User) -> None:
        """Let another user own the folder, and read the copied programs."""
        os.chown(self.path, user.uid, user.gid)
        if self._copy is not None:
            for at, folders, files in os.walk(self._copy):
                for name in (*folders, *files):
                    os.chown(Path(at) / name, user.uid, user.gid, follow_symlinks=False)

    def write(self, name: str, text: str, user: User | None) -> Path:
        """A file in the folder that only its owner can read."""
        path = self.path / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        if user is not None:
            os.chown(path, user.uid, user.gid)
        return path

    def status(self) -> str:
        """What the server writes about itself (`starting`, `ready`), "" while it has written nothing."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return ""
        return lines[_STATUS_LINE].strip() if len(lines) > _STATUS_LINE else ""

    def remove(self) -> None:
        """Remove the folder; idempotent."""
        for path in (self.path, self._copy):
            if path is not None:
                shutil.rmtree(path, ignore_errors=True)
        self._lock.close()


def sweep(base: Path) -> int:
    """Remove folders whose owner is dead, and end a cluster that outlived it; returns how many."""
    return sum(_swept(folder) for place in {base, Path(tempfile.gettempdir())} for folder in place.glob(f"{NAME}*"))


def _swept(folder: Path) -> bool:
    pid, _, rest = folder.name.removeprefix(NAME).partition("-")
    if not pid.isdigit() or processes.alive(int(pid), rest.partition("-")[0]):
        return False
    if folder.is_symlink() or not _may_remove(folder) or not _unlocked(folder):
        return False
    with suppress(OSError, ValueError, IndexError):
        postmaster = int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        if str(folder) in Path(f"/proc/{postmaster}/cmdline").read_text():
            os.kill(postmaster, signal.SIGQUIT)
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _may_remove(folder: Path) -> bool:
    """Whether the folder is ours, or of the user we run clusters as."""
    with suppress(OSError, DatabaseFailed):
        owner = folder.stat().st_uid
        return owner == os.getuid() or (os.getuid() == 0 and owner == unprivileged().uid)
    return False


def _unlocked(folder: Path) -> bool:
    """Whether nobody holds the folder's lock: in another container process numbers mean something else."""
    try:
        with (folder / "owner").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # its owner died before it took the lock
    return True
