"""Two people agree on a meeting through Ori: what one says is passed on to the other, and to nobody else."""

import asyncio
from datetime import timedelta

import pytest

from evalrun.sample_orchestrator.errors import SendFailed
from tests.sample_orchestrator.stage_door import LEA, NOON, play
from tests.sample_orchestrator.two_people import MATCHED, NOAH, given_pair, meeting, say_as, state_of, to


def names(door):
    """The tools that were called, in order."""
    return [name for name, _ in door.called()]


def test_proposal_and_yes(fresh_database):
    """Léa proposes, Noah is asked, he says yes, Léa is told; the meeting is confirmed once both agreed."""

    async def scene(door):
        await given_pair(door)
        sent = await say_as(door, LEA, "samedi à 18h")
        assert {LEA, NOAH} == {whom for whom, _ in sent}
        assert (True, True, 1) == (
            "léa te propose samedi 7 mars à 18 h" in to(sent, NOAH),
            to(sent, NOAH).endswith("?"),
            to(sent, NOAH).count("?"),
        )
        assert "proposed" == (await state_of(door, LEA))["user"]["meeting"]["status"]
        sent = await say_as(door, NOAH, "oui parfait")
        assert "samedi 7 mars à 18 h" in to(sent, LEA)
        assert ["confirmed"] * 2 == [(await state_of(door, a))["user"]["meeting"]["status"] for a in (LEA, NOAH)]
        assert ["propose_meeting", "confirm_meeting"] == names(door)

    play(fresh_database, scene)


def test_counter_proposal(fresh_database):
    """Noah prefers another time: Léa is asked about it, and her yes confirms that one."""

    async def scene(door):
        await given_pair(door)
        await say_as(door, LEA, "samedi à 18h")
        sent = await say_as(door, NOAH, "plutôt dimanche à 15h")
        assert ("noah" in to(sent, LEA), "dimanche 8 mars à 15 h" in to(sent, LEA)) == (True, True)
        assert "proposed" == (await state_of(door, NOAH))["user"]["meeting"]["status"]
        sent = await say_as(door, LEA, "ok pour moi")
        assert "dimanche 8 mars à 15 h" in to(sent, NOAH)
        assert [("cancelled",), ("confirmed",)] == await door.rows("select status from meetings order by status")

    play(fresh_database, scene)


def test_the_proposer_cannot_confirm_alone(fresh_database):
    """One person's yes, said twice, is not two people's."""

    async def scene(door):
        await given_pair(door)
        await say_as(door, LEA, "samedi à 18h")
        sent = await say_as(door, LEA, "oui je confirme")
        assert ("proposed", "") == ((await state_of(door, LEA))["user"]["meeting"]["status"], to(sent, NOAH))

    play(fresh_database, scene)


def test_a_no(fresh_database):
    """A no without another time is passed on as such, and the one who proposed is asked for another."""

    async def scene(door):
        await given_pair(door)
        await say_as(door, LEA, "samedi à 18h")
        sent = await say_as(door, NOAH, "non je ne peux pas")
        assert ("noah" in to(sent, LEA), 1) == (True, to(sent, LEA).count("?"))
        await say_as(door, LEA, "dimanche 15h")
        assert "samedi" not in (await state_of(door, NOAH))["user"]["meeting"]["at"]

    play(fresh_database, scene)


def test_each_in_their_language_and_on_their_clock(fresh_database):
    """What Léa says in French for 18 h in Paris reaches Noah in English for 17:00 in London."""

    async def scene(door):
        await given_pair(door, noah={"language": "en", "time_zone": "Europe/London"})
        sent = await say_as(door, LEA, "samedi à 18h")
        assert "léa suggests saturday 7 march at 17:00" in to(sent, NOAH)

    play(fresh_database, scene)


def test_at_night_it_waits(fresh_database):
    """A proposal made at night reaches the other one in the morning, once."""

    async def scene(door):
        await given_pair(door)
        door.time = NOON + timedelta(hours=11)
        assert "" == to(await say_as(door, LEA, "samedi à 18h"), NOAH)
        door.later(hours=10)
        before = len(door.sender.sent)
        await door.ori.run_due_jobs()
        await door.ori.run_due_jobs()
        assert 1 == to(door.sender.sent[before:], NOAH).count("léa te propose")

    play(fresh_database, scene)


def test_in_a_pause_it_waits(fresh_database):
    """Somebody on pause hears of it when they come back, after the welcome back."""

    async def scene(door):
        await given_pair(door, noah={"paused": True})
        assert "" == to(await say_as(door, LEA, "samedi à 18h"), NOAH)
        assert "propose" not in to(await say_as(door, NOAH, "tu es là ?"), NOAH)
        sent = [text for whom, text in await say_as(door, NOAH, "reprends") if whom == NOAH]
        assert (False, True) == ("léa te propose" in sent[0], "léa te propose" in " ".join(sent))

    play(fresh_database, scene)


def test_nobody_without_a_mutual_match(fresh_database):
    """Before both said yes to each other, a time proposes nothing to anybody."""

    async def scene(door):
        one_sided = {"stage": "matching", "match": {**MATCHED, "their_answer": None}}
        await given_pair(door, lea=one_sided, noah={"stage": "matching"})
        sent = await say_as(door, LEA, "samedi à 18h")
        assert ("", []) == (to(sent, NOAH), await door.rows("select id from meetings"))

    play(fresh_database, scene)


@pytest.mark.parametrize(
    "text", ["finalement annule le rendez-vous", "je dois annuler notre rdv", "please cancel the meeting"]
)
def test_calling_off_an_agreed_meeting(fresh_database, text):
    """An agreed meeting can be called off at any time; the other one is told and asked for another day."""

    async def scene(door):
        await given_pair(door, lea=meeting(30))
        sent = await say_as(door, LEA, text)
        assert (["cancel_meeting"], True, 1) == (names(door), "léa" in to(sent, NOAH), to(sent, NOAH).count("?"))
        assert [("cancelled",)] == await door.rows("select status from meetings")

    play(fresh_database, scene)


@pytest.mark.parametrize("text", ["on peut décaler à dimanche 15h ?", "can we move it to sunday at 3pm?"])
def test_moving_an_agreed_meeting(fresh_database, text):
    """An agreed meeting can be moved: the old time is off, the other one is asked about the new one."""

    async def scene(door):
        await given_pair(door, lea=meeting(30))
        sent = await say_as(door, LEA, text)
        assert ["cancel_meeting", "propose_meeting"] == names(door)
        assert ("dimanche 8 mars à 15 h" in to(sent, NOAH), 1) == (True, to(sent, NOAH).count("?"))
        await say_as(door, NOAH, "oui")
        assert [("cancelled",), ("confirmed",)] == await door.rows("select status from meetings order by status")

    play(fresh_database, scene)


def test_moving_without_a_time(fresh_database):
    """Without a new time nothing is called off yet: Ori asks when."""

    async def scene(door):
        await given_pair(door, lea=meeting(30))
        sent = await say_as(door, LEA, "on peut décaler ?")
        assert ([], 1, "") == (names(door), to(sent, LEA).count("?"), to(sent, NOAH))
        await say_as(door, LEA, "dimanche 15h")
        assert ["cancel_meeting", "propose_meeting"] == names(door)

    play(fresh_database, scene)


def test_a_proposal_is_not_passed_on_after_a_report(fresh_database):
    """A report calls off what lies ahead without a word to the other one."""

    async def scene(door):
        await given_pair(door, lea=meeting(-30, "held"))
        assert "" == to(await say_as(door, LEA, "signale noah"), NOAH)

    play(fresh_database, scene)


def test_both_at_once(fresh_database):
    """Both write at the same instant, each with a time: one proposal stands, and each hears only what concerns them."""

    async def scene(door):
        await given_pair(door)
        await asyncio.gather(say_as(door, LEA, "samedi à 18h"), say_as(door, NOAH, "dimanche à 15h"))
        ahead = await door.rows("select count(*) from meetings where status = 'proposed'")
        assert [(1,)] == ahead

    play(fresh_database, scene)


def test_a_channel_that_refuses_the_other_one(fresh_database):
    """When the relay cannot be sent the reply is there all the same, and the relay goes out later, once."""

    async def scene(door):
        await given_pair(door)
        door.sender.faults = [None, SendFailed("busy", certain=True)]
        with pytest.raises(SendFailed):
            await say_as(door, LEA, "samedi à 18h")
        assert [LEA] == [whom for whom, _ in door.sender.sent]
        door.later(minutes=5)
        await door.ori.run_due_jobs()
        assert 1 == to(door.sender.sent, NOAH).count("léa te propose")

    play(fresh_database, scene)


def test_a_proposal_delivered_twice(fresh_database):
    """The same message delivered again proposes nothing again, and tells nobody again."""

    async def scene(door):
        await given_pair(door)
        await door.say("samedi à 18h", message_id="m1")
        before = len(door.sender.sent)
        await door.say("samedi à 18h", message_id="m1")
        assert (before, [(1,)]) == (len(door.sender.sent), await door.rows("select count(*) from meetings"))

    play(fresh_database, scene)
