"""`evalrun calibrate`: how far the judge agrees with people."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from evalrun import plugins
from evalrun.cli.consent import consent_to
from evalrun.cli.run import Budget, Models, Profile, models

Rubrics = Annotated[
    list[str] | None, typer.Argument(help="Rubrics to measure on; default: all with labels.", metavar="[RUBRIC]...")
]
Split = Annotated[str, typer.Option(help="Part of the labels: all, dev or test.")]
Limit = Annotated[int, typer.Option(help="At most so many labels of each rubric (0: all).", min=0)]
Again = Annotated[int, typer.Option(help="Ask so many times more about turns near the threshold.", min=0)]
Mistakes = Annotated[bool, typer.Option("--mistakes", help="Show every label the judge is wrong about.")]


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command("calibrate")(calibrate)


def calibrate(  # noqa: PLR0917  typer reads one option from each parameter
    rubrics: Rubrics = None,
    split: Split = "all",
    limit: Limit = 0,
    again: Again = 0,
    mistakes: Mistakes = False,
    model: Models = None,
    profile: Profile = "",
    budget: Budget = None,
) -> None:
    """Ask the judge about turns that people have judged, and say whether it has earned to gate.

    The figures are kept beside the rubrics when the whole set was asked. Exit code 4: the budget
    was reached before.
    """
    case = plugins.use_case("calibrate")
    wanted = case.Wanted(rubrics=tuple(rubrics or ()), split=split, limit=limit, again=again)
    overrides = case.Overrides(profile=profile, models=models(model or []), budget=budget)
    consent = consent_to("calibrate", os.environ)
    done = plugins.wait_for(case.calibrate(Path.cwd(), wanted, overrides, os.environ, _notice, consent=consent))
    for line in case.lines_of(done, mistakes=mistakes):
        typer.echo(line)
    if done.budget is not None:
        raise done.budget


def _notice(line: str) -> None:
    typer.echo(line, err=True)
