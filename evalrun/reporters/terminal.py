"""A run in a terminal: what moves while it goes on, then the table, what went wrong, and the sums.

Text of the agent is never read as markup, never steers the terminal, and is shown as written.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import IO, cast

from rich.console import Console
from rich.text import Text

from evalrun.interfaces.reports import Progress, ReportOptions, TextSink
from evalrun.reporters.details import OUTCOMES, Details
from evalrun.reporters.figures import Figures, figures_of, usd
from evalrun.reporters.layout import UNLIMITED, Labelled, joined, labelled_lines, wrapped_own
from evalrun.reporters.live import Moving
from evalrun.reporters.table import Signs, Table
from evalrun.reporters.troubles import trouble_of
from evalrun.reporters.visible import own, visible
from evalrun.reporters.wording import (
    SYMBOLS,
    cost_line,
    counts,
    duration,
    exit_line,
    missing_line,
    models_line,
    selection_line,
    short_id,
    trust_lines,
)
from evalrun.results import RunHeader, RunResult, TrialResult
from evalrun.verdict import Outcome, Verdict


class Terminal:
    """The reporter `table` (see `interfaces.reports.Reporter`)."""

    def __init__(self, out: TextSink, options: ReportOptions) -> None:
        self._options = options
        self._signs = Signs(
            text=partial(visible, encoding=options.encoding), own=partial(own, encoding=options.encoding)
        )
        self._console = Console(
            file=cast("IO[str]", out),  # Rich only writes and flushes
            width=options.width or UNLIMITED,
            force_terminal=options.colour or options.animate,
            color_system="standard" if options.colour else None,
            no_color=not options.colour,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            soft_wrap=True,
            _environ={},
        )
        self._moving: Moving | None = None
        self._headed = False
        self._noticed: set[str] = set()
        self._selected = 0
        self._ended: set[str] = set()

    def started(self, header: RunHeader) -> None:
        """The header; then what moves, on a real terminal."""
        self._head(header)
        self._selected = header.selected
        if self._options.animate:
            self._moving = Moving(self._console, header, self._signs)
            self._moving.start()

    def progress(self, progress: Progress) -> None:
        """A trial moved on."""
        if self._moving is not None:
            self._moving.progress(progress)

    def trial(self, result: TrialResult) -> None:
        """One plain line, where nothing moves; where something does, only for what did not pass."""
        self._ended.add(result.scenario)
        if self._moving is not None:
            self._moving.trial(result)
            if result.outcome in (Outcome.PASS, Outcome.NOT_RUN):
                return
        verdict = Verdict(result.outcome.value)
        head = f"{SYMBOLS[verdict]} {verdict.value.replace('_', ' ')}"
        number = f" #{result.number}" if result.number > 1 else ""
        cost = result.spending.cost
        parts = [f"{result.scenario}{number}", f"{usd(cost)}", duration(result.seconds)]
        if result.outcome is not Outcome.PASS:
            parts.append(result.reason)
        count = f"[{len(self._ended)}/{max(self._selected, len(self._ended))}] "
        line = Text(count, "dim").append(self._signs.own(head), OUTCOMES[result.outcome])
        rest = self._signs.own(" · ").join(self._signs.text(p).replace("\n", " ") for p in parts)
        self._print([line.append(f" {rest}")])
        self._flush()

    def notice(self, line: str) -> None:
        """One line to read now."""
        self._noticed.add(line)
        note = Labelled(label="note", text=self._signs.text(line), label_style="yellow")
        self._print(labelled_lines([note], indent=0, width=self._options.width, bar=self._signs.own("│")))
        self._flush()

    def finished(self, run: RunResult) -> None:
        """The table, what went wrong, the sums. With `detail`, every turn of the scenarios shown."""
        self.close()
        if not self._headed:
            self._head(run.header)
        for line in run.notices:
            if line not in self._noticed:
                self.notice(line)
        figures = figures_of(run)
        if run.scenarios:
            self._print([Text(), *Table(figures, self._options.width, self._signs).lines()])
        self._print(self._legend(run, figures))
        self._print(self._blocks(run, figures))
        self._print([Text(), *self._sums(run, figures)])
        self._flush()

    def close(self) -> None:
        """Let go of the terminal; idempotent."""
        if self._moving is not None:
            self._moving.stop()
            self._moving = None

    def _head(self, header: RunHeader) -> None:
        self._headed = True
        lines = [models_line(header), *trust_lines(header), selection_line(header)]
        for i, line in enumerate(lines):
            text = self._signs.own(line).replace("\n", " ")
            self._print(wrapped_own(text, width=self._options.width, style="" if i else "bold"))
        self._flush()

    def _legend(self, run: RunResult, figures: Figures) -> Iterable[Text]:
        if figures.advisory:
            said = "; ".join(t.line for t in run.header.trust if not t.gates) or "a judge is advisory"
            text = self._signs.own(f"* shown, does not decide: {said}").replace("\n", " ")
            yield from wrapped_own(text, width=self._options.width, indent=1, style="dim")

    def _blocks(self, run: RunResult, figures: Figures) -> Iterable[Text]:
        details = Details(run.header.target, self._options.width, self._signs)
        for row in figures.rows:
            if self._options.detail and self._options.scenario in ("", row.scenario.id):
                yield Text()
                yield from details.scenario(row)
                continue
            trouble = trouble_of(row, run.header.target)
            if trouble is not None:
                yield Text()
                yield from details.trouble(trouble)

    def _sums(self, run: RunResult, figures: Figures) -> Iterable[Text]:
        dot = self._signs.own(" · ")
        short = short_id(run.header.id)
        missing = [line] if (line := missing_line(run)) else []
        first = [*missing, counts(run), figures.mean_line, cost_line(run, figures), duration(run.seconds)]
        second = [f"run {run.header.id}", f"evalrun show {short} SCENARIO", exit_line(run)]
        for parts, style in ((first, "bold"), (second, "")):
            yield from joined([self._signs.own(p) for p in parts], dot, width=self._options.width, style=style)

    def _print(self, lines: Iterable[Text]) -> None:
        for line in lines:
            if self._moving is None and not self._options.colour:
                # plain text as it is: Rich lays out each line anew
                self._console.file.write(f"{line.plain}\n")
                continue
            line.no_wrap = True
            line.overflow = "ignore"
            self._console.print(line, soft_wrap=True)

    def _flush(self) -> None:
        self._console.file.flush()
