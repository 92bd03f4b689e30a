"""`evalrun show` and `evalrun runs`: what they print, where it goes, how they end."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from evalrun.cli.show import register
from evalrun.errors import EvalrunError, FileProblems, StoreFailed, UnknownName, UsageError
from evalrun.stores.sqlite import sqlite
from tests.loading.projects import write
from tests.runs_samples import hostile_run, mixed_run
from tests.stores.test_sqlite import keep, named

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> Result:
    """A command of an application that has only these."""
    app = typer.Typer()
    register(app)
    return CliRunner().invoke(app, arguments)


def shown(*arguments: str) -> str:
    """What a command prints when it succeeds."""
    done = run(*arguments)
    assert done.exit_code == 0, done.exception
    return done.stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project to stand in, with two runs kept."""
    monkeypatch.chdir(write(tmp_path))
    monkeypatch.delenv("COLUMNS", raising=False)

    async def fill() -> None:
        store = sqlite(str(tmp_path / ".evalrun" / "history.db"))
        await store.open()
        await keep(store, named(hostile_run(), "2026-12-01-aaaaaa"))
        await keep(store, mixed_run())
        await store.close()

    asyncio.run(fill())
    return tmp_path


def test_show_is_the_report_of_the_run(project: Path) -> None:
    """`last` by default, or by the end of an id; in a pipe without colours and at no width."""
    text = shown("show")
    assert text == (ROOT / "tests/reporters/gold/mixed-0.txt").read_text("utf-8")
    assert shown("show", "7f3a2b") == text
    assert "devis | relance" in shown("show", "aaaaaa")


def test_show_a_scenario_turn_by_turn(project: Path) -> None:
    """Only that one, with every turn, every score and every judgement."""
    text = shown("show", "last", "pricing-asked-twice")
    assert text.count("turn 3 ·") == 2
    assert "score │ objective 4: answers a question with a question" in text
    assert "pricing-mean-low" not in text
    assert "exit 1 (a scenario failed)" in text


@pytest.mark.parametrize(("name", "gold"), [("markdown", "mixed.md"), ("json", "mixed.json")])
def test_formats_and_output(project: Path, name: str, gold: str) -> None:
    """To standard output, or whole to a file whose folder is made."""
    expected = (ROOT / "tests/reporters/gold" / gold).read_text("utf-8")
    assert shown("show", "--format", name) == expected
    assert shown("show", "--format", name, "--output", "out/report") == ""
    assert (project / "out" / "report").read_text("utf-8") == expected
    assert [p.name for p in (project / "out").iterdir()] == ["report"]


def test_json_of_one_scenario(project: Path) -> None:
    """The document holds only that one."""
    found = json.loads(shown("show", "last", "pricing-city", "--format", "json"))
    assert [s["id"] for s in found["scenarios"]] == ["pricing-city"]


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (("show", "nothing"), UnknownName, "no run 'nothing'"),
        (("show", "last", "pricing-citi"), UnknownName, "did you mean 'pricing-city'"),
        (("show", "--format", "marckdown"), UnknownName, "did you mean 'markdown'"),
        (("show", "--output", "."), UsageError, "cannot be written"),
        (("show", "--output", "evalrun.toml/report"), UsageError, "cannot be written"),
    ],
)
def test_mistakes(project: Path, arguments: tuple[str, ...], kind: type[EvalrunError], message: str) -> None:
    """Each says what is wrong and how to set it right."""
    done = run(*arguments)
    assert isinstance(done.exception, kind)
    assert message in done.exception.message
    assert done.exception.remedy


def test_a_failed_report_leaves_the_earlier_file(project: Path) -> None:
    """A report that does not come to be replaces nothing and leaves nothing behind."""
    (project / "report.md").write_text("earlier")
    assert run("show", "nothing", "--output", "report.md").exit_code != 0
    assert (project / "report.md").read_text() == "earlier"
    assert [p.name for p in project.iterdir() if "part" in p.name] == []


def test_runs(project: Path) -> None:
    """The newest first, one line each."""
    assert shown("runs").splitlines() == [
        "2026-12-01-7f3a2b  2026-12-01 09:30  ori  1 pass, 4 fail, 1 unstable, 1 error, 1 invalid, 1 not run (exit 1)  9 of 37 scenarios  3f2c1ab",
        "2026-12-01-aaaaaa  2026-12-01 09:00  ori  4 fail (exit 1)  4 of 37 scenarios  3f2c1ab",
    ]
    assert len(shown("runs", "--limit", "1").splitlines()) == 1


def test_nothing_is_kept_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty history is said, a project that is not there is an error."""
    monkeypatch.chdir(tmp_path)
    assert isinstance(run("runs").exception, (FileProblems, UsageError))
    write(tmp_path)
    assert shown("runs") == "no run is kept yet: evalrun run\n"
    assert isinstance(run("show").exception, UnknownName)


def test_a_damaged_history(project: Path) -> None:
    """It is an error with a cure, not a crash."""
    for file in (project / ".evalrun").iterdir():
        file.unlink()
    (project / ".evalrun" / "history.db").write_text("no database " * 100)
    assert isinstance(run("show").exception, StoreFailed)


SHOW = "import typer; from evalrun.cli.show import register; app = typer.Typer(); register(app); app()"


C_LOCALE = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize(
    ("name", "environ"),
    [
        ("table", {"PYTHONIOENCODING": "cp1252", "NO_COLOR": "1", "CI": "true"}),
        ("markdown", {"PYTHONIOENCODING": "cp1252"}),
        ("json", {"PYTHONIOENCODING": "cp1252"}),
        ("table", C_LOCALE),
        ("table", {"COLUMNS": "40", "TERM": "dumb"}),
    ],
)
def test_b48_in_a_pipe(project: Path, name: str, environ: dict[str, str]) -> None:
    """Whatever the surroundings: no crash, exit 0, no colour."""
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "CI")}
    done = subprocess.run(
        [sys.executable, "-c", SHOW, "show", "aaaaaa", "--format", name],
        env={**clean, "PYTHONPATH": str(ROOT), **environ},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b" not in done.stdout
    assert b"[nom]" in done.stdout or name == "markdown"
    if "COLUMNS" in environ and name == "table":
        assert max(cell_len(line) for line in done.stdout.decode().splitlines()) <= 40


def test_a_reader_that_goes_away(project: Path) -> None:
    """`evalrun show | head -1` is no failure of ours."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$0" -c "$1" show last --format json | head -1', sys.executable, SHOW],
        env=environ,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, b"", b"{\n")


def test_the_end_of_an_id_that_two_runs_have(project: Path) -> None:
    """The candidates are named."""

    async def add() -> None:
        store = sqlite(str(project / ".evalrun" / "history.db"))
        await store.open()
        await keep(store, replace(named(mixed_run(), "2026-12-05-aaaaaa", 40), scenarios=()))
        await store.close()

    asyncio.run(add())
    done = run("show", "aaaaaa")
    assert isinstance(done.exception, UnknownName)
    assert done.exception.remedy == "one of 2026-12-05-aaaaaa, 2026-12-01-aaaaaa"
