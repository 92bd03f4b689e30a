"""`evalrun merge`: the results of shards become one run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from evalrun import plugins
from evalrun.cli.output import FORMAT, OUTPUT, TABLE, Wish, reporters
from evalrun.cli.run import Profile, StoreOption

Files = Annotated[list[Path] | None, typer.Argument(help="Files that run --shard left, or folders of them.")]
PlanOption = Annotated[
    Path | None, typer.Option("--plan", metavar="FILE", help="What was to be played, also where no file came back.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("merge")(merge)


def merge(  # noqa: PLR0917  typer reads one option from each parameter
    files: Files = None,
    plan: PlanOption = None,
    profile: Profile = "",
    store: StoreOption = "",
    report_format: Annotated[str, FORMAT] = TABLE,
    output: Annotated[Path | None, OUTPUT] = None,
) -> None:
    """Merge the results of shards into one run, one report and one exit code.

    A shard that left no result counts as lost: its scenarios are not run, and that is never green.
    Exit codes as of run.
    """
    use_case = plugins.use_case("merge")
    request = use_case.MergeRequest(
        start=Path.cwd(),
        files=tuple(files or ()),
        plan=plan,
        overrides=use_case.Overrides(profile=profile, store=store),
    )
    with reporters(Wish(format=report_format, output=output), os.environ, beside=True) as made:
        result = plugins.wait_for(use_case.merge(request, os.environ, made))
    raise typer.Exit(result.exit_code)
