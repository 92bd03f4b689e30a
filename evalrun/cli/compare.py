"""`evalrun compare` and `evalrun noise`: what runs that are kept say of each other and of their noise."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from evalrun import plugins
from evalrun.cli.comparing import show
from evalrun.cli.output import OUTPUT, TABLE, Screen, checked
from evalrun.cli.run import Profile, StoreOption

Format = Annotated[str, typer.Option("--format", help="table, markdown or json.")]
RUN = "An id, the end of one, last, or a git ref whose commit was run."


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command("compare")(compare)
    app.command("noise")(noise)


def compare(  # noqa: PLR0917  typer reads one option from each parameter
    a: Annotated[str, typer.Argument(help=RUN, metavar="A")],
    b: Annotated[str, typer.Argument(help=RUN, metavar="[B]")] = "last",
    format_name: Format = TABLE,
    output: Annotated[Path | None, OUTPUT] = None,
    profile: Profile = "",
    store: StoreOption = "",
) -> None:
    """Compare run B with run A, scenario by scenario: what is better or worse, how sure that is, what flipped.

    Nothing is played and nothing spent. Scores of different rulers are never subtracted.
    """
    checked(format_name)
    case = plugins.use_case("compare")
    overrides = case.Overrides(profile=profile, store=store)
    found = plugins.wait_for(case.compare(Path.cwd(), a, b, os.environ, overrides))
    show(found, format_name, output)


def noise(
    last: Annotated[int, typer.Option(min=1, max=500, help="Of how many of the newest runs.")] = 20,
    format_name: Annotated[str, typer.Option("--format", help="table or json.")] = TABLE,
    profile: Profile = "",
    store: StoreOption = "",
) -> None:
    """Measure how far a trial's mean scatters, from repeats that are kept, and what follows for verdicts.

    Prints the margin that fits, the chance that a build is red by luck, and the scenarios too near the limit.
    """
    checked(format_name, (TABLE, "json"))
    case = plugins.use_case("noise")
    found, margin = plugins.wait_for(
        case.noise_of(Path.cwd(), last, os.environ, case.Overrides(profile=profile, store=store))
    )
    screen = Screen(sys.stdout)
    if format_name == "json":
        screen.write(json.dumps(case.document(found), indent=2) + "\n")
    else:
        screen.write("\n".join(case.lines(found, margin=margin)) + "\n")
    screen.flush()
