"""Faults in the later stages: bad output of the model never reaches a user, and money moves exactly once."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy.exc import DBAPIError

from evalrun.sample_orchestrator.errors import UnknownUser
from evalrun.sample_orchestrator.heard import Inbound
from tests.sample_orchestrator.stage_door import DONE, LEA, MEMBER, NOAH, NOAH_MEMBER, NOON, play
from tests.sample_orchestrator.test_delivery import _cut_all

BAD = {
    "empty": "",
    "blank": " \n\u200b\n ",
    "english": "Your membership is 19 € and I will look for someone who fits you soon, is that fine?",
    "placeholder": "salut [PRÉNOM], l'adhésion coûte 19 €.\ntu veux que je lance le paiement ?",
    "template": "l'adhésion coûte {price}.\ntu veux que je lance le paiement ?",
    "refusal": "je suis désolé, en tant qu'ia je ne peux pas parler de 19 €. je lance le paiement ?",
    "wall of text": "l'adhésion coûte 19 €, "
    + "et c'est une très belle histoire que je te raconte " * 60
    + "tu paies ?",
    "many bubbles": "l'adhésion coûte 19 €.\nvoilà.\nc'est tout.\nvraiment.\ntu veux que je lance le paiement ?",
    "another price": "l'adhésion coûte 9 €.\ntu veux que je lance le paiement ?",
    "a gift": "l'adhésion coûte 19 €, et le premier mois est offert.\ntu veux que je lance le paiement ?",
    "markdown": "**l'adhésion** coûte 19 €.\n- tu veux que je lance le paiement ?",
    "error": "error: 500 l'adhésion coûte 19 €. tu veux que je lance le paiement ?",
    "role line": "assistant: l'adhésion coûte 19 €.\ntu veux que je lance le paiement ?",
    "no question": "l'adhésion coûte 19 €, une fois.",
    "no price": "l'adhésion a un tarif, une fois.\ntu veux que je lance le paiement ?",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_output_never_reaches_a_user(fresh_database, name):
    """Whatever the model says, the reply is safe, and the trace names the rule that was broken."""

    async def scene(door):
        await door.given(stage="manifesto", **DONE)
        bubbles = await door.say("oui")
        assert (True, 1) == ("19 €" in bubbles[0], " ".join(bubbles).count("?"))
        last = (await door.state())["last_reply"]
        assert ("safe", True) == (last["phrased_by"], bool(last["reason"]))
        assert not set(BAD[name].splitlines()[:1]) & set(bubbles)

    play(fresh_database, scene, BAD[name])


def test_good_output_reaches_the_user(fresh_database):
    """The guard is no wall: what holds to the brief is said in the model's words."""

    async def scene(door):
        await door.given(stage="manifesto", **DONE)
        assert "tout simple, l'adhésion coûte 19 €, en une fois." == (await door.say("oui"))[0]

    play(fresh_database, scene, "Tout simple, l'adhésion coûte 19 €, en une fois.\nTu veux que je lance le paiement ?")


@pytest.mark.parametrize(
    "text",
    [
        "petit rappel, tu vois noé mardi 3 mars à 12 h, à lyon.",
        "petit rappel, tu vois noah mardi 3 mars à 13 h, à lyon.",
        "petit rappel, tu vois noah demain, à lyon.",
        "petit rappel, tu vois noah mardi 3 mars à 12 h.",
    ],
)
def test_a_reminder_with_wrong_facts(fresh_database, text):
    """A reminder with another name, hour, day or without the place is not sent as the model wrote it."""

    async def scene(door):
        lea = {**MEMBER, "stage": "meeting", "meeting": {"with": NOAH, "at": NOON + timedelta(days=1)}}
        await door.given_both(lea, NOAH_MEMBER)
        await door.event("meeting_reminder")
        assert [True] == ["noah mardi 3 mars à 12 h, à lyon" in t for t in door.texts()]
        assert "missing_content" == (await door.state())["last_reply"]["reason"]

    play(fresh_database, scene, text)


def test_the_database_goes_away_in_a_charge(fresh_database):
    """When the database is lost after the charge and before the reply, the redelivery charges, once."""

    async def scene(door):
        await door.given(stage="pricing", agreed=True, **DONE)
        inner = door.model.complete

        async def cut(messages, max_tokens):
            door.model.complete = inner
            await _cut_all(door)
            return ""

        door.model.complete = cut
        with pytest.raises((DBAPIError, OSError)):
            await door.say("oui", message_id="same")
        assert ([], [(0,)]) == (door.texts(), await door.rows("select count(*) from payments"))
        await door.say("oui", message_id="same")
        await door.say("oui", message_id="same")
        assert [(1,)] == await door.rows("select count(*) from payments")

    play(fresh_database, scene)


def test_two_yeses_in_flight(fresh_database):
    """Two messages of consent at the same moment charge once, and both are answered."""

    async def scene(door):
        await door.given(stage="pricing", agreed=True, **DONE)
        yes = [Inbound(id=i, sender=LEA, text="oui je paie") for i in "ab"]
        await asyncio.gather(*(door.ori.handle(m) for m in yes))
        assert [(1,)] == await door.rows("select count(*) from payments")
        assert ["charge_card"] == [name for name, _ in door.called()]
        assert 3 == (await door.user())["inbounds"]

    play(fresh_database, scene)


def test_both_of_a_match_answer_at_once(fresh_database):
    """When both say yes at the same moment neither yes is lost and nobody waits forever."""

    async def scene(door):
        match = {"with": NOAH, "told": True, "their_told": True}
        await door.given_both({"stage": "matching", **MEMBER, "match": match}, {"stage": "matching", **NOAH_MEMBER})
        await asyncio.gather(*(door.ori.handle(Inbound(id="1", sender=a, text="oui")) for a in (LEA, NOAH)))
        assert [(True, True)] == await door.rows("select a_answer, b_answer from matches")
        await door.say("alors ?")
        assert "meeting" == (await door.user())["stage"]

    play(fresh_database, scene)


def test_the_search_in_two_processes(fresh_database):
    """Two searches at the same moment make one match, and each is told once."""

    async def scene(door):
        await door.given_both({"stage": "matching", **MEMBER}, {"stage": "matching", **NOAH_MEMBER})
        await asyncio.gather(door.ori.run_due_jobs(), door.ori.run_due_jobs())
        assert [(1,)] == await door.rows("select count(*) from matches")
        assert 4 == len(door.texts())

    play(fresh_database, scene)


@pytest.mark.parametrize("event", ["match_notification", "check_in", "meeting_reminder", "reactivation"])
def test_events_for_strangers(fresh_database, event):
    """An event about somebody who never wrote is a named error, and nothing is sent or stored."""

    async def scene(door):
        with pytest.raises(UnknownUser):
            await door.event(event)
        assert ([], [(0,)]) == (door.texts(), await door.rows("select count(*) from users"))

    play(fresh_database, scene)
