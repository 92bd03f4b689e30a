"""Delivery: the outbox, duplicates, messages side by side, faults of the channel and of the database."""

import asyncio

import pytest
from sqlalchemy.exc import DBAPIError

from evalrun.sample_orchestrator.errors import BadSettings, SendFailed
from evalrun.sample_orchestrator.heard import Inbound
from evalrun.sample_orchestrator.orchestrator import Orchestrator, Seams
from tests.sample_orchestrator.stage_door import LEA, KeepingSender, ScriptedModel, play

NO = SendFailed("no", certain=True, status=400)
DOUBT = SendFailed("no answer", certain=False)


def test_all_goes_through_the_outbox(fresh_database):
    """What was sent is what the outbox holds, in order, with the channel's ids and a unique key each."""

    async def scene(door):
        await door.say("salut", "léa")
        rows = await door.rows("select text, status, channel_id, attempts from outbox order by id")
        assert [(t, "sent", f"wamid.{i}", 1) for i, t in enumerate(door.texts(), 1)] == rows
        keys = await door.rows("select count(distinct dedupe_key) from outbox")
        assert [(len(rows),)] == keys

    play(fresh_database, scene)


def test_duplicate_message(fresh_database):
    """A message delivered twice is answered once, the model asked once, and counted once."""

    async def scene(door):
        await door.say("salut", message_id="same")
        assert [] == await door.say("salut", message_id="same")
        assert (1, 1) == ((await door.user())["inbounds"], len(door.model.asked))

    play(fresh_database, scene)


def test_duplicate_message_at_the_same_time(fresh_database):
    """The same message delivered twice at the same moment is answered once."""

    async def scene(door):
        message = Inbound(id="same", sender=LEA, text="salut")
        await asyncio.gather(door.ori.handle(message), door.ori.handle(message))
        assert (1, 2) == (len(door.model.asked), len(door.texts()))

    play(fresh_database, scene)


def test_two_messages_in_flight(fresh_database):
    """Two messages of one user are answered one after the other, bubbles not mixed, none lost."""

    async def scene(door):
        door.sender.wait = 0.02
        await door.say("salut")
        await asyncio.gather(
            door.ori.handle(Inbound(id="a", sender=LEA, text="je m'appelle léa")),
            door.ori.handle(Inbound(id="b", sender=LEA, text="j'habite à lyon")),
        )
        user = await door.user()
        assert (3, "Léa", "Lyon", "age") == tuple(user[k] for k in ("inbounds", "first_name", "city", "asked"))
        stored = await door.rows("select text from outbox order by id")
        assert [(t,) for t in door.texts()] == stored

    play(fresh_database, scene)


def test_users_do_not_wait_for_each_other(fresh_database):
    """Two users are answered at the same time."""

    async def scene(door):
        door.sender.wait = 0.2
        start = asyncio.get_running_loop().time()
        await asyncio.gather(*(door.ori.handle(Inbound(id="1", sender=f"+3360000000{i}", text="salut")) for i in "12"))
        assert asyncio.get_running_loop().time() - start < 0.7
        assert 4 == len(door.texts())

    play(fresh_database, scene)


def test_a_refused_message_is_tried_again(fresh_database):
    """A message the channel surely refused is raised, kept, and sent in order by the jobs when its time comes."""

    async def scene(door):
        door.sender.faults = [NO]
        with pytest.raises(SendFailed):
            await door.say("salut")
        assert {"pending": 2} == (await door.state())["messages"]
        await door.ori.run_due_jobs()
        assert [] == door.texts()
        door.later(minutes=2)
        await door.ori.run_due_jobs()
        assert {"sent": 2} == (await door.state())["messages"]
        assert "ori" in door.texts()[0]

    play(fresh_database, scene)


def test_a_redelivery_sends_what_was_left(fresh_database):
    """When the channel delivers the message again, what could not be sent is sent, and not composed anew."""

    async def scene(door):
        door.sender.faults = [None, NO]
        with pytest.raises(SendFailed):
            await door.say("salut", message_id="same")
        await door.say("salut", message_id="same")
        assert (2, 1) == (len(door.texts()), len(door.model.asked))

    play(fresh_database, scene)


def test_a_message_in_doubt_is_never_sent_twice(fresh_database):
    """When nobody knows whether a message went out it stays visible as such and is not sent again."""

    async def scene(door):
        door.sender.faults = [DOUBT]
        with pytest.raises(SendFailed):
            await door.say("salut")
        door.later(hours=1)
        await door.ori.run_due_jobs()
        assert {"sending": 1, "sent": 1} == (await door.state())["messages"]
        assert 1 == len(door.texts())

    play(fresh_database, scene)


def test_a_message_is_given_up(fresh_database):
    """After the last try a message is failed, and no longer tried."""

    async def scene(door):
        door.sender.faults = [NO] * 10
        with pytest.raises(SendFailed):
            await door.say("salut")
        for _ in range(4):
            door.later(hours=1)
            with pytest.raises(SendFailed):
                await door.ori.run_due_jobs()
        assert {"failed": 1, "pending": 1} == (await door.state())["messages"]

    play(fresh_database, scene)


def test_an_unsent_reminder_is_not_sent_at_night(fresh_database):
    """A reminder the channel refused by day is not tried again at night."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        door.sender.faults = [NO]
        with pytest.raises(SendFailed):
            await door.event()
        door.later(hours=12)
        await door.ori.run_due_jobs()
        assert [] == door.texts()
        door.later(hours=11)
        await door.ori.run_due_jobs()
        assert 2 == len(door.texts())

    play(fresh_database, scene)


def test_an_unsent_reminder_is_dropped_when_the_user_speaks(fresh_database):
    """A reminder that never went out is not sent after the user has answered by themselves."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        door.sender.faults = [NO]
        with pytest.raises(SendFailed):
            await door.event()
        await door.say("lyon")
        assert {"dropped": 2, "sent": 2} == (await door.state())["messages"]

    play(fresh_database, scene)


def test_the_database_goes_away_in_a_turn(fresh_database):
    """When the database is lost in the middle of a turn the caller knows, nothing is sent, and the next try works."""

    async def scene(door):
        await door.say("salut")
        before = len(door.texts())
        inner = door.model.complete

        async def cut(messages, max_tokens):
            door.model.complete = inner
            await _cut_all(door)
            return ""

        door.model.complete = cut
        with pytest.raises((DBAPIError, OSError)):
            await door.say("léa", message_id="same")
        assert before == len(door.texts())
        assert 2 == len(await door.say("léa", message_id="same"))
        assert "Léa" == (await door.user())["first_name"]

    play(fresh_database, scene)


async def _cut_all(door):
    """End every other connection to this database, as a restart of the server would."""
    async with door.ori.engine.connect() as connection:
        await connection.exec_driver_sql(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )


def test_a_cancelled_turn_frees_the_user(fresh_database):
    """A turn that is cancelled leaves nothing behind and does not lock the user out."""

    async def scene(door):
        async def forever(messages, max_tokens):
            await asyncio.sleep(60)

        inner, door.model.complete = door.model.complete, forever
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(door.say("salut", message_id="same"), 0.3)
        door.model.complete = inner
        assert 2 == len(await asyncio.wait_for(door.say("salut", message_id="same"), 5))

    play(fresh_database, scene)


def test_only_one_driver():
    """A URL for another driver is refused when Ori is made, not when it first speaks."""
    with pytest.raises(BadSettings, match="asyncpg"):
        Orchestrator("postgresql://localhost/x", Seams(model=ScriptedModel(), sender=KeepingSender()))
