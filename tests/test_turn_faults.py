"""Every way a target can fail in a turn, told from what is not its fault. Case B19."""

from __future__ import annotations

import asyncio

import pytest

from evalrun.errors import BudgetReached, DatabaseFailed, EvalrunError, ModelFailed, TargetFailed
from evalrun.transcript import Turn
from evalrun.turn_play import state_of
from tests.sessions import played, session_of, target_of

DOWN = ModelFailed("the model is down", remedy="wait")
BROKE = BudgetReached("the cap is reached", remedy="raise it")


def texts(turn):
    """What was said in a turn."""
    return [b.text for b in turn.bubbles]


def raising(error):
    """An adapter that says something and raises."""

    async def handle(session, inbound):
        session.emit("avant la panne")
        raise error

    return handle


def test_b19_an_exception_is_an_error_of_the_target_with_its_traceback():
    """What a target raises is TargetFailed with its place and traceback; what it said before is kept on the turn."""
    with pytest.raises(
        TargetFailed, match=r"raised RuntimeError: db down at test_turn_faults.py:\d+ in turn 2"
    ) as failed:
        asyncio.run(played(raising(RuntimeError("db\ndown")), session_of(), number=2))
    assert ("Traceback" in failed.value.detail, "in handle" in failed.value.detail) == (True, True)
    assert "turn_play.py" not in failed.value.detail  # how it was called says nothing to its author
    turn = failed.value.turn
    assert isinstance(turn, Turn)
    assert (turn.number, turn.settled_by, texts(turn)) == (2, "raised", ["avant la panne"])


def wrapped(error, how):
    """The error as products wrap it."""

    async def handle(session, inbound):
        session.emit("avant la panne")
        try:
            raise error
        except EvalrunError as e:
            if how == "from":
                raise RuntimeError("llm failed") from e
            if how == "context":
                raise RuntimeError("llm failed")  # noqa: B904  as it is often written
            if how == "group":
                raise ExceptionGroup("several", [ValueError("x"), RuntimeError("y"), e]) from None
            raise

    return handle


@pytest.mark.parametrize("how", ["plain", "from", "context", "group"])
@pytest.mark.parametrize("error", [DOWN, BROKE, DatabaseFailed("gone", remedy="start it")])
def test_what_is_not_the_targets_fault_passes_as_itself(error, how):
    """A failed model, the budget and the database are told from the product, also wrapped; what was said is kept."""
    with pytest.raises(type(error)) as failed:
        asyncio.run(played(wrapped(error, how), session_of()))
    assert failed.value is error
    assert texts(failed.value.turn) == ["avant la panne"]


class Unspeakable(Exception):
    """An error that cannot even be shown."""

    def __str__(self):
        """Fail."""
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SystemExit(0), r"sys\.exit\(0\)"),
        (StopIteration("x"), "StopIteration"),
        (asyncio.CancelledError("inner task"), "CancelledError"),
        (Unspeakable(), "Unspeakable"),
        (TimeoutError("upstream"), "TimeoutError: upstream"),
        (ExceptionGroup("two", [ValueError("a"), KeyError("b")]), "two"),
        (ValueError("x" * 5000), "x{200}"),
    ],
)
@pytest.mark.parametrize("in_thread", [False, True])
def test_b19_no_way_to_fail_passes_for_anything_else(error, said, in_thread):
    """Leaving the process, an own cancellation, an own timeout: each is an error of the target, none ends the run."""

    def handle_in_thread(session, inbound):
        raise error

    handle = handle_in_thread if in_thread else raising(error)
    with pytest.raises(TargetFailed, match=said) as failed:
        asyncio.run(played(handle, session_of()))
    assert len(failed.value.message) < 500
    assert isinstance(failed.value.turn, Turn)


@pytest.mark.parametrize(
    ("error", "expected", "said"),
    [
        (KeyError("stage"), TargetFailed, r"raised KeyError: 'stage' at test_turn_faults.py:\d+ in state"),
        (DOWN, ModelFailed, "down"),
    ],
)
def test_a_state_that_cannot_be_read_is_an_error_of_the_target(error, expected, said):
    """What state() raises is the target's, not ours; what is not its fault passes as itself."""

    class Bot:
        """Has a broken state."""

        def handle(self, session, inbound):
            """Say nothing."""

        async def state(self, session):
            """Fail."""
            raise error

    with pytest.raises(expected, match=said):
        asyncio.run(state_of(target_of(Bot()), session_of()))
