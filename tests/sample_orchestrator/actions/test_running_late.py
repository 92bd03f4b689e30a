"""Running late: the right person is told, at once, with the delay; nobody else is, and not without a meeting."""

from datetime import timedelta

import pytest

from evalrun.sample_orchestrator.errors import ToolRefused
from evalrun.sample_orchestrator.records import find_user
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.tools import Toolbox
from tests.sample_orchestrator.stage_door import LEA, NOON, play
from tests.sample_orchestrator.two_people import KIM, MATCHED, NOAH, given_pair, meeting, say_as, state_of, to


def test_the_other_one_is_told(fresh_database):
    """Noah hears who is late, for when and by how much; Léa hears that he knows; the call names him."""

    async def scene(door):
        await given_pair(door, lea=meeting(1))
        sent = await say_as(door, LEA, "je suis en retard, j'aurai 15 min de retard")
        assert {LEA, NOAH} == {whom for whom, _ in sent}
        assert (True, True, True) == tuple(word in to(sent, NOAH) for word in ("léa", "15 minutes", "13 h"))
        assert "noah" in to(sent, LEA)
        ((name, arguments),) = door.called()
        assert ("running_late", NOAH, 15) == (name, arguments["to"], arguments["minutes"])

    play(fresh_database, scene)


def test_in_the_others_language_and_zone(fresh_database):
    """The relay is in the language and on the clock of the one who waits."""

    async def scene(door):
        await given_pair(door, lea=meeting(1), noah={"language": "en", "time_zone": "Europe/London"})
        sent = await say_as(door, LEA, "je suis à la bourre, une demi-heure")
        assert (True, True) == ("about 30 minutes" in to(sent, NOAH), "12:00" in to(sent, NOAH))

    play(fresh_database, scene)


def test_at_night_and_in_a_pause(fresh_database):
    """Somebody who waits in a café at night hears it at once, even with a pause."""

    async def scene(door):
        await given_pair(door, lea=meeting(11), noah={"paused": True})
        door.time = NOON + timedelta(hours=11)
        assert "léa" in to(await say_as(door, LEA, "j'arrive dans 10 minutes, désolée"), NOAH)

    play(fresh_database, scene)


@pytest.mark.parametrize(
    ("between", "said"),
    [
        ({"match": MATCHED}, ""),
        (meeting(1, "proposed"), ""),
        (meeting(-30, "held"), ""),
        (meeting(30), "mardi 3 mars"),
    ],
    ids=["no meeting", "not agreed", "held", "tomorrow"],
)
def test_without_a_meeting_now(fresh_database, between, said):
    """Nobody is told when there is nothing to be late for; of a meeting that is not today the day is said."""

    async def scene(door):
        await given_pair(door, lea=between)
        sent = await say_as(door, LEA, "je suis en retard")
        assert ([], "") == ([n for n, _ in door.called() if n == "running_late"], to(sent, NOAH))
        assert said in to(sent, LEA)

    play(fresh_database, scene)


@pytest.mark.parametrize("text", ["je ne suis jamais en retard", "désolée du retard, je réponds enfin", "i'm not late"])
def test_not_late(fresh_database, text):
    """A denial, and an excuse for a late answer, tell nobody."""

    async def scene(door):
        await given_pair(door, lea=meeting(1))
        assert "" == to(await say_as(door, LEA, text), NOAH)

    play(fresh_database, scene)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("en retard de 20 minutes", 20),
        ("un quart d'heure de retard", 15),
        ("trois quarts d'heure de retard", 45),
        ("une heure de retard", 60),
        ("i'm running late, 25 mins", 25),
        ("half an hour late, i'm late", 30),
        ("je suis en retard", None),
        ("999 min de retard", None),
    ],
)
def test_the_delay(fresh_database, text, minutes):
    """The delay is read in figures and in words; without one, or with an absurd one, none is passed on."""

    async def scene(door):
        await given_pair(door, lea=meeting(1))
        sent = await say_as(door, LEA, text)
        assert minutes == door.called()[0][1]["minutes"]
        assert (minutes is not None) == ("minutes" in to(sent, NOAH))

    play(fresh_database, scene)


def test_after_a_block(fresh_database):
    """Between blocked people nothing passes, not even this."""

    async def scene(door):
        await given_pair(door, lea={**meeting(1), "stage": "matching", "blocked": [NOAH]}, noah={"stage": "matching"})
        assert "" == to(await say_as(door, LEA, "je suis en retard"), NOAH)

    play(fresh_database, scene)


def test_delivered_twice(fresh_database):
    """The same message delivered again tells nobody again."""

    async def scene(door):
        await given_pair(door, lea=meeting(1))
        await door.say("je suis en retard", message_id="m1")
        before = len(door.texts())
        await door.say("je suis en retard", message_id="m1")
        assert before == len(door.texts())

    play(fresh_database, scene)


@pytest.mark.parametrize(("hours", "whom"), [(1, KIM), (1, LEA), (30, NOAH)])
def test_the_tool_checks_for_itself(fresh_database, hours, whom):
    """The tool refuses another recipient than the one of the meeting, and a meeting that is not now."""

    async def scene(door):
        await given_pair(door, lea=meeting(hours))
        async with door.ori.engine.begin() as connection:
            toolbox = Toolbox(connection=connection, user=await find_user(connection, LEA), at=NOON)
            with pytest.raises(ToolRefused, match="running_late"):
                await toolbox.run(ToolUse(name="running_late", arguments={"to": whom}))

    play(fresh_database, scene)


def test_the_stage_stays(fresh_database):
    """Being late changes nothing of where either of them stands."""

    async def scene(door):
        await given_pair(door, lea=meeting(1))
        before = [(await state_of(door, a))["user"]["stage"] for a in (LEA, NOAH)]
        await say_as(door, LEA, "je suis en retard")
        assert before == [(await state_of(door, a))["user"]["stage"] for a in (LEA, NOAH)]

    play(fresh_database, scene)
