"""Variants on the real command line: two prompts, environments or models over the same scenarios, and a ladder of models."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.acceptance.projects import SCENARIO, Project, interrupt_after, scores
from tests.scripted_server import Answer, ScriptedServer

BOT = """\
import os
from pathlib import Path

PROMPT = (Path(__file__).parent / "prompt.txt").read_text("utf-8").strip()
TONE = os.environ.get("TONE", "nice")


class Bot:
    async def handle(self, session, inbound):
        return f"{PROMPT} {TONE} {session.model.model} {inbound.text}"
"""
NAMES = ("one", "two", "three", "four", "five")


def script(role: str, body: Mapping[str, object]) -> Answer | str:
    """The judge likes warm prompts, nice tones and large models."""
    shown = json.dumps(body, ensure_ascii=False)
    if role != "judge":
        return "ok"
    value = 9 - 3 * ("cold" in shown) - 3 * ("rude" in shown)
    if "agent-small" in shown or ("agent-mid" in shown and "say two" in shown):
        value = 4
    return scores(*[value] * 4)


def project_at(root: Path, url: str) -> Project:
    """Five scenarios of one turn."""
    made = Project(root=root, url=url).fill(BOT, settings="repeats = 1\n")
    settings = (root / "evalrun.toml").read_text("utf-8").replace("my_bot:reply", "my_bot:Bot")
    prices = "".join(f'"agent-{n}" = {{input = 1, output = 2}}\n' for n in ("big", "mid", "small"))
    made.write("evalrun.toml", settings.replace("[prices]\n", f"[prices]\n{prices}"))
    made.write("prompt.txt", "warm")
    made.write("drafts/cold.txt", "cold")
    (root / "scenarios" / "hello.yaml").unlink()
    for name in NAMES:
        text = SCENARIO.replace("hello\ntitle", f"{name}\ntitle").replace("user: hello", f"user: say {name}")
        made.write(f"scenarios/{name}.yaml", text)
    return made


@pytest.mark.parametrize("change", ["file.prompt.txt=drafts/cold.txt", "env.TONE=rude", "agent=compatible:agent-small"])
def test_a_variant_is_really_what_is_played(tmp_path: Path, change: str) -> None:
    """A file, a variable, the agent's model: B is worse, the project itself stays as it was, both runs are kept."""
    with ScriptedServer(script) as server:
        made = project_at(tmp_path, server.base_url)
        done = made.run("ab", "--judge-gate", "always", "--b", change, "--format", "json")
        kept = made.run("runs")
    assert done.code == 0, done.err
    assert done.report["word"] == "WORSE"
    assert [s["verdicts"] for s in done.report["scenarios"]] == [["pass", "fail"]] * 5
    assert len(kept.out.splitlines()) == 2
    assert (tmp_path / "prompt.txt").read_text("utf-8") == "warm"
    assert any(line.startswith("A [") for line in done.err.splitlines())
    assert any(line.startswith("B [") for line in done.err.splitlines())


def test_filters_and_repeats_hold_for_both_and_the_cap_is_shared_out(tmp_path: Path) -> None:
    """Only what was asked for, as often as asked for, and never more than the cap over both."""
    with ScriptedServer(script) as server:
        made = project_at(tmp_path, server.base_url)
        done = made.run(
            "ab", "two", "one", "--b", "env.TONE=rude", "--repeats", "2", "--budget", "0.5", "--format", "json"
        )
        shown = made.run("show", "last", "--format", "json").report
    assert sorted(s["id"] for s in done.report["scenarios"]) == ["one", "two"]
    assert done.report["trials_a_scenario"] == 2
    assert float(shown["header"]["cap"]) == 0.25


def test_a_ladder_shows_where_behaviour_breaks(tmp_path: Path) -> None:
    """One column for each model, in the order given; the step from which on a scenario fails."""
    models = ("agent-big", "agent-mid", "agent-small")
    options = [o for m in models for o in ("--model", f"agent=compatible:{m}")]
    with ScriptedServer(script) as server:
        made = project_at(tmp_path, server.base_url)
        data = made.run("run", "--judge-gate", "always", *options, "--format", "json")
        table = made.run("run", "--judge-gate", "always", *options)
    assert (data.code, table.code) == (0, 0), data.err + table.err
    assert [r["agent"] for r in data.report["runs"]] == [f"compatible:{m}" for m in models]
    assert {s["id"]: s["breaks_at"] for s in data.report["scenarios"]} == {
        **dict.fromkeys(NAMES, "compatible:agent-small"),
        "two": "compatible:agent-mid",
    }
    assert "5/5" in table.out
    assert "0/5" in table.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "both variants are the same"),
        (("--a", "env.X=1", "--b", "env.X=1"), "both variants are the same"),
        (("--b", "prompt=x"), "write agent=provider:model"),
        (("--b", "env.1X=2"), "write agent=provider:model"),
        (("--b", "file.prompt.txt=nowhere.txt"), "there is no file nowhere.txt"),
        (("--b", "file.nowhere.txt=prompt.txt"), "there is no file nowhere.txt"),
        (("--b", "agent=nonsense"), "nonsense"),
        (("--b", "agent=compatible:agent-big", "--format", "xml"), "--format"),
        (("nothing", "--b", "env.X=1"), "nothing"),
    ],
)
def test_wrong_usage_is_said_and_nothing_spent(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    """Exit code 2, no traceback, no call."""
    with ScriptedServer(script) as server:
        made = project_at(tmp_path, server.base_url)
        done = made.run("ab", *options)
        assert server.calls() == 0
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_an_interruption_ends_both_runs(tmp_path: Path) -> None:
    """Nothing goes on in the background; what was finished is kept."""

    def slow(role: str, body: Mapping[str, object]) -> Answer | str:
        found = script(role, body)
        return Answer(text=found, delay=0.6) if isinstance(found, str) else found

    with ScriptedServer(slow) as server:
        made = project_at(tmp_path, server.base_url)
        process = made.start("ab", "--b", "env.TONE=rude", "--concurrency", "1")
        interrupt_after(process, 0, signal.SIGTERM)
        calls = server.calls()
        made.run("runs")
        assert server.calls() <= calls + 2
    assert process.returncode != 0
