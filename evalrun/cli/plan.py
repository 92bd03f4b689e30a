"""`evalrun plan`: what would run and why, and what it is expected to take."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from evalrun import plugins
from evalrun.cli.output import Screen
from evalrun.cli.run import (
    Categories,
    ChangedSince,
    Concurrency,
    Everything,
    MinTrials,
    Models,
    Names,
    OnMissingBase,
    Profile,
    Repeats,
    Stages,
    StoreOption,
    Tags,
    Target,
    Verbose,
    models,
    repeats_of,
    since,
    wanted,
)
from evalrun.errors import UsageError

FORMATS = ("table", "json", "github")
Format = Annotated[str, typer.Option("--format", help="table, json, or github: the matrix of a dynamic job.")]
Output = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the plan to this file, for run --plan.")]
Shards = Annotated[
    int | None, typer.Option(min=1, max=256, help="Machines at most (default 8; table: 1); none stays without work.")
]
SHARDS = 8
_NOT_ASCII = re.compile(r"[^\x20-\x7e]")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(  # noqa: PLR0917  typer reads one option from each parameter
    names: Names = None,
    category: Categories = None,
    stage: Stages = None,
    tag: Tags = None,
    everything: Everything = False,
    changed_since: ChangedSince = None,
    on_missing_base: OnMissingBase = "error",
    verbose: Verbose = False,
    shards: Shards = None,
    profile: Profile = "",
    target: Target = "",
    model: Models = None,
    concurrency: Concurrency = None,
    repeats: Repeats = "",
    min_trials: MinTrials = None,
    store: StoreOption = "",
    plan_format: Format = "table",
    output: Output = None,
) -> None:
    """Show what would run and why, the calls, time and cost to expect, and what the full suite would cost.

    Nothing is run or spent. Selecting nothing because nothing relevant changed is a success.
    """
    if plan_format not in FORMATS:
        raise UsageError(f"--format is {plan_format!r}", remedy=f"write one of {', '.join(FORMATS)}")
    use_case = plugins.use_case("plan")
    request = use_case.PlanRequest(
        start=Path.cwd(),
        wanted=wanted(use_case, names, category, stage, tag, everything=everything),
        since=since(use_case, changed_since, on_missing_base),
        overrides=use_case.Overrides(
            profile=profile,
            target=target,
            models=models(model or []),
            concurrency=concurrency,
            store=store,
            repeats=repeats_of(repeats),
            min_trials=min_trials,
        ),
        shards=shards or (1 if plan_format == "table" and output is None else SHARDS),
    )
    found = plugins.wait_for(use_case.plan(request, os.environ))
    files = plugins.use_case("plan_document")
    if output is not None:
        _write(output, files.text_of(files.document(found), indent=1) + "\n")
    if plan_format == "table":
        text = "\n".join(map(_on_one_line, plugins.use_case("plan_text").lines(found, verbose=verbose)))
    elif plan_format == "json":
        text = "" if output is not None else files.text_of(files.document(found), indent=1)
    else:
        text = files.text_of(files.matrix(found))
    if text:
        _show(text)


def _write(path: Path, text: str) -> None:
    """Raises UsageError for a file that cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as e:
        raise UsageError(f"the plan {path} cannot be written: {e.strerror}", remedy="choose another file") from e


def _on_one_line(text: str) -> str:
    """A line that names files, which may hold what a terminal obeys, or a line break."""
    plain = _NOT_ASCII.sub(lambda m: m[0] if m[0].isprintable() else m[0].encode("unicode_escape").decode(), text)
    # a CI service reads `##[command]` anywhere in a line of output
    return plain.replace("##[", "#\\#[")


def _show(text: str) -> None:
    """On standard output, in what its encoding has."""
    encoding = sys.stdout.encoding or "utf-8"
    screen = Screen(sys.stdout)
    screen.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    screen.flush()
