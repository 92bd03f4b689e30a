"""The adapter: Ori played through evalrun's own door, as a run does it."""

import asyncio
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from evalrun.adapters.python import connect
from evalrun.clock import TrialClock
from evalrun.errors import ModelFailed
from evalrun.interfaces.models import Finish, ModelReply
from evalrun.interfaces.targets import Capability, Event, Inbound, SuiteInfo, TargetSetup
from evalrun.sample_orchestrator.errors import FixtureRefused
from evalrun.scenario import Participant
from evalrun.session import LiveSession, Recorder
from evalrun.transcript import InboundKind, Opening, Turn
from evalrun.usage import ModelName, Role, Tokens

LEA = Participant(id="lea", name="Léa")
NOAH = Participant(id="noah", name="Noah", address="+33600000002")
NOON = datetime(2026, 3, 2, 11, 0, tzinfo=UTC)
RULES = '[[rules]]\nid = "small"\ncheck = "lowercase"\nseverity = "hard"\nsay = "Write in small letters."\n'


class ScriptedEndpoint:
    """A model endpoint that answers with what it is told, or raises it."""

    role = Role.AGENT
    model = ModelName(provider="scripted", model="x")

    def __init__(self, answer=""):
        self.answer = answer
        self.asked = []

    async def complete(self, messages, **_how):
        """Answer."""
        self.asked.append(messages)
        if isinstance(self.answer, Exception):
            raise self.answer
        return ModelReply(text=self.answer, finish=Finish.STOP, tokens=Tokens())


def play(url, tmp_path, scene, *, given, model=None, rules=RULES):
    """Open a trial the way a run does, play a scene on it, close it."""

    async def run():
        target = connect(
            TargetSetup(name="ori", entry="evalrun.sample_orchestrator.adapter:Ori", options={}, root=tmp_path)
        )
        file = tmp_path / "style_rules.toml"
        file.write_text(rules, "utf-8")
        await target.setup(SuiteInfo(run="r", options={}, root=tmp_path, tmp=tmp_path, style_rules=file, environ={}))
        database = SimpleNamespace(url=url)
        await target.migrate(database)
        session = LiveSession(
            id="r-1",
            persona=LEA,
            participants={"lea": LEA, "noah": NOAH},
            clock=TrialClock(NOON),
            database=database,
            model=model or ScriptedEndpoint(),
            tmp=tmp_path,
            given=given,
            recorder=Recorder(sees_tools=True),
        )
        try:
            await target.open(session)
            await scene(target, session)
        finally:
            await target.close(session)
            await target.close(session)

    asyncio.run(run())


def seen(session, number):
    """A turn as the record holds it."""
    return session.recorder.turn(Turn(number=number, opening=Opening(kind=InboundKind.USER), now=NOON))


def test_capabilities(fresh_database, tmp_path):
    """The adapter offers what scenarios need: events, time, state, migrations, and a list of tools."""

    async def scene(target, _session):
        expected = {Capability.DISPATCH, Capability.ADVANCE, Capability.STATE, Capability.MIGRATE}
        assert (expected, True) == (target.capabilities, "save_profile" in target.tools)

    play(fresh_database, tmp_path, scene, given={})


def test_a_message(fresh_database, tmp_path):
    """A message is answered to its sender, in its own turn, with the tool call and the state to be seen."""

    async def scene(target, session):
        for number, text in enumerate(("lyon", "34"), 1):
            await target.handle(session.for_turn(number, 0.0), Inbound(id=f"i{number}", text=text, sender=LEA))
        turn = seen(session, 2)
        assert [("save_profile", {"age": 34})] == [(t.name, t.arguments) for t in turn.tools]
        assert {"lea"} == {b.to for b in turn.bubbles}
        state = await target.state(session)
        assert ("Lyon", "profiling", 4) == (state["user"]["city"], state["user"]["stage"], state["outbox"])
        assert "Write in small letters." in session.model.asked[0][0].content

    play(fresh_database, tmp_path, scene, given={"user": {"stage": "profiling", "first_name": "Léa"}})


def test_an_event_and_time(fresh_database, tmp_path):
    """Events and passed time reach the orchestrator, for the persona and for others by their address."""
    given = {
        "user": {"stage": "profiling", "first_name": "Léa", "last_seen": NOON - timedelta(days=3)},
        "noah": {"stage": "profiling", "first_name": "Noah", "language": "en", "last_seen": NOON},
    }

    async def scene(target, session):
        await target.advance(session.for_turn(1, 0.0), NOON)
        await target.dispatch(session.for_turn(2, 0.0), Event(name="profile_reminder", data={}, participant=NOAH))
        assert [{"lea"}, {"noah"}] == [{b.to for b in seen(session, n).bubbles} for n in (1, 2)]
        assert "Noah" == (await target.state(session))["noah"]["first_name"]

    play(fresh_database, tmp_path, scene, given=given)


def test_people_are_named_by_id(fresh_database, tmp_path):
    """A scenario names people by id; Ori knows them by address, in what is given and in the data of events."""
    done = {"city": "Lyon", "age": 34, "looking_for": "open", "agreed": True, "plan": "member"}
    given = {
        "user": {
            "stage": "meeting",
            "first_name": "Léa",
            **done,
            "match": {"with": "noah", "answer": True, "their_answer": True},
        },
        "noah": {"stage": "profiling", "first_name": "Noah", "blocked": ["user"]},
    }

    async def scene(target, session):
        assert ["+33600000002"] == (await target.state(session))["blocked"]
        await target.dispatch(
            session.for_turn(1, 0.0), Event(name="profile_reminder", data={"match": "user"}, participant=NOAH)
        )
        assert () == tuple(seen(session, 1).bubbles)

    play(fresh_database, tmp_path, scene, given=given)


def test_a_failed_model_stays_itself(fresh_database, tmp_path):
    """A failure of the model comes out as evalrun raised it, so that it is not held against Ori."""

    async def scene(target, session):
        with pytest.raises(ModelFailed):
            await target.handle(session.for_turn(1, 0.0), Inbound(id="i", text="salut", sender=LEA))
        assert () == tuple(seen(session, 1).bubbles)

    play(fresh_database, tmp_path, scene, given={}, model=ScriptedEndpoint(ModelFailed("down", remedy="wait")))


def test_given_for_nobody(fresh_database, tmp_path):
    """A given state for somebody the scenario does not have is refused by name."""

    async def scene(_target, _session):
        raise AssertionError("the trial was opened")

    with pytest.raises(FixtureRefused, match=r"state\.bob is not one of user, noah"):
        play(fresh_database, tmp_path, scene, given={"bob": {"stage": "welcome"}})
