"""A real server: clones from a template, what dead runs left, sessions of others. Cases B64 and B66."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import asynccontextmanager

import asyncpg
import pytest

from evalrun.databases import ownership
from evalrun.databases.admins import Admins
from evalrun.databases.clones import Clones
from evalrun.databases.server import Server, address_of
from evalrun.errors import DatabaseFailed
from evalrun.interfaces.databases import DatabaseSetup

CHILD = """
import asyncio, os, pathlib, sys
from evalrun.databases.server import Server
from evalrun.interfaces.databases import DatabaseSetup
async def main():
    server = Server(DatabaseSetup(location=sys.argv[1], run=sys.argv[2], environ=os.environ, tmp=pathlib.Path("/")))
    await server.start()
    await server.prepare(None, 3)
    await server.clone("a")
    print("ready", flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


def setup_of(dsn, tmp_path, run):
    """What a server is made from."""
    return DatabaseSetup(location=dsn, run=run, environ=os.environ, tmp=tmp_path)


@asynccontextmanager
async def started(dsn, tmp_path, run, migrate=None, ahead=0):
    """A server in use, closed at the end."""
    server = Server(setup_of(dsn, tmp_path, run))
    try:
        await server.start()
        await server.prepare(migrate, ahead)
        yield server
    finally:
        await server.close()


async def ask(dsn, query, *values):
    """Rows of a query."""
    connection = await asyncpg.connect(dsn)
    try:
        return [tuple(r.values()) for r in await connection.fetch(query, *values)]
    finally:
        await connection.close()


async def databases_of(dsn, run):
    """The names of a run's databases."""
    rows = await ask(
        dsn, "select datname from pg_database where starts_with(datname, $1)", f"evalrun_{ownership.key_of(run)}_"
    )
    return [name for (name,) in rows]


async def create_people(database):
    """A migration over a pool of its own that it closes."""
    async with asyncpg.create_pool(database.dsn, min_size=1, max_size=3) as pool:
        await pool.execute("create table people (name text); insert into people values ('Léa')")


def test_each_trial_has_what_was_migrated_and_nothing_of_others(cluster, tmp_path):
    """Eight clones at once are eight databases with the template's rows; a commit in one is not seen in another."""

    async def scene():
        async with started(cluster.dsn, tmp_path, "clones", create_people, ahead=5) as server:
            clones = await asyncio.gather(*(server.clone(f"t{n}") for n in range(8)))
            await ask(clones[0].dsn, "insert into people values ('Noah') returning name")
            rows = [await c.fetch("select name from people order by name") for c in clones]
            assert len({c.name for c in clones}) == 8
            assert [(("Léa",), ("Noah",)), *[(("Léa",),)] * 7] == rows
            assert await clones[0].fetch("select current_user::text") == (("postgres",),)

    asyncio.run(scene())


def test_nothing_is_left_after_close(cluster, tmp_path):
    """Closing drops all databases of the run, also those cloned ahead and never used; twice is harmless."""

    async def scene():
        async with started(cluster.dsn, tmp_path, "closing", ahead=6) as server:
            await server.drop(await server.clone("a"))
            assert await databases_of(cluster.dsn, "closing")
        await server.close()
        assert await databases_of(cluster.dsn, "closing") == []

    asyncio.run(scene())


def test_a_target_that_stays_connected_does_not_keep_its_database(cluster, tmp_path):
    """A trial's database is dropped although the target left a connection open: nothing can be written any more."""

    async def scene():
        async with started(cluster.dsn, tmp_path, "leaking") as server:
            database = await server.clone("a")
            left_open = await asyncpg.connect(database.dsn)
            await server.drop(database)
            for _ in range(200):
                if database.name not in await databases_of(cluster.dsn, "leaking"):
                    break
                await asyncio.sleep(0.02)
            with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
                await left_open.execute("create table late (x int)")

    asyncio.run(asyncio.wait_for(scene(), 20))


def test_b64_a_template_in_use_is_an_error_that_names_the_session(cluster):
    """A session that stays on the template ends in DatabaseFailed naming it; the session itself is not killed."""
    kept = []

    async def stays(database):
        kept.append(await asyncpg.connect(database.dsn, server_settings={"application_name": "somebody's psql"}))

    async def scene():
        address, _ = address_of(cluster.dsn)
        clones = Clones(address, "in-use", patience=0.2)
        try:
            await clones.open()
            with pytest.raises(DatabaseFailed, match=r"still in use: pid \d+ \(somebody's psql, role postgres"):
                await clones.prepare(stays, 1)
            assert await kept[0].fetchval("select 1") == 1
            await kept[0].close()
        finally:
            await clones.close(dropping=True)

    asyncio.run(scene())


def test_b64_a_session_that_leaves_soon_is_harmless(cluster, tmp_path):
    """A pool that is still closing when the migration returns only makes the first clone wait."""
    leaving = []

    async def slowly(database):
        connection = await asyncpg.connect(database.dsn)

        async def leave():
            await asyncio.sleep(0.3)
            await connection.close()

        leaving.append(asyncio.ensure_future(leave()))

    async def scene():
        async with started(cluster.dsn, tmp_path, "leaving", slowly, ahead=2) as server:
            assert await (await server.clone("a")).fetch("select '1'") == (("1",),)
            await leaving[0]

    asyncio.run(scene())


def test_b64_a_database_in_use_is_tried_again_then_named(cluster):
    """Statements on a database in use are tried again, and at last name who uses it."""

    async def scene():
        address, admin = address_of(cluster.dsn)
        admins = Admins(address, admin, "evalrun", waits=(0.01, 0.01))
        other = await asyncpg.connect(cluster.dsn, server_settings={"application_name": "dba"})
        with pytest.raises(DatabaseFailed, match=r"open database: .*pid \d+ \(dba"):
            await admins.execute('drop database "postgres"', about="postgres")
        await other.close()
        admins.end()

    asyncio.run(scene())


def test_sessions_the_server_has_cut_are_opened_again(cluster, tmp_path):
    """When the server cuts idle sessions, the next database is cloned all the same."""

    async def scene():
        async with started(cluster.dsn, tmp_path, "cut", ahead=1) as server:
            await server.clone("a")
            cut = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'evalrun'"
            await ask(cluster.dsn, f"{cut} and pid <> pg_backend_pid() and query like '%{ownership.key_of('cut')}%'")
            await asyncio.sleep(0.05)
            clones = await asyncio.gather(*(server.clone(f"{n}") for n in range(5)))
            assert len({c.name for c in clones}) == 5

    asyncio.run(scene())


def test_a_migration_that_raises_is_raised_as_itself(cluster, tmp_path):
    """What migrate() raises reaches the run as it is, and what was made is dropped."""

    async def broken(_database):
        raise KeyError("no such table")

    async def scene():
        with pytest.raises(KeyError, match="no such table"):
            async with started(cluster.dsn, tmp_path, "broken", broken):
                raise AssertionError("it was prepared")
        assert await databases_of(cluster.dsn, "broken") == []

    asyncio.run(scene())


def test_b66_what_a_killed_run_left_is_swept_by_the_next(cluster, tmp_path):
    """After kill -9 the next run works and drops what was left, but neither living runs nor what only looks like ours."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, cluster.dsn, "killed"], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline().strip() == "ready"

    async def while_it_lives():
        async with started(cluster.dsn, tmp_path, "second"):
            assert len(await databases_of(cluster.dsn, "killed")) >= 2

    async def after_its_death():
        await ask(cluster.dsn, 'create database "evalrun_history_prod"')
        await ask(cluster.dsn, f'create database "{ownership.name_of("a stranger", "x")}"')
        async with started(cluster.dsn, tmp_path, "second") as server:
            assert await databases_of(cluster.dsn, "killed") == []
            await server.clone("a")
        names = {n for (n,) in await ask(cluster.dsn, "select datname from pg_database")}
        assert {"evalrun_history_prod", ownership.name_of("a stranger", "x")} <= names
        for name in ("evalrun_history_prod", ownership.name_of("a stranger", "x")):
            await ask(cluster.dsn, f'drop database "{name}"')

    try:
        asyncio.run(while_it_lives())
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    asyncio.run(after_its_death())


def test_b66_a_leftover_somebody_looks_at_is_left_alone(cluster, tmp_path):
    """The sweep neither ends a foreign session nor waits for it; the leftover goes when the session has gone."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, cluster.dsn, "looked-at"], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline().strip() == "ready"
    child.kill()
    child.wait()
    child.stdout.close()

    async def scene():
        name = next(
            n for n in await databases_of(cluster.dsn, "looked-at") if n != ownership.name_of("looked-at", "template")
        )
        looking = await asyncpg.connect(cluster.dsn.replace("/postgres?", f"/{name}?"))
        server = Server(setup_of(cluster.dsn, tmp_path, "sweeper"))
        began = time.monotonic()
        await server.sweep()
        assert (time.monotonic() - began < 4, await looking.fetchval("select 1")) == (True, 1)
        assert name in await databases_of(cluster.dsn, "looked-at")
        await looking.close()
        assert await server.sweep() >= 1
        assert await databases_of(cluster.dsn, "looked-at") == []
        await server.close()

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("place", "session", "left"), [("here", False, 1), ("elsewhere", True, 1), ("elsewhere", False, 0)]
)
def test_b66_a_living_owner_is_known_by_its_process_or_its_session(cluster, tmp_path, place, session, left):
    """A run whose session was lost lives by its process here; one on another machine lives by its session."""

    async def scene():
        mark = ownership.mark() if place == "here" else '{"place": "another machine", "pid": 1, "started": "1"}'
        name = ownership.name_of("marked", "template")
        await ask(cluster.dsn, f'create database "{name}"')
        await ask(cluster.dsn, f"comment on database \"{name}\" is '{mark}'")
        settings = {"application_name": ownership.session_name("marked") if session else "psql"}
        owner = await asyncpg.connect(cluster.dsn, server_settings=settings)
        server = Server(setup_of(cluster.dsn, tmp_path, "sweeper"))
        await server.sweep()
        await server.close()
        await owner.close()
        assert len(await databases_of(cluster.dsn, "marked")) == left
        await ask(cluster.dsn, f'drop database if exists "{name}"')

    asyncio.run(scene())


def test_b66_two_runs_at_the_same_moment(cluster, tmp_path):
    """Two runs on one server start and clone side by side and keep apart."""

    async def one(run):
        async with started(cluster.dsn, tmp_path, run, create_people, ahead=3) as server:
            return [(await (await server.clone(f"{n}")).fetch("select count(*) from people"))[0][0] for n in range(4)]

    async def scene():
        assert await asyncio.gather(one("run-1"), one("run-2")) == [[1] * 4] * 2

    asyncio.run(scene())


def free_port():
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize("password", ["hunter2-secret", "wrong"])
def test_a_dead_dsn_is_one_line_without_the_password(cluster, tmp_path, password):
    """Nobody listening, and a refused login, are each one line with the cure, at once, without the password."""
    wrong = cluster.dsn.rpartition("@")[2]
    place = wrong if password == "wrong" else f"127.0.0.1:{free_port()}/x"
    began = time.monotonic()

    async def scene():
        server = Server(setup_of(f"postgresql://postgres:{password}@{place}", tmp_path, "dead"))
        try:
            await server.start()
        finally:
            await server.close()

    with pytest.raises(DatabaseFailed) as failed:
        asyncio.run(scene())
    said = f"{failed.value.message} {failed.value.remedy}"
    assert ("hunter2" in said, "\n" in said, "correct the DSN" in said) == (False, False, True)
    assert time.monotonic() - began < 5


def test_a_role_without_the_right_is_told(cluster, tmp_path):
    """A role that may not create databases is told what it needs."""

    async def scene():
        await ask(cluster.dsn, "create role weak login password 'weak'")
        dsn = f"postgresql://weak:weak@{cluster.dsn.rpartition('@')[2]}"
        try:
            async with started(dsn, tmp_path, "weak"):
                raise AssertionError("it was prepared")
        finally:
            await ask(cluster.dsn, "drop role weak")

    with pytest.raises(DatabaseFailed, match="permission denied to create database") as failed:
        asyncio.run(scene())
    assert "createdb" in failed.value.remedy
