"""The moving part of a terminal while a run goes on: trials in play, a bar, the money spent."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from decimal import Decimal

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from evalrun.interfaces.reports import Progress
from evalrun.reporters.figures import budget, usd
from evalrun.reporters.layout import padded
from evalrun.reporters.table import Signs
from evalrun.reporters.wording import duration
from evalrun.results import RunHeader, TrialResult

PER_SECOND = 5
BAR_CELLS = 24
MOST_LINES = 12
NAME_CELLS = 32


@dataclass(slots=True, kw_only=True)
class _InPlay:
    progress: Progress
    since: float = field(default_factory=time.monotonic)


class Moving:
    """Redrawn some times a second by a thread of Rich's; what is fed in is only remembered."""

    def __init__(self, console: Console, header: RunHeader, signs: Signs) -> None:
        self._header = header
        self._signs = signs
        self._began = time.monotonic()
        self._in_play: dict[tuple[str, int], _InPlay] = {}
        self._done: set[str] = set()
        self._spent = Decimal()
        self._width = console.width
        self._live = Live(
            console=console,
            get_renderable=self._drawn,
            refresh_per_second=PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def start(self) -> None:
        """Begin to draw."""
        self._live.start()

    def stop(self) -> None:
        """Stop and wipe what was drawn; idempotent."""
        self._live.stop()

    def progress(self, progress: Progress) -> None:
        """A trial moved on."""
        key = (progress.scenario, progress.trial)
        self._spent = max(self._spent, progress.run_cost)
        if progress.done:
            self._in_play.pop(key, None)
        elif key in self._in_play:
            self._in_play[key].progress = progress
        else:
            self._in_play[key] = _InPlay(progress=progress)

    def trial(self, result: TrialResult) -> None:
        """A trial ended."""
        self._in_play.pop((result.scenario, result.number), None)
        self._done.add(result.scenario)

    def _drawn(self) -> Group:
        playing = list(self._in_play.values())
        lines = [self._line(p) for p in playing[:MOST_LINES]]
        if len(playing) > MOST_LINES:
            lines.append(Text(f"   and {len(playing) - MOST_LINES} more", "dim"))
        return Group(*lines, self._bar({p.progress.scenario for p in playing}))

    def _line(self, one: _InPlay) -> Text:
        now = one.progress
        name = self._signs.text(now.scenario) + (f" #{now.trial}" if now.trial > 1 else "")
        parts = [f"turn {now.turn} of {now.turns}" if now.turn else "opening", f"waits for {now.waiting_for}"]
        parts += [f"{usd(now.cost)}", duration(time.monotonic() - one.since)]
        line = Text("   ").append(padded(name, NAME_CELLS), "bold").append(self._signs.own(f" {' · '.join(parts)}"))
        line.truncate(self._width)
        line.no_wrap = True
        return line

    def _bar(self, playing: set[str]) -> Text:
        total = max(self._header.selected, len(self._done | playing), 1)
        done = len(self._done - playing)
        full = BAR_CELLS * done // total
        line = (
            Text(" ")
            .append(self._signs.own("━" * full), "green")
            .append(self._signs.own("─" * (BAR_CELLS - full)), "dim")
        )
        spent = f"{usd(self._spent)}"
        cap = f" of {budget(self._header.cap)}" if self._header.cap is not None else ""
        parts = [f"{done} of {total} scenarios", f"{spent}{cap}", duration(time.monotonic() - self._began)]
        line.append(self._signs.own(f" {' · '.join(parts)}"))
        line.truncate(self._width)
        line.no_wrap = True
        return line
