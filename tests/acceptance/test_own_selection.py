"""What a change to this very repository selects of its suite."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.acceptance.projects import ROOT, Project
from tests.repositories import Repository

STAGES = ["coaching", "feedback", "manifesto", "matching", "meeting", "pricing", "profiling", "welcome"]
SAMPLE = "evalrun/sample_orchestrator"
PARTS = ("evalrun", "scenarios", "personas", "rubrics", "docs", "pyproject.toml", "style_rules.toml", "constraints.txt")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of the project in a repository of its own, on a branch."""
    root = tmp_path_factory.mktemp("clone")
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, root / part)
    repository = Repository(root=root).begin()
    repository.commit()
    repository.branch("pull-request")
    return Project(root=root, environ={"PYTHONPATH": str(root)})


@pytest.mark.parametrize(
    ("changed", "stages"),
    [
        *((f"{SAMPLE}/prompts/stages/{s}.md", [s]) for s in STAGES),
        (f"{SAMPLE}/prompts/stages/adults_only.md", ["profiling"]),
        (f"{SAMPLE}/stages/meeting_words.py", ["meeting"]),
        (f"{SAMPLE}/stages/feedback.py", ["coaching", "feedback"]),
        (f"{SAMPLE}/membership.py", ["matching", "pricing"]),
        (f"{SAMPLE}/stages/questions.py", STAGES),
        (f"{SAMPLE}/funnel.py", STAGES),
        ("docs/tutorial.md", []),
        ("evalrun/reporters/table.py", []),
    ],
)
def test_a_change_selects_the_stages_that_it_can_affect(project: Project, changed: str, stages: list[str]) -> None:
    """A prompt its stage only, a shared module those that import it, code nobody claims all, docs none."""
    file = project.root / changed
    before = file.read_bytes()
    file.write_bytes(before + b"\n")
    try:
        found = json.loads(project.run("plan", "--changed-since", "main", "--format", "json").out)
    finally:
        file.write_bytes(before)
    assert stages == sorted({s["stage"] for s in found["selected"]})
    suite = json.loads(project.run("plan", "--format", "json").out)["selected"]
    assert {s["id"] for s in suite if s["stage"] in stages} == {s["id"] for s in found["selected"]}


@pytest.mark.parametrize("changed", ["style_rules.toml", "constraints.txt", f"{SAMPLE}/prompts/ori.md"])
def test_a_big_change_selects_everything(project: Project, changed: str) -> None:
    """Smoke scenarios too."""
    file = Path(project.root / changed)
    before = file.read_bytes()
    file.write_bytes(before + b"\n# changed\n")
    try:
        found = json.loads(project.run("plan", "--changed-since", "main", "--format", "json").out)
    finally:
        file.write_bytes(before)
    assert found["suite_size"] == len(found["selected"])
