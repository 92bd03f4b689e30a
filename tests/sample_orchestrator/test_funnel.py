"""Conversations: welcome, profiling, the hand-over to the manifesto, the pause and the price question."""

import pytest

from tests.sample_orchestrator.stage_door import play


def picked(state, names):
    """Some values of a state, in order."""
    return tuple(state[name] for name in names)


def questions(bubbles):
    """How many questions a reply asks."""
    return " ".join(bubbles).count("?")


def test_welcome(fresh_database):
    """The first reply says who Ori is and asks the first name, in two bubbles and one question."""

    async def scene(door):
        bubbles = await door.say("salut")
        assert ("welcome", "first_name", 1) == picked(await door.user(), ("stage", "asked", "attempts"))
        assert (2, 1, True) == (len(bubbles), questions(bubbles), "ori" in bubbles[0])
        assert [] == door.tools

    play(fresh_database, scene)


def test_whole_profile(fresh_database):
    """One field is asked at a time, each answer is saved by the tool, and the end is the manifesto."""

    async def scene(door):
        for text in ("salut", "léa", "lyon", "34"):
            assert 1 == questions(await door.say(text))
        last = await door.say("une histoire sérieuse")
        assert 1 == questions(last)
        saved = [
            ("save_profile", {k: v})
            for k, v in (("first_name", "Léa"), ("city", "Lyon"), ("age", 34), ("looking_for", "relationship"))
        ]
        assert saved == door.called()
        user = await door.user()
        assert ("manifesto", "agreed", "Lyon", 34) == (user["stage"], user["asked"], user["city"], user["age"])
        assert len(door.texts()) == len(set(door.texts()))

    play(fresh_database, scene)


def test_english_user(fresh_database):
    """Somebody who writes in English is answered in English, all along."""

    async def scene(door):
        bubbles = await door.say("hello")
        assert "what's your first name?" == bubbles[-1]
        assert "which city do you live in?" == (await door.say("Noah"))[-1]
        assert "en" == (await door.user())["language"]

    play(fresh_database, scene)


def test_a_borrowed_word_does_not_switch_the_language(fresh_database):
    """One English word in a French conversation changes nothing; a sentence does."""

    async def scene(door):
        await door.say("salut", "hello")
        assert "fr" == (await door.user())["language"]
        await door.say("sorry, i don't speak french very well")
        assert "en" == (await door.user())["language"]

    play(fresh_database, scene)


def test_the_name_in_the_first_message(fresh_database):
    """Somebody who introduces themselves at once is greeted and not asked again."""

    async def scene(door):
        bubbles = await door.say("salut moi c'est léa")
        assert ("profiling", "city", "Léa") == picked(await door.user(), ("stage", "asked", "first_name"))
        assert (2, 1, True) == (len(bubbles), questions(bubbles), "enchanté léa." in bubbles[0])

    play(fresh_database, scene)


def test_all_in_one_message(fresh_database):
    """A talkative first message takes the user to the manifesto in one go, with one tool call."""

    async def scene(door):
        await door.say("coucou, moi c'est léa, j'habite à lyon, j'ai 34 ans et je cherche une histoire sérieuse")
        assert "manifesto" == (await door.user())["stage"]
        assert 1 == len(door.tools)

    play(fresh_database, scene)


def test_unusable_answer(fresh_database):
    """An unusable answer is followed by other words, a second one by a graceful way on."""

    async def scene(door):
        first = await door.say("salut", "léa")
        second = await door.say("tu penses quoi du foot ?")
        third = await door.say("j'aime bien les chats")
        user = await door.user()
        assert (["city"], "age", 1) == (user["skipped"], user["asked"], user["attempts"])
        assert 3 == len({first[-1], second[-1], third[-1]})
        assert (1, 1, 1) == tuple(questions(b) for b in (first, second, third))
        assert "âge" in third[-1]

    play(fresh_database, scene)


def test_nameless(fresh_database):
    """Somebody who never gives a name goes on without one, and no reply has a hole in it."""

    async def scene(door):
        await door.say("salut", "pourquoi ?", "je sais pas")
        assert ("profiling", None) == picked(await door.user(), ("stage", "first_name"))
        assert not [t for t in door.texts() if " ," in t or "none" in t or "{" in t]

    play(fresh_database, scene)


def test_a_late_answer_is_kept(fresh_database):
    """What was given up is taken when the user comes back to it on their own."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", skipped=["city"], asked="age")
        await door.say("34, et j'habite à lille")
        user = await door.user()
        assert ("Lille", 34, []) == (user["city"], user["age"], user["skipped"])

    play(fresh_database, scene)


def test_a_correction_is_kept(fresh_database):
    """A user may correct a field with a sentence at any time."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", city="Lyon")
        await door.say("en fait j'habite à lille maintenant")
        assert ("Lille", "age") == picked(await door.user(), ("city", "asked"))

    play(fresh_database, scene)


def test_under_age(fresh_database):
    """Somebody under age is told so and asked nothing more; no other stage follows."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Tom", city="Lyon")
        replies = [await door.say("16 ans"), await door.say("j'ai 25 ans en fait")]
        assert [0, 0] == [questions(r) for r in replies]
        assert "adults_only" == (await door.user())["stage"]

    play(fresh_database, scene)


@pytest.mark.parametrize("stage", [{"stage": "welcome"}, {"stage": "profiling", "first_name": "Léa"}])
def test_price_before_the_profile(fresh_database, stage):
    """A price question before the profile is put off without a figure, and the open question is asked again."""

    async def scene(door):
        await door.given(**stage)
        asked = (await door.user())["asked"]
        replies = [await door.say("c'est combien ?"), await door.say("mais ça coûte combien ?")]
        user = await door.user()
        assert (asked, 1, stage["stage"]) == (user["asked"], user["attempts"], user["stage"])
        assert [(1, True), (1, True)] == [(questions(r), "profil" in r[0]) for r in replies]
        assert not [c for t in door.texts() for c in t if c.isdigit() or c in "€$"]
        assert [] == door.tools
        assert len(door.texts()) == len(set(door.texts()))

    play(fresh_database, scene)


def test_price_and_an_answer(fresh_database):
    """An answer beside the price question is not lost."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        await door.say("lyon, et c'est combien ?")
        assert ("Lyon", "age") == picked(await door.user(), ("city", "asked"))

    play(fresh_database, scene)


def test_pause(fresh_database):
    """A pause is confirmed without a question through its tool; then each message gets a short way back."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        confirmed = await door.say("mets en pause")
        assert (0, True) == (questions(confirmed), "pause" in confirmed[0])
        assert [("pause_account", {})] == door.called()
        replies = [await door.say("lyon"), await door.say("tu es là ?")]
        assert [(1, 0, True)] * 2 == [(len(r), questions(r), "reprends" in r[0]) for r in replies]
        user = await door.user()
        assert (True, None, "profiling") == (user["paused"], user["city"], user["stage"])

    play(fresh_database, scene)


def test_resume(fresh_database):
    """Coming back ends the pause through its tool and asks the question that was open."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa", paused=True)
        bubbles = await door.say("reprends")
        user = await door.user()
        assert (False, "city", 1) == (user["paused"], user["asked"], questions(bubbles))
        assert [("resume_account", {})] == door.called()
        await door.say("lyon")
        assert "Lyon" == (await door.user())["city"]

    play(fresh_database, scene)


def test_pause_as_the_first_word(fresh_database):
    """A pause is respected even before anything else was said."""

    async def scene(door):
        assert 0 == questions(await door.say("stop"))
        assert (await door.user())["paused"]

    play(fresh_database, scene)


def test_the_model_phrases(fresh_database):
    """Words of the model that hold to the brief are sent, in small letters, and marked as the model's."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        bubbles = await door.say("lyon")
        assert ["Merci Léa, c'est une belle ville.".lower(), "tu as quel âge ?"] == bubbles
        assert {"kind": "reply", "phrased_by": "model", "reason": ""} == (await door.state())["last_reply"]

    play(fresh_database, scene, "Merci Léa, c'est une belle ville.\n\nTu as quel âge ?")


def test_the_model_fails_the_guard(fresh_database):
    """Words of the model that break the guard are replaced, and the reason is kept."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        assert 1 == questions(await door.say("lyon"))
        assert {"kind": "reply", "phrased_by": "safe", "reason": "placeholder"} == (await door.state())["last_reply"]

    play(fresh_database, scene, "merci [NOM], tu as quel âge ?")


def test_the_prompt(fresh_database):
    """The model is told who it is, the house style, what is known, what to say, and the message it answers."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        await door.say("lyon")
        system, *_, last = door.model.asked[0]
        for part in ("You are ori", "- small letters only", "city: Lyon", "in French", "how old", "Ask one question"):
            assert part in system["content"]
        assert {"role": "user", "content": "lyon"} == last

    play(fresh_database, scene)


def test_a_failed_model_is_not_swallowed(fresh_database):
    """When the model fails the caller knows, nothing was said, and the same message may come again."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        with pytest.raises(ConnectionError):
            await door.say("lyon", message_id="m1")
        assert (None, []) == ((await door.user())["city"], door.texts())
        assert 1 == questions(await door.say("lyon", message_id="m1"))
        assert "Lyon" == (await door.user())["city"]

    play(fresh_database, scene, ConnectionError("down"))


@pytest.mark.parametrize("text", ["", "\x00\x00", "👍", "a" * 50_000, "'; drop table users; --", "\ud83d", "{name} %s"])
def test_odd_messages(fresh_database, text):
    """Whatever arrives, the answer holds to the rules."""

    async def scene(door):
        await door.given(stage="profiling", first_name="Léa")
        assert 1 == questions(await door.say(text))
        assert None is (await door.user())["city"]

    play(fresh_database, scene)
