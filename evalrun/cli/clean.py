"""`evalrun clean`: remove what killed runs left behind."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from evalrun import plugins


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command()(clean)


def clean() -> None:
    """Remove databases and clusters that killed runs left; runs that live and other sessions are left alone."""
    cleaned = plugins.wait_for(plugins.use_case("clean").clean(Path.cwd(), os.environ))
    for place in cleaned:
        typer.echo(str(place))
    for place in cleaned:
        if place.problem is not None:
            raise place.problem
