"""Expectations on tools, replies, text, state, SQL and silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from evalrun.errors import Where
from evalrun.expectation import (
    Checkpoint,
    Evidence,
    Expectations,
    NamedTool,
    RepliesExpectation,
    SqlExpectation,
    SqlResult,
    StateExpectation,
    TextExpectation,
    ToolExpectation,
    Unmet,
)
from evalrun.matching import evaluate
from evalrun.transcript import Bubble, Observed, ToolCall, Turn
from tests.cases import HERE, turn

RIGHT: Mapping[str, object] = {"amount": 1500, "client": "Léa"}
SILENT = replace(turn(1, "bonjour"), tools=())


def point(
    expectations: Expectations, evidence: Evidence | None = None, *, at: int = 99, silence: bool = False
) -> Checkpoint:
    """A checkpoint after `at` turns."""
    return Checkpoint(expectations=expectations, evidence=evidence or Evidence(), turn=at, silence=silence, where=HERE)


def called(*arguments: object, name: str = "create_quote") -> Turn:
    """A turn in which a tool was called once for each of the arguments."""
    return turn(1, "go", tools=[ToolCall(name=name, arguments=a) for a in arguments])


def quote(*, exact: bool = False, times: int | None = 1, args: Mapping[str, object] = RIGHT) -> Expectations:
    """A call of create_quote is expected."""
    return Expectations(called=(ToolExpectation(name="create_quote", args=args, exact=exact, times=times, where=HERE),))


def not_called(name: str) -> Expectations:
    """A tool must not be called."""
    return Expectations(not_called=(NamedTool(name=name, where=HERE),))


def got(unmet: Sequence[Unmet]) -> list[str]:
    """What was found, of each."""
    return [u.got for u in unmet]


@pytest.mark.parametrize(
    "arguments",
    [
        {"amount": 1500.0, "client": "Léa"},
        '{"amount":1500,"client":"Léa"}',
        {"amount": 1500, "client": "Le\u0301a"},
        {"amount": 1500, "client": "Léa", "note": None},
    ],
)
def test_b25_the_right_call_in_another_form_is_met(arguments: object) -> None:
    """Numbers by value, text composed, JSON text decoded, extras let pass."""
    assert evaluate(point(quote()), [called(arguments)]) == ()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"amount": "1500", "client": "Léa"}, 'amount: expected 1500, got "1500" (a text, not a number)'),
        ("{amount:1500", 'its arguments are not valid JSON: "{amount:1500"'),
        ([1500, "Léa"], 'its arguments are not an object: [1500, "Léa"]'),
        ("[1500]", 'its arguments are not an object: "[1500]"'),
        (None, "amount: expected 1500, got nothing"),
    ],
)
def test_b25_the_wrong_call_fails_with_what_was_given(arguments: object, found: str) -> None:
    """A type hint, or the raw text that is no object; never a crash."""
    (unmet,) = evaluate(point(quote(times=None)), [called(arguments)])
    assert (unmet.path, unmet.broken, unmet.got) == ("tools.called.create_quote", False, found)
    assert unmet.expected == 'a call with {"amount": 1500, "client": "Léa"}'
    assert got(evaluate(point(quote()), [called(arguments)])) == [f"0 times; another call: {found}"]


def test_b25_exact_refuses_extras() -> None:
    """A note of null is an extra under `exact`."""
    extra = called({"amount": 1500, "client": "Léa", "note": None})
    assert got(evaluate(point(quote(exact=True, times=None)), [extra])) == ["expected nothing else, got note: null"]
    assert evaluate(point(quote(exact=True)), [called(dict(RIGHT))]) == ()


def test_b25_true_is_not_one() -> None:
    """A boolean never equals a number."""
    expected = quote(args={"count": 1}, times=None)
    assert got(evaluate(point(expected), [called({"count": True})])) == ["count: expected 1, got true (a boolean)"]


def test_b25_the_same_call_twice_is_not_once() -> None:
    """`times` counts matching calls over all turns; without it one is enough."""
    again = replace(called(RIGHT), number=2)
    assert got(evaluate(point(quote()), [called(RIGHT, RIGHT)])) == ["2 times"]
    assert got(evaluate(point(quote()), [called(RIGHT), again])) == ["2 times"]
    assert evaluate(point(quote(times=2)), [called(RIGHT), again]) == ()
    assert evaluate(point(quote(times=None)), [called(RIGHT, RIGHT)]) == ()


def test_times_zero_forbids_one_form_of_a_call() -> None:
    """With times 0 a call with other arguments is fine."""
    assert evaluate(point(quote(times=0)), [called({"amount": 1, "client": "Léa"})]) == ()
    assert evaluate(point(quote(times=0)), [SILENT]) == ()
    assert got(evaluate(point(quote(times=0)), [called(RIGHT)])) == ["1 time"]


def test_a_call_that_never_came_names_those_that_did() -> None:
    """The tools that were called are named."""
    assert got(evaluate(point(quote()), [called({}, name="find_quote")])) == ["not called; called: find_quote"]
    assert got(evaluate(point(quote()), [SILENT])) == ["not called; called: no tool at all"]


def test_b24_no_record_of_tools_is_broken() -> None:
    """Row 1: an adapter that reports no tool calls satisfies nothing."""
    (unmet,) = evaluate(point(not_called("delete_client")), [replace(SILENT, tools=None)])
    assert (unmet.broken, unmet.got) == (True, "the adapter reports no tool calls")
    assert evaluate(point(quote()), [SILENT, replace(SILENT, number=2, tools=None)])[0].broken


def test_b24_an_undeclared_name_is_broken_with_the_nearest() -> None:
    """Row 2: a typo in `not_called` is an error that names the tool meant."""
    evidence = Evidence(tools_declared=("find_quote", "delete_client"))
    (unmet,) = evaluate(point(not_called("delete_cleint"), evidence), [SILENT])
    assert unmet.broken
    assert unmet.got == "'delete_cleint' is no tool of the target; did you mean 'delete_client'?"
    (unmet,) = evaluate(point(not_called("zzz"), Evidence(tools_declared=())), [SILENT])
    assert unmet.got == "'zzz' is no tool of the target; known: none"


def test_b24_no_call_of_a_declared_tool_is_met() -> None:
    """Row 3: an empty record and a declared name pass; a call fails with its arguments."""
    evidence = Evidence(tools_declared=("find_quote", "delete_client"))
    assert evaluate(point(not_called("delete_client"), evidence), [SILENT]) == ()
    (unmet,) = evaluate(point(not_called("delete_client"), evidence), [called({"id": 7}, name="delete_client")])
    assert (unmet.broken, unmet.got) == (False, 'called 1 time, first with {"id": 7}')


def test_tools_before_any_turn_are_broken() -> None:
    """Nothing was played, so nothing is known."""
    assert evaluate(point(not_called("x")), [])[0].got == "no turn was played before it"


def test_a_checkpoint_looks_at_all_turns_up_to_it() -> None:
    """Earlier turns count, later ones do not, and the finding carries the checkpoint's turn."""
    turns = [called(RIGHT), turn(2, "et ?", "voilà"), replace(called(RIGHT), number=3)]
    assert evaluate(point(quote(), at=2), turns) == ()
    (unmet,) = evaluate(point(quote(), at=3), turns)
    assert (unmet.turn, unmet.where) == (3, HERE)


@pytest.mark.parametrize(
    ("text", "present", "said", "met"),
    [
        ("49 €", True, "c'est 49\u00a0€ par mois", True),
        ("49 €", False, "c'est **49\u202f€** par mois", False),
        ("n'hésitez pas", False, "n’hésitez pas", False),
        ("con", False, "la construction", True),
        ("https://ex.fr/pay", True, "payez sur https://ex.fr/pay", True),
        ("ex.fr", False, "payez sur https://ex.fr/pay", False),
        ("vip", False, "voir https://ex.fr/vip", False),
        ("garanti*", False, "nos garanties", False),
        (r"re:\b\d+ ?€", False, "c'est 49 €", False),
        (r"re:\b\d+ ?€", True, "gratuit", False),
    ],
)
def test_texts_are_compared_folded_and_whole(text: str, present: bool, said: str, met: bool) -> None:
    """The same folding as style rules, but addresses count: they were said."""
    wanted = Expectations(text=(TextExpectation(text=text, present=present, where=HERE),))
    assert (evaluate(point(wanted), [turn(1, "?", "bonjour", said)]) == ()) is met


def test_a_text_is_looked_for_in_all_that_stands() -> None:
    """A bubble taken back was not said; the message quotes where a text was found."""
    said = turn(1, "?", "c'est 49 €")
    gone = replace(said, bubbles=(replace(said.bubbles[0], retracted=True),))
    absent = Expectations(text=(TextExpectation(text="49 €", present=False, where=HERE),))
    present = Expectations(text=(TextExpectation(text="49 €", present=True, where=HERE),))
    assert evaluate(point(absent), [gone]) == ()
    assert got(evaluate(point(absent), [said])) == ['"49 €" in turn 1: "c\'est 49 €"']
    assert got(evaluate(point(present), [gone, turn(2, "?", "non")])) == ["nowhere in 1 message"]


@pytest.mark.parametrize("text", ["", "**", "re:(", "re:.*"])
def test_a_text_that_cannot_be_looked_for_is_broken(text: str) -> None:
    """Such an expectation is neither met nor unmet."""
    wanted = Expectations(text=(TextExpectation(text=text, present=False, where=HERE),))
    (unmet,) = evaluate(point(wanted), [turn(1, "?", "oui")])
    assert unmet.broken
    assert unmet.got.startswith("it cannot be looked for: ")


STATE: Any = {
    "user": {"stage": "profiling", "tags": ["a", {"b": 1}], "plan": None},
    "user.stage.old": 1,
    "a.b": {"x": 1},
    "a": {"b": {"c": 2}},
    7: "seven",
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("user.stage", "profiling"),
        ("user.tags.0", "a"),
        ("user.tags.1.b", 1.0),
        ("user", {"stage": "profiling"}),
        ("user.plan", None),
        ("user.stage.old", 1),
        ("a.b.c", 2),
        ("a.b.x", 1),
        ("7", "seven"),
    ],
)
def test_a_dotted_path_of_the_state_is_met(path: str, value: object) -> None:
    """Keys may hold dots, lists are read by index, mappings are compared as subsets."""
    wanted = Expectations(state=(StateExpectation(path=path, value=value, where=HERE),))
    assert evaluate(point(wanted, Evidence(state=STATE)), [SILENT]) == ()


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        ("user.stage", "matching", '"profiling"'),
        ("user.stgae", "x", "nothing at 'stgae'; did you mean 'stage'?"),
        ("zzz", None, "nothing at 'zzz'; known: user, user.stage.old, a.b, a, 7"),
        ("user.tags.2", "a", "nothing at '2' in a list of 2"),
        ("user.tags.²", "a", "nothing at '²' in a list of 2"),
        ("user.stage.deep", "a", "nothing at 'deep': \"profiling\" has no parts"),
        ("user.plan.name", None, "nothing at 'name': null has no parts"),
        ("user", {"stage": "x"}, 'stage: expected "x", got "profiling"'),
    ],
)
def test_a_state_that_differs_shows_what_is_there(path: str, value: object, found: str) -> None:
    """The value found, or nothing with the nearest key; a missing path is never null."""
    wanted = Expectations(state=(StateExpectation(path=path, value=value, where=HERE),))
    (unmet,) = evaluate(point(wanted, Evidence(state=STATE)), [SILENT])
    assert (unmet.broken, unmet.got) == (False, found)


def test_no_state_is_broken() -> None:
    """An adapter that reports no state satisfies nothing."""
    wanted = Expectations(state=(StateExpectation(path="a", value=None, where=HERE),))
    assert evaluate(point(wanted), [SILENT])[0].broken


def sql(found: tuple[tuple[object, ...], ...], *, error: str = "", **wanted: Any) -> tuple[Unmet, ...]:
    """What is unmet of one query with these rows."""
    expected = Expectations(sql=(SqlExpectation(query="q", where=HERE, **wanted),))
    return evaluate(point(expected, Evidence(sql=(SqlResult(query="q", rows=found, error=error),))), [SILENT])


def test_a_query_gives_the_value() -> None:
    """The single value by value, JSON text for a structure, or all rows."""
    assert sql(((0,),), equals=0) == ()
    assert sql(((Decimal("12.50"),),), equals=12.5) == ()
    assert sql((('{"a": [1]}',),), equals={"a": [1]}) == ()
    assert sql(((None,),), equals=None) == ()
    assert sql(((1, "a"), (2, "b")), rows=((1, "a"), (2, "b"))) == ()
    assert sql((), rows=()) == ()


@pytest.mark.parametrize(
    ("rows", "wanted", "found"),
    [
        (((1,),), {"equals": 0}, "1"),
        (((True,),), {"equals": 1}, "true (a boolean)"),
        (((None,),), {"equals": 0}, "null"),
        ((), {"equals": None}, "0 rows: []"),
        (((0,), (0,)), {"equals": 0}, "2 rows of 1 columns: [[0], [0]]"),
        (((0, 1),), {"equals": 0}, "1 row of 2 columns: [[0, 1]]"),
        (((1,),), {"rows": ((2,),)}, "[0][0]: expected 2, got 1; rows: [[1]]"),
        (((1,),), {"rows": ()}, "expected 0 items, got 1 item: [[1]]; rows: [[1]]"),
    ],
)
def test_a_query_that_gives_something_else_shows_it(
    rows: tuple[tuple[object, ...], ...], wanted: Mapping[str, Any], found: str
) -> None:
    """No row is not null; the rows found are shown."""
    (unmet,) = sql(rows, **wanted)
    assert (unmet.broken, unmet.got) == (False, found)


def test_a_query_that_failed_or_was_not_run_is_broken() -> None:
    """The server's error is an error of the check."""
    (unmet,) = sql((), error='relation "payments" does not exist', equals=0)
    assert (unmet.broken, unmet.got) == (True, 'relation "payments" does not exist')
    expected = Expectations(sql=(SqlExpectation(query="other", equals=0, where=HERE),))
    assert evaluate(point(expected), [SILENT])[0].broken


def replies(**limits: int) -> Expectations:
    """A number of messages is expected."""
    return Expectations(replies=RepliesExpectation(where=HERE, **limits))


def test_messages_are_counted() -> None:
    """Over all turns, and per turn for bubbles; an empty message does not count as one said."""
    turns = [turn(1, "?", "un", "deux"), turn(2, "?", "trois", "\u200b")]
    assert evaluate(point(replies(min=3, max=4, max_bubbles=2)), turns) == ()
    (low,) = evaluate(point(replies(min=4)), turns)
    (high,) = evaluate(point(replies(max=3)), turns)
    (wide,) = evaluate(point(replies(max_bubbles=1)), turns)
    assert (low.path, low.expected, low.got) == ("replies.min", "at least 4 messages", "3")
    assert (high.path, high.expected, high.got) == ("replies.max", "at most 3 messages", "4")
    assert (wide.path, wide.expected, wide.got) == (
        "replies.max_bubbles",
        "at most 1 bubble a turn to one person",
        "2 in turn 1",
    )
    to_both = replace(
        turn(1, "?", "un"), bubbles=(Bubble(id="a", text="un", to="lea"), Bubble(id="b", text="un", to="marc"))
    )
    assert evaluate(point(replies(max_bubbles=1)), [to_both]) == ()


def test_silence_is_looked_for_in_the_last_turn() -> None:
    """A message breaks it, tools do not; a turn that never settled says nothing about it."""
    spoke = turn(1, "?", "oui")
    quiet = replace(turn(2, "?"), tools=(ToolCall(name="x"),))
    nothing = Expectations()
    assert evaluate(point(nothing, silence=True), [spoke, quiet]) == ()
    assert got(evaluate(point(nothing, silence=True), [spoke])) == ['1 message: "oui"']
    assert evaluate(point(nothing, silence=True), [replace(quiet, observed=Observed.TIMED_OUT)])[0].broken
    assert evaluate(point(nothing, silence=True), [])[0].broken
    late = replace(quiet, bubbles=(Bubble(id="b", text="tard", to="marc", late=True),))
    assert len(evaluate(point(nothing, silence=True), [spoke, late])) == 1


def test_each_unmet_expectation_has_its_own_place() -> None:
    """Places are those of the expectations, in the order tools, replies, text, state, SQL."""
    there = Where(file="s.yaml", line=7)
    wanted = Expectations(
        called=(ToolExpectation(name="t", where=there),),
        text=(TextExpectation(text="x", present=True, where=HERE),),
        state=(StateExpectation(path="a", value=1, where=there),),
    )
    unmet = evaluate(point(wanted, Evidence(state={})), [SILENT])
    assert [(u.path, u.where) for u in unmet] == [
        ("tools.called.t", there),
        ("text.present", HERE),
        ("state.a", there),
    ]
