"""Reports as texts, and gold files they are compared with.

Set EVALRUN_RENEW_GOLD=1 to write the gold files anew; look at the difference before committing.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

from evalrun.interfaces.reports import ReportOptions
from evalrun.reporters.json import Json
from evalrun.reporters.markdown import Markdown
from evalrun.reporters.terminal import Terminal
from evalrun.results import RunResult

GOLD = Path(__file__).parent / "gold"


def terminal(run: RunResult, options: ReportOptions | None = None) -> str:
    """What a terminal shows at the end of a run."""
    out = io.StringIO()
    Terminal(out, options or ReportOptions(width=0)).finished(run)
    return out.getvalue()


def markdown(run: RunResult, options: ReportOptions | None = None) -> str:
    """A run as Markdown."""
    out = io.StringIO()
    Markdown(out, options or ReportOptions()).finished(run)
    return out.getvalue()


def json_text(run: RunResult, options: ReportOptions | None = None) -> str:
    """A run as JSON."""
    out = io.StringIO()
    Json(out, options or ReportOptions()).finished(run)
    return out.getvalue()


def same_as_gold(name: str, actual: str, kept: Path) -> None:
    """Compare with a gold file; on a difference the actual text is kept for a look."""
    gold = GOLD / name
    if os.environ.get("EVALRUN_RENEW_GOLD"):
        gold.write_text(actual, encoding="utf-8")
    expected = gold.read_text("utf-8") if gold.exists() else ""
    if actual != expected:
        (kept / name).write_text(actual, encoding="utf-8")
    assert actual == expected, f"the actual text is in {kept / name}"
