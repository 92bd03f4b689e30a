"""A run as one JSON document of a versioned shape: all that is kept of it, and the figures reports show."""

from __future__ import annotations

import json
import re
from typing import Any

from evalrun.archive import document, text_of
from evalrun.interfaces.reports import Progress, ReportOptions, TextSink
from evalrun.reporters.figures import Figures, Row, figures_of
from evalrun.results import RunHeader, RunResult, TrialResult
from evalrun.usage import Role

DIGITS = 6


class Json:
    """The reporter `json` (see `interfaces.reports.Reporter`): one document, at the end."""

    def __init__(self, out: TextSink, options: ReportOptions) -> None:
        self._out = out
        self._options = options

    def started(self, header: RunHeader) -> None:
        """Nothing yet."""

    def progress(self, progress: Progress) -> None:
        """Nothing yet."""

    def trial(self, result: TrialResult) -> None:
        """Nothing yet."""

    def notice(self, line: str) -> None:
        """Nothing yet: notices are in the run."""

    def finished(self, run: RunResult) -> None:
        """The whole document."""
        text = text_of({**document(run), "figures": _figures(run)}, indent=2)
        # a CI service reads `##[command]` anywhere in a line of output; the value stays the same
        self._out.write(_encodable(text.replace("##[", "##\\u005b"), self._options.encoding) + "\n")
        self._out.flush()

    def close(self) -> None:
        """Nothing is held."""


def _encodable(text: str, encoding: str) -> str:
    """The same document with characters the encoding lacks as JSON escapes."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return re.sub(r"[^\x00-\x7f]", lambda m: json.dumps(m.group())[1:-1], text)
    return text


def _figures(run: RunResult) -> dict[str, Any]:
    """What is computed from the run: exact money as text, means as numbers, null where there is no score."""
    figures = figures_of(run)
    spending = run.spending
    return {
        "cost_usd": str(spending.cost),
        "cost_usd_by_role": {r.value: str(spending.of(r).cost) for r in Role},
        "cost_is_estimated": spending.estimated,
        "mean": _number(figures),
        "judged": figures.judged,
        "selected": len(figures.rows),
        "advisory": figures.advisory,
        "scenarios": {r.scenario.id: _row(r) for r in figures.rows},
    }


def _number(figures: Figures) -> float | None:
    return None if figures.mean is None else round(float(figures.mean), DIGITS)


def _row(row: Row) -> dict[str, Any]:
    return {
        "verdict": row.scenario.verdict.value,
        "plays": row.plays,
        "mean": None if row.mean is None else round(float(row.mean), DIGITS),
        "criteria": {c: round(float(v), DIGITS) for c, v in row.averages.items()},
        "under_floor": sorted(row.low),
        "advisory": row.advisory,
        "cost_usd": str(row.scenario.spending.cost),
        "seconds": round(row.seconds, 3),
    }
