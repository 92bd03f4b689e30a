"""The python adapter: what an entry may name, what it may return, and how it is told what is wrong with it."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import sys
import threading

import pytest

from evalrun.adapters.python import connect
from evalrun.errors import CapabilityMissing, TargetFailed, UsageError
from evalrun.interfaces.targets import Capability, Inbound, Outgoing, Settle, SuiteInfo, TargetSetup
from tests.sessions import LEA, blank, move_of, played, session_of, target_of

SEEN = contextvars.ContextVar("SEEN", default="")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder whose modules can be named as entries; `write` adds one."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)

    def write(code, entry, name="bot"):
        (tmp_path / f"{name}.py").write_text(code, "utf-8")
        return TargetSetup(name="bot", entry=entry, options={}, root=tmp_path, file="evalrun.toml")

    yield write
    for name in set(sys.modules) - before:
        if name.startswith(("bot", "package")):
            del sys.modules[name]


def reply_of(target, session=None, text="salut"):
    """What a connected target says to a text."""
    session = session or session_of()
    asyncio.run(target.handle(session.for_turn(1, 0.0), Inbound(id="i", text=text, sender=LEA)))
    return [(b.text, b.to) for b in session.recorder.turn(blank()).bubbles]


ENTRIES = {
    "function of the text": ("def reply(text): return text.upper()", "bot:reply"),
    "async function of the text": ("async def reply(text): return text.upper()", "bot:reply"),
    "function with more that is optional": ("def reply(text, history=(), **more): return text.upper()", "bot:reply"),
    "function of session and message": ("def reply(session, m): session.emit(m.text.upper())", "bot:reply"),
    "async function of both": ("async def reply(session, m): return m.text.upper()", "bot:reply"),
    "class": ("class Bot:\n    def handle(self, session, m): return m.text.upper()", "bot:Bot"),
    "async class": ("class Bot:\n    async def handle(self, session, m): return m.text.upper()", "bot:Bot"),
    "instance": ("class Bot:\n    def handle(self, s, m): return m.text.upper()\nbot = Bot()", "bot:bot"),
    "callable instance": (
        "class Bot:\n    async def __call__(self, text): return text.upper()\nbot = Bot()",
        "bot:bot",
    ),
    "class that can be called": ("class Bot:\n    def __call__(self, s, m): return m.text.upper()", "bot:Bot"),
    "method of an object": ("class A:\n    class b:\n        def reply(text): return text.upper()", "bot:A.b.reply"),
    "builtin": ("reply = str.upper", "bot:reply"),
    "partial": ("import functools\nreply = functools.partial(lambda a, text: text.upper(), 1)", "bot:reply"),
    "lambda": ("reply = lambda text: text.upper()", "bot:reply"),
    "anything": ("def reply(*args): return args[0].upper()", "bot:reply"),
    "coroutine from a plain function": (
        "async def r(t): return t.upper()\ndef reply(text): return r(text)",
        "bot:reply",
    ),
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_what_an_entry_may_name(project, kind):
    """A class, an instance or a bare callable, sync or async, of the text or of session and message."""
    code, entry = ENTRIES[kind]
    assert reply_of(connect(project(code, entry))) == [("SALUT", "lea")]


REFUSED = {
    "no colon": ("", "bot", "is not module:attribute", 'entry = "my_bot:reply"'),
    "no attribute": ("", "bot:", "is not module:attribute", 'entry = "my_bot:reply"'),
    "no module": ("", "nowhere_to_find:reply", "there is no module 'nowhere_to_find'", "evalrun.toml"),
    "no such name": ("", "bot:reply", "bot has no 'reply'", "class, instance or function"),
    "no adapter": ("reply = 7", "bot:reply", "is a int without handle", "handle(session, inbound)"),
    "raises": ("x = 1\n1 / 0", "bot:reply", "ZeroDivisionError: division by zero (bot.py:2)", "importable"),
    "missing package": ("import package_nobody_has", "bot:reply", "No module named 'package_nobody_has'", "install"),
    "syntax": ("x = 1\ndef reply(:", "bot:reply", "raised SyntaxError: invalid syntax (bot.py:2)", "importable"),
    "exits": ("import sys\nsys.exit(0)", "bot:reply", "called sys.exit(0)", "__main__"),
    "class with arguments": ("class Bot:\n    def __init__(self, url): ...", "bot:Bot", "url", "without arguments"),
    "class that raises": ("class Bot:\n    def __init__(self):\n        {}[1]", "bot:Bot", "(bot.py:3)", "arguments"),
    "no arguments": ("def reply(): ...", "bot:reply", "takes neither", "reply(text)"),
    "three arguments": ("def reply(a, b, c): ...", "bot:reply", "takes neither", "reply(text)"),
    "handle of the text": ("class Bot:\n    def handle(self, text): ...", "bot:Bot", "handle(text)", "inbound"),
    "tools as text": ("def reply(t): ...\nreply.tools = 'find'", "bot:reply", "tools must be", "find_quote"),
    "tools of others": ("def reply(t): ...\nreply.tools = [1]", "bot:reply", "tools must be", "find_quote"),
    "isolation": ("def reply(t): ...\nreply.isolation = 'none'", "bot:reply", "'none' is unknown", "session-key"),
    "process": ("def reply(t): ...\nreply.isolation = 'process'", "bot:reply", "cannot isolate", "serial"),
    "settle": ("def reply(t): ...\nreply.settle = 'quiet'", "bot:reply", "must be an evalrun Settle", "quiet"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_wrong_with_an_entry_is_told(project, kind):
    """Each is one line with the target's name and the cure, before anything runs."""
    code, entry, message, remedy = REFUSED[kind]
    with pytest.raises(UsageError) as refused:
        connect(project(code, entry))
    assert (message in refused.value.message, remedy in refused.value.remedy) == (True, True), refused.value
    assert ("'bot'" in refused.value.message, "\n" in refused.value.message) == (True, False)


def test_a_package_of_the_project_is_found_with_what_it_imports(project, tmp_path):
    """Modules are looked up from the folder of the settings, and a missing part of a package is told by name."""
    (tmp_path / "package_x").mkdir()
    (tmp_path / "package_x" / "__init__.py").write_text("")
    setup = project("from bot_words import WORD\ndef reply(text): return WORD", "package_x.bot:reply", "package_x/bot")
    (tmp_path / "bot_words.py").write_text("WORD = 'oui'")
    assert reply_of(connect(setup)) == [("oui", "lea")]
    with pytest.raises(UsageError, match=r"no module 'package_x\.other'"):
        connect(project("", "package_x.other:reply"))


def test_settle_idle_needs_idle():
    """A target that says it knows when it is idle must be able to say so."""

    class Bot:
        """Has no idle()."""

        settle = Settle(how="idle")

        def handle(self, session, inbound):
            """Say nothing."""

    with pytest.raises(CapabilityMissing, match="there is no idle"):
        target_of(Bot())


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("oui", [("oui", "lea")]),
        (Outgoing(text="oui", to="noah"), [("oui", "noah")]),
        (["un", Outgoing(text="deux", to="+33600000002")], [("un", "lea"), ("deux", "noah")]),
        (("un", "un"), [("un", "lea"), ("un", "lea")]),
        (None, []),
        ([], []),
    ],
)
def test_what_may_be_returned(returned, said):
    """Text, an Outgoing, several of them or nothing are the same as emitting them."""
    assert reply_of(target_of(lambda text: returned)) == said


@pytest.mark.parametrize(
    "returned", [{"text": "oui"}, 7, b"oui", b"", ["oui", None], ["oui", 7], {"oui"}, iter(["oui"]), True, range(0)]
)
def test_what_may_not_be_returned(returned):
    """Anything else is refused as an error of the target that names it, never read as silence."""
    with pytest.raises(TargetFailed, match=f"returned {type(returned).__name__}") as failed:
        asyncio.run(played(lambda text: returned, session_of()))
    assert "session.emit" in failed.value.remedy


def test_what_a_target_can_do_is_detected():
    """Optional methods are capabilities; what is missing is refused by name when it is used all the same."""

    class Bot:
        """Can tell its state."""

        tools = ("find_quote",)

        def handle(self, session, inbound):
            """Say nothing."""

        def state(self, session):
            """A state."""
            return {"stage": "welcome"}

    target = target_of(Bot())
    assert (target.capabilities, target.tools) == (frozenset({Capability.STATE}), ("find_quote",))
    assert asyncio.run(target.state(session_of())) == {"stage": "welcome"}
    with pytest.raises(CapabilityMissing, match="no dispatch"):
        asyncio.run(target.dispatch(session_of(), None))


def test_b24_declaring_no_tools_is_not_being_blind():
    """An empty list of tools is declared, None and nothing at all are not."""

    def with_tools(tools):
        def reply(text):
            return text

        reply.tools = tools
        return target_of(reply).tools

    assert (with_tools([]), with_tools(None), target_of(lambda text: text).tools) == ((), None, None)


def test_a_state_that_is_none_is_an_error():
    """A state that is no mapping is an error of the target, not an empty state."""

    class Bot:
        """Has a broken state."""

        def handle(self, session, inbound):
            """Say nothing."""

        def state(self, session):
            """No mapping."""
            return ["stage"]

    with pytest.raises(TargetFailed, match=r"state\(\) returned list"):
        asyncio.run(target_of(Bot()).state(session_of()))


def test_the_whole_life_of_an_adapter(tmp_path):
    """Each method is called with what it needs, sync ones in a worker that sees the caller's context."""
    calls = []

    class Bot:
        """Writes down what is called."""

        def setup(self, suite):
            """Once."""
            calls.append(("setup", suite.run, threading.current_thread() is threading.main_thread()))

        async def migrate(self, database):
            """Once."""
            calls.append(("migrate", database, threading.current_thread() is threading.main_thread()))

        def open(self, session):
            """For each trial."""
            calls.append(("open", session.id, SEEN.get()))

        def handle(self, session, inbound):
            """Say nothing."""
            calls.append(("handle", inbound.text, SEEN.get()))

        def close(self, session):
            """For each trial."""
            calls.append(("close", session.id, SEEN.get()))

        def teardown(self):
            """Once."""
            calls.append(("teardown", "", SEEN.get()))

    async def scene():
        target, session = target_of(Bot()), session_of()
        SEEN.set("context")
        info = SuiteInfo(run="r", options={}, root=tmp_path, tmp=tmp_path, style_rules=None, environ={})
        await target.setup(info)
        await target.migrate("database")
        await target.open(session)
        await target.handle(session, Inbound(id="i", text="salut", sender=LEA))
        await target.close(session)
        await target.close(session)
        await target.teardown()

    asyncio.run(scene())
    assert calls == [
        ("setup", "r", False),
        ("migrate", "database", True),
        ("open", "s-1", "context"),
        ("handle", "salut", "context"),
        ("close", "s-1", "context"),
        ("close", "s-1", "context"),
        ("teardown", "", "context"),
    ]


def test_serial_trials_wait_for_each_other():
    """Of a serial target one trial is open at a time, also when a trial fails to open or is cancelled while it waits."""

    class Bot:
        """Counts what is open."""

        isolation = "serial"

        def __init__(self):
            self.open_now = set()
            self.most = 0

        async def open(self, session):
            """Count."""
            self.open_now.add(session.id)
            self.most = max(self.most, len(self.open_now))
            await asyncio.sleep(0.01)
            if session.id == "s-2":
                raise RuntimeError("cannot open")

        async def handle(self, session, inbound):
            """Say nothing."""

        async def close(self, session):
            """Count."""
            self.open_now.discard(session.id)

    async def trial(target, number):
        session = session_of(name=f"s-{number}")
        try:
            await target.open(session)
            await target.handle(session, Inbound(id="i", text="x", sender=LEA))
        finally:
            await target.close(session)
            if number == 3:
                await target.close(session)

    async def scene():
        bot = Bot()
        target = target_of(bot)
        tasks = [asyncio.ensure_future(trial(target, n)) for n in range(6)]
        await asyncio.sleep(0.005)
        tasks[4].cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(e) for e in ended if e] == [RuntimeError, asyncio.CancelledError]
        assert bot.most == 1
        await asyncio.wait_for(trial(target, 9), 1)

    asyncio.run(scene())


def test_workers_do_not_wait_for_each_other():
    """Sync targets run side by side: ten that each take a moment together take about that moment."""
    gate = threading.Barrier(10, timeout=5)

    def reply(text):
        gate.wait()
        return text

    async def scene():
        target = target_of(reply)
        sessions = [session_of(name=f"s-{n}") for n in range(10)]
        await asyncio.gather(*(target.handle(s.for_turn(1, 0.0), move_of("x").inbound) for s in sessions))
        assert [len(s.recorder.turn(blank()).bubbles) for s in sessions] == [1] * 10

    asyncio.run(scene())


def test_a_target_that_leaves_the_process_is_an_error_everywhere():
    """sys.exit in any method is an error of the target: it would end the run with the target's own exit code."""

    class Bot:
        """Leaves."""

        def handle(self, session, inbound):
            """Leave."""
            sys.exit(0)

        open = teardown = functools.partialmethod(handle, None)

        async def setup(self, suite):
            """Leave."""
            sys.exit(0)

    async def scene(name, *args):
        with pytest.raises(TargetFailed, match=r"called sys.exit\(0\)"):
            await getattr(target_of(Bot()), name)(*args)

    for name, args in {"setup": (None,), "open": (session_of(),), "handle": (session_of(), None)}.items():
        asyncio.run(scene(name, *args))
