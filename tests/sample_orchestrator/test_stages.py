"""The funnel after the profile: manifesto, pricing, matching, meeting, feedback, coaching."""

from datetime import timedelta

import pytest

from tests.sample_orchestrator.stage_door import DONE, LEA, MEMBER, NOAH, NOAH_MEMBER, NOON, play

TOMORROW = NOON + timedelta(days=1)
MATCH = {"with": NOAH, "told": True, "their_told": True}


def picked(state, *names):
    """Some values of a state, in order."""
    return tuple(state[name] for name in names)


def questions(bubbles):
    """How many questions a reply asks."""
    return " ".join(bubbles).count("?")


async def payments(door):
    """How many payments there are."""
    return (await door.rows("select count(*) from payments"))[0][0]


def test_manifesto_yes(fresh_database):
    """A yes to the manifesto is saved and leads to the price, said once, with one question."""

    async def scene(door):
        await door.given(stage="manifesto", **DONE)
        bubbles = await door.say("oui ça me va")
        assert [("save_agreement", {"agreed": True})] == door.called()
        assert (True, 1) == ("19 €" in bubbles[0], questions(bubbles))
        assert ("pricing", "plan") == picked(await door.user(), "stage", "asked")

    play(fresh_database, scene)


def test_manifesto_no(fresh_database):
    """A no is not argued with; the price stays unsaid, and a yes later on goes on."""

    async def scene(door):
        await door.given(stage="manifesto", **DONE)
        replies = [await door.say("non pas trop"), await door.say("hum")]
        assert [0, 0] == [questions(r) for r in replies]
        assert ("manifesto", False) == picked(await door.user(), "stage", "agreed")
        assert not [t for t in door.texts() if "€" in t]
        await door.say("ok oui")
        assert "pricing" == (await door.user())["stage"]

    play(fresh_database, scene)


def test_manifesto_without_an_answer(fresh_database):
    """Two replies beside the question and Ori goes on without it, each time in other words."""

    async def scene(door):
        await door.given(stage="manifesto", **DONE)
        first = await door.say("tu aimes le foot ?")
        second = await door.say("il fait beau")
        assert first[-1] != second[-1]
        assert ("pricing", ["agreed"]) == picked(await door.user(), "stage", "skipped")
        assert [] == door.tools

    play(fresh_database, scene)


def test_charge_after_a_yes(fresh_database):
    """An explicit yes charges once, with the words of consent; the search begins."""

    async def scene(door):
        await door.given(stage="pricing", agreed=True, **DONE)
        await door.say("oui vas-y")
        charge = ("charge_card", {"cents": 1900, "currency": "EUR", "consent": "oui vas-y"})
        assert [charge] == door.called()
        assert ("matching", "member", None) == picked(await door.user(), "stage", "plan", "asked")
        await door.say("oui", "je paie")
        assert 1 == await payments(door)
        assert 1 == len(door.tools)

    play(fresh_database, scene)


@pytest.mark.parametrize(
    "text",
    [
        "oui mais c'est cher",
        "oui ?",
        "peut-être",
        "demain oui",
        "je sais pas",
        "oui enfin j'hésite",
        "c'est combien ?",
        "",
    ],
)
def test_no_charge_without_a_clear_yes(fresh_database, text):
    """Anything but a clear yes charges nothing."""

    async def scene(door):
        await door.given(stage="pricing", agreed=True, **DONE)
        await door.say(text)
        assert 0 == await payments(door)
        assert "charge_card" not in dict(door.called())
        assert "pricing" == (await door.user())["stage"]

    play(fresh_database, scene)


def test_no_to_the_price(fresh_database):
    """A no is kept, nothing is charged or asked any more; only words of paying charge later."""

    async def scene(door):
        await door.given(stage="pricing", agreed=True, **DONE)
        bubbles = await door.say("non merci")
        assert [("save_plan", {"plan": "later"})] == door.called()
        assert 0 == questions(bubbles)
        assert 0 == questions(await door.say("oui"))
        assert 0 == await payments(door)
        await door.say("finalement je paie")
        assert 1 == await payments(door)
        assert "matching" == (await door.user())["stage"]

    play(fresh_database, scene)


def test_the_price_again(fresh_database):
    """Who asks for the price hears it again, and that is no failed try."""

    async def scene(door):
        await door.given(stage="pricing", agreed=True, **DONE)
        bubbles = await door.say("c'est combien ?")
        assert (True, 1, 1) == ("19 €" in bubbles[0], questions(bubbles), (await door.user())["attempts"])

    play(fresh_database, scene)


def test_a_price_of_the_models_own(fresh_database):
    """Another figure than the price is not said, whatever the model thinks."""

    async def scene(door):
        await door.given(stage="manifesto", **DONE)
        bubbles = await door.say("oui")
        assert "price" == (await door.state())["last_reply"]["reason"]
        assert not [b for b in bubbles if "29" in b]

    play(fresh_database, scene, "l'adhésion coûte 19 € au lieu de 29 €.\ntu veux que je lance le paiement ?")


def test_search_without_a_question(fresh_database):
    """While Ori looks, it names nobody and asks nothing."""

    async def scene(door):
        await door.given_both({"stage": "matching", **MEMBER}, {"stage": "matching", **NOAH_MEMBER})
        bubbles = await door.say("alors ?")
        assert (0, False) == (questions(bubbles), "noah" in " ".join(bubbles))

    play(fresh_database, scene)


def test_a_match_nobody_was_told_of(fresh_database):
    """A match is not spoken of before its notification, and a yes said before it is none."""

    async def scene(door):
        await door.given_both({"stage": "matching", **MEMBER, "match": {"with": NOAH}}, NOAH_MEMBER)
        bubbles = await door.say("oui")
        assert (False, []) == ("noah" in " ".join(bubbles), door.tools)

    play(fresh_database, scene)


def test_both_say_yes(fresh_database):
    """A yes waits for the other one's; with both, the meeting is arranged."""

    async def scene(door):
        await door.given_both({"stage": "matching", **MEMBER, "match": MATCH}, {"stage": "matching", **NOAH_MEMBER})
        waiting = await door.say("oui")
        assert (0, "matching") == (questions(waiting), (await door.user())["stage"])
        asked = await door.say("yes", sender=NOAH)
        noah = await door.user(NOAH)
        assert (1, "meeting", "slot") == (questions(asked), *picked(noah, "stage", "asked"))
        assert ["accept_match", "accept_match"] == [name for name, _ in door.called()]

    play(fresh_database, scene)


def test_a_no_ends_it_for_both(fresh_database):
    """A no closes the match without a word to the other one."""

    async def scene(door):
        await door.given_both(
            {"stage": "matching", **MEMBER, "match": {**MATCH, "their_answer": True}},
            {"stage": "matching", **NOAH_MEMBER},
        )
        await door.say("non")
        assert {LEA} == {to for to, _ in door.sender.sent}
        assert (None, None) == ((await door.user())["match"], (await door.user(NOAH))["match"])
        assert ["decline_match"] == [name for name, _ in door.called()]

    play(fresh_database, scene)


def test_no_answer_to_a_match(fresh_database):
    """Asked twice in different words, then left to think; a later yes counts."""

    async def scene(door):
        await door.given_both({"stage": "matching", **MEMBER, "match": MATCH}, {"stage": "matching", **NOAH_MEMBER})
        first, second = await door.say("hum"), await door.say("je sais pas trop")
        assert ([1, 0], True) == ([questions(first), questions(second)], "noah" in second[-1])
        await door.say("oui finalement")
        assert ["accept_match"] == [name for name, _ in door.called()]

    play(fresh_database, scene)


def given_meeting(**fields):
    """Léa and Noah with a meeting between them."""
    meeting = {"with": NOAH, "at": TOMORROW, "status": "confirmed", **fields}
    return {**MEMBER, "stage": "meeting", "meeting": meeting}


def test_a_time_is_proposed(fresh_database):
    """A day and an hour are proposed to the other one, on the wall clock of who said it."""

    async def scene(door):
        both = {**MATCH, "answer": True, "their_answer": True}
        await door.given_both({"stage": "meeting", **MEMBER, "match": both}, {"stage": "meeting", **NOAH_MEMBER})
        bubbles = await door.say("jeudi 19h30 ?")
        assert (0, True) == (questions(bubbles), "jeudi 5 mars à 19 h 30" in bubbles[0])
        arguments = {"with": "Noah", "at": "2026-03-05T19:30:00+01:00", "place": "Lyon"}
        assert [("propose_meeting", arguments)] == door.called()
        assert [("proposed",)] == await door.rows("select status from meetings")
        told = [t for to, t in door.sender.sent if to == NOAH]
        assert (2, True) == (len(told), "léa te propose jeudi 5 mars à 19 h 30" in told[0])
        await door.say("oui", sender=NOAH)
        assert ("confirmed", "confirmed") == tuple([(await door.user(a))["meeting"]["status"] for a in (LEA, NOAH)])

    play(fresh_database, scene)


def test_no_idea_when(fresh_database):
    """Asked twice without a day, Ori proposes one itself."""

    async def scene(door):
        both = {**MATCH, "answer": True, "their_answer": True}
        await door.given_both({"stage": "meeting", **MEMBER, "match": both}, {"stage": "meeting", **NOAH_MEMBER})
        assert 1 == questions(await door.say("je sais pas"))
        bubbles = await door.say("comme tu veux")
        assert (0, True) == (questions(bubbles), "samedi 7 mars à 18 h" in bubbles[0])

    play(fresh_database, scene)


@pytest.mark.parametrize(
    ("text", "tools", "status"),
    [
        ("oui parfait", ["confirm_meeting"], "confirmed"),
        ("non pas dispo", ["cancel_meeting"], None),
        ("plutôt samedi 15h", ["cancel_meeting", "propose_meeting"], "proposed"),
        ("hum", [], "proposed"),
    ],
)
def test_the_answer_to_a_proposal(fresh_database, text, tools, status):
    """A yes confirms, a no calls off, another time is proposed instead, anything else is asked again."""

    async def scene(door):
        await door.given_both(
            given_meeting(status="proposed", proposed_by="partner"), {**NOAH_MEMBER, "stage": "meeting"}
        )
        await door.say(text)
        assert tools == [name for name, _ in door.called()]
        meeting = (await door.user())["meeting"]
        assert status == (meeting and meeting["status"])

    play(fresh_database, scene)


def test_feedback_after_a_good_meeting(fresh_database):
    """How it was, whether again, then coaching: each answer saved by the tool."""

    async def scene(door):
        await door.given_both({**given_meeting(status="held"), "stage": "feedback"}, NOAH_MEMBER)
        assert 1 == questions(await door.say("super, on a bien ri"))
        assert "again" == (await door.user())["asked"]
        await door.say("oui carrément")
        saved = [{k: v for k, v in a.items() if k in ("impression", "again")} for _, a in door.called()]
        assert [{"impression": "good"}, {"again": True}] == saved
        assert ("coaching", "topic") == picked(await door.user(), "stage", "asked")

    play(fresh_database, scene)


def test_feedback_after_a_bad_meeting(fresh_database):
    """Nobody who had a bad time is asked to see the other again."""

    async def scene(door):
        await door.given_both({**given_meeting(status="held"), "stage": "feedback"}, NOAH_MEMBER)
        bubbles = await door.say("pas terrible, je me suis sentie mal à l'aise")
        assert not [b for b in bubbles if "revoir" in b]
        user = await door.user()
        assert ("coaching", "bad", False) == (user["stage"], *picked(user["meeting"], "impression", "again"))

    play(fresh_database, scene)


def test_coaching_and_on(fresh_database):
    """A topic brings its advice; with no second meeting the match is closed and the search goes on."""

    async def scene(door):
        lea = given_meeting(status="held", impression="mixed", again=False)
        await door.given_both({**lea, "stage": "coaching"}, NOAH_MEMBER)
        bubbles = await door.say("plutôt la conversation")
        assert 0 == questions(bubbles)
        assert ["save_topic", "close_match"] == [name for name, _ in door.called()]
        assert ("matching", None, "conversation") == picked(await door.user(), "stage", "match", "topic")

    play(fresh_database, scene)


def test_no_way_round_in_a_circle(fresh_database):
    """Whoever stands in coaching with everything said moves on to a new search and does not go round."""

    async def scene(door):
        lea = given_meeting(status="held", impression="bad", again=False)
        await door.given_both({**lea, "stage": "coaching", "topic": "confidence"}, NOAH_MEMBER)
        await door.say("merci")
        assert ["close_match"] == [name for name, _ in door.called()]
        assert "matching" == (await door.user())["stage"]

    play(fresh_database, scene)


def test_coaching_for_two_who_meet_again(fresh_database):
    """Two who see each other again stay matched, and no new search begins."""

    async def scene(door):
        lea = given_meeting(status="held", impression="good", again=True)
        await door.given_both({**lea, "stage": "coaching"}, NOAH_MEMBER)
        await door.say("la confiance", "merci")
        assert ["save_topic"] == [name for name, _ in door.called()]
        assert "coaching" == (await door.user())["stage"]

    play(fresh_database, scene)


@pytest.mark.parametrize("text", ["je viens de perdre mon père", "mon copain m'a quittée hier", "my dog just died"])
def test_tactful(fresh_database, text):
    """Something painful is met without a question; the one that was open stays open and counts no try."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", language="fr")
        assert 0 == questions(await door.say(text))
        assert ("city", 1) == picked(await door.user(), "asked", "attempts")
        assert [] == door.tools
        await door.say("lyon")
        assert "Lyon" == (await door.user())["city"]

    play(fresh_database, scene)
