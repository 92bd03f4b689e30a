"""One turn on a target: what is observed, how it settles, what comes late. Case B20; faults are in test_turn_faults."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta

import asyncpg
import pytest

from evalrun.interfaces.targets import Event, Settle
from evalrun.testing import FixedModel
from evalrun.transcript import InboundKind, Observed, Opening
from evalrun.turn_play import Move, play_turn
from tests.sessions import LEA, blank, move_of, played, session_of, target_of


def texts(turn):
    """What was said in a turn."""
    return [b.text for b in turn.bubbles]


@pytest.mark.parametrize(
    ("reply", "observed", "said"),
    [
        ("bonjour", Observed.REPLIED, ["bonjour"]),
        (["un", "deux\n\ntrois"], Observed.REPLIED, ["un", "deux\n\ntrois"]),
        (None, Observed.SILENT, []),
        ([], Observed.SILENT, []),
        ("", Observed.REPLIED, [""]),
    ],
)
def test_a_turn_is_replied_or_silent(reply, observed, said):
    """A reply and silence are different observations; an empty text is no silence."""
    turn = asyncio.run(played(lambda text: reply, session_of()))
    assert (turn.observed, texts(turn), turn.settled_by, turn.tools) == (observed, said, "return", None)


def test_a_turn_that_takes_back_all_is_silent():
    """A message that was retracted was not said."""

    async def handle(session, inbound):
        session.retract(session.emit("pardon"))

    turn = asyncio.run(played(handle, session_of()))
    assert (turn.observed, texts(turn)) == (Observed.SILENT, ["pardon"])


class Later:
    """Answers after its handler has returned."""

    def __init__(self, settle, delays):
        self.settle = settle
        self.delays = delays
        self.working = False
        self.tasks = []

    async def handle(self, session, inbound):
        """Begin to answer."""
        self.working = True
        self.tasks.append(asyncio.ensure_future(self.answer(session)))

    async def answer(self, session):
        """Answer bit by bit."""
        for number, delay in enumerate(self.delays):
            await asyncio.sleep(delay)
            session.emit(f"m{number}")
        self.working = False

    async def idle(self, session):
        """Whether all is said."""
        return not self.working


@pytest.mark.parametrize(
    ("settle", "delays", "on_time", "late"),
    [
        (Settle(how="return"), [0.02], [], ["m0"]),
        (Settle(how="quiet", quiet=0.15), [0.05, 0.05, 0.05], ["m0", "m1", "m2"], []),
        (Settle(how="quiet", quiet=0.05), [0.02, 0.3], ["m0"], ["m1"]),
        (Settle(how="idle"), [0.05, 0.2], ["m0", "m1"], []),
    ],
)
def test_how_a_turn_settles(settle, delays, on_time, late):
    """A turn ends at the return, when it is quiet, or when the target says so; what comes later is kept as late."""

    async def scene():
        session, adapter = session_of(), Later(settle, delays)
        turn = await played(adapter, session)
        await asyncio.gather(*adapter.tasks)
        (after,) = session.refresh([turn])
        assert (turn.settled_by, texts(turn)) == (settle.how, on_time)
        assert [(b.text, b.late) for b in after.bubbles] == [*((t, False) for t in on_time), *((t, True) for t in late)]

    asyncio.run(scene())


def test_a_turn_that_does_not_end_is_timed_out():
    """A timeout is no silence: it is bounded, keeps what was said, and says by what it ended."""

    async def handle(session, inbound):
        session.emit("je cherche")
        await asyncio.sleep(60)

    turn = asyncio.run(played(handle, session_of(), timeout=0.1))
    assert (turn.observed, turn.settled_by, texts(turn)) == (Observed.TIMED_OUT, "deadline", ["je cherche"])
    assert turn.seconds < 2


def test_a_target_that_is_never_idle_is_timed_out():
    """The timeout bounds the settling too."""
    turn = asyncio.run(played(Later(Settle(how="idle"), [60]), session_of(), timeout=0.1))
    assert turn.observed is Observed.TIMED_OUT


def test_a_target_that_swallows_its_cancellation_does_not_hold_the_run():
    """A target that goes on after it was cancelled is left behind; what it says then is late, in its own turn."""

    async def scene():
        stop = asyncio.Event()

        async def handle(session, inbound):
            while not stop.is_set():
                try:
                    await asyncio.sleep(0.05)
                except asyncio.CancelledError:
                    session.emit("je continue")

        session = session_of()
        began = time.monotonic()
        turn = await played(handle, session, timeout=0.1)
        assert (turn.observed, time.monotonic() - began < 3) == (Observed.TIMED_OUT, True)
        assert [(b.text, b.late) for b in session.refresh([turn])[0].bubbles] == [("je continue", True)]
        stop.set()
        await asyncio.sleep(0.1)

    asyncio.run(scene())


def test_the_deadline_is_told_to_the_target():
    """The session of a turn knows when it times out, in monotonic seconds."""
    seen = []

    async def handle(session, inbound):
        seen.append(session.deadline - time.monotonic())

    asyncio.run(played(handle, session_of(), timeout=7.0))
    assert 6.5 < seen[0] <= 7.0


def test_a_cancelled_run_is_cancelled():
    """Cancelling who plays the turn cancels the target, and is not taken for a timeout or a fault."""
    seen = []

    async def handle(session, inbound):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def scene():
        task = asyncio.ensure_future(played(handle, session_of()))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scene())
    assert seen == ["cancelled"]


def test_an_event_is_dispatched():
    """An event reaches the target with its data, and what it says belongs to the turn."""

    class Bot:
        """Speaks first."""

        async def handle(self, session, inbound):
            """Say nothing."""

        async def dispatch(self, session, event):
            """Tell of the match."""
            return f"{event.participant.name}: {event.data['match']}"

    move = Move(
        opening=Opening(kind=InboundKind.EVENT, event="match"),
        allowed=("lea",),
        silent=True,
        event=Event(name="match", data={"match": "noah"}, participant=LEA),
    )
    turn = asyncio.run(play_turn(target_of(Bot()), session_of(), move))
    assert (texts(turn), turn.silence_expected, turn.opening.event) == (["Léa: noah"], True, "match")


def test_time_passes_in_the_database_before_the_target_hears_of_it(database):
    """The database's times move back, then the target runs what is due; columns that are kept stay."""

    class Bot:
        """Looks at what is due."""

        async def handle(self, session, inbound):
            """Say nothing."""

        async def advance(self, session, now):
            """Say what is due."""
            rows = await session.database.fetch("select due::date::text, born::text from jobs")
            session.emit(" ".join(rows[0]))

    async def scene():
        connection = await asyncpg.connect(database.dsn)
        await connection.execute("create table jobs (due timestamptz, born date)")
        await connection.execute("insert into jobs values ('2026-03-10 12:00+00', '2000-01-01')")
        await connection.close()
        move = Move(
            opening=Opening(kind=InboundKind.TIME, seconds=259_200),
            allowed=("lea",),
            interval=timedelta(days=3),
            keep_columns=("born",),
        )
        turn = await play_turn(target_of(Bot()), session_of(database=database), move)
        assert texts(turn) == ["2026-03-07 2000-01-01"]

    asyncio.run(scene())


def test_time_passes_without_a_target_that_listens():
    """A target without advance() and without a database stays silent when time passes."""
    move = Move(opening=Opening(kind=InboundKind.TIME), allowed=("lea",), interval=timedelta(days=3))
    turn = asyncio.run(play_turn(target_of(lambda text: "x"), session_of(), move))
    assert (turn.observed, texts(turn)) == (Observed.SILENT, [])


def test_b20_a_timed_out_worker_reaches_neither_the_next_turn_nor_the_next_trial(cluster):
    """Sync code that goes on after its timeout finds its database dropped, its session closed, and nobody else's."""
    finished = []

    def slow(session, inbound):
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline:
            time.sleep(0.02)
        try:
            asyncio.run(write(session.database.dsn, "late"))
        except (asyncpg.PostgresError, OSError) as e:
            finished.append(type(e).__name__)
        session.emit("trop tard")

    async def write(dsn, body):
        connection = await asyncpg.connect(dsn)
        await connection.execute("create table if not exists messages (body text)")
        await connection.execute("insert into messages values ($1)", body)
        await connection.close()

    first, second = cluster.database(), cluster.database()
    began = time.monotonic()
    session = session_of(database=first)
    turn = asyncio.run(played(slow, session, timeout=0.2))
    session.end()
    cluster.forget(first)
    assert (turn.observed, time.monotonic() - began < 1.0) == (Observed.TIMED_OUT, True)

    other = session_of(database=second, name="s-2")
    asyncio.run(write(second.dsn, "own"))
    while not finished and time.monotonic() - began < 5:
        time.sleep(0.02)
    time.sleep(0.05)
    assert asyncio.run(second.fetch("select count(*) from messages")) == ((1,),)
    assert finished == ["InvalidCatalogNameError"]
    assert (session.recorder.strays, other.recorder.turn(blank()).bubbles) == (1, ())
    cluster.forget(second)


def test_turns_of_many_trials_side_by_side_do_not_mix():
    """Forty sessions on one target at once each get their own replies."""

    async def handle(session, inbound):
        await asyncio.sleep(0.01)
        session.emit(f"{session.id}: {inbound.text}")

    async def scene():
        target = target_of(handle)
        sessions = [session_of(name=f"s-{n}") for n in range(40)]
        turns = await asyncio.gather(*(play_turn(target, s, move_of(f"t{s.id}")) for s in sessions))
        assert [texts(t) for t in turns] == [[f"s-{n}: ts-{n}"] for n in range(40)]

    asyncio.run(scene())


def test_a_model_that_is_asked_answers():
    """The model of the session is what the target asks."""
    model = FixedModel("bien sûr")

    async def handle(session, inbound):
        return (await session.model.complete([], max_output_tokens=5)).text

    turn = asyncio.run(played(handle, session_of(model=model)))
    assert (texts(turn), len(model.asked)) == (["bien sûr"], 1)
