"""The record of a session: pushed from anywhere, late or not, never in another turn or trial."""

from __future__ import annotations

import threading

import pytest

from evalrun import archive
from evalrun.errors import TargetFailed
from evalrun.interfaces.targets import Outgoing
from evalrun.results import TrialResult
from evalrun.transcript import Transcript
from evalrun.verdict import Outcome
from tests.sessions import NOON, blank, session_of


def test_output_from_many_threads_is_all_there():
    """Every message from every thread is kept once, with an id of its own."""
    session = session_of().for_turn(1, 0.0)
    ids: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: ids.extend(session.emit(f"{n}-{i}") for i in range(50))) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bubbles = session.recorder.turn(blank()).bubbles
    assert (len(set(ids)), {b.text for b in bubbles}) == (400, {f"{n}-{i}" for n in range(8) for i in range(50)})


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        (None, "lea"),
        ("", "lea"),
        ("noah", "noah"),
        ("+33600000002", "noah"),
        ("+33699999999", "+33699999999"),
        ("Noah", "Noah"),
    ],
)
def test_a_recipient_is_found_by_id_or_address(to, expected):
    """Ids and addresses name participants; somebody unknown is kept as given, so that the recipient check sees it."""
    session = session_of().for_turn(1, 0.0)
    session.emit("bonjour", to)
    session.emit(Outgoing(text="bonjour", to=to or ""))
    assert [b.to for b in session.recorder.turn(blank()).bubbles] == [expected] * 2


def test_what_comes_late_stays_in_its_own_turn():
    """A message through the view of a settled turn is kept there, flagged late, while another turn goes on."""
    session = session_of()
    first, second = session.for_turn(1, 0.0), session.for_turn(2, 0.0)
    first.emit("à temps")
    session.recorder.settle(1)
    second.emit("tour deux")
    first.emit("en retard")
    one, two = session.refresh([blank(1), blank(2)])
    assert [(b.text, b.late) for b in one.bubbles] == [("à temps", False), ("en retard", True)]
    assert [(b.text, b.late) for b in two.bubbles] == [("tour deux", False)]


def test_after_the_trial_nothing_is_recorded():
    """What comes after the end is counted and dropped, and changes nothing that is known."""
    session = session_of()
    view = session.for_turn(1, 0.0)
    view.emit("vu")
    session.end()
    view.emit("trop tard")
    view.tool("late_tool", {})
    view.route("a", "b")
    other = session_of(name="s-2")
    turn = session.recorder.turn(blank())
    assert ([b.text for b in turn.bubbles], turn.tools, turn.routes) == (["vu"], None, ())
    assert (session.recorder.strays, other.recorder.turn(blank()).bubbles) == (3, ())


def test_a_message_can_be_taken_back_in_a_later_turn():
    """A retracted message stays in its turn, marked; ids nobody knows are harmless."""
    session = session_of()
    kept, wrong = (session.for_turn(1, 0.0).emit(t) for t in ("oui", "non"))
    session.for_turn(2, 0.0).retract(wrong)
    session.retract("m999")
    turn = session.recorder.turn(blank())
    assert [(b.id, b.retracted) for b in turn.bubbles] == [(kept, False), (wrong, True)]
    assert [b.text for b in turn.said] == ["oui"]


@pytest.mark.parametrize(
    ("declared", "called", "expected"), [(False, 0, None), (True, 0, 0), (False, 1, 1), (True, 1, 1)]
)
def test_b24_no_tools_seen_is_not_no_tools_called(declared, called, expected):
    """Tools are None unless the target declares tools or a call was recorded; then no call is an empty tuple."""
    session = session_of(sees_tools=declared)
    for _ in range(called):
        session.for_turn(1, 0.0).tool("find_quote", {"id": 17})
    tools = session.recorder.turn(blank()).tools
    assert (None if tools is None else len(tools)) == expected


def test_b18_a_tool_only_turn_and_empty_texts_are_different():
    """A call without text acts and says nothing; an empty text is a bubble, and is kept for the rules to see."""
    acted, empty, nothing = (session_of(sees_tools=True).for_turn(1, 0.0) for _ in range(3))
    acted.tool("find_quote", {"id": 17})
    empty.emit("")
    turns = [s.recorder.turn(blank()) for s in (acted, empty, nothing)]
    assert [(t.acted, len(t.said)) for t in turns] == [(True, 0), (False, 1), (False, 0)]


def test_a_call_is_kept_as_it_was():
    """Arguments a target goes on changing are seen as they were when the tool was called."""
    session = session_of().for_turn(1, 0.0)
    arguments: dict[str, object] = {"cities": ["Lyon"]}
    session.tool("save", arguments, result={"ok": True}, agent="profiler")
    arguments["cities"] = []
    call = session.recorder.turn(blank()).tools[0]
    assert (call.arguments, call.result, call.agent) == ({"cities": ["Lyon"]}, {"ok": True}, "profiler")


def cyclic():
    """A list that holds itself."""
    value: list[object] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("text", "kept", "sanitised"),
    [("a\x00b", "a␀b", True), ("ok \ud83d", "ok �", True), ("ok 😀", "ok 😀", False)],
)
def test_b68_texts_that_cannot_be_stored_are_shown(text, kept, sanitised):
    """NUL and half a surrogate become visible and flagged, in bubbles and in tool calls, and the trial can be stored."""
    session = session_of().for_turn(1, 0.0)
    session.emit(text, to=f"x{text}")
    session.tool("note", {"note": text, "more": [cyclic(), object()]}, error=text)
    turn = session.recorder.turn(blank())
    bubble, call = turn.bubbles[0], turn.tools[0]
    assert (bubble.text, bubble.to, bubble.sanitised) == (kept, f"x{kept}", sanitised)
    assert (call.arguments["note"] if isinstance(call.arguments, dict) else kept, call.error) == (kept, kept)
    result = TrialResult(
        scenario="s",
        number=1,
        outcome=Outcome.PASS,
        fact=True,
        code="",
        reason="",
        transcript=Transcript(turns=(turn,)),
        started=NOON,
    )
    again = archive.decode(TrialResult, archive.encode(result))
    assert again.transcript.turns[0].bubbles[0].text == kept


def test_b68_a_text_of_five_megabytes_is_cut_visibly():
    """A reply nobody can read is cut, says so, and is flagged."""
    session = session_of().for_turn(1, 0.0)
    session.emit("x" * 5_000_000)
    bubble = session.recorder.turn(blank()).bubbles[0]
    assert (bubble.sanitised, bubble.text[-30:], len(bubble.text) < 201_000) == (
        True,
        "… [4800000 characters cut]"[-30:].rjust(30, "x"),
        True,
    )


@pytest.mark.parametrize("text", [None, 7, b"bytes", ["list"]])
def test_what_is_no_text_is_refused_at_once(text):
    """Emitting something else than text is told to the target in its own words, where it happens."""
    with pytest.raises(TargetFailed, match=f"emitted {type(text).__name__}, not text"):
        session_of().emit(Outgoing(text=text))
    with pytest.raises(TargetFailed, match=f"emitted {type(text).__name__}, not text"):
        session_of().emit(text)
