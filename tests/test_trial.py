"""The boundary of a trial: whose fault it was, with outcome, code and ending; what it was given; what it cost."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from evalrun.config import Timeouts
from evalrun.scenario import Given, Participant
from evalrun.transcript import Ending
from evalrun.verdict import Outcome
from tests.playing import in_state, persona, says, scenario_of, user
from tests.scripted_server import Answer
from tests.sessions import NOON
from tests.trials import Servers, Table, asks, on_table, result_of

TALKS = scenario_of(persona(2))
ASSISTANT = '{"message": "Bonjour ! Comment puis-je vous aider ?", "done": false}'
REFUSED = Answer(text="invalid key", status=401)


def raises(text):
    """A bot that breaks."""
    raise RuntimeError("db down")


async def hangs(text):
    """A bot that never settles."""
    await asyncio.sleep(60)


class Wrapped:
    """A bot whose `where` asks its model and wraps what goes wrong."""

    def __init__(self, where):
        setattr(self, where, self.ask)

    def handle(self, session, inbound):
        """Answer."""
        return "bonjour"

    async def ask(self, session):
        """Ask."""
        try:
            await asks(session, user("x"))
        except Exception as e:
            raise RuntimeError("the agent could not start") from e


@pytest.mark.parametrize(
    ("bot", "scenario", "script", "expected"),
    [
        (lambda t: "bonjour", None, None, (Outcome.PASS, "pass", Ending.STEPS_DONE)),
        (lambda t: "qui ? où ?", None, None, (Outcome.FAIL, "one-question", Ending.HARD_FINDING)),
        (lambda t: None, None, None, (Outcome.FAIL, "empty_reply", Ending.HARD_FINDING)),
        (
            lambda t: "non",
            scenario_of(user("a"), expect=says("oui")),
            None,
            (Outcome.FAIL, "expectation_unmet", Ending.STEPS_DONE),
        ),
        (
            lambda t: "non",
            scenario_of(user("a"), expect=in_state("x", 1)),
            None,
            (Outcome.ERROR, "expectation_broken", Ending.STEPS_DONE),
        ),
        (raises, None, None, (Outcome.ERROR, "target", Ending.AGENT_ERROR)),
        (hangs, None, None, (Outcome.ERROR, "agent_timeout", Ending.TIMEOUT)),
        (asks, None, REFUSED, (Outcome.ERROR, "key_refused", Ending.HARNESS_ERROR)),
        (Wrapped("open"), None, REFUSED, (Outcome.ERROR, "key_refused", Ending.HARNESS_ERROR)),
        (Wrapped("close"), None, REFUSED, (Outcome.ERROR, "key_refused", Ending.HARNESS_ERROR)),
        (lambda t: "ok", TALKS, REFUSED, (Outcome.ERROR, "key_refused", Ending.HARNESS_ERROR)),
        (lambda t: "ok", TALKS, ASSISTANT, (Outcome.INVALID, "simulator_speaks_as_assistant", Ending.SIMULATOR_FAULT)),
    ],
)
def test_each_fault_is_whose_it_is(bot, scenario, script, expected) -> None:
    """The agent answers for the agent alone; every outcome has a code, a reason and an ending."""
    result = result_of(bot, scenario, lambda *_: script or "ok", timeouts=Timeouts(turn=0.3, trial=20))
    assert expected == (result.outcome, result.code, result.transcript.ending)
    assert result.reason


def test_an_exception_keeps_its_traceback_and_what_was_said() -> None:
    """For the report; it is no part of the one-line reason."""

    def bot(session, inbound):
        session.emit("un instant")
        raise RuntimeError("db down")

    result = result_of(bot)
    assert ("RuntimeError: db down" in result.reason, "Traceback" in result.detail) == (True, True)
    assert [b.text for t in result.transcript.turns for b in t.bubbles] == ["un instant"]


def test_money_running_out_is_not_run_and_at_nobodys_expense() -> None:
    """What was said before is kept, nothing was charged beyond the cap."""
    result = result_of(asks, cap="0")
    assert (Outcome.NOT_RUN, "budget", Ending.BUDGET) == (result.outcome, result.code, result.transcript.ending)
    assert result.spending.cost == 0


def test_a_database_that_cannot_be_had_is_an_error_before_the_first_turn() -> None:
    """Nothing is dropped that was never given."""
    servers = Servers()
    result = result_of(lambda t: "ok", server=servers)
    assert (Outcome.ERROR, "database") == (result.outcome, result.code)
    assert (result.reason, servers.drops) == ("no room for s/1 (free some)", 0)


def test_a_bug_of_ours_is_an_error_with_its_traceback() -> None:
    """It neither takes the run down nor counts against the agent."""

    def tell(turn, what):
        raise ZeroDivisionError

    async def play(table: Table):
        return await table.play(tell=tell)

    result = on_table(play, lambda t: "ok")
    assert (Outcome.ERROR, "harness") == (result.outcome, result.code)
    assert "ZeroDivisionError" in result.detail


def test_a_trial_has_a_time_of_its_own() -> None:
    """Many turns that each settle in time may still take too long together."""

    async def bot(text):
        await asyncio.sleep(0.2)
        return "ok"

    scenario = scenario_of(*(user(f"{n}") for n in range(9)))
    result = result_of(bot, scenario, timeouts=Timeouts(turn=5, trial=0.5))
    assert (Outcome.ERROR, "trial_timeout") == (result.outcome, result.code)
    assert (result.reason, result.transcript.ending) == ("the trial took over 0.5 s", Ending.TIMEOUT)
    assert 1 <= len(result.transcript.turns) < 4


def test_a_trial_that_was_stopped_is_not_run() -> None:
    """With what was said until then."""

    async def play(table: Table):
        trial = table.trial(scenario_of(user("a"), user("b")))
        task = asyncio.ensure_future(trial.converse())
        await asyncio.sleep(0.3)
        task.cancel()
        await asyncio.wait({task})
        return trial.result(stopped="interrupted")

    async def bot(text):
        await asyncio.sleep(0 if text == "a" else 60)
        return "ok"

    result = on_table(play, bot)
    assert (Outcome.NOT_RUN, "interrupted") == (result.outcome, result.code)
    assert (len(result.transcript.turns), result.transcript.ending) == (1, Ending.INTERRUPTED)


class Noting:
    """A bot that keeps what it was given, and breaks where it is told."""

    def __init__(self, breaks=""):
        self.breaks = breaks
        self.opened = []
        self.closed = 0

    def open(self, session):
        """Keep the session."""
        self.opened.append(session)
        if self.breaks == "open":
            raise KeyError("city")

    def handle(self, session, inbound):
        """Answer."""
        if self.breaks == "handle":
            raise KeyError("city")
        return "bonjour"

    def close(self, session):
        """Count."""
        self.closed += 1


@pytest.mark.parametrize("breaks", ["", "open", "handle"])
def test_a_session_is_always_closed(breaks: str) -> None:
    """Also when it could not be opened; afterwards nothing is recorded."""
    bot = Noting(breaks)
    result = result_of(bot)
    assert (bot.closed, result.outcome) == (1, Outcome.ERROR if breaks else Outcome.PASS)
    bot.opened[0].emit("trop tard")
    assert "trop tard" not in str(result.transcript)
    assert bot.opened[0].recorder.strays == 1


def test_what_a_session_is_given() -> None:
    """Its name, who is there, the clock and the state with relative times resolved."""
    bot = Noting()
    given = Given(
        now=NOON,
        state={"user": {"since": "now-3d"}},
        participants=(Participant(id="noah", name="Noah", address="+336"),),
    )
    result_of(bot, scenario_of(user("a"), given=given))
    session = bot.opened[0]
    assert (session.id, sorted(session.participants), session.persona.id) == ("r1-s-1", ["lea", "noah"], "lea")
    assert session.given["user"]["since"] == NOON.replace(month=2, day=27)
    assert session.database is None


def test_all_that_was_spent_is_counted_by_role() -> None:
    """Also what a trial cost that came to nothing."""

    async def play(table: Table):
        return await table.play(TALKS)

    def script(role, body):
        return ASSISTANT if role == "persona" else "ok"

    spent = on_table(play, asks, script).spending
    assert (spent.persona.calls, spent.agent.calls, spent.judge.calls) == (2, 0, 0)
    dear = on_table(play_one, asks, lambda *_: "bonjour")
    assert (dear.spending.agent.calls, dear.spending.agent.cost) == (1, Decimal("0.00018"))


async def play_one(table: Table):
    """One trial."""
    return await table.play()
