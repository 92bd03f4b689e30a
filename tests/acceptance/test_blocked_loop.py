"""A target that never gives the event loop back: its turn has an end, the other trials go on, an interruption is heard."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.acceptance.projects import SCENARIO, Project, judge_says
from tests.scripted_server import ScriptedServer

HANGS = "import pathlib\nimport time\n\n\ndef here():\n    pathlib.Path('hanging').touch()\n    return True\n\n\n"
SLEEPS = (
    HANGS + "async def reply(text):\n    if text == 'hang' and here():\n        time.sleep(60)\n    return 'hello'\n"
)
SPINS = HANGS + "async def reply(text):\n    while text == 'hang' and here():\n        pass\n    return 'hello'\n"
SWALLOWS = HANGS + (
    "async def reply(text):\n    while text == 'hang' and here():\n        try:\n            time.sleep(60)\n"
    "        except Exception:\n            pass\n    return 'hello'\n"
)


def project_at(root: Path, url: str, bot: str, *, turn: float) -> Project:
    """Two scenarios, of which one makes the bot hang."""
    made = Project(root=root, url=url).fill(bot, rubric="", settings=f"[timeouts]\nturn = {turn}\n")
    made.write(
        "scenarios/stuck.yaml", SCENARIO.replace("hello\ntitle", "stuck\ntitle").replace("user: hello", "user: hang")
    )
    return made


@pytest.mark.parametrize("bot", [SLEEPS, SPINS])
def test_a_blocked_loop_is_the_targets_error_and_the_others_go_on(tmp_path: Path, bot: str) -> None:
    """The turn timeout holds for code that cannot be cancelled, and the reason says how to mend it."""
    with ScriptedServer(judge_says(8, 8, 8, 8)) as server:
        made = project_at(tmp_path, server.base_url, bot, turn=1)
        done = made.run("run", "--format", "json", seconds=40)
    found = {s["id"]: s["verdict"] for s in done.report["scenarios"]}
    assert found == {"stuck": "error", "hello": "pass"}
    assert done.code == 3
    reason = next(s["reason"] for s in done.report["scenarios"] if s["id"] == "stuck")
    assert "the target blocked the event loop past 1 s" in reason
    assert "without async" in reason


@pytest.mark.parametrize("bot", [SLEEPS, SPINS, SWALLOWS])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_is_heard_while_the_loop_is_blocked(tmp_path: Path, bot: str, number: signal.Signals) -> None:
    """Within seconds, with the exit code of the signal; what was finished is kept."""
    with ScriptedServer(judge_says(8, 8, 8, 8)) as server:
        made = project_at(tmp_path, server.base_url, bot, turn=100)
        process = made.start("run", "hello", "stuck", "--concurrency", "1")
        while not (tmp_path / "hanging").exists():
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        started = time.monotonic()
        process.send_signal(number)
        process.communicate(timeout=30)
        took = time.monotonic() - started
        kept = made.run("show", "last", "--format", "json").report
    assert process.returncode == 128 + number
    assert took < 15
    outcomes = {s["id"]: [t["outcome"] for t in s["trials"]] for s in kept["scenarios"]}
    assert outcomes["hello"] == ["pass"]
