"""A look at a project's surroundings: every fault with its cure, no secret, nothing spent."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evalrun.use_cases.doctor import Check, Question, Standing, examine, of_hooks, of_workflows, spends
from evalrun.use_cases.doctor_paths import Way
from tests.acceptance.projects import Project
from tests.repositories import Repository

BOT = 'def reply(text):\n    return "hello"\n'
SECRET = "sk-of-nobody-0123456789"


def by_area(checks: tuple[Check, ...], area: str) -> list[Check]:
    """The checks of one area."""
    return [c for c in checks if c.area == area]


def standing(checks: tuple[Check, ...], area: str) -> list[Standing]:
    """How the checks of one area stand."""
    return [c.standing for c in by_area(checks, area)]


def look(project: Project, **environ: str) -> tuple[Check, ...]:
    """What is found in a project, with the variables of the shell that git needs."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME")}
    return examine(Question(start=project.root, environ=kept | environ))


def keyed(tmp_path: Path) -> Project:
    """A project whose judge needs a key."""
    made = Project(root=tmp_path).fill(BOT)
    text = (tmp_path / "evalrun.toml").read_text("utf-8")
    made.write("evalrun.toml", text.replace('judge = "compatible:judge-1"', 'judge = "openai:gpt-x"'))
    return made


def test_a_project_in_order_is_ok_throughout(tmp_path: Path) -> None:
    """No line without need: only that there is no repository is worth knowing."""
    found = look(Project(root=tmp_path).fill(BOT))
    assert {"git"} == {c.area for c in found if c.standing is not Standing.OK}


def test_a_key_is_named_and_never_shown(tmp_path: Path) -> None:
    """Not set is a warning with the variable's name; set is said without a letter of its value."""
    made = keyed(tmp_path)
    without = by_area(look(made), "key")[0]
    assert (Standing.WARN, "judge openai:gpt-x: OPENAI_API_KEY is not set") == (without.standing, without.found)
    found = look(made, OPENAI_API_KEY=SECRET)
    assert "judge openai:gpt-x: OPENAI_API_KEY is set" == by_area(found, "key")[0].found
    assert SECRET not in "".join(c.found + c.cure for c in found)


def test_a_model_that_costs_without_a_cap_is_a_warning(tmp_path: Path) -> None:
    """A cap is what keeps a mistake small."""
    made = keyed(tmp_path)
    assert [Standing.WARN] == standing(look(made), "budget")
    text = (tmp_path / "evalrun.toml").read_text("utf-8")
    made.write("evalrun.toml", 'budget_usd = "0.10"\n' + text)
    assert [] == standing(look(made), "budget")


@pytest.mark.parametrize(
    ("path", "text", "area", "said"),
    [
        ("evalrun.toml", "target = 3 = 4", "settings", "evalrun.toml"),
        ("scenarios/hello.yaml", "id: hello\n", "files", "scenarios/hello.yaml"),
        ("my_bot.py", "raise RuntimeError('at import')\n", "target", "my_bot"),
        ("my_bot.py", "", "target", "my_bot"),
    ],
)
def test_what_would_keep_a_run_from_starting_fails(tmp_path: Path, path: str, text: str, area: str, said: str) -> None:
    """Broken settings, files and targets are each one line with a cure; the rest is still looked at."""
    made = Project(root=tmp_path).fill(BOT)
    made.write(path, text)
    done = made.run("doctor", "--format", "json")
    report: dict[str, Any] = json.loads(done.out)
    failing = [c for c in report["checks"] if c["standing"] == "fail"]
    assert (2, "", [area]) == (done.code, done.err, [c["area"] for c in failing])
    assert said in failing[0]["found"]
    assert failing[0]["cure"]
    assert {"git", "hooks", "workflows"} <= {c["area"] for c in report["checks"]}


def test_a_database_that_does_not_answer_fails_without_its_password(tmp_path: Path) -> None:
    """The address may be shown, the password may not."""
    made = Project(root=tmp_path).fill(BOT)
    text = (tmp_path / "evalrun.toml").read_text("utf-8")
    made.write("evalrun.toml", text + 'database = "${PG_URL}"\n')
    found = look(made, PG_URL="postgresql://app:s3cr3tpass@127.0.0.1:9/agent")
    assert [Standing.FAIL] == standing(found, "database")
    assert "s3cr3tpass" not in "".join(c.found + c.cure for c in found)


def test_a_named_model_file_that_is_missing_fails(tmp_path: Path) -> None:
    """A provider that does not exist is found before a run, with the known ones."""
    made = Project(root=tmp_path).fill(BOT)
    text = (tmp_path / "evalrun.toml").read_text("utf-8")
    made.write("evalrun.toml", text.replace('judge = "compatible:judge-1"', 'judge = "opnai:gpt-x"'))
    fault = by_area(look(made), "model")[-1]
    assert (Standing.FAIL, True) == (fault.standing, "did you mean 'openai'" in fault.found)


def test_git_is_asked_what_a_change_is_compared_with(tmp_path: Path) -> None:
    """A repository with main is ok; a base that was asked for and is not there fails; without any it is a warning."""
    repository = Repository(root=tmp_path).begin()
    made = Project(root=tmp_path).fill(BOT)
    repository.commit("x.txt")
    assert [Standing.OK] == standing(look(made), "git")
    assert [Standing.FAIL] == standing(look(made, GITHUB_BASE_REF="nowhere"), "git")
    asked = examine(Question(start=tmp_path, environ=os.environ, base="--upload-pack=x"))
    assert [Standing.FAIL] == standing(asked, "git")


def hook(root: Path, name: str, text: str) -> None:
    """An installed hook."""
    path = root / ".git" / "hooks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)


HOOKS = [
    ("evalrun run", True),
    ("exec .venv/bin/evalrun run --tag fast", True),
    ("python -m evalrun run", True),
    ("evalrun -h; evalrun \\\n  run", True),
    ("make quick", True),
    ("./check.sh", True),
    ("uv run evalrun calibrate", True),
    ("# evalrun run", False),
    ("evalrun validate && evalrun plan --changed-since main", False),
    ("make lint", False),
]


@pytest.mark.parametrize(("line", "plays"), HOOKS)
def test_a_hook_that_plays_scenarios_is_found(tmp_path: Path, line: str, plays: bool) -> None:
    """Also through a make target, what it needs, and a script; with a model that costs it fails, else it warns."""
    Repository(root=tmp_path).begin()
    (tmp_path / "Makefile").write_text(
        "quick: deep\n\techo done\n\ndeep:\n\t.venv/bin/evalrun run\n\nlint:\n\truff check\n", "utf-8"
    )
    (tmp_path / "check.sh").write_text("#!/bin/sh\nmake quick\n", "utf-8")
    hook(tmp_path, "pre-push", f"#!/bin/sh\n{line}\n")
    for paid, expected in ((True, Standing.FAIL), (False, Standing.WARN)):
        found = tuple(of_hooks(tmp_path, paid=paid))
        assert [expected if plays else Standing.OK] == [c.standing for c in found], found


def test_hooks_are_looked_for_where_they_are(tmp_path: Path) -> None:
    """core.hooksPath, husky and the file of pre-commit count; samples and files nobody can run do not."""
    repository = Repository(root=tmp_path).begin()
    hook(tmp_path, "pre-push.sample", "evalrun run")
    (tmp_path / ".git" / "hooks" / "pre-commit").write_text("evalrun run", "utf-8")
    assert [Standing.OK] == [c.standing for c in of_hooks(tmp_path, paid=True)]
    (tmp_path / ".husky").mkdir()
    (tmp_path / ".husky" / "pre-commit").write_text("npx lint-staged\nevalrun run\n", "utf-8")
    (tmp_path / ".pre-commit-config.yaml").write_text("- id: x\n  entry: evalrun run --budget 0\n", "utf-8")
    own = tmp_path / "own-hooks"
    own.mkdir()
    (own / "pre-push").write_text("#!/bin/sh\nevalrun run\n", "utf-8")
    (own / "pre-push").chmod(0o755)
    repository.git("config", "core.hooksPath", "own-hooks")
    found = {c.found.partition(":")[0]: c.standing for c in of_hooks(tmp_path, paid=True)}
    assert {
        "own-hooks/pre-push": Standing.FAIL,
        ".husky/pre-commit": Standing.FAIL,
        ".pre-commit-config.yaml": Standing.WARN,
    } == found


@pytest.mark.parametrize(
    ("line", "paid", "costs"),
    [
        ("evalrun run", False, False),
        ("evalrun run", True, True),
        ("evalrun run --budget 0", True, False),
        ("evalrun run --budget 0.5", True, True),
        ("evalrun run --model judge=openai:x", False, True),
        ("evalrun run --profile ci", False, True),
        ("EVALRUN_PAID=allow evalrun run", False, True),
    ],
)
def test_what_a_command_says_itself_counts(line: str, paid: bool, costs: bool) -> None:
    """A model or a profile on the line may cost whatever the settings say; a budget of nothing never does."""
    assert costs == spends(Way(file="pre-push", line=line), paid=paid)


WORKFLOW = """\
name: x
on: {on}
jobs:
  tests: {{runs-on: ubuntu-latest, steps: [{{run: pytest}}]}}
  play:
    runs-on: ubuntu-latest
    {needs}
    env: {{OPENAI_API_KEY: "${{{{ secrets.OPENAI_API_KEY }}}}"}}
    steps:
      - uses: {uses}
      - run: {run}
"""
PINNED = "actions/checkout@" + "a" * 40


@pytest.mark.parametrize(
    ("changed", "expected", "said"),
    [
        ({}, [Standing.OK], "scenarios are played by x.yml: play"),
        ({"on": "pull_request_target"}, [Standing.FAIL], "pull_request_target gives secrets"),
        ({"on": "[push, pull_request_target]"}, [Standing.FAIL], "pull_request_target gives secrets"),
        ({"on": "{issue_comment: {types: [created]}}"}, [Standing.FAIL], "issue_comment"),
        ({"needs": ""}, [Standing.WARN], "before any test has passed"),
        ({"uses": "actions/checkout@v7"}, [Standing.WARN], "actions/checkout@v7 sees OPENAI_API_KEY"),
        ({"run": "evalrun run"}, [Standing.WARN], "without a cap"),
        (
            {"run": 'evalrun run --budget 1 "${{ github.event.pull_request.title }}"'},
            [Standing.FAIL],
            "in a script runs what a stranger writes",
        ),
        ({"run": "pytest"}, [Standing.OK], "played by none"),
        ({"run": "evalrun run: ["}, [Standing.WARN, Standing.OK], "cannot be read"),
    ],
)
def test_a_workflow_is_read_for_who_can_make_it_spend(
    tmp_path: Path, changed: dict[str, str], expected: list[Standing], said: str
) -> None:
    """Strangers' triggers and expressions in scripts fail; no gate, no cap and loose actions warn."""
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    values = {"on": "pull_request", "needs": "needs: tests", "uses": PINNED, "run": "evalrun run --budget 1"}
    (folder / "x.yml").write_text(WORKFLOW.format(**(values | changed)), "utf-8")
    found = tuple(of_workflows(tmp_path, paid=True, capped=False))
    assert expected == [c.standing for c in found], found
    assert said in found[0].found


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """A look changes no file of the project."""
    made = Project(root=tmp_path).fill(BOT)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    done = made.run("doctor")
    assert 0 == done.code, done.out
    after = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert before == {p: d for p, d in after.items() if ".evalrun" not in p.parts}
