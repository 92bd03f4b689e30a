"""Checking the files of a project without running anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evalrun.errors import FileProblems, UnknownName, UsageError
from evalrun.loading.settings import Overrides
from evalrun.use_cases.validate import validate
from tests.loading.projects import SCENARIO, write

BROKEN = SCENARIO.replace("title:", "titel:")
SAID = "scenarios/bad.yaml:2:1: unknown key `titel` in `scenario`; did you mean `title`?"


def test_a_good_project_has_no_problem(tmp_path: Path) -> None:
    """All files are counted, from any folder of the project."""
    write(tmp_path)
    for start in (tmp_path, tmp_path / "scenarios"):
        report = validate(start, environ={})
        assert (report.files, report.problems) == (5, ())


def test_problems_of_all_files_come_together(tmp_path: Path) -> None:
    """In the order of files and lines, not one at a time."""
    write(tmp_path, {"scenarios/bad.yaml": BROKEN, "personas/lea.yaml": "name: L\n", "style_rules.toml": "x = 1\n"})
    report = validate(tmp_path, environ={})
    assert [str(p.where) for p in report.problems] == [
        "personas/lea.yaml:1:1",
        "personas/lea.yaml:1:1",
        "scenarios/bad.yaml:2:1",
        "style_rules.toml:1:1",
        "style_rules.toml:1:1",
    ]


@pytest.mark.parametrize(
    ("paths", "files", "said"),
    [
        (["scenarios/bad.yaml"], 1, [SAID]),
        (["scenarios"], 2, [SAID]),
        (["."], 6, [SAID]),
        (["personas/lea.yaml"], 1, []),
        (["personas", "style_rules.toml"], 2, []),
        (["evalrun.toml"], 1, []),
    ],
)
def test_only_what_was_asked_for_is_reported(paths: list[str], files: int, said: list[str], tmp_path: Path) -> None:
    """Files and folders, relative to where one stands."""
    write(tmp_path, {"scenarios/bad.yaml": BROKEN})
    report = validate(tmp_path, [Path(p) for p in paths], environ={})
    # the folder of the project also holds its settings
    assert (report.files, [str(p) for p in report.problems]) == (files + (paths == ["."]), said)


@pytest.mark.parametrize("path", ["nowhere.yaml", "README.md", "other"])
def test_a_path_that_holds_no_file_of_the_project_is_a_usage_error(path: str, tmp_path: Path) -> None:
    """Checking nothing is no success."""
    write(tmp_path, {"README.md": "hello", "other/x.yaml": SCENARIO})
    with pytest.raises(UsageError, match="no file of this project"):
        validate(tmp_path, [Path(path)], environ={})


def test_settings_are_checked_first(tmp_path: Path) -> None:
    """Their problems are told, and an unknown profile is a usage error."""
    write(tmp_path, {"evalrun.toml": "targt = 1\n"})
    with pytest.raises(FileProblems):
        validate(tmp_path, environ={})
    write(tmp_path)
    with pytest.raises(UnknownName):
        validate(tmp_path, overrides=Overrides(profile="ci"), environ={})


def test_nothing_heavy_is_loaded(tmp_path: Path) -> None:
    """No vendor SDK, SQL library, HTTP stack or table printer comes in with the checking of files."""
    write(tmp_path)
    code = (
        "import sys\nfrom pathlib import Path\nimport typer\n"
        "from evalrun.cli.files import register\nfrom evalrun.use_cases.validate import validate\n"
        "register(typer.Typer())\n"
        "assert validate(Path(sys.argv[1]), environ={}).problems == ()\n"
        "heavy = ('openai', 'anthropic', 'sqlalchemy', 'asyncpg', 'aiohttp', 'httpx', 'genai_prices', 'jsonschema')\n"
        "print([h for h in heavy if h in sys.modules])\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
