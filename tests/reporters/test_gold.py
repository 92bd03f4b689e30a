"""Whole reports compared as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalrun.interfaces.reports import ReportOptions
from evalrun.results import RunResult
from tests.reporters.shown import json_text, markdown, same_as_gold, terminal
from tests.runs_samples import advisory_run, hostile_run, mixed_run

RUNS: dict[str, Callable[[], RunResult]] = {"mixed": mixed_run, "advisory": advisory_run, "hostile": hostile_run}


@pytest.mark.parametrize("width", [40, 80, 120, 200, 0])
@pytest.mark.parametrize("name", list(RUNS))
def test_terminal(name: str, width: int, tmp_path: Path) -> None:
    """The table, what went wrong and the sums, at every width."""
    same_as_gold(f"{name}-{width}.txt", terminal(RUNS[name](), ReportOptions(width=width)), tmp_path)


def test_terminal_in_colour(tmp_path: Path) -> None:
    """Colours are of the terminal's own sixteen."""
    same_as_gold("mixed-colour.txt", terminal(mixed_run(), ReportOptions(width=100, colour=True)), tmp_path)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_terminal_in_an_old_encoding(encoding: str, tmp_path: Path) -> None:
    """What the encoding lacks is written out; our own signs have a plain form."""
    options = ReportOptions(width=80, encoding=encoding)
    same_as_gold(f"hostile-{encoding}.txt", terminal(hostile_run(), options), tmp_path)


@pytest.mark.parametrize("name", list(RUNS))
def test_markdown(name: str, tmp_path: Path) -> None:
    """The verdict first, the table, then what failed."""
    same_as_gold(f"{name}.md", markdown(RUNS[name]()), tmp_path)


def test_json(tmp_path: Path) -> None:
    """One document, keys in a stable order."""
    same_as_gold("mixed.json", json_text(mixed_run()), tmp_path)


@pytest.mark.parametrize(("name", "report"), [("detail.txt", terminal), ("detail.md", markdown)])
def test_every_turn(name: str, report: Callable[[RunResult, ReportOptions], str], tmp_path: Path) -> None:
    """`evalrun show RUN SCENARIO`: every turn, every judgement."""
    same_as_gold(name, report(mixed_run(), ReportOptions(width=100, detail=True)), tmp_path)
