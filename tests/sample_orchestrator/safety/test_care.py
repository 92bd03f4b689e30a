"""Care: contact is kept, help is named, a person of the team is told, and nothing is pushed."""

from itertools import product

import pytest

from evalrun.sample_orchestrator.errors import ToolRefused
from evalrun.sample_orchestrator.funnel import decide
from evalrun.sample_orchestrator.guard import Breach, Frame, breach
from evalrun.sample_orchestrator.heard import listen
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.phrasing import safe_wording
from evalrun.sample_orchestrator.records import find_user
from evalrun.sample_orchestrator.tool_use import ToolUse
from evalrun.sample_orchestrator.tools import Toolbox
from evalrun.sample_orchestrator.user import StageName, User
from tests.sample_orchestrator.stage_door import LEA, NOON, play

WORRIES = {
    Language.FR: (
        "j'ai envie de mourir",
        "il m'a frappée",
        "je vais lui casser la gueule",
        "il me harcèle",
        "je suis au bout du rouleau",
    ),
    Language.EN: ("i want to die", "he hit me", "i'm going to kill him", "he keeps texting me", "i feel hopeless"),
}


def test_self_harm_in_the_middle_of_the_profile(fresh_database):
    """Help is named, safety is asked after, the signal and the alert exist, and the profile waits."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        help_line, question = await door.say("j'ai envie de mourir")
        assert (True, True) == ("3114" in help_line, question.endswith("?"))
        expected = {"concern": "self_harm", "severity": "critical", "words": "envie de mourir"}
        assert [("raise_wellbeing_signal", expected)] == door.called()
        state = await door.state()
        assert ({"self_harm": 1}, {"self_harm": 1}) == (state["signals"], state["alerts"])
        assert ("profiling", None, "city", 1, False) == tuple(
            state["user"][n] for n in ("stage", "city", "asked", "attempts", "paused")
        )

    play(fresh_database, scene)


def test_contact_is_kept(fresh_database):
    """Every message after it is answered: first without hurry, then the profile goes on where it was."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        await door.say("j'ai envie de mourir")
        calm = await door.say("oui ça va, je suis chez ma sœur")
        assert (1, 0) == (len(calm), calm[0].count("?"))
        await door.say("lyon")
        assert "Lyon" == (await door.user())["city"]

    play(fresh_database, scene)


def test_not_safe(fresh_database):
    """Somebody who says that they are not safe is told again whom to call, as long as it lasts."""

    async def scene(door):
        await door.say("salut", "il m'a frappée")
        assert ["112" in b for b in (*await door.say("non"), *await door.say("non pas du tout"))] == [True, True]
        assert "safety" == (await door.user())["awaiting"]
        assert 1 == (await door.state())["alerts"]["danger"]

    play(fresh_database, scene)


def test_the_model_is_not_asked(fresh_database):
    """Care does not wait for a model: it is said and stored when the model is down."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        assert "3114" in (await door.say("je veux mourir"))[0]
        last = (await door.state())["last_reply"]
        assert ("safe", "fixed") == (last["phrased_by"], last["reason"])
        assert [] == door.model.asked

    play(fresh_database, scene, ConnectionError("down"))


def test_in_a_pause(fresh_database):
    """A pause does not keep help away, and it stays."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", paused=True)
        assert "3114" in (await door.say("j'ai envie d'en finir"))[0]
        assert (await door.user())["paused"]
        assert [] == [name for name, _ in door.called() if name != "raise_wellbeing_signal"]

    play(fresh_database, scene)


def test_with_a_pause_in_the_same_message(fresh_database):
    """A pause asked for in the same breath is granted beside the help."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        bubbles = await door.say("mets en pause, j'ai envie de mourir")
        assert (2, True, True) == (len(bubbles), "3114" in bubbles[0], "pause" in bubbles[1])
        assert ["raise_wellbeing_signal", "pause_account"] == [name for name, _ in door.called()]

    play(fresh_database, scene)


def test_signals_add_up_and_alerts_do_not(fresh_database):
    """Each message raises its signal; an alert that is open is not opened twice; distress alerts nobody."""

    async def scene(door):
        await door.say(
            "salut", "je veux mourir", "je veux vraiment mourir", "il me harcèle", "je suis au bout du rouleau"
        )
        state = await door.state()
        assert {"self_harm": 2, "harassment": 1, "distress": 1} == state["signals"]
        assert {"self_harm": 1, "harassment": 1} == state["alerts"]

    play(fresh_database, scene)


def test_redelivered(fresh_database):
    """The same message delivered twice raises one signal."""

    async def scene(door):
        await door.say("je veux mourir", message_id="m1")
        await door.say("je veux mourir", message_id="m1")
        assert {"self_harm": 1} == (await door.state())["signals"]

    play(fresh_database, scene)


def test_an_unknown_concern(fresh_database):
    """The tool refuses a concern that does not exist."""

    async def scene(door):
        await door.given()
        async with door.ori.engine.begin() as connection:
            toolbox = Toolbox(connection=connection, user=await find_user(connection, LEA), at=NOON)
            with pytest.raises(ToolRefused, match="concern"):
                await toolbox.run(ToolUse(name="raise_wellbeing_signal", arguments={"concern": "mood"}))

    play(fresh_database, scene)


@pytest.mark.parametrize(
    ("language", "zone", "place"),
    list(product(Language, ("Europe/Paris", "Europe/London", "America/Montreal", "Asia/Tokyo"), range(5))),
)
def test_wordings(language, zone, place):
    """Whatever is said of whatever worries passes the guard and names a number, except where only the team helps."""
    user = User(id=1, address="a", language=language, time_zone=zone, stage=StageName.PROFILING, inbounds=3)
    earlier = []
    for text in (WORRIES[language][place],) * 3 + ("non" if language is Language.FR else "no", "oui"):
        decision = decide(user, listen(text, first_contact=False, at=NOON))
        user, bubbles = decision.user, safe_wording(decision.brief, earlier).bubbles
        found = breach(bubbles, Frame(brief=decision.brief, language=language, max_chars=220))
        assert found in (None, Breach.REPEATED), (found, bubbles)
        earlier += bubbles
