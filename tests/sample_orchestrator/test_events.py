"""What Ori says unasked: the profile reminder, its hours, its limits, and the jobs that time makes due."""

from datetime import UTC, datetime, timedelta

import pytest

from evalrun.sample_orchestrator.clock import QuietHours, quiet_until
from evalrun.sample_orchestrator.errors import UnknownEvent, UnknownUser
from evalrun.sample_orchestrator.events.event import EventOutcome
from evalrun.sample_orchestrator.heard import Inbound
from tests.sample_orchestrator.stage_door import LEA, NOON, play

MIDNIGHT = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)


def test_reminder(fresh_database):
    """The reminder is composed with no message of the user: it greets by name and asks the missing field."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", last_seen=NOON - timedelta(days=3))
        assert EventOutcome.SENT == await door.event()
        lead, ask = door.texts()
        assert (True, True, "tu vis dans quelle ville ?") == ("léa" in lead, "profil" in lead, ask)
        assert [(LEA, lead), (LEA, ask)] == door.sender.sent
        await door.say("lyon")
        assert "Lyon" == (await door.user())["city"]

    play(fresh_database, scene)


def test_reminder_asks_what_is_open(fresh_database):
    """After a whole conversation the reminder asks again what was left open, in other words."""

    async def scene(door):
        await door.say("salut", "léa")
        asked = door.texts()[-1]
        door.later(days=2)
        assert EventOutcome.SENT == await door.event()
        assert asked != door.texts()[-1]
        assert "city" == (await door.user())["asked"]

    play(fresh_database, scene)


def test_reminder_once(fresh_database):
    """A silence has one reminder, however often the event comes; a new silence may have another."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        outcomes = [await door.event(), await door.event()]
        assert [EventOutcome.SENT, EventOutcome.DUPLICATE] == outcomes
        assert 2 == len(door.texts())
        await door.say("hum, attends")
        assert EventOutcome.SENT == await door.event()

    play(fresh_database, scene)


def test_reminder_and_pause(fresh_database):
    """Nothing is said to a paused user, and no model is paid for it."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", paused=True, last_seen=NOON - timedelta(days=3))
        assert EventOutcome.PAUSED == await door.event()
        assert {} == await door.ori.run_due_jobs()
        assert ([], []) == (door.texts(), door.model.asked)

    play(fresh_database, scene)


def test_reminder_and_a_finished_profile(fresh_database):
    """Somebody whose profile is finished is not reminded of it."""

    async def scene(door):
        await door.given(stage="manifesto", first_name="Léa", city="Lyon", age=34, looking_for="open")
        assert EventOutcome.NOT_RELEVANT == await door.event()
        assert [] == door.texts()

    play(fresh_database, scene)


def test_reminder_at_night(fresh_database):
    """At night the reminder waits, once, until the user's morning; then it is composed and sent, once."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", last_seen=NOON)
        door.time = MIDNIGHT
        assert [EventOutcome.DEFERRED, EventOutcome.DUPLICATE] == [await door.event(), await door.event()]
        door.later(hours=1)
        assert ({}, []) == (await door.ori.run_due_jobs(), door.texts())
        door.later(hours=8)
        assert {EventOutcome.SENT: 1} == await door.ori.run_due_jobs()
        assert {} == await door.ori.run_due_jobs()
        assert 2 == len(door.texts())
        assert {"done": 1} == (await door.state())["jobs"]

    play(fresh_database, scene)


def test_a_job_that_comes_too_late(fresh_database):
    """A job that was missed and would run in the next night waits for the morning after it."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", last_seen=NOON)
        door.time = MIDNIGHT
        await door.event()
        door.later(hours=24)
        assert {EventOutcome.DEFERRED: 1} == await door.ori.run_due_jobs()
        assert [] == door.texts()

    play(fresh_database, scene)


def test_a_pause_during_the_night(fresh_database):
    """A reminder that waits is dropped when the user pauses meanwhile."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", last_seen=NOON)
        door.time = MIDNIGHT
        await door.event()
        await door.say("pause")
        before = len(door.texts())
        door.later(hours=10)
        assert {EventOutcome.PAUSED: 1} == await door.ori.run_due_jobs()
        assert before == len(door.texts())
        assert {"dropped": 1} == (await door.state())["jobs"]

    play(fresh_database, scene)


def test_the_hours_are_the_users(fresh_database):
    """Night is where the user lives: the same instant is day in Paris and night in Montréal."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", time_zone="America/Montreal")
        assert EventOutcome.DEFERRED == await door.event()

    play(fresh_database, scene)


def test_silence_makes_it_due(fresh_database):
    """Time alone makes the reminder due, a day after the last message and not before."""

    async def scene(door):
        await door.say("salut", "léa")
        before = len(door.texts())
        door.later(hours=23, minutes=59)
        assert {} == await door.ori.run_due_jobs()
        door.later(minutes=1)
        assert {EventOutcome.SENT: 1} == await door.ori.run_due_jobs()
        door.later(days=5)
        assert {} == await door.ori.run_due_jobs()
        assert before + 2 == len(door.texts())

    play(fresh_database, scene)


def test_time_moved_in_the_database(fresh_database):
    """It is the same when the clock stands still and every time in the database moves back."""

    async def scene(door):
        await door.say("salut", "léa")
        async with door.ori.engine.begin() as connection:
            for column in ("users.last_seen", "inbound.received_at", "outbox.created_at", "outbox.sent_at"):
                table, name = column.split(".")
                await connection.exec_driver_sql(f"update {table} set {name} = {name} - interval '3 days'")
        assert {EventOutcome.SENT: 1} == await door.ori.run_due_jobs()
        assert {} == await door.ori.run_due_jobs()

    play(fresh_database, scene)


def test_unknown_names(fresh_database):
    """An event for a stranger and an event nobody declared are named errors, and nothing is said."""

    async def scene(door):
        with pytest.raises(UnknownUser):
            await door.event()
        with pytest.raises(UnknownEvent, match="profile_reminder"):
            await door.event("profile_remainder")
        assert [] == door.texts()

    play(fresh_database, scene)


def test_one_failure_does_not_stop_the_others(fresh_database):
    """When the model fails for one user the others are still reminded, and the failure is raised."""

    async def scene(door):
        for address in ("+33600000001", "+33600000002"):
            await door.ori.handle(_hello(address))
        door.later(days=2)
        with pytest.raises(ConnectionError):
            await door.ori.run_due_jobs()
        assert {"+33600000002"} == {to for to, _ in door.sender.sent[4:]}
        assert {EventOutcome.SENT: 1} == await door.ori.run_due_jobs()

    play(fresh_database, scene, "", "", ConnectionError("down"))


def _hello(address):
    return Inbound(id="1", sender=address, text="salut")


@pytest.mark.parametrize(
    ("utc", "until"),
    [
        ("2026-03-02T19:59:00", None),
        ("2026-03-02T20:00:00", "2026-03-03T08:00:00"),
        ("2026-03-03T07:59:00", "2026-03-03T08:00:00"),
        ("2026-03-03T08:00:00", None),
        ("2026-07-02T19:00:00", "2026-07-03T07:00:00"),
        ("2026-03-28T22:00:00", "2026-03-29T07:00:00"),
        ("2026-10-24T22:00:00", "2026-10-25T08:00:00"),
    ],
)
def test_quiet_hours(utc, until):
    """The quiet hours are 21:00 to 9:00 on the wall in Paris, in summer, in winter, and over the change."""
    expected = datetime.fromisoformat(f"{until}+00:00") if until else None
    assert expected == quiet_until(datetime.fromisoformat(f"{utc}+00:00"), "Europe/Paris", QuietHours())
