"""The report: after a real meeting it blocks both ways, before it it is refused kindly; a block lets nothing pass."""

from datetime import timedelta

import pytest

from evalrun.sample_orchestrator.errors import FixtureRefused, ToolRefused
from evalrun.sample_orchestrator.events.event import EventOutcome
from evalrun.sample_orchestrator.records import find_user
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.tools import Toolbox
from tests.sample_orchestrator.stage_door import LEA, NOON, play
from tests.sample_orchestrator.two_people import KIM, MATCHED, NOAH, given_pair, meeting, say_as, state_of, to


@pytest.mark.parametrize(
    "between",
    [meeting(-30, "held"), meeting(-1), meeting(-100, "confirmed")],
    ids=["held", "begun an hour ago", "agreed and long past"],
)
def test_after_a_real_meeting(fresh_database, between):
    """Both are blocked at once, the team is alerted, the other one hears nothing of it."""

    async def scene(door):
        await given_pair(door, lea=between)
        sent = await say_as(door, LEA, "je veux signaler noah, il a été odieux")
        assert ("j'ai bloqué noah" in to(sent, LEA), "") == (True, to(sent, NOAH))
        expected = {"user": NOAH, "reason": "je veux signaler noah, il a été odieux"}
        assert [("report_user", expected)] == door.called()
        lea, noah = await state_of(door, LEA), await state_of(door, NOAH)
        assert ([NOAH], [LEA], {"report": 1}, {}) == (lea["blocked"], noah["blocked"], lea["alerts"], noah["alerts"])
        assert ("matching", "matching", None) == (lea["user"]["stage"], noah["user"]["stage"], lea["user"]["meeting"])

    play(fresh_database, scene)


@pytest.mark.parametrize(
    "between",
    [{"match": MATCHED}, meeting(30), meeting(-30, "proposed"), meeting(-30, "cancelled")],
    ids=["only matched", "agreed and ahead", "never agreed", "called off"],
)
def test_without_a_real_meeting(fresh_database, between):
    """Without a meeting the report is refused kindly, nothing is blocked, and Ori stays there to listen."""

    async def scene(door):
        await given_pair(door, lea=between)
        sent = await say_as(door, LEA, "signale noah")
        assert ("après une vraie rencontre" in to(sent, LEA), []) == (True, door.called())
        assert [[], {}] == [(await state_of(door, LEA))[n] for n in ("blocked", "alerts")]

    play(fresh_database, scene)


@pytest.mark.parametrize(
    "text", ["c'est quoi signaler ?", "je suis bloquée au travail", "je ne veux pas le signaler", "i'm stuck"]
)
def test_not_a_report(fresh_database, text):
    """Speaking of it is not doing it."""

    async def scene(door):
        await given_pair(door, lea=meeting(-30, "held"))
        await say_as(door, LEA, text)
        assert ([], []) == (door.called(), (await state_of(door, LEA))["blocked"])

    play(fresh_database, scene)


def test_whom(fresh_database):
    """With two people met Ori asks whom; the name alone is the answer, and only that one is blocked."""

    async def scene(door):
        await given_pair(door, lea=meeting(-30, "held"))
        async with door.ori.engine.begin() as connection:
            await connection.exec_driver_sql(
                "insert into users (address, first_name, stage, language, time_zone, attempts, skipped, paused, inbounds,"
                f" created_at, expired) values ('{KIM}', 'Kim', 'matching', 'fr', 'Europe/Paris', 0, '{{}}', false, 1, now(), false)"
            )
            await connection.exec_driver_sql(
                "insert into meetings (a_user_id, b_user_id, at, place, status, created_at)"
                f" select u.id, k.id, '2026-02-01', 'Lyon', 'held', '2026-02-01' from users u, users k"
                f" where u.address = '{LEA}' and k.address = '{KIM}'"
            )
        asked = to(await say_as(door, LEA, "je veux signaler quelqu'un"), LEA)
        assert (True, True, []) == ("noah" in asked, "kim" in asked, door.called())
        await say_as(door, LEA, "kim")
        assert [KIM] == (await state_of(door, LEA))["blocked"]
        assert "Noah" == (await state_of(door, LEA))["user"]["meeting"]["with"]

    play(fresh_database, scene)


def test_twice(fresh_database):
    """A second report of the same person changes nothing and says so."""

    async def scene(door):
        await given_pair(door, lea=meeting(-30, "held"))
        await say_as(door, LEA, "bloque noah")
        again = await say_as(door, LEA, "signale noah")
        assert ("déjà" in to(again, LEA), 1) == (True, len(door.called()))

    play(fresh_database, scene)


def test_in_english_and_in_a_pause(fresh_database):
    """A report is taken in either language, and during a pause, which stays."""

    async def scene(door):
        await given_pair(door, lea={**meeting(-30, "held"), "paused": True, "language": "en"})
        sent = await say_as(door, LEA, "i want to report noah please")
        assert "noah is blocked" in to(sent, LEA)
        assert (await state_of(door, LEA))["user"]["paused"]

    play(fresh_database, scene)


def test_with_harassment_in_the_same_message(fresh_database):
    """Both paths run side by side: the signal is raised and the block is made, each by its own tool."""

    async def scene(door):
        await given_pair(door, lea=meeting(-30, "held"))
        await say_as(door, LEA, "noah me harcèle, bloque noah")
        assert ["raise_wellbeing_signal", "report_user"] == [name for name, _ in door.called()]
        assert {"harassment": 1, "report": 1} == (await state_of(door, LEA))["alerts"]

    play(fresh_database, scene)


def test_harassment_alone_blocks_nobody(fresh_database):
    """The evaluator raises, and never blocks."""

    async def scene(door):
        await given_pair(door, lea=meeting(-30, "held"))
        await say_as(door, LEA, "noah me harcèle depuis hier")
        assert [] == (await state_of(door, LEA))["blocked"]
        assert ["raise_wellbeing_signal"] == [name for name, _ in door.called()]

    play(fresh_database, scene)


@pytest.mark.parametrize("arguments", [{"user": NOAH}, {"user": "+33699999999"}, {}])
def test_the_tool_checks_for_itself(fresh_database, arguments):
    """Without a real meeting the tool refuses, whoever calls it."""

    async def scene(door):
        await given_pair(door, lea=meeting(30))
        async with door.ori.engine.begin() as connection:
            toolbox = Toolbox(connection=connection, user=await find_user(connection, LEA), at=NOON)
            with pytest.raises(ToolRefused):
                await toolbox.run(ToolUse(name="report_user", arguments=arguments))
        assert [] == (await state_of(door, LEA))["blocked"]

    play(fresh_database, scene)


def test_what_lay_ahead_is_called_off(fresh_database):
    """A second meeting that was agreed on is cancelled with the block, and the match closed."""

    async def scene(door):
        await given_pair(door, lea=meeting(-30, "held"))
        await door.rows("select 1")
        async with door.ori.engine.begin() as connection:
            await connection.exec_driver_sql(
                "insert into meetings (a_user_id, b_user_id, at, place, status, created_at) select a_user_id, b_user_id,"
                " at + interval '5 days', place, 'confirmed', created_at from meetings"
            )
        await say_as(door, LEA, "bloque noah")
        assert [("cancelled",), ("held",)] == await door.rows("select status from meetings order by status")
        assert [("closed",)] == await door.rows("select status from matches")

    play(fresh_database, scene)


@pytest.mark.parametrize("who", [LEA, NOAH])
def test_an_event_about_the_other_is_refused(fresh_database, who):
    """Whoever blocked: an event that names the other one is refused as blocked, and nothing is said or paid for."""
    other = NOAH if who == LEA else LEA

    async def scene(door):
        await given_pair(
            door, lea={**meeting(-30, "held"), "stage": "matching", "blocked": [NOAH]}, noah={"stage": "matching"}
        )
        outcome = await door.ori.dispatch_event("profile_reminder", who, {"match": other})
        assert (EventOutcome.BLOCKED, [], []) == (outcome, door.texts(), door.model.asked)

    play(fresh_database, scene)


def test_an_event_about_their_match_is_refused(fresh_database):
    """So is one that names the match of the two, as the search for matches does."""

    async def scene(door):
        await given_pair(
            door, lea={"stage": "matching", "match": MATCHED, "blocked": [NOAH]}, noah={"stage": "matching"}
        )
        ((match,),) = await door.rows("select id from matches")
        assert EventOutcome.BLOCKED == await door.ori.dispatch_event("profile_reminder", NOAH, {"match": match})
        assert EventOutcome.BLOCKED != await door.ori.dispatch_event("profile_reminder", NOAH, {"match": match + 1})

    play(fresh_database, scene)


def test_a_block_while_an_event_waits(fresh_database):
    """An event that waits for the morning is dropped when a block comes in between."""

    async def scene(door):
        await given_pair(door, lea={"stage": "profiling", "city": "Lyon", "age": None, **meeting(-30, "held")})
        door.time = NOON + timedelta(hours=12)
        assert EventOutcome.DEFERRED == await door.ori.dispatch_event("profile_reminder", LEA, {"match": NOAH})
        await say_as(door, LEA, "bloque noah")
        before = len(door.texts())
        door.later(hours=10)
        assert {EventOutcome.BLOCKED: 1} == await door.ori.run_due_jobs()
        assert before == len(door.texts())

    play(fresh_database, scene)


def test_arranging(fresh_database):
    """Blocks and signals can be arranged and seen; what cannot be is refused by name."""

    async def scene(door):
        await given_pair(
            door,
            lea={"stage": "matching", "signals": ["self_harm", "distress"], "blocked": [NOAH]},
            noah={"stage": "matching"},
        )
        state = await state_of(door, LEA)
        assert ({"self_harm": 1, "distress": 1}, {"self_harm": 1}) == (state["signals"], state["alerts"])
        assert [LEA] == (await state_of(door, NOAH))["blocked"]

    play(fresh_database, scene)


@pytest.mark.parametrize("wrong", [{"signals": ["mood"]}, {"blocked": ["+33699999999"]}, {"blocked": NOAH}])
def test_arranging_what_cannot_be(fresh_database, wrong):
    """A concern that does not exist, and a block of nobody, are refused."""

    async def scene(door):
        with pytest.raises(FixtureRefused):
            await given_pair(door, lea={"stage": "matching", **wrong}, noah={"stage": "matching"})

    play(fresh_database, scene)
