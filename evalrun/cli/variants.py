"""`evalrun ab`: two variants over the same scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evalrun import plugins
from evalrun.cli import run as runs
from evalrun.cli.comparing import show as show_comparison
from evalrun.cli.ladder import code_of, play, retyped
from evalrun.cli.output import OUTPUT, TABLE, checked
from evalrun.errors import UsageError

KEYS = "agent=provider:model, env.NAME=value or file.PATH=OTHER_FILE (repeatable)."
A = Annotated[list[str] | None, typer.Option("--a", metavar="KEY=VALUE", help=f"What variant A has: {KEYS}")]
B = Annotated[list[str] | None, typer.Option("--b", metavar="KEY=VALUE", help=f"What variant B has: {KEYS}")]
Format = Annotated[str, typer.Option("--format", help="table, markdown or json.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ab")(ab)


def ab(  # noqa: PLR0917  typer reads one option from each parameter
    ctx: typer.Context,
    names: runs.Names = None,
    a: A = None,
    b: B = None,
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
    format_name: Format = TABLE,
    output: Annotated[Path | None, OUTPUT] = None,
) -> None:
    """Play two variants of the target over the same scenarios at the same time, and compare them.

    What a side does not say is as the project has it. Half of the budget goes to each.
    """
    del names, category, stage, tag, everything, concurrency, judge_gate, repeats, min_trials
    checked(format_name)
    case = plugins.use_case("variants")
    start = Path.cwd()
    sides = [case.parse(name, written or [], start) for name, written in (("A", a), ("B", b))]
    if not (a or b) or sorted(a or []) == sorted(b or []):
        raise UsageError("both variants are the same", remedy=f"write --b with {KEYS}")
    overrides = case.Overrides(
        profile=profile, target=target, models=runs.models(model or []), budget=budget, store=store
    )
    arguments = retyped(ctx, skip={"a", "b", "budget", "format_name", "output"})
    one, other = play(case, sides, arguments, overrides)
    comparing = plugins.use_case("compare")
    show_comparison(comparing.compare_runs(one, other), format_name, output)
    raise typer.Exit(code_of([one, other]))
