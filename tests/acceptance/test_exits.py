"""Code of others that leaves, hangs or breaks where it should not: never exit code 0, never a lost report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.projects import Project

BOT = 'def reply(text):\n    return "hello"\n'
BACKGROUND = """\
import asyncio, sys

async def leave():
    sys.exit(0)

async def reply(text):
    reply.task = asyncio.create_task(leave())
    await asyncio.sleep(1)
    return "hello"
"""
CLASS = """\
import sys

class Bot:
    def handle(self, session, inbound):
        return "hello"

    def {where}(self{more}):
        {does}

reply = Bot{made}
"""


def project(tmp_path: Path, bot: str = BOT, settings: str = "") -> Project:
    """A project without a rubric: no model is called."""
    return Project(root=tmp_path).fill(bot, rubric="", settings=settings)


def bot_that(where: str, does: str = "sys.exit(0)", *, made: str = "()") -> str:
    """A bot with one method more."""
    more = {"__init__": "", "teardown": "", "setup": ", suite"}.get(where, ", session")
    return CLASS.format(where=where, more=more, does=does, made=made)


@pytest.mark.parametrize(
    ("bot", "code", "said"),
    [
        ("import sys\nsys.exit(0)\n", 2, "importing my_bot:reply called sys.exit(0)"),
        (bot_that("__init__", made=""), 2, "making my_bot:reply called sys.exit(0)"),
        (bot_that("__init__"), 2, "importing my_bot:reply called sys.exit(0)"),
        (bot_that("setup"), 3, "the target called sys.exit(0)"),
        (BACKGROUND, 3, "called sys.exit(0), which broke off the run"),
    ],
)
def test_leaving_before_a_verdict_is_one_line(tmp_path: Path, bot: str, code: int, said: str) -> None:
    """At import, when made, at the start, and in a task of the target's own."""
    done = project(tmp_path, bot).run("run")
    assert (code, "Traceback" in done.err) == (done.code, False), done.out + done.err
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 2


@pytest.mark.parametrize(
    ("where", "does", "said"),
    [
        ("open", "sys.exit(0)", "the target called sys.exit(0)"),
        ("close", "sys.exit(0)", "the target called sys.exit(0)"),
        ("open", "raise KeyError('city')", "the target raised KeyError: 'city' at my_bot.py:8 in open()"),
        ("close", "raise KeyError('city')", "the target raised KeyError: 'city' at my_bot.py:8 in close()"),
    ],
)
def test_what_breaks_around_a_trial_is_an_error_of_that_trial(tmp_path: Path, where: str, does: str, said: str) -> None:
    """The report says where the target broke."""
    done = project(tmp_path, bot_that(where, does)).run("run", "--format", "json")
    trial = done.trial()
    assert (3, "error", "target") == (done.code, trial["outcome"], trial["code"])
    assert said in trial["reason"]


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("sys.exit(0)", "the target called sys.exit(0)"),
        ("raise KeyError('pool')", "the target raised KeyError: 'pool' at my_bot.py:8 in teardown()"),
    ],
)
def test_a_target_that_does_not_end_leaves_the_report_whole(tmp_path: Path, does: str, said: str) -> None:
    """The trials are shown and kept, the fault is said, and the run is no success."""
    made = project(tmp_path, bot_that("teardown", does))
    done = made.run("run", "--format", "json")
    assert (3, "pass") == (done.code, done.trial()["outcome"])
    assert any(said in line for line in done.report["notices"])
    assert made.run("show", "last", "--format", "json").trial()["outcome"] == "pass"


JUDGE = """\
import sys

class Broken:
    name = "broken"
    version = "1"
    deterministic = True

    def __init__(self, setup):
        pass

    def watch(self, case):
        {watch}

    async def judge(self, case):
        {judge}
"""


@pytest.mark.parametrize("does", ["sys.exit(0)", "raise KeyError('city')"])
@pytest.mark.parametrize("where", ["watch", "judge"])
def test_a_judge_that_breaks_is_an_error_with_its_name_and_place(tmp_path: Path, where: str, does: str) -> None:
    """It answers for itself, not for the agent, and nothing passes without it."""
    made = project(tmp_path, settings='judges = ["rules", "expectations", "parts:Broken"]\n')
    made.write("parts.py", JUDGE.format(**{"watch": "return None", "judge": "return None", where: does}))
    done = made.run("run", "--format", "json")
    trial = done.trial()
    assert (3, "error", "judge_broken") == (done.code, trial["outcome"], trial["code"])
    assert "broken raised" in trial["reason"]
    assert "(parts.py:" in trial["reason"]


def test_a_plugin_that_leaves_when_imported_is_a_usage_error(tmp_path: Path) -> None:
    """Whoever writes a script without a guard reads what to do."""
    made = project(tmp_path)
    made.write("parts.py", "import sys\nsys.exit(0)\n")
    done = made.run("run", "--format", "parts:Lines")
    assert 2 == done.code
    assert "importing parts called sys.exit(0)" in done.err


def test_a_waiting_trial_does_not_run_out_of_time(tmp_path: Path) -> None:
    """The time of a trial begins when it has a place, so that a long queue times nobody out."""
    made = project(
        tmp_path,
        "import time\ndef reply(text):\n    time.sleep(0.5)\n    return 'hello'\n",
        "concurrency = 1\n[timeouts]\ntrial = 1.2\n",
    )
    text = (tmp_path / "scenarios/hello.yaml").read_text("utf-8")
    made.write("scenarios/hello.yaml", text + "repeats: 4\n")
    done = made.run("run", "--format", "json")
    trials = done.report["scenarios"][0]["trials"]
    assert (0, ["pass"] * 4) == (done.code, [t["outcome"] for t in trials])
    assert max(t["seconds"] for t in trials) < 1.2


SERIAL = """\
import asyncio

class Bot:
    isolation = "serial"
    inside = 0

    async def open(self, session):
        self.inside += 1

    async def handle(self, session, inbound):
        await asyncio.sleep(0.4)
        return f"{self.inside} inside"

    async def close(self, session):
        self.inside -= 1

reply = Bot()
"""


def test_a_serial_target_plays_one_trial_at_a_time(tmp_path: Path) -> None:
    """Whatever the concurrency; what waits for its turn neither counts time nor times out."""
    made = project(tmp_path, SERIAL, "concurrency = 8\n[timeouts]\ntrial = 1.2\n")
    text = (tmp_path / "scenarios/hello.yaml").read_text("utf-8")
    made.write("scenarios/hello.yaml", text + "repeats: 4\nexpect: {text: {present: ['1 inside']}}\n")
    done = made.run("run", "--format", "json")
    trials = done.report["scenarios"][0]["trials"]
    assert (0, ["pass"] * 4) == (done.code, [t["outcome"] for t in trials])
    assert max(t["seconds"] for t in trials) < 1.2
