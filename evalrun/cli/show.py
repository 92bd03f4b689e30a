"""`evalrun show` and `evalrun runs`: runs that are kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from evalrun import plugins
from evalrun.cli import completion
from evalrun.cli.output import FORMAT, OUTPUT, TABLE, Wish, reporters

PROFILE = typer.Option(help="The profile of the settings to use.", autocompletion=completion.profiles)


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command()(show)
    app.command()(runs)


def show(
    run: Annotated[str, typer.Argument(help="An id, the end of one, or last.", metavar="[RUN]")] = "last",
    scenario: Annotated[
        str,
        typer.Argument(
            help="Show every turn of this scenario.", metavar="[SCENARIO]", autocompletion=completion.scenarios
        ),
    ] = "",
    format_name: Annotated[str, FORMAT] = TABLE,
    output: Annotated[Path | None, OUTPUT] = None,
    profile: Annotated[str, PROFILE] = "",
) -> None:
    """Show a run that is kept, or every turn of one of its scenarios."""
    wish = Wish(format=format_name, output=output, detail=bool(scenario), scenario=scenario)
    kept = plugins.use_case("show")
    with reporters(wish, os.environ) as made:
        overrides = kept.Overrides(profile=profile)
        found = plugins.wait_for(kept.kept_run(Path.cwd(), run, scenario, os.environ, overrides))
        for reporter in made:
            reporter.finished(found)


def runs(
    limit: Annotated[int, typer.Option(help="How many at most, the newest first.", min=1)] = 20,
    profile: Annotated[str, PROFILE] = "",
) -> None:
    """List the runs that are kept, the newest first."""
    kept = plugins.use_case("show")
    found = plugins.wait_for(kept.kept_runs(Path.cwd(), limit, os.environ, kept.Overrides(profile=profile)))
    for run in found:
        typer.echo(kept.run_line(run))
    if not found:
        typer.echo("no run is kept yet: evalrun run")
