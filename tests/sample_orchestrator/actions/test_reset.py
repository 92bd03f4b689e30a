"""Reset: asked for, confirmed, done; answers go, what concerns safety, money and other people stays."""

import pytest

from tests.sample_orchestrator.stage_door import LEA, play
from tests.sample_orchestrator.two_people import given_pair, meeting, say_as, state_of, to


def test_confirmed(fresh_database):
    """After a yes the answers are gone, the welcome begins again, and the safety records are there."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", city="Lyon", age=34, signals=["self_harm"])
        ask = await door.say("je veux recommencer à zéro")
        assert (1, []) == (" ".join(ask).count("?"), door.called())
        assert "Lyon" == (await door.user())["city"]
        bubbles = await door.say("oui")
        assert "comment tu t'appelles ?" == bubbles[-1]
        user = await door.user()
        assert ("welcome", None, None, None, "first_name", None) == tuple(
            user[n] for n in ("stage", "first_name", "city", "age", "asked", "awaiting")
        )
        assert [("reset_profile", {})] == door.called()
        state = await door.state()
        assert ({"self_harm": 1}, {"self_harm": 1}) == (state["signals"], state["alerts"])
        await door.say("léa")
        assert "Léa" == (await door.user())["first_name"]

    play(fresh_database, scene)


@pytest.mark.parametrize("text", ["non", "laisse tomber", "non merci", "pas maintenant"])
def test_declined(fresh_database, text):
    """After a no everything is kept and the open question comes again."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", city="Lyon")
        bubbles = await door.say("efface tout", text)
        assert ([], "Lyon", 1) == (door.called(), (await door.user())["city"], bubbles[-1].count("?"))

    play(fresh_database, scene)


def test_another_answer(fresh_database):
    """Neither yes nor no: the message is heard as what it is, nothing is deleted, and a later yes deletes nothing."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", city="Lyon")
        await door.say("reset", "34 ans", "oui")
        user = await door.user()
        assert (34, "Lyon", None) == (user["age"], user["city"], user["awaiting"])
        assert "reset_profile" not in [name for name, _ in door.called()]

    play(fresh_database, scene)


@pytest.mark.parametrize(
    "text",
    ["je ne veux pas tout effacer", "j'ai oublié mon parapluie", "on recommence"],
)
def test_not_asked_for(fresh_database, text):
    """What only sounds like it asks nothing."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", city="Lyon")
        await door.say(text)
        assert "reset" != (await door.user())["awaiting"]

    play(fresh_database, scene)


@pytest.mark.parametrize(
    "text", ["reset", "start over please", "delete my answers", "efface mon profil", "on reprend à zéro ?"]
)
def test_ways_to_ask(fresh_database, text):
    """It is understood in French and in English."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", city="Lyon")
        await door.say(text)
        assert "reset" == (await door.user())["awaiting"]

    play(fresh_database, scene)


def test_not_for_somebody_under_age(fresh_database):
    """Who said to be under age cannot begin again with another age."""

    async def scene(door):
        await door.given(stage="adults_only", first_name="Léa", age=16)
        await door.say("efface tout", "oui", "j'ai 25 ans")
        user = await door.user()
        assert ("adults_only", 16, []) == (user["stage"], user["age"], door.called())

    play(fresh_database, scene)


def test_not_in_a_pause(fresh_database):
    """In a pause Ori asks nothing, this neither."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", city="Lyon", paused=True)
        bubbles = await door.say("efface tout")
        assert (None, 0) == ((await door.user())["awaiting"], " ".join(bubbles).count("?"))

    play(fresh_database, scene)


def test_money_and_other_people_stay(fresh_database):
    """A payment, a block and an agreed meeting outlive the reset, and nobody else hears of it."""

    async def scene(door):
        await given_pair(door, lea=meeting(30))
        sent = await say_as(door, LEA, "efface mes réponses")
        sent += await say_as(door, LEA, "oui")
        assert {LEA} == {whom for whom, _ in sent}
        assert ([(1,)], [("confirmed",)]) == (
            await door.rows(
                f"select count(*) from payments p join users u on u.id = p.user_id where u.address = '{LEA}'"
            ),
            await door.rows("select status from meetings"),
        )
        user = (await state_of(door, LEA))["user"]
        assert ("welcome", "member") == (user["stage"], user["plan"])
        assert "comment tu t'appelles ?" in to(sent, LEA)

    play(fresh_database, scene)
