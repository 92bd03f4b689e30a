"""`evalrun local`: the embedded model, free and offline once its two parts are installed."""

from __future__ import annotations

import typer

from evalrun import plugins


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    group = typer.Typer(help="The embedded model: what is installed, and how to get the rest.", no_args_is_help=True)
    group.command()(fetch)
    group.command()(status)
    app.add_typer(group, name="local")


def fetch() -> None:
    """Download the embedded model's weights (94 MB, once) beside this Python."""
    for line in plugins.use_case("local_model").fetch().lines:
        typer.echo(line)


def status() -> None:
    """Say which parts of the embedded model are installed; exit 2 when one is missing."""
    parts = plugins.use_case("local_model").installed()
    for line in parts.lines:
        typer.echo(line)
    parts.require()
