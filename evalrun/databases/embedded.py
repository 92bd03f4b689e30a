"""A private Postgres of our own: a child process that ends with us, its data in a temporary folder.

As root it runs as an unprivileged user. What a killed run left behind is swept at the next start.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import pwd
import shutil
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evalrun.databases import binaries
from evalrun.databases.clones import Clones
from evalrun.databases.database import Address
from evalrun.errors import DatabaseFailed
from evalrun.interfaces import Database, DatabaseSetup, Migrate

NAME = "evalrun-pg-"
START_SECONDS = 30.0
STOP_SECONDS = 1.5
NEEDED_BYTES = 2_000_000_000
PR_SET_PDEATHSIG = 1
FLAGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "max_connections": "400",
    "shared_buffers": "64MB",
    "dynamic_shared_memory_type": "mmap",  # inside the folder, so that nothing is left on the memory disk
}


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Whom the cluster runs as."""

    uid: int
    gid: int


class Embedded:
    """A private cluster (see `interfaces.DatabaseServer`)."""

    def __init__(self, setup: DatabaseSetup) -> None:
        self._setup = setup
        self._bin = binaries.find(setup.environ)
        self._folder: Path | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._clones: Clones | None = None

    async def start(self) -> None:
        """Make a cluster and start it. Raises DatabaseFailed."""
        base = _base()
        await asyncio.to_thread(sweep_folders, base)
        self._folder = Path(tempfile.mkdtemp(prefix=f"{NAME}{os.getpid()}-{started_at(os.getpid())}-", dir=base))
        user = _unprivileged() if os.getuid() == 0 else None
        programs = self._bin
        if user is not None:
            if not binaries.reachable_by_others(programs):
                programs = await asyncio.to_thread(binaries.copied, programs, self._folder / "programs")
            os.chown(self._folder, user.uid, user.gid)
        data = self._folder / "data"
        await self._initdb(programs, data, user)
        port = _free_port()
        self._process = await self._spawn(programs, data, port, user)
        self._clones = Clones(Address(host="127.0.0.1", port=port, user="postgres"), self._setup.run)
        await self._wait_ready(port)
        await self._clones.open()

    async def prepare(self, migrate: Migrate | None, ahead: int) -> None:
        """Make the template and begin to clone."""
        await self._running().prepare(migrate, ahead)

    async def clone(self, label: str) -> Database:  # noqa: ARG002  names come from the run, not from scenarios
        """The next database."""
        return await self._running().clone()

    async def drop(self, database: Database) -> None:
        """Drop a trial's database, so that a long run does not fill the memory disk."""
        self._running().drop(database)

    async def close(self) -> None:
        """End the cluster and remove its folder; the databases go with it."""
        clones, self._clones = self._clones, None
        if clones is not None:
            await clones.close(dropping=False)
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGQUIT)
            try:
                async with asyncio.timeout(STOP_SECONDS):
                    await process.wait()
            except TimeoutError:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _running(self) -> Clones:
        if self._clones is None:
            raise DatabaseFailed("the embedded Postgres is not running", remedy="run again")
        return self._clones

    async def _initdb(self, programs: Path, data: Path, user: User | None) -> None:
        process = await asyncio.create_subprocess_exec(
            programs / "initdb",
            *(
                "-D",
                data,
                "--no-sync",
                "-A",
                "trust",
                "-U",
                "postgres",
                "-E",
                "UTF8",
                "--no-locale",
                "--no-instructions",
            ),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=_environ(),
            cwd="/",
            user=user.uid if user else None,
            group=user.gid if user else None,
            extra_groups=[] if user else None,
        )
        _, said = await process.communicate()
        if process.returncode != 0:
            raise DatabaseFailed(f"initdb failed: {_last(said)}", remedy="is the disk full? try a DSN instead")

    async def _spawn(self, programs: Path, data: Path, port: int, user: User | None) -> asyncio.subprocess.Process:
        flags = [part for name, value in FLAGS.items() for part in ("-c", f"{name}={value}")]
        log = await asyncio.to_thread((data.parent / "log").open, "wb")
        with log:
            return await asyncio.create_subprocess_exec(
                programs / "postgres",
                *("-D", str(data), "-k", str(data.parent), "-p", str(port)),
                *("-c", "listen_addresses=127.0.0.1", *flags),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_end_with_parent,
                env=_environ(),
                cwd="/",
                user=user.uid if user else None,
                group=user.gid if user else None,
                extra_groups=[] if user else None,
            )

    async def _wait_ready(self, port: int) -> None:
        assert self._process is not None
        deadline = asyncio.get_running_loop().time() + START_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            if self._process.returncode is not None:
                break
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.02)
                continue
            writer.close()
            return
        assert self._folder is not None
        log = (self._folder / "log").read_bytes()
        raise DatabaseFailed(f"the embedded Postgres did not start: {_last(log)}", remedy="try a DSN instead")


def _base() -> Path:
    """Where the data goes: the memory disk when there is room, else the temporary folder. Paths stay short."""
    memory = Path("/dev/shm")  # noqa: S108  a folder of our own is made inside it
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > NEEDED_BYTES:
        return memory
    return Path(tempfile.gettempdir())


def _unprivileged() -> User:
    """An existing user without rights, for Postgres refuses to run as root."""
    for name in ("nobody", "daemon"):
        with suppress(KeyError):
            found = pwd.getpwnam(name)
            return User(uid=found.pw_uid, gid=found.pw_gid)
    raise DatabaseFailed("running as root and there is no user nobody", remedy="run as another user, or give a DSN")


def _environ() -> dict[str, str]:
    """Nothing of ours that Postgres would read (PG* variables), and a locale it has."""
    return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}


def _end_with_parent() -> None:
    """Ask the kernel to stop the cluster when this process dies; Linux only, elsewhere the sweep does it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _last(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def started_at(pid: int) -> str:
    """When a process started, in the kernel's ticks, so that a number used again is not taken for it; "0" if unknown."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "0"


def sweep_folders(base: Path) -> int:
    """Remove cluster folders whose owner is dead, and end a cluster that outlived it; returns how many."""
    swept = 0
    for folder in base.glob(f"{NAME}*"):
        pid, _, rest = folder.name.removeprefix(NAME).partition("-")
        if not pid.isdigit() or _alive(int(pid), rest.partition("-")[0]):
            continue
        with suppress(OSError, ValueError, IndexError):
            postmaster = int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])
            if str(folder) in Path(f"/proc/{postmaster}/cmdline").read_text():
                os.kill(postmaster, signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)
        swept += 1
    return swept


def _alive(pid: int, started: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return started in ("0", started_at(pid))
