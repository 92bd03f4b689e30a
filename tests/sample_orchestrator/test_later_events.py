"""What Ori says unasked after the profile: reminder, check-in, reactivation; and the expiry of the profile."""

from datetime import UTC, datetime, timedelta

import pytest

from evalrun.sample_orchestrator.events.event import EventOutcome
from tests.sample_orchestrator.stage_door import DONE, LEA, MEMBER, NOAH, NOAH_MEMBER, NOON, play

SENT, DUPLICATE, NOT_RELEVANT = EventOutcome.SENT, EventOutcome.DUPLICATE, EventOutcome.NOT_RELEVANT


def meeting(at, **fields):
    """Léa, with a meeting with Noah."""
    return {**MEMBER, "stage": "meeting", "meeting": {"with": NOAH, "at": at, **fields}}


def sent_to(door, address):
    """The bubbles one address got."""
    return [t for to, t in door.sender.sent if to == address]


def test_meeting_reminder(fresh_database):
    """A day before, both are reminded once, each with the other's name and the hour on their own wall."""

    async def scene(door):
        noah = {**NOAH_MEMBER, "stage": "meeting", "time_zone": "Europe/London", "language": "en"}
        at = datetime(2026, 3, 4, 18, 30, tzinfo=UTC)
        await door.given_both(meeting(at), noah)
        assert {} == await door.ori.run_due_jobs()
        door.later(days=1, hours=8)
        assert {SENT: 2} == await door.ori.run_due_jobs()
        assert "noah" in sent_to(door, LEA)[0]
        assert "mercredi 4 mars à 19 h 30" in sent_to(door, LEA)[0]
        assert "léa" in sent_to(door, NOAH)[0]
        assert "wednesday 4 march at 18:30" in sent_to(door, NOAH)[0]
        assert {} == await door.ori.run_due_jobs()

    play(fresh_database, scene)


@pytest.mark.parametrize("status", ["proposed", "cancelled"])
def test_no_reminder_of_what_is_not_confirmed(fresh_database, status):
    """A meeting that is only proposed, or called off, is not reminded of."""

    async def scene(door):
        await door.given_both(meeting(NOON + timedelta(hours=5), status=status), NOAH_MEMBER)
        assert ({}, NOT_RELEVANT) == (await door.ori.run_due_jobs(), await door.event("meeting_reminder"))
        assert [] == door.texts()

    play(fresh_database, scene)


def test_reminder_of_a_meeting_past(fresh_database):
    """A reminder that comes after the meeting began is not sent."""

    async def scene(door):
        await door.given_both(meeting(NOON - timedelta(minutes=1)), NOAH_MEMBER)
        assert NOT_RELEVANT == await door.event("meeting_reminder")

    play(fresh_database, scene)


def test_check_in(fresh_database):
    """The morning after the meeting both are asked how it was, once, and are in the feedback."""

    async def scene(door):
        await door.given_both(meeting(NOON + timedelta(hours=7)), {**NOAH_MEMBER, "stage": "meeting"})
        await door.event("meeting_reminder")
        await door.event("meeting_reminder", NOAH)
        door.later(hours=18)
        assert {} == await door.ori.run_due_jobs()
        door.later(hours=4)
        assert {SENT: 2} == await door.ori.run_due_jobs()
        lea = await door.user()
        assert ("feedback", "impression", "held") == (lea["stage"], lea["asked"], lea["meeting"]["status"])
        assert "noah" in sent_to(door, LEA)[-1]
        assert {} == await door.ori.run_due_jobs()
        assert DUPLICATE == await door.event("check_in")

    play(fresh_database, scene)


def test_no_check_in_before_the_meeting(fresh_database):
    """Nobody is asked about a meeting that has not been held, nor by somebody who has told."""

    async def scene(door):
        await door.given_both(meeting(NOON + timedelta(hours=1)), NOAH_MEMBER)
        assert NOT_RELEVANT == await door.event("check_in")

    play(fresh_database, scene)


def test_who_told_is_not_asked(fresh_database):
    """Who spoke of the meeting on their own is not asked about it."""

    async def scene(door):
        await door.given_both(meeting(NOON - timedelta(hours=6)), {**NOAH_MEMBER, "paused": True})
        await door.say("c'était super avec noah")
        assert ["save_feedback"] == [name for name, _ in door.called()]
        door.later(days=1)
        assert {} == await door.ori.run_due_jobs()

    play(fresh_database, scene)


def test_reactivation(fresh_database):
    """Two weeks of silence past the profile bring one sign; another silence may bring another."""

    async def scene(door):
        await door.given(stage="pricing", agreed=True, plan="later", last_seen=NOON, **DONE)
        door.later(days=13)
        assert {} == await door.ori.run_due_jobs()
        door.later(days=1)
        assert {SENT: 1} == await door.ori.run_due_jobs()
        assert not [t for t in door.texts() if "€" in t or "?" in t]
        door.later(days=30)
        assert {} == await door.ori.run_due_jobs()
        await door.say("coucou")
        door.later(days=15)
        assert {SENT: 1} == await door.ori.run_due_jobs()

    play(fresh_database, scene)


def test_reactivation_asks_what_is_open(fresh_database):
    """The sign takes up the question of the stage, in other words, and counts no try."""

    async def scene(door):
        await door.given(stage="manifesto", last_seen=NOON - timedelta(days=20), **DONE)
        assert SENT == await door.event("reactivation")
        user = await door.user()
        assert (1, "agreed", 1) == (door.texts()[-1].count("?"), user["asked"], user["attempts"])

    play(fresh_database, scene)


@pytest.mark.parametrize("event", ["match_notification", "meeting_reminder", "check_in", "reactivation"])
def test_not_in_the_middle_of_the_profile(fresh_database, event):
    """Nothing of what comes after the profile is said before it is done."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", last_seen=NOON - timedelta(days=20))
        assert NOT_RELEVANT == await door.event(event)
        assert ([], []) == (door.texts(), door.model.asked)

    play(fresh_database, scene)


def test_expiry(fresh_database):
    """A month of silence puts the profile aside by its tool, with one last word; then there is silence."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", last_seen=NOON)
        door.later(days=31)
        assert {SENT: 1} == await door.ori.run_due_jobs()
        assert [("expire_profile", {})] == door.called()
        assert (1, 0) == (len(door.texts()), door.texts()[0].count("?"))
        user = await door.user()
        assert (True, None) == (user["expired"], user["asked"])
        door.later(days=40)
        assert ({}, NOT_RELEVANT) == (await door.ori.run_due_jobs(), await door.event())

    play(fresh_database, scene)


def test_back_after_expiry(fresh_database):
    """Who comes back goes on where they stopped, nothing lost."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", city="Lyon", expired=True, last_seen=NOON)
        await door.say("coucou")
        user = await door.user()
        assert (False, "age", "Lyon") == (user["expired"], user["asked"], user["city"])

    play(fresh_database, scene)


def test_one_unasked_message_at_a_time(fresh_database):
    """When several things are due to one user at once, one of them is said."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", last_seen=NOON - timedelta(days=45))
        assert {SENT: 1} == await door.ori.run_due_jobs()
        assert "expire_profile" in dict(door.called())
        assert {} == await door.ori.run_due_jobs()

    play(fresh_database, scene)


@pytest.mark.parametrize("event", ["meeting_reminder", "check_in", "reactivation", "profiling_expiry"])
@pytest.mark.parametrize("obstacle", ["pause", "night"])
def test_pause_and_night(fresh_database, event, obstacle):
    """Every unasked message respects the pause and waits for the end of the night."""

    async def scene(door):
        door.time = datetime(2026, 3, 2, 23, 30, tzinfo=UTC) if obstacle == "night" else NOON
        at = door.time + timedelta(days=1 if event == "meeting_reminder" else -1)
        pause = {"paused": obstacle == "pause"}
        if event == "profiling_expiry":
            await door.given(stage="profiling", first_name="Léa", last_seen=door.time, **pause)
        elif event == "reactivation":
            await door.given(stage="manifesto", last_seen=door.time, **DONE, **pause)
        else:
            await door.given_both(meeting(at) | pause, {**NOAH_MEMBER, "stage": "meeting"})
        expected = EventOutcome.DEFERRED if obstacle == "night" else EventOutcome.PAUSED
        assert expected == await door.event(event)
        assert ([], []) == (door.texts(), door.tools)
        door.later(hours=12)
        await door.ori.run_due_jobs()
        assert (obstacle == "night") is bool(sent_to(door, LEA))

    play(fresh_database, scene)
