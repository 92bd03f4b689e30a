"""Without a key: what needs one is not run and says so loudly; what needs none is played."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.projects import SCENARIO, Project, judge_says
from tests.scripted_server import ScriptedServer

BOT = 'def reply(text):\n    return "hello"\n'
ASKS = """\
from evalrun.interfaces.models import Message

async def reply(session, inbound):
    answer = await session.model.complete([Message(role="user", content="hi")], max_output_tokens=10)
    return answer.text
"""
TALK = SCENARIO.replace("id: hello", "id: talk").replace("  - user: hello", "  - persona: {turns: 1}")
OPENAI = ("--model", "persona=openai:gpt-x", "--model", "judge=openai:gpt-x")
FAR = "https://models.invalid/v1"
"""An address elsewhere that no name server knows."""
NO_KEY = "no key for openai (OPENAI_API_KEY)"


def project(tmp_path: Path, bot: str = BOT, *, rubric: str = "", **environ: str) -> Project:
    """Two scenarios: one scripted throughout, one with a simulated user. No judge unless there is a rubric."""
    made = Project(root=tmp_path, environ=dict(environ))
    made.fill(bot, **({} if rubric else {"rubric": ""}))
    made.write("scenarios/talk.yaml", TALK)
    return made


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    """Scenario -> verdict."""
    return {s["id"]: s["verdict"] for s in report["scenarios"]}


@pytest.mark.parametrize(
    ("environ", "options", "code"),
    [
        ({}, (), 0),
        ({"CI": "true"}, (), 3),
        ({"CI": "false"}, (), 0),
        ({"CI": "true"}, ("--offline-ok",), 0),
        ({}, ("--no-offline-ok",), 3),
        # a fork: a pull request whose secrets are empty
        ({"CI": "true", "GITHUB_EVENT_NAME": "pull_request", "OPENAI_API_KEY": ""}, (), 3),
    ],
)
def test_b79_what_needs_a_key_is_not_run(
    tmp_path: Path, environ: dict[str, str], options: tuple[str, ...], code: int
) -> None:
    """The scripted scenario is played, the simulated one is not run with the reason; only where allowed is that 0."""
    made = project(tmp_path, **environ)
    done = made.run("run", *OPENAI, *options, "--format", "json")
    assert (code, "") == (done.code, done.err)
    assert {"hello": "pass", "talk": "not_run"} == verdicts(done.report)
    assert ("no_key", NO_KEY) == (done.trial("talk")["code"], done.trial("talk")["reason"])
    table = made.run("run", *OPENAI, *options).out
    assert f"1 of 2 evaluated: {NO_KEY}" in table


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_b79_a_run_that_evaluates_nothing_is_never_quietly_green(tmp_path: Path, form: str) -> None:
    """The verdict line says so where a run is allowed to be empty, and no line claims that all passed."""
    made = project(tmp_path, rubric="yes")
    done = made.run("run", *OPENAI, "--format", form)
    assert done.code == 0
    said = done.out.replace("&#40;", "(").replace("&#41;", ")").replace("\\", "").replace("&#95;", "_")
    assert f"0 of 2 evaluated: {NO_KEY}" in said
    assert "all passed" not in said
    assert "scenarios passed" not in said


def test_b79_nothing_is_sent_or_spent(tmp_path: Path) -> None:
    """The persona's server is there but not asked: the judge's key is missing."""
    with ScriptedServer(judge_says(8, 8, 8, 8)) as server:
        made = Project(root=tmp_path, url=server.base_url).fill(BOT)
        done = made.run("run", "--model", "judge=openai:gpt-x")
        assert (0, []) == (done.code, server.requests())


def test_b79_an_agent_without_its_key_is_not_run_either(tmp_path: Path) -> None:
    """Nobody knows before whether a target asks its model: the trial ends as not run, neither for nor against it."""
    made = project(tmp_path, ASKS)
    done = made.run("run", "hello", "--model", "agent=openai:gpt-x", "--no-offline-ok", "--format", "json")
    assert (3, {"hello": "not_run"}) == (done.code, verdicts(done.report))
    assert NO_KEY == done.trial()["reason"]
    plain = made.run("run", "hello", "--model", "agent=openai:gpt-x")
    assert (0, True) == (plain.code, f"0 of 1 evaluated: {NO_KEY}" in plain.out)


def test_a_failure_is_not_excused_by_a_missing_key(tmp_path: Path) -> None:
    """What was played and failed fails the run."""
    made = project(tmp_path, 'def reply(text):\n    return "who? what?"\n')
    assert made.run("run", *OPENAI, "--offline-ok").code == 1


def test_a_shard_without_a_key_merges_to_the_same(tmp_path: Path) -> None:
    """What one shard could not play for want of a key is allowed or refused in the merged run as in one run."""
    for options, code in ((("--offline-ok",), 0), (("--no-offline-ok",), 3)):
        folder = tmp_path / str(code)
        folder.mkdir()
        made = project(folder)
        for part in ("1/2", "2/2"):
            made.run("run", *OPENAI, *options, "--shard", part)
        merged = made.run("merge", ".evalrun/shards")
        assert (code, True) == (merged.code, f"1 of 2 evaluated: {NO_KEY}" in merged.out)


def test_a_paid_model_is_out_of_reach_of_tests_and_hooks(tmp_path: Path) -> None:
    """With a key at hand, a run that a unit test starts calls nobody: exit 2 with the way to mean it."""
    said = {"OPENAI_API_KEY": "sk-of-nobody", "OPENAI_BASE_URL": FAR, "PYTEST_CURRENT_TEST": "test_bot.py::test_it"}
    made = project(tmp_path, **said)
    done = made.run("run", "talk", *OPENAI)
    assert (2, True) == (done.code, "EVALRUN_PAID=allow" in done.err)
    assert made.run("run", "hello", *OPENAI).code == 0


def test_a_paid_model_is_out_of_reach_of_the_use_case(tmp_path: Path) -> None:
    """Code that calls a run without the command line has no consent to pass by accident."""
    made = project(tmp_path, OPENAI_API_KEY="sk-of-nobody", OPENAI_BASE_URL=FAR)
    code = (
        "import asyncio, os\nfrom pathlib import Path\n"
        "from evalrun.loading.settings import Overrides\nfrom evalrun.usage import ModelName, Role\n"
        "from evalrun.use_cases.run import RunRequest, run\n"
        "models = {Role.PERSONA: ModelName(provider='openai', model='gpt-x')}\n"
        "request = RunRequest(start=Path.cwd(), overrides=Overrides(models=models))\n"
        "asyncio.run(run(request, os.environ, ()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=made.root, env=made._environ(), capture_output=True, text=True, check=False
    )
    assert "NotAskedFor: provider openai may cost money, and no command asked for it" in done.stderr


def test_a_budget_of_nothing_refuses_a_paid_model(tmp_path: Path) -> None:
    """`--budget 0` with a paid model: exit 4 before anything starts; what needs no model is played."""
    made = project(tmp_path, OPENAI_API_KEY="sk-of-nobody")
    done = made.run("run", "talk", *OPENAI, "--budget", "0")
    assert (4, True) == (done.code, "a budget of $0 allows no paid call" in done.err)
    assert made.run("run", "hello", *OPENAI, "--budget", "0").code == 0
