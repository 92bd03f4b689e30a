"""A project to start from: it validates and runs, and nothing of the user's is lost."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import evalrun
from evalrun.errors import UsageError
from evalrun.use_cases.doctor_workflows import read_workflows
from evalrun.use_cases.scaffold import init, modeline, write_all
from evalrun.use_cases.validate import validate

ROOT = Path(evalrun.__file__).parents[1]


def command(folder: Path, *words: str, environ: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The real command line in a folder, with no key at hand."""
    plain = {k: v for k, v in os.environ.items() if not k.endswith("_KEY") and k != "CI"}
    return subprocess.run(
        [sys.executable, "-m", "evalrun", *words],
        cwd=folder,
        env=plain | dict(environ or {}),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("name", ["plain", "mon projet é"])
def test_a_new_project_validates(tmp_path: Path, name: str) -> None:
    """Whatever the folder is called, all of its files are in order and every kind of scenario is there."""
    folder = tmp_path / name
    init(folder)
    report = validate(folder, environ={})
    assert (7, ()) == (report.files, report.problems)
    assert {p.name for p in (folder / "scenarios").iterdir()} == {"stage", "action", "event", "smoke"}


def test_a_new_project_runs_with_no_key_and_no_database(tmp_path: Path) -> None:
    """The stub of a target plays its deterministic scenario to a verdict."""
    assert command(tmp_path, "init").returncode == 0
    done = command(tmp_path, "run", "order-ready")
    assert (0, True) == (done.returncode, "1 pass" in done.stdout), done.stdout + done.stderr


def test_a_broken_stub_fails(tmp_path: Path) -> None:
    """The scenario is no decoration: a target that speaks after a cancelled order is red."""
    init(tmp_path)
    bot = tmp_path / "bot.py"
    bot.write_text(bot.read_text("utf-8").replace('event.name == "order_ready" and drink', "True"), "utf-8")
    assert command(tmp_path, "run", "order-ready").returncode == 1


def test_b79_the_generated_workflow_trusts_nobody(tmp_path: Path) -> None:
    """No privileged trigger, few rights, actions pinned by commit, no expression in a script, one gate."""
    init(tmp_path)
    workflows = read_workflows(tmp_path)
    assert (("evalrun.yml",), ()) == (workflows.files, workflows.unread)
    player = workflows.players[0]
    assert ("evalrun.yml: play", True, (), (), ()) == (
        player.name, player.gated, player.strangers, player.loose, player.injected,
    )  # fmt: skip
    assert {"OPENAI_API_KEY", "ANTHROPIC_API_KEY"} == set(player.keys)
    text = (tmp_path / ".github" / "workflows" / "evalrun.yml").read_text("utf-8")
    action = (tmp_path / ".github" / "actions" / "evalrun" / "action.yml").read_text("utf-8")
    assert "pull_request_target" not in text
    assert "\npermissions: {}\n" in text
    assert {"contents: read"} == {w.strip() for w in re.findall(r"permissions:\n\s+(.*)", text)}
    uses = re.findall(r"uses: (\S+)", text + action)
    assert [] == [u for u in uses if not re.search(r"@[0-9a-f]{40}$", u) and u != "./.github/actions/evalrun"]
    assert [] == [e for script in scripts(text + action) for e in re.findall(r"\$\{\{", script)]


def scripts(text: str) -> list[str]:
    """What stands under `run:`, on its line and below it."""
    return re.findall(r"run: (?:\|\n((?:\s{8,}.*\n)+)|.*\n)", text) + re.findall(r"run: (?!\|)(.*)", text)


def test_the_actions_are_those_of_our_own_workflows(tmp_path: Path) -> None:
    """One pin for each action in the whole repository, so that one change renews all."""
    init(tmp_path)
    pins: dict[str, set[str]] = {}
    for root in (ROOT, tmp_path):
        for path in (root / ".github").rglob("*.yml"):
            for action, commit in re.findall(r"uses: (actions/\S+)@(\S+ # \S+)", path.read_text("utf-8")):
                pins.setdefault(action, set()).add(commit)
    assert {"actions/checkout", "actions/setup-python", "actions/upload-artifact", "actions/download-artifact"} == set(
        pins
    )
    assert [] == [action for action, commits in pins.items() if len(commits) > 1]


def test_b79_a_fork_without_keys_is_told_and_not_passed(tmp_path: Path) -> None:
    """What the generated workflow runs, with an empty secret: one of three is played, and the gate is not open."""
    init(tmp_path)
    settings = tmp_path / "evalrun.toml"
    text = settings.read_text("utf-8")
    for role in ("persona", "judge"):
        text = text.replace(f'{role} = "local:smollm2-135m"', f'{role} = "openai:gpt-x"')
    settings.write_text(text, "utf-8")
    fork = {"CI": "true", "GITHUB_EVENT_NAME": "pull_request", "OPENAI_API_KEY": ""}
    done = command(tmp_path, "run", "--budget", "1.00", environ=fork)
    assert 3 == done.returncode
    assert "1 of 3 evaluated: no key for openai (OPENAI_API_KEY)" in done.stdout


def test_b80_a_workflow_of_the_user_is_kept(tmp_path: Path) -> None:
    """The very file that a project may have already."""
    mine = tmp_path / ".github" / "workflows" / "evalrun.yml"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", "utf-8")
    assert "kept" == next(w.how for w in init(tmp_path) if w.path == ".github/workflows/evalrun.yml")
    assert "mine" == mine.read_text("utf-8")


@pytest.mark.parametrize("name", ["plain", "mon projet é"])
def test_b80_what_is_generated_is_in_order(tmp_path: Path, name: str) -> None:
    """In any folder, outside git: it validates, can be planned, and the doctor has nothing that fails."""
    folder = tmp_path / name
    folder.mkdir()
    assert command(folder, "init").returncode == 0
    assert command(folder, "init").stdout.count("written ") == 0
    for words in (("validate",), ("plan", "--all"), ("doctor",)):
        done = command(folder, *words)
        assert 0 == done.returncode, done.stdout + done.stderr


def test_b80_files_of_the_user_are_kept(tmp_path: Path) -> None:
    """What exists stays byte for byte and is listed as kept; a second start changes nothing."""
    mine = {"scenarios/stage/order-taken.yaml": "mine", ".gitignore": "mine", "bot.py": "mine"}
    for path, text in mine.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    kept = {w.path for w in init(tmp_path) if w.how == "kept"}
    assert set(mine) == kept
    assert mine == {path: (tmp_path / path).read_text("utf-8") for path in mine}
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert {"kept"} == {w.how for w in init(tmp_path)}
    assert before == {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}


def test_b80_force_keeps_what_it_replaces(tmp_path: Path) -> None:
    """With force the old file stays beside the new one, and an earlier backup is not lost."""
    (tmp_path / "bot.py").write_text("first", "utf-8")
    init(tmp_path, force=True)
    (tmp_path / "bot.py").write_text("second", "utf-8")
    init(tmp_path, force=True)
    assert ["first", "second"] == [(tmp_path / n).read_text("utf-8") for n in ("bot.py.bak", "bot.py.bak1")]


def test_b80_nothing_is_written_in_part(tmp_path: Path) -> None:
    """A file in the place of a folder is found before anything is written."""
    (tmp_path / "personas").write_text("a file", "utf-8")
    with pytest.raises(UsageError, match="personas is a file"):
        init(tmp_path)
    assert ["personas"] == [p.name for p in tmp_path.iterdir()]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_b80_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """One line, and nothing happened."""
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(UsageError, match="cannot be written"):
            init(tmp_path)
    finally:
        tmp_path.chmod(0o700)


def test_a_name_the_disk_refuses_is_told(tmp_path: Path) -> None:
    """In one line, and nothing happened."""
    with pytest.raises(UsageError, match="nothing was changed"):
        write_all(tmp_path, {"a.txt": "new", "n" * 300: "new"})
    assert [] == list(tmp_path.iterdir())


def test_a_failure_takes_back_what_was_written(tmp_path: Path) -> None:
    """A text that cannot be written: the files before it are gone again, and what was replaced is back."""
    (tmp_path / "a.txt").write_text("old", "utf-8")
    with pytest.raises(UsageError, match="nothing was changed"):
        write_all(tmp_path, {"a.txt": "new", "sub/b.txt": "new", "sub/b.txt/c.txt": "new"}, force=True)
    assert {"a.txt": "old"} == {p.name: p.read_text("utf-8") for p in tmp_path.iterdir()}


def test_settings_in_pyproject_are_not_contradicted(tmp_path: Path) -> None:
    """Where a project has its settings already no second file of them appears."""
    (tmp_path / "pyproject.toml").write_text('[tool.evalrun]\ntarget = "t"\n', "utf-8")
    assert "evalrun.toml" not in {w.path for w in init(tmp_path)}


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("scenarios/stage/a.yaml", "# yaml-language-server: $schema=../../schemas/scenario.json\n"),
        ("personas/a.yaml", "# yaml-language-server: $schema=../schemas/persona.json\n"),
        ("style_rules.toml", "#:schema schemas/style_rules.json\n"),
        ("bot.py", ""),
    ],
)
def test_files_tell_editors_their_schema(path: str, line: str) -> None:
    """The first line leads from the file to its schema."""
    assert line == modeline(path)
