"""Migrations, tools, arrangement and snapshot."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import inspect

from evalrun.sample_orchestrator.errors import FixtureRefused, ToolRefused, UnknownUser
from evalrun.sample_orchestrator.fixtures import snapshot
from evalrun.sample_orchestrator.migrations import MIGRATIONS, migrate
from evalrun.sample_orchestrator.records import find_user
from evalrun.sample_orchestrator.tables import metadata
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.tools import TOOLS, Toolbox
from tests.sample_orchestrator.stage_door import LEA, NOON, play


def test_migrations_can_be_repeated(fresh_database):
    """Migrating again, even twice at the same time, changes nothing and says the same version."""

    async def scene(door):
        await door.say("salut")
        versions = await asyncio.gather(migrate(door.ori.engine), migrate(door.ori.engine))
        assert [MIGRATIONS[-1].version] * 2 == versions
        assert 1 == (await door.user())["inbounds"]

    play(fresh_database, scene)


def test_tables_and_migrations_agree(fresh_database):
    """The migrated database has exactly the columns that the tables declare, nullable or not alike."""

    async def scene(door):
        async with door.ori.engine.connect() as connection:
            found = await connection.run_sync(_columns)
        declared = {
            t.name: {
                c.name: (str(c.type.compile(dialect=door.ori.engine.dialect)), bool(c.nullable)) for c in t.columns
            }
            for t in metadata.sorted_tables
        }
        assert declared == found

    play(fresh_database, scene)


def _columns(connection):
    inspector = inspect(connection)
    return {
        table: {
            c["name"]: (c["type"].compile(dialect=connection.dialect), c["nullable"])
            for c in inspector.get_columns(table)
        }
        for table in inspector.get_table_names()
        if table != "ori_schema"
    }


def test_every_time_has_a_zone(fresh_database):
    """No column holds a time without its zone."""

    async def scene(door):
        query = "select count(*) from information_schema.columns where data_type = 'timestamp without time zone'"
        assert [(0,)] == await door.rows(query)

    play(fresh_database, scene)


def test_arranged_state_is_seen(fresh_database):
    """What was arranged, written as text or as values, is what the snapshot shows."""

    async def scene(door):
        seen = NOON - timedelta(days=3)
        given = {"stage": "profiling", "first_name": "Léa", "city": None, "age": "34", "paused": "false"}
        await door.given(**given, last_seen=seen.isoformat())
        user = await door.user()
        expected = {
            "stage": "profiling",
            "first_name": "Léa",
            "city": None,
            "age": 34,
            "paused": False,
            "last_seen": seen.isoformat(),
        }
        assert expected == {k: user[k] for k in expected}
        state = await door.state()
        assert (0, {}, {}, {}) == (state["outbox"], state["messages"], state["jobs"], state["last_reply"])

    play(fresh_database, scene)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"staeg": "profiling"}, "staeg"),
        ({"stage": "dreaming"}, "stage cannot be 'dreaming'"),
        ({"age": "old"}, "age cannot be 'old'"),
        ({"paused": "maybe"}, "paused cannot be"),
        ({"last_seen": "2026-03-02T09:00:00"}, "last_seen cannot be"),
        ({"stage": "profiling"}, "nobody like this"),
    ],
)
def test_what_cannot_be_arranged(fresh_database, fields, message):
    """An unknown field, a bad value and an impossible situation are refused by name, and nothing is stored."""

    async def scene(door):
        with pytest.raises(FixtureRefused, match=message):
            await door.given(**fields)
        with pytest.raises(UnknownUser):
            await snapshot(door.ori.engine, LEA)

    play(fresh_database, scene)


@pytest.mark.parametrize(
    "use",
    [
        ToolUse(name="save_profile", arguments={"city": "[CITY]"}),
        ToolUse(name="save_profile", arguments={"city": "undefined"}),
        ToolUse(name="save_profile", arguments={"shoe_size": 42}),
        ToolUse(name="save_profile", arguments={}),
        ToolUse(name="launch_rocket", arguments={}),
    ],
)
def test_tools_refuse(fresh_database, use):
    """A tool refuses placeholders and fields it does not know; the refusal is shown to the hook and raised."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        async with door.ori.engine.begin() as connection:
            user = await find_user(connection, LEA)
            with pytest.raises(ToolRefused):
                await Toolbox(connection=connection, user=user, at=NOON, on_tool=lambda *c: door.tools.append(c)).run(
                    use
                )
        assert [(use.name, None, True)] == [(n, result, bool(error)) for n, _, result, error in door.tools]
        assert None is (await door.user())["city"]

    play(fresh_database, scene)


def test_tools_are_declared():
    """The names of the tools are known without a conversation."""
    assert {"save_profile", "pause_account", "resume_account", "raise_wellbeing_signal"} <= set(TOOLS)
