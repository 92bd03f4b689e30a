"""A private Postgres of our own: a child process that ends with us, its data in a temporary folder.

As root it runs as an unprivileged user. What a killed run left behind is swept at the next start.
It listens on loopback for targets, so it asks for a password that only this run knows: with
`trust` anybody on the machine could run programs through it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from contextlib import suppress
from pathlib import Path

from evalrun.databases import binaries, cluster_folders
from evalrun.databases.children import User, ending_with_parent, free_port, telling_line, unprivileged
from evalrun.databases.clones import ADMIN_DATABASE, Clones
from evalrun.databases.cluster_folders import ClusterFolder
from evalrun.databases.database import Address, Connection
from evalrun.errors import DatabaseFailed
from evalrun.interfaces.databases import Database, DatabaseSetup, Migrate

START_SECONDS = 30.0
STOP_SECONDS = 1.5
PORTS_TRIED = 3
POLL_SECONDS = 0.01
ROLE = "postgres"
SHORT_HASHES_SINCE = 16
INITDB = ("--no-sync", "-A", "password", "-U", ROLE, "-E", "UTF8", "--no-locale", "--no-instructions")
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
_PORT_TAKEN = b"could not create any TCP/IP sockets"


class Embedded:
    """A private cluster (see `interfaces.databases.DatabaseServer`)."""

    def __init__(self, setup: DatabaseSetup) -> None:
        self._setup = setup
        self._bin = binaries.find(setup.environ)
        self._folder: ClusterFolder | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._clones: Clones | None = None
        self._user: User | None = None

    async def start(self) -> None:
        """Make a cluster and start it. Raises DatabaseFailed."""
        base = cluster_folders.base()
        try:
            await asyncio.to_thread(cluster_folders.sweep, base)
            self._user = unprivileged() if os.getuid() == 0 else None
            folder = self._folder = ClusterFolder(base)
            programs = self._bin
            if self._user is not None:
                if not binaries.reachable_by_others(programs):
                    programs = await asyncio.to_thread(folder.copy_of, programs)
                folder.give_to(self._user)
            password = secrets.token_urlsafe(18)
            await self._initdb(programs, folder, password)
            port = await self._listen(programs, folder)
        except OSError as e:
            raise DatabaseFailed(
                f"the embedded Postgres could not be started in {base}: {e}",
                remedy="make room or correct permissions there, or give the target a DSN",
            ) from e
        # no TLS on loopback: drivers would otherwise ask for it first at every connection
        options = (("sslmode", "disable"),)
        address = Address(host="127.0.0.1", port=port, user=ROLE, password=password, options=options)
        await _cheapen(address)
        self._clones = Clones(address, self._setup.run)
        await self._clones.open()

    async def sweep(self) -> int:
        """Remove the clusters of dead runs; returns how many."""
        return await asyncio.to_thread(cluster_folders.sweep, cluster_folders.base())

    async def prepare(self, migrate: Migrate | None, ahead: int) -> None:
        """Make the template and begin to clone."""
        await self._running().prepare(migrate, ahead)

    async def clone(self, label: str) -> Database:  # noqa: ARG002  names come from the run, not from scenarios
        """The next database."""
        return await self._running().clone()

    async def drop(self, database: Database) -> None:
        """Drop a trial's database, so that a long run does not fill the memory disk."""
        if self._clones is not None:
            self._clones.drop(database)

    async def close(self) -> None:
        """End the cluster and remove its folder; the databases go with it."""
        clones, self._clones = self._clones, None
        try:
            if clones is not None:
                await clones.close(dropping=False)
        finally:
            process, self._process = self._process, None
            if process is not None:
                await _end(process)
            folder, self._folder = self._folder, None
            if folder is not None:
                folder.remove()

    def _running(self) -> Clones:
        if self._clones is None:
            raise DatabaseFailed("the embedded Postgres is not running", remedy="run again")
        return self._clones

    def _environ(self) -> dict[str, str]:
        """Nothing that Postgres would read (PG* variables), and a locale it has."""
        return {"PATH": self._setup.environ.get("PATH", ""), "LC_ALL": "C"}

    async def _initdb(self, programs: Path, folder: ClusterFolder, password: str) -> None:
        user = self._user
        secret = folder.write("password", password, user)
        process = await asyncio.create_subprocess_exec(
            programs / "initdb",
            *("-D", folder.data, *INITDB, "--pwfile", secret),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=self._environ(),
            cwd="/",
            start_new_session=True,
            user=user.uid if user else None,
            group=user.gid if user else None,
            extra_groups=[] if user else None,
        )
        try:
            _, said = await process.communicate()
        except BaseException:
            await _end(process)
            raise
        secret.unlink()
        if process.returncode != 0:
            raise DatabaseFailed(f"initdb failed: {telling_line(said)}", remedy="make room, or give the target a DSN")

    async def _listen(self, programs: Path, folder: ClusterFolder) -> int:
        """Start the server on a free port; another one when somebody took it in between."""
        for _ in range(PORTS_TRIED):
            port = free_port()
            self._process = await self._spawn(programs, folder, port)
            if await self._ready(folder, self._process):
                return port
            said = folder.log.read_bytes()
            if _PORT_TAKEN not in said:
                break
        raise DatabaseFailed(
            f"the embedded Postgres did not start: {telling_line(said)}", remedy="give the target a DSN instead"
        )

    async def _spawn(self, programs: Path, folder: ClusterFolder, port: int) -> asyncio.subprocess.Process:
        user = self._user
        flags = [part for name, value in FLAGS.items() for part in ("-c", f"{name}={value}")]
        log = await asyncio.to_thread(folder.log.open, "wb")
        with log:
            return await asyncio.create_subprocess_exec(
                programs / "postgres",
                *("-D", str(folder.data), "-k", str(folder.path), "-p", str(port)),
                *("-c", "listen_addresses=127.0.0.1", *flags),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=ending_with_parent(),
                env=self._environ(),
                cwd="/",
                user=user.uid if user else None,
                group=user.gid if user else None,
                extra_groups=[] if user else None,
            )

    async def _ready(self, folder: ClusterFolder, process: asyncio.subprocess.Process) -> bool:
        """Wait until the server itself says so: another one may answer on the port."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + START_SECONDS
        while process.returncode is None and loop.time() < deadline:
            if folder.status() == "ready":
                return True
            await asyncio.sleep(POLL_SECONDS)
        return False


async def _cheapen(address: Address) -> None:
    """Store the password with one round of hashing: it is random, and each login would pay thousands."""
    async with Connection(address, ADMIN_DATABASE) as connection:
        if connection.get_server_version().major >= SHORT_HASHES_SINCE:
            await connection.execute(f"set scram_iterations = 1; alter role {ROLE} password '{address.password}'")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Stop a child and what it started, at once if it does not listen."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGQUIT)
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
