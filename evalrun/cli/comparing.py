"""Comparisons on their way out: to the terminal, a pipe or a file."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from evalrun import plugins
from evalrun.cli.output import TABLE, ReportFile, Screen, Wish, screen_options
from evalrun.interfaces.reports import ReportOptions


def show(comparison: Any, format_name: str, output: Path | None, stream: TextIO | None = None) -> None:
    """Write a comparison to a file, else to a stream (default standard output)."""
    if output is not None:
        with ReportFile(output) as file:
            _write(comparison, format_name, file, ReportOptions(width=0))
        return
    out = stream or sys.stdout
    _write(comparison, format_name, Screen(out), screen_options(out, os.environ, Wish()))


def _write(comparison: Any, format_name: str, out: Any, options: ReportOptions) -> None:
    if format_name == "json":
        text = json.dumps(plugins.use_case("compare").document(comparison), indent=2, ensure_ascii=True)
        out.write(text.replace("##[", "##\\u005b") + "\n")
        out.flush()
        return
    plugins.load("comparisons", format_name)(out, options).show(comparison)


def beside(comparison: Any, format_name: str, output: Path | None) -> None:
    """Write a comparison after a report: in its format where that can be added to, else as a table on standard error."""
    added = output is not None or format_name in (TABLE, "markdown")
    if added:
        sys.stdout.write("\n")
    show(comparison, format_name if added and output is None else TABLE, None, None if added else sys.stderr)
