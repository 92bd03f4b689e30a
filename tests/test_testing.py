"""check_adapter: what it proves of a wiring, and what it finds. Also what docs tell customers to write."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from evalrun.errors import UsageError
from evalrun.testing import AdapterBroken, check_adapter


class Good:
    """A bot with a database, a model and a tool."""

    tools = ("count_people",)

    async def migrate(self, database):
        """Make its table."""
        connection = await asyncpg.connect(database.dsn)
        await connection.execute("create table people (name text)")
        await connection.close()

    async def open(self, session):
        """Put in who is given."""
        connection = await asyncpg.connect(session.database.dsn)
        await connection.execute("insert into people values ($1)", session.given["name"])
        await connection.close()

    async def handle(self, session, inbound):
        """Count and answer."""
        ((count,),) = await session.database.fetch("select count(*) from people")
        session.tool("count_people", {}, result=count)
        reply = await session.model.complete([], max_output_tokens=10)
        session.emit(f"{reply.text}: {count}")

    async def state(self, session):
        """What can be seen."""
        return {"people": 1}


def broken(adapter, **how):
    """The lines of what is wrong."""
    with pytest.raises(AdapterBroken) as found:
        check_adapter(adapter, **how)
    assert isinstance(found.value, AssertionError)
    assert str(found.value.report) in str(found.value)
    return [str(c) for c in found.value.report.checked if c.holds is False]


def test_a_good_adapter_is_proved_on_a_real_database():
    """A class with all its seams is played on a database of its own, and the report reads line by line."""
    report = check_adapter(Good, database="embedded", given={"name": "Léa"})
    assert str(report).splitlines() == [
        "ok: the reply arrives: 'ok: 1', known by return",
        "ok: it goes to people of the scenario",
        "ok: tool calls: 1 reported, declared: count_people",
        "ok: state() can be read: people",
        "ok: two conversations are kept apart",
        "ok: a failed model is seen",
    ]
    assert report.turn.bubbles[0].text == "ok: 1"


def test_three_lines_are_enough():
    """A bare function is an adapter; what it cannot show is a note."""
    report = check_adapter(lambda text: text.upper())
    assert str(report).splitlines() == [
        "ok: the reply arrives: 'HELLO', known by return",
        "ok: it goes to people of the scenario",
        "note: tool calls: none declared or reported: expectations on tools will be errors",
        "ok: two conversations are kept apart",
    ]


def test_an_entry_by_name():
    """An entry is named as in the settings; one that does not exist is told as a run would."""
    assert check_adapter("tests.test_testing:echo", message="salut").turn.bubbles[0].text == "salut"
    with pytest.raises(UsageError, match="has no 'nope'"):
        check_adapter("tests.test_testing:nope")


def echo(text):
    """Say the same."""
    return text


def test_silence_is_broken_unless_it_is_right():
    """A reply that never arrives is the most common fault of a wiring; silence must be said to be right."""
    assert broken(lambda text: None) == [
        "NOT OK: the reply arrives: nothing was returned and nothing emitted before the turn ended",
        "NOT OK: two conversations are kept apart: the second was not answered",
    ]
    assert check_adapter(lambda text: None, silent=True).holds


def test_an_exception_surfaces_with_its_traceback():
    """What the target raises is shown with its traceback."""

    def failing(text):
        return {}[text]

    (line,) = broken(failing)
    assert ("a message can be played" in line, "KeyError: 'hello'" in line, "return {}[text]" in line) == (True,) * 3


def test_a_session_that_is_kept_from_before_is_found():
    """An adapter that answers into the first session it saw mixes conversations."""

    class Sticky:
        """Keeps the first session for ever."""

        first = None

        async def handle(self, session, inbound):
            """Answer the wrong one."""
            self.first = self.first or session
            self.first.emit("bonjour")

    lines = broken(Sticky())
    assert lines == ["NOT OK: two conversations are kept apart: 1 outputs of the second arrived in the first"]


def test_strangers_undeclared_tools_and_empty_replies_are_found():
    """Messages to people nobody knows, tools that were never declared and empty texts are each a line."""

    class Wrong:
        """Does it all."""

        tools = ("find_quote",)

        async def handle(self, session, inbound):
            """Do it."""
            session.emit(" ", to="+33600000009")
            session.tool("delete_client", {})

    assert broken(Wrong()) == [
        "NOT OK: the reply has a text: it is empty",
        "NOT OK: it goes to people of the scenario: +33600000009",
        "NOT OK: tools that are called are declared: delete_client",
    ]


def test_a_hidden_failure_of_the_model_is_a_note():
    """A product that answers although its model is down may be right to; the report says so."""

    async def calm(session, inbound):
        try:
            return (await session.model.complete([], max_output_tokens=5)).text
        except Exception:  # noqa: BLE001  as products do
            return "un souci, je reviens"

    report = check_adapter(calm)
    assert "note: a failed model is hidden: the product answers with 'un souci, je reviens'" in str(report)


def test_a_serial_adapter_is_closed_in_between():
    """A serial target plays the second conversation after the first; close may be called twice."""

    class Serial:
        """Counts what it closes."""

        isolation = "serial"
        closed = ()

        async def handle(self, session, inbound):
            """Answer."""
            return "oui"

        async def close(self, session):
            """Count."""
            self.closed += (session.id,)

    adapter = Serial()
    assert check_adapter(adapter).holds
    assert adapter.closed == ("check-1", "check-1", "check-2", "check-2")


@pytest.mark.parametrize("method", ["setup", "migrate", "open", "close", "teardown"])
def test_what_other_methods_raise_is_raised_as_it_is(method):
    """An error outside the turn reaches the test as itself, and the database goes away."""

    class Failing:
        """Fails in one place."""

        async def handle(self, session, inbound):
            """Answer."""
            return "oui"

    async def fail(self, *_args):
        await asyncio.sleep(0)
        raise LookupError(method)

    setattr(Failing, method, fail)
    with pytest.raises(LookupError, match=method):
        check_adapter(Failing(), database="embedded" if method == "migrate" else "")
