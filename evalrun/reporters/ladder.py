"""Runs of one suite with several agent models side by side: which scenario breaks at which step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from evalrun.interfaces.reports import ReportOptions, TextSink
from evalrun.reporters.figures import Figures, figures_of, usd
from evalrun.reporters.layout import padded
from evalrun.reporters.markdown_text import inert
from evalrun.reporters.markdown_text import table as markdown_table
from evalrun.reporters.visible import own, visible
from evalrun.reporters.wording import SYMBOLS, word
from evalrun.results import RunResult
from evalrun.verdict import Verdict

NEVER = "holds"


def breaks_at(verdicts: Sequence[Verdict | None]) -> int | None:
    """The first step from which on a scenario no longer passes; None while the last step passes."""
    step = len(verdicts)
    while step and verdicts[step - 1] is not Verdict.PASS:
        step -= 1
    return None if step == len(verdicts) else step


def rows_of(runs: Sequence[RunResult]) -> Iterator[tuple[str, list[str], str]]:
    """Of each scenario: its name, a cell for each step, and where it breaks."""
    figures = [figures_of(r) for r in runs]
    names = dict.fromkeys(s.id for r in runs for s in r.scenarios)
    for name in names:
        found = [next((r for r in f.rows if r.scenario.id == name), None) for f in figures]
        cells = [
            "–" if r is None else f"{SYMBOLS[r.scenario.verdict]} {word(r.scenario.verdict)} {r.mean_text}".rstrip()
            for r in found
        ]
        step = breaks_at([r.scenario.verdict if r else None for r in found])
        yield name, cells, NEVER if step is None else runs[step].header.models.get("agent", "?")


def sums_of(runs: Sequence[RunResult]) -> Iterator[tuple[str, list[str]]]:
    """The lines under the table."""
    figures: list[Figures] = [figures_of(r) for r in runs]
    yield "pass", [f"{sum(s.verdict is Verdict.PASS for s in r.scenarios)}/{len(r.scenarios)}" for r in runs]
    yield "mean", ["–" if f.mean is None else f"{float(f.mean):.2f}{'*' if f.advisory else ''}" for f in figures]
    yield "cost", [usd(r.spending.cost) for r in runs]


class Table:
    """For a terminal or a log."""

    def __init__(self, out: TextSink, options: ReportOptions) -> None:
        self._out = out
        self._encoding = options.encoding

    def show(self, runs: Sequence[RunResult]) -> None:
        """Write all of it."""
        head = ["scenario", *(r.header.models.get("agent", "?") for r in runs), "breaks at"]
        rows = [[visible(name, self._encoding), *cells, at] for name, cells, at in rows_of(runs)]
        sums = [[name, *cells, ""] for name, cells in sums_of(runs)]
        table = [head, *rows, *sums]
        widths = [max(cell_len(r[i]) for r in table) for i in range(len(head))]
        for row in table:
            line = "  ".join(padded(c, w) for c, w in zip(row, widths, strict=True))
            self._out.write(own(f" {line}", self._encoding).rstrip() + "\n")
        for run in runs:
            self._out.write(f"run {run.header.id}  agent {run.header.models.get('agent', '?')}\n")
        self._out.flush()


class Markdown:
    """For a pull request."""

    def __init__(self, out: TextSink, options: ReportOptions) -> None:
        self._out = out
        del options

    def show(self, runs: Sequence[RunResult]) -> None:
        """Write all of it."""
        head = ["scenario", *(inert(r.header.models.get("agent", "?")) for r in runs), "breaks at"]
        rows = [[inert(name), *map(inert, cells), inert(at)] for name, cells, at in rows_of(runs)]
        sums = [[f"**{name}**", *map(inert, cells), ""] for name, cells in sums_of(runs)]
        self._out.write(markdown_table(head, [*rows, *sums]) + "\n")
        self._out.flush()


class Json:
    """For programs."""

    def __init__(self, out: TextSink, options: ReportOptions) -> None:
        self._out = out
        del options

    def show(self, runs: Sequence[RunResult]) -> None:
        """Write all of it."""
        found = {
            "schema_version": 1,
            "runs": [
                {"id": r.header.id, "agent": r.header.models.get("agent", ""), "exit_code": r.exit_code} for r in runs
            ],
            "scenarios": [{"id": name, "steps": cells, "breaks_at": at} for name, cells, at in rows_of(runs)],
        }
        self._out.write(json.dumps(found, indent=2).replace("##[", "##\\u005b") + "\n")
        self._out.flush()
