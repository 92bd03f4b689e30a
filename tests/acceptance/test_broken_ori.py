"""Ori broken on purpose: each fault has the outcome, the code and the ending that the design gives it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.acceptance.projects import ROOT, Project, judge_says
from tests.scripted_server import ScriptedServer

BROKEN = '''\
"""Ori with one fault, put between it and its session."""
import asyncio

from evalrun.sample_orchestrator.adapter import Ori


class Faulty:
    def __init__(self, session):
        self._session = session

    def __getattr__(self, name):
        return getattr(self._session, name)

{fault}


class Broken(Ori):
    async def handle(self, session, inbound):
        await super().handle(Faulty(session), inbound)
'''
SETTINGS = """\
[judge]
confirm = 0
canaries = false
[models]
agent = "compatible:agent-1"
persona = "compatible:persona-1"
judge = "compatible:judge-1"
[providers.compatible]
base_url = "{url}"
[timeouts]
turn = 3
[targets.ori]
entry = "broken:Broken"
database = "embedded"
"""
EMIT = "    def emit(self, message, to=None):\n        return self._session.emit({}, {})\n"
HEALTHY = "    pass\n"
FAULTS = {
    "two questions": (EMIT.format('message + " vraiment ?"', "to"), "fail", "one-question", "hard_finding"),
    "a placeholder": (EMIT.format('"[prénom], " + message', "to"), "fail", "no-placeholders", "hard_finding"),
    "the wrong person": (EMIT.format("message", '"stranger"'), "fail", "wrong_recipient", "hard_finding"),
    "a tool not called": (
        "    def tool(self, name, *more):\n        pass\n",
        "fail",
        "expectation_unmet",
        "steps_done",
    ),
    "an exception": (
        "    @property\n    def model(self):\n        raise KeyError('no model')\n",
        "error",
        "target",
        "agent_error",
    ),
    "an endless turn": (
        (
            "    @property\n    def model(self):\n        return self\n\n"
            "    async def complete(self, *_, **__):\n        await asyncio.Event().wait()\n"
        ),
        "error",
        "agent_timeout",
        "timeout",
    ),
}


def ori(root: Path, url: str, fault: str) -> Project:
    """Ori with a fault, its own persona, rubrics and rules, and one shipped scenario."""
    project = Project(root=root)
    for folder in ("personas", "rubrics"):
        shutil.copytree(ROOT / folder, root / folder)
    shutil.copy(ROOT / "style_rules.toml", root)
    scenario = "scenarios/stage/profiling-in-order.yaml"
    project.write(scenario, (ROOT / scenario).read_text("utf-8"))
    project.write("broken.py", BROKEN.format(fault=fault))
    project.write("evalrun.toml", SETTINGS.format(url=url))
    return project


def test_the_healthy_one_passes(tmp_path: Path) -> None:
    """The wrapping alone breaks nothing."""
    with ScriptedServer(judge_says(8, 8, 8, 8)) as server:
        done = ori(tmp_path, server.base_url, HEALTHY).run("run", "--judge-gate", "always", "--format", "json")
    assert (0, "pass") == (done.code, done.trial("profiling-in-order")["outcome"])


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(tmp_path: Path, name: str) -> None:
    """Outcome, code and ending; no fault is a pass, whatever the judge says of it."""
    fault, outcome, code, ending = FAULTS[name]
    with ScriptedServer(judge_says(10, 10, 10, 10)) as server:
        done = ori(tmp_path, server.base_url, fault).run("run", "--judge-gate", "always", "--format", "json")
    trial = done.trial("profiling-in-order")
    assert (outcome, code, ending) == (trial["outcome"], trial["code"], trial["transcript"]["ending"])
    assert (1 if outcome == "fail" else 3) == done.code
    assert trial["reason"]
