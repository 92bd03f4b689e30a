"""`evalrun doctor`: what would keep a project from running, and what could spend by accident."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from evalrun import plugins
from evalrun.cli.output import Screen
from evalrun.cli.run import Profile
from evalrun.errors import UsageError

FORMATS = ("table", "json")
SCHEMA_VERSION = 1
Format = Annotated[str, typer.Option("--format", help="table or json.")]
Base = Annotated[str, typer.Option(metavar="REF", help="What --changed-since will compare with (default: main).")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(format_name: Format = "table", profile: Profile = "", base: Base = "") -> None:
    """Look at settings, keys (names only), extras, database, git, hooks and workflows, each with its cure.

    Nothing is spent and nothing stays started. Exit codes: 0 nothing fails; 2 something does.
    """
    if format_name not in FORMATS:
        raise UsageError(f"--format is {format_name!r}", remedy=f"write one of {', '.join(FORMATS)}")
    case = plugins.use_case("doctor")
    found = case.examine(case.Question(start=Path.cwd(), environ=os.environ, profile=profile, base=base))
    failed = any(c.standing == "fail" for c in found)
    text = _json(found, failed=failed) if format_name == "json" else _table(found)
    encoding = sys.stdout.encoding or "utf-8"
    screen = Screen(sys.stdout)
    screen.write(text.encode(encoding, "backslashreplace").decode(encoding))
    screen.flush()
    raise typer.Exit(2 if failed else 0)


def _json(found: Sequence[Any], *, failed: bool) -> str:
    checks = [{"standing": c.standing.value, "area": c.area, "found": c.found, "cure": c.cure} for c in found]
    return json.dumps({"schema_version": SCHEMA_VERSION, "failed": failed, "checks": checks}, indent=1) + "\n"


def _table(found: Sequence[Any]) -> str:
    width = max(len(c.area) for c in found)
    lines = []
    for check in found:
        lines.append(f"{check.standing.value:4}  {check.area:{width}}  {_one_line(check.found)}")
        if check.cure:
            lines.append(f"{'':4}  {'':{width}}  cure: {_one_line(check.cure)}")
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    """Text that names files and what they hold, without what would break the line or steer a terminal."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text).replace("##[", "#\\#[")
