"""Reports: what a reporter hears and must offer."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the command line needs the options before it needs a result: `--help` stays quick
    from evalrun.results import RunHeader, RunResult, TrialResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """How a report is shown. `width` in columns, 0 for no limit; `animate` only on a real terminal.

    `detail`: every turn of every trial of `scenario` (empty: of all). `limit_bytes`: the most a
    report may take where something refuses more (0: no limit).
    """

    width: int = 120
    colour: bool = False
    animate: bool = False
    encoding: str = "utf-8"
    detail: bool = False
    scenario: str = ""
    limit_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One trial in play: its turn, what it waits for, USD so far (trial and run)."""

    scenario: str
    trial: int
    turn: int
    turns: int
    waiting_for: str
    cost: Decimal
    run_cost: Decimal
    done: bool = False


class TextSink(Protocol):
    """Where a report is written."""

    def write(self, text: str, /) -> object:
        """Write."""

    def flush(self) -> None:
        """Flush."""


class Reporter(Protocol):
    """Shows a run. Factory: `(out: TextSink, options: ReportOptions) -> Reporter`.

    A format that only renders the end leaves the other methods empty.
    """

    def started(self, header: RunHeader) -> None:
        """Before the first trial."""

    def progress(self, progress: Progress) -> None:
        """A trial moved on."""

    def trial(self, result: TrialResult) -> None:
        """A trial ended."""

    def notice(self, line: str) -> None:
        """One line the user should read now (a wait, a fallback)."""

    def finished(self, run: RunResult) -> None:
        """The end: render the whole run."""

    def close(self) -> None:
        """Let go of a terminal; always called, also when the run broke off; idempotent."""
