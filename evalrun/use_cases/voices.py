"""All reporters of a run as one."""

from __future__ import annotations

from collections.abc import Sequence

from evalrun.interfaces.reports import Progress, Reporter
from evalrun.redaction import Redactor
from evalrun.results import RunHeader, RunResult, TrialResult


class Voices:
    """All reporters at once, and the notices they were given. A notice before the start waits for it."""

    def __init__(self, reporters: Sequence[Reporter], redactor: Redactor) -> None:
        self._reporters = reporters
        self._redactor = redactor
        self.notices: list[str] = []

    def started(self, header: RunHeader) -> None:
        """A run starts."""
        for reporter in self._reporters:
            reporter.started(header)

    def progress(self, progress: Progress) -> None:
        """A trial moved on."""
        for reporter in self._reporters:
            reporter.progress(progress)

    def trial(self, result: TrialResult) -> None:
        """A trial ended."""
        for reporter in self._reporters:
            reporter.trial(result)

    def notice(self, line: str) -> None:
        """One line to read now, without secrets."""
        clean = self._redactor.text(line)
        self.notices.append(clean)
        for reporter in self._reporters:
            reporter.notice(clean)

    def finished(self, run: RunResult) -> None:
        """The run ended."""
        for reporter in self._reporters:
            reporter.finished(run)
