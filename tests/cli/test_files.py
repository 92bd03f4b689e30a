"""The commands on files: what they print and how they end."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from evalrun.cli.files import register
from evalrun.errors import FileProblems, UnknownName
from evalrun.loading.schemas import schema_text
from tests.loading.projects import RULES, SCENARIO, write

HARD = RULES + '[[rules]]\nid = "no-dash"\ncheck = "no_dash"\nseverity = "hard"\nsay = "no dashes"\n'


def run(*arguments: str) -> Result:
    """A command of an application that has only these."""
    app = typer.Typer()
    register(app)
    return CliRunner().invoke(app, arguments)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project to stand in."""
    monkeypatch.chdir(write(tmp_path, {"style_rules.toml": HARD}))
    return tmp_path


def test_validate_counts_files(project: Path) -> None:
    """A good project: exit 0 and how many files were looked at."""
    done = run("validate")
    assert (done.exit_code, done.stdout) == (0, "5 files, no problem\n")
    assert run("validate", "personas").stdout == "1 file, no problem\n"


def test_validate_raises_the_problems(project: Path) -> None:
    """For the outermost command line to print, in the form of a compiler."""
    bad = SCENARIO.replace("absent: [49 €]", "absent: [[NAME]]").replace("pricing\ntitle", "pricing\ntitel")
    write(project, {"scenarios/pricing.yaml": bad, "style_rules.toml": HARD})
    error = run("validate").exception
    assert isinstance(error, FileProblems)
    assert error.lines() == (
        "scenarios/pricing.yaml:2:1: unknown key `titel` in `scenario`; did you mean `title`?",
        'scenarios/pricing.yaml:10:19: `[NAME]` is a YAML list, expected text; write "[NAME]"',
        "2 problems in 1 file; nothing was run, nothing was spent",
    )
    assert error.exit_code == 2


def test_schema_prints_the_schema(project: Path) -> None:
    """As shipped; an unknown kind is told with the nearest name."""
    done = run("schema", "scenario")
    assert (done.exit_code, done.stdout) == (0, schema_text("scenario"))
    assert isinstance(run("schema", "scenarios").exception, UnknownName)


def test_rules_prompt_prints_the_block(project: Path) -> None:
    """One sentence a line."""
    done = run("rules", "prompt")
    assert (done.exit_code, done.stdout) == (0, "- ask one question at most\n- no dashes\n")


def test_rules_check_ends_with_1_on_a_hard_finding_only(project: Path) -> None:
    """A soft finding is shown and passes."""
    (project / "soft.txt").write_text("a ? b ?", "utf-8")
    (project / "hard.txt").write_text("a — b", "utf-8")
    soft = run("rules", "check", "soft.txt")
    assert (soft.exit_code, soft.stdout.splitlines()[-1]) == (0, "1 finding, 0 hard, in 1 reply")
    assert soft.stdout.startswith("soft.txt: reply 1, bubble 1: soft one-question: 2 questions, limit 1")
    both = run("rules", "check", "soft.txt", "hard.txt")
    assert (both.exit_code, both.stdout.splitlines()[-1]) == (1, "2 findings, 1 hard, in 2 replies")


def test_a_quote_cannot_steer_the_terminal(project: Path) -> None:
    """Escape sequences and line breaks of the checked text are shown, not sent."""
    (project / "x.txt").write_text("a — \x1b[2J\n::error::b", "utf-8")
    lines = run("rules", "check", "x.txt").stdout.splitlines()
    assert "\x1b" not in lines[0]
    assert not any(line.startswith("::") for line in lines)
