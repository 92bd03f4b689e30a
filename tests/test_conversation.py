"""One conversation: steps in order, why it ends, what is known of it at any moment."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.conversation import Conversation
from evalrun.errors import CannotJudge, SimulatorFault, TargetFailed
from evalrun.expectation import Expectations
from evalrun.scenario import AdvanceStep
from evalrun.transcript import Ending, InboundKind, Observed, Turn
from tests.playing import HERE, checkpoint, conversation, event, in_state, persona, replies, rows, says, user
from tests.sessions import NOON, session_of

ASKS = ("combien ça coûte ?", "et pour deux ?", "c'est loin ?", "on se voit quand ?", "et si je viens seule ?")


def played(talk: Conversation) -> Conversation:
    """The conversation once it has ended."""
    asyncio.run(talk.play())
    return talk


def said(turn: Turn) -> list[str]:
    """What the agent said."""
    return [b.text for b in turn.said]


def echo(text: str) -> str:
    """A bot."""
    return f"tu dis {text}"


class Everything:
    """A bot with all capabilities; it counts its turns in its state."""

    def __init__(self):
        self.heard = []

    def handle(self, session, inbound):
        """Say how many."""
        self.heard.append(inbound)
        return f"tour {len(self.heard)}"

    def dispatch(self, session, event):
        """Tell whom it is about."""
        self.heard.append(event)
        session.emit("bonjour", to=event.participant.id)

    def advance(self, session, now):
        """Say what day it is."""
        self.heard.append(now)
        return f"on est le {now:%d}"

    def state(self, session):
        """So many turns."""
        return {"turns": len(self.heard)}


def test_steps_are_played_in_order_scripted_and_simulated_mixed() -> None:
    """Each step is a turn with its own number; the persona's model is asked for its own turns only."""
    talk = played(conversation(echo, user("un"), persona(2), user("deux"), lines=ASKS))
    assert [(t.number, t.opening.text, t.opening.simulated) for t in talk.turns] == [
        (1, "un", False),
        (2, ASKS[0], True),
        (3, ASKS[1], True),
        (4, "deux", False),
    ]
    assert [said(t) for t in talk.turns][-1] == ["tu dis deux"]
    assert (talk.ending, talk.transcript.names) == (Ending.STEPS_DONE, {"lea": "Léa", "noah": "Noah"})


@pytest.mark.parametrize(
    ("lines", "ending", "turns"),
    [
        (ASKS, Ending.TURNS_USED, 3),
        ([ASKS[0], ("merci, c'est noté", True)], Ending.PERSONA_DONE, 2),
        ([ASKS[0], ("", True)], Ending.PERSONA_DONE, 1),
    ],
)
def test_why_a_persona_stops(lines: list[str], ending: Ending, turns: int) -> None:
    """Its turns are used up or it is done; a message with `done` is delivered and answered, none is no turn."""
    talk = played(conversation(lambda text: "c'est 20 euros", persona(3), lines=lines))
    assert (ending, turns) == (talk.ending, len(talk.turns))
    assert all(t.said for t in talk.turns)


def test_b12_two_closing_exchanges_are_enough() -> None:
    """Both sides said goodbye twice: no third time is paid for; one exchange alone does not end it."""
    bot = iter(["bonne journée !", "c'est 20 euros", "au revoir !", "bonne soirée !", "encore ?"])
    lines = ["au revoir", ASKS[0], "merci, bonne journée", "merci, à bientôt", "non"]
    talk = played(conversation(lambda text: next(bot), persona(20), lines=lines))
    assert (talk.ending, len(talk.turns)) == (Ending.GOODBYES, 4)


def test_what_ends_the_personas_turns_does_not_end_the_scenario() -> None:
    """The steps after it are played."""
    talk = played(conversation(echo, persona(9), user("encore"), lines=[(ASKS[0], True)]))
    assert (talk.ending, talk.turns[-1].opening.text) == (Ending.STEPS_DONE, "encore")


@pytest.mark.parametrize(
    ("until", "turns", "ending"),
    [
        (in_state("turns", 2), 2, Ending.UNTIL_MET),
        (says("tour 3"), 3, Ending.UNTIL_MET),
        (in_state("turns", 9), 4, Ending.TURNS_USED),
    ],
)
def test_until_is_looked_at_after_each_turn(until: Expectations, turns: int, ending: Ending) -> None:
    """And stops the persona the first time it holds."""
    talk = played(conversation(Everything(), persona(4, until), lines=ASKS))
    assert (turns, ending) == (len(talk.turns), talk.ending)


class Slow:
    """Answers the first message only when the second has come."""

    def __init__(self, how):
        self.first = None
        self.how = how

    async def handle(self, session, inbound):
        """Keep the first turn's session."""
        if self.first is None:
            self.first = session
            self.sent = session.emit("je regarde le tarif")
            return
        if self.how == "late":
            self.first.emit("c'est 20 euros")
        else:
            session.retract(self.sent)
        session.emit("voilà")


@pytest.mark.parametrize(
    ("how", "until", "turns"),
    [("late", says("20 euros"), 2), ("retracted", replies(max=1, min=1), 1), ("retracted", says("tarif", "voilà"), 3)],
)
def test_until_sees_the_turns_as_they_stand(how: str, until: Expectations, turns: int) -> None:
    """A message that came late to an earlier turn counts; one that was taken back does not."""
    talk = conversation(Slow(how), persona(3, until), lines=ASKS)
    asyncio.run(talk.play())
    assert turns == len(talk.turns)


def test_an_until_that_cannot_be_looked_at_is_an_error() -> None:
    """Never a condition that simply does not hold."""
    talk = conversation(echo, persona(2, in_state("stage", "x")), lines=ASKS)
    with pytest.raises(CannotJudge, match=r"`until` cannot be checked: state.stage: the adapter reports no state"):
        asyncio.run(talk.play())


def test_checkpoints_keep_the_evidence_of_their_moment() -> None:
    """What the state was then, not what it became; the last one is final and stands where the scenario does."""
    wanted = in_state("turns", 1)
    talk = played(conversation(Everything(), user("a"), checkpoint(wanted), user("b"), expect=in_state("turns", 2)))
    seen = [(c.turn, c.evidence.state, c.final) for c in talk.checkpoints]
    assert [(1, {"turns": 1}, False), (2, {"turns": 2}, True)] == seen


def test_without_a_database_a_query_is_an_error_in_the_evidence() -> None:
    """The judge then says that it could not be checked."""
    talk = played(conversation(echo, user("a"), expect=rows("select 1", 1)))
    assert [(r.query, r.error) for r in talk.evidence.sql] == [("select 1", "the target has no database")]


def test_queries_are_asked_once_and_a_broken_one_is_told(database) -> None:
    """Two expectations on one query are one question; what the server refuses is kept as its error."""
    one, two = rows("select 1 as n", 1), rows("select 1 as n", 2)
    bad = rows("select nothing from nowhere", 1)
    wanted = Expectations(sql=(*one.sql, *two.sql, *bad.sql))
    talk = conversation(echo, user("a"), expect=wanted, session=session_of(database=database))
    asyncio.run(talk.play())
    first, broken = talk.evidence.sql
    assert ((1,),) == first.rows
    assert "nowhere" in broken.error


def test_silence_that_a_step_expects_is_marked_on_the_turn_before_it() -> None:
    """So that saying nothing is no hard finding there, and only there."""
    talk = played(conversation(lambda text: None, user("a"), checkpoint(silence=True), user("b")))
    assert [(t.silence_expected, t.observed) for t in talk.turns] == [(True, Observed.SILENT), (False, Observed.SILENT)]
    assert [c.silence for c in talk.checkpoints] == [True, False]


def test_an_event_reaches_whom_it_is_about_with_times_resolved() -> None:
    """The agent speaks first, may write to those the step names, and relative times follow the trial's clock."""
    bot = Everything()
    step = event("rappel", data={"when": "now-3d", "who": "noah"}, participant="noah", to=("lea",))
    [turn] = played(conversation(bot, step)).turns
    assert (turn.opening.kind, turn.opening.sender, turn.allowed) == (InboundKind.EVENT, "noah", ("noah", "lea"))
    assert [b.to for b in turn.bubbles] == ["noah"]
    assert bot.heard[0].data == {"when": NOON - timedelta(days=3), "who": "noah"}


def test_time_that_passes_is_a_turn() -> None:
    """The agent may speak first when its jobs are due."""
    step = AdvanceStep(interval=timedelta(days=3), where=HERE)
    [turn] = played(conversation(Everything(), step)).turns
    assert (turn.opening.kind, turn.opening.seconds, turn.allowed) == (InboundKind.TIME, 3 * 86_400, ("lea",))
    assert said(turn)[0].startswith("on est le ")


def test_another_participant_may_write() -> None:
    """Their message is theirs, and the agent answers to them."""
    [turn] = played(conversation(echo, user("salut", sender="noah"))).turns
    assert (turn.opening.sender, turn.allowed) == ("noah", ("noah",))


def test_a_watch_stops_the_conversation_at_once() -> None:
    """Nothing more is said or looked at; the ending and its reason are those of the watch."""
    stop = (Ending.HARD_FINDING, "two questions")
    heard = []

    def bot(text):
        heard.append(text)
        return "ok"

    talk = conversation(
        bot,
        user("a"),
        user("b"),
        user("c"),
        expect=says("never"),
        watch=lambda transcript, _points, _evidence: stop if len(transcript.turns) == 2 else None,
    )
    asyncio.run(talk.play())
    assert (talk.ending, talk.ending_detail, heard, talk.checkpoints) == (*stop, ["a", "b"], [])


def test_a_watch_stops_the_persona_too() -> None:
    """No draft is paid for after a hard finding."""
    talk = conversation(echo, persona(5), lines=ASKS[:1], watch=lambda *_: (Ending.HARD_FINDING, "no"))
    asyncio.run(talk.play())
    assert (talk.ending, len(talk.turns)) == (Ending.HARD_FINDING, 1)


def test_a_turn_that_does_not_settle_ends_it() -> None:
    """What was said is kept, nothing is played after it."""

    async def bot(session, inbound):
        session.emit("un instant")
        await asyncio.sleep(30)

    talk = played(conversation(bot, user("a"), user("b"), turn_timeout=0.2))
    assert (talk.ending, said(talk.turns[0]), len(talk.turns)) == (Ending.TIMEOUT, ["un instant"], 1)
    assert talk.ending_detail == "the agent did not settle turn 1 within 0.2 s"


def test_what_was_said_before_a_fault_is_kept() -> None:
    """A broken turn is part of the transcript."""

    def bot(session, inbound):
        session.emit("avant")
        raise RuntimeError("db down")

    talk = conversation(bot, user("a"))
    with pytest.raises(TargetFailed):
        asyncio.run(talk.play())
    assert [said(t) for t in talk.transcript.turns] == [["avant"]]


def test_a_draft_that_is_refused_is_a_warning_and_twice_a_fault() -> None:
    """The first is said in the transcript, the second ends the trial; neither reaches the agent."""
    heard = []
    bad = "Comment puis-je vous aider ?"
    talk = conversation(lambda text: heard.append(text) or "ok", persona(2), lines=[bad, ASKS[0], bad, bad])
    with pytest.raises(SimulatorFault):
        asyncio.run(talk.play())
    assert ([ASKS[0]], 1) == (heard, len(talk.transcript.warnings))


def test_who_is_waited_for_is_told() -> None:
    """The terminal shows it while it goes on."""
    told = []
    played(conversation(echo, user("a"), persona(1), lines=ASKS, tell=lambda *what: told.append(what)))
    assert [(1, "agent"), (2, "persona"), (2, "agent")] == told


STEPS = st.lists(
    st.one_of(
        st.builds(user, st.sampled_from(["a", "b ?", "c"])),
        st.builds(persona, st.integers(1, 3)),
        st.builds(event, st.just("rappel")),
        st.builds(checkpoint),
        st.just(AdvanceStep(interval=timedelta(hours=1), where=HERE)),
    ),
    min_size=1,
    max_size=6,
)


@given(STEPS, st.lists(st.booleans(), min_size=18, max_size=18))
def test_any_steps_give_turns_numbered_in_order(steps: list, leaves: list[bool]) -> None:
    """Never more turns than the steps can give; one checkpoint for each expect and one at the end; one ending."""
    lines = [(f"question {n} ?", done) for n, done in enumerate(leaves)]
    bot = Everything()
    talk = played(conversation(bot, *steps, lines=lines))
    assert [t.number for t in talk.turns] == list(range(1, len(talk.turns) + 1))
    assert len(talk.turns) <= talk.on.scenario.turns_at_most()
    scripted = [s.text for s in steps if hasattr(s, "text")]
    users = [t.opening for t in talk.turns if t.opening.kind is InboundKind.USER]
    assert scripted == [o.text for o in users if not o.simulated]
    ids = [h.id for h in bot.heard if hasattr(h, "id")]
    assert len(ids) == len(set(ids))
    assert [c.final for c in talk.checkpoints] == [False] * sum(s == checkpoint() for s in steps) + [True]
    assert talk.ending in (Ending.STEPS_DONE, Ending.TURNS_USED, Ending.PERSONA_DONE)
