"""`evalrun selftest`: how often the gate flips though nothing changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from evalrun import plugins
from evalrun.cli import run as runs
from evalrun.cli.consent import consent_to
from evalrun.cli.output import TABLE, checked

Times = Annotated[int, typer.Option("--aa", min=2, max=200, help="How many times the same is run.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("selftest")(selftest)


def selftest(  # noqa: PLR0917  typer reads one option from each parameter
    names: runs.Names = None,
    aa: Times = 5,
    category: runs.Categories = None,
    stage: runs.Stages = None,
    tag: runs.Tags = None,
    everything: runs.Everything = False,
    profile: runs.Profile = "",
    target: runs.Target = "",
    model: runs.Models = None,
    budget: runs.Budget = None,
    concurrency: runs.Concurrency = None,
    judge_gate: runs.GateOption = None,
    repeats: runs.Repeats = "",
    min_trials: runs.MinTrials = None,
    store: runs.StoreOption = "",
    format_name: Annotated[str, typer.Option("--format", help="table or json.")] = TABLE,
) -> None:
    """Play scenarios against themselves: every verdict that flips is noise, and so is every red build.

    One cap holds over all runs. Exit code 0 whatever the verdicts; 3 or 4 when they could not all be judged.
    """
    checked(format_name, (TABLE, "json"))
    case = plugins.use_case("selftest")
    overrides = case.Overrides(
        profile=profile,
        target=target,
        models=runs.models(model or []),
        budget=budget,
        concurrency=concurrency,
        store=store,
        gate=judge_gate,
        repeats=runs.repeats_of(repeats),
        min_trials=min_trials,
    )
    request = case.RunRequest(
        start=Path.cwd(),
        wanted=runs.wanted(case, names, category, stage, tag, everything=everything),
        overrides=overrides,
        consent=consent_to("selftest", os.environ),
    )
    try:
        found = plugins.wait_for(case.selftest(request, aa, os.environ, lambda line: typer.echo(line, err=True)))
    except case.Interrupted as e:
        raise typer.Exit(128 + e.signum) from None
    typer.echo(json.dumps(case.document(found), indent=2) if format_name == "json" else "\n".join(case.lines(found)))
    raise typer.Exit(found.exit_code)
