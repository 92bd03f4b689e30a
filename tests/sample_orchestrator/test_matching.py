"""The search: who fits whom, what both are told, and what nobody is told."""

from datetime import UTC, datetime

import pytest

from evalrun.sample_orchestrator.events.event import EventOutcome
from evalrun.sample_orchestrator.records import find_user
from evalrun.sample_orchestrator.safety.blocks import block
from tests.sample_orchestrator.stage_door import LEA, MEMBER, NOAH, NOAH_MEMBER, play

WAITS = {"stage": "matching", **MEMBER}
NOAH_WAITS = {"stage": "matching", **NOAH_MEMBER}


def sent_to(door, address):
    """The bubbles one address got."""
    return [t for to, t in door.sender.sent if to == address]


def test_a_pair_is_found_and_both_are_told(fresh_database):
    """The job finds the pair by its tool and tells each of the other, once, with one question."""

    async def scene(door):
        await door.given_both(WAITS, NOAH_WAITS)
        assert {EventOutcome.SENT: 2} == await door.ori.run_due_jobs()
        arguments = {"for": "Léa", "city": "Lyon", "age": 34, "looking_for": "relationship"}
        assert [("find_match", arguments, "Noah")] == [(n, a, r["with"]) for n, a, r, _ in door.tools]
        lea, noah = sent_to(door, LEA), sent_to(door, NOAH)
        assert (True, True, 2, 2) == ("noah, 31 ans" in lea[0], "léa, 34 ans" in noah[0], len(lea), len(noah))
        assert ("wants_to_meet", True) == ((await door.user())["asked"], (await door.user())["match"]["told"])
        assert {} == await door.ori.run_due_jobs()
        assert 4 == len(door.texts())

    play(fresh_database, scene)


@pytest.mark.parametrize(
    "other",
    [
        {"city": "Lille"},
        {"age": 55},
        {"looking_for": "friendship"},
        {"paused": True},
        {"plan": None, "stage": "pricing"},
        {"stage": "profiling", "looking_for": None, "agreed": None, "plan": None},
        {"city": None, "skipped": ["city"]},
    ],
)
def test_who_does_not_fit(fresh_database, other):
    """Another town, another age, another hope, a pause, an unpaid or unfinished profile: nobody is told anything."""

    async def scene(door):
        await door.given_both(WAITS, {**NOAH_WAITS, **other})
        assert {} == await door.ori.run_due_jobs()
        assert ([], []) == (door.tools, door.texts())

    play(fresh_database, scene)


@pytest.mark.parametrize("other", [{"city": "lyon"}, {"age": 44}, {"looking_for": "open"}])
def test_who_fits(fresh_database, other):
    """The same town however written, ten years apart, and an open hope do fit."""

    async def scene(door):
        await door.given_both(WAITS, {**NOAH_WAITS, **other})
        assert {EventOutcome.SENT: 2} == await door.ori.run_due_jobs()

    play(fresh_database, scene)


def test_blocked_pairs(fresh_database):
    """Two between whom there is a block are never matched."""

    async def scene(door):
        await door.given_both(WAITS, NOAH_WAITS)
        async with door.ori.engine.begin() as connection:
            lea, noah = [await find_user(connection, a) for a in (LEA, NOAH)]
            await block(connection, (noah.id, lea.id), "test", door.time)
        assert {} == await door.ori.run_due_jobs()
        assert [(0,)] == await door.rows("select count(*) from matches")

    play(fresh_database, scene)


def test_never_twice(fresh_database):
    """Two whose match is over are not matched with each other again."""

    async def scene(door):
        await door.given_both({**WAITS, "match": {"with": NOAH, "told": True, "their_told": True}}, NOAH_WAITS)
        await door.say("non merci")
        assert {} == await door.ori.run_due_jobs()
        assert None is (await door.user())["match"]

    play(fresh_database, scene)


def test_found_at_night(fresh_database):
    """A pair found at night is told in the morning of each, once."""

    async def scene(door):
        await door.given_both(WAITS, {**NOAH_WAITS, "time_zone": "America/Montreal"})
        door.time = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
        assert {EventOutcome.SENT: 1, EventOutcome.DEFERRED: 1} == await door.ori.run_due_jobs()
        assert {NOAH} == {to for to, _ in door.sender.sent}
        door.later(hours=9)
        await door.ori.run_due_jobs()
        assert [2, 2] == [len(sent_to(door, a)) for a in (LEA, NOAH)]

    play(fresh_database, scene)


def test_a_pause_between_search_and_news(fresh_database):
    """Who pauses before the news is told after coming back, and once."""

    async def scene(door):
        await door.given_both(WAITS, NOAH_WAITS)
        door.time = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
        await door.ori.run_due_jobs()
        await door.say("mets en pause")
        door.later(hours=10)
        await door.ori.run_due_jobs()
        assert (1, 2) == (len(sent_to(door, LEA)), len(sent_to(door, NOAH)))
        await door.say("reprends")
        assert {EventOutcome.SENT: 1} == await door.ori.run_due_jobs()
        assert {} == await door.ori.run_due_jobs()

    play(fresh_database, scene)


def test_three_people(fresh_database):
    """Nobody is in two open matches, and the nearest in age is chosen."""

    async def scene(door):
        third = {**NOAH_WAITS, "first_name": "Tom", "age": 34}
        await door.arranged({LEA: WAITS, NOAH: NOAH_WAITS, "+33600000003": third})
        await door.ori.run_due_jobs()
        assert ["Tom", None] == [r.get("with") for _, _, r, _ in door.tools]
        assert [(1,)] == await door.rows("select count(*) from matches")
        assert [] == sent_to(door, NOAH)

    play(fresh_database, scene)


def test_the_model_invents_somebody(fresh_database):
    """A notification that names somebody else is not sent in the model's words."""

    async def scene(door):
        await door.given_both(WAITS, NOAH_WAITS)
        await door.ori.run_due_jobs()
        assert not [t for t in door.texts() if "mehdi" in t]
        assert True is ("noah" in sent_to(door, LEA)[0])

    play(fresh_database, scene, "j'ai trouvé mehdi, 31 ans, lyon.\ntu as envie de le rencontrer ?")
