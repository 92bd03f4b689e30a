"""The command line as a whole: one file per group of commands, each registering its own."""

from __future__ import annotations

from typing import Annotated

import typer

from evalrun import __version__
from evalrun.cli import (
    calibrate,
    clean,
    compare,
    doctor,
    files,
    local,
    merge,
    plan,
    run,
    scaffold,
    selftest,
    show,
    variants,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"evalrun {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Turn a behaviour contract written in plain files into a verdict a team lets block a merge."""


def build(first: str = "") -> typer.Typer:
    """The application with all its commands; where `first`, the first argument, is one of them, with that alone.

    What typer makes of all commands costs more than most of them take.
    """
    app = typer.Typer(
        name="evalrun",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for group in (
        run,
        plan,
        merge,
        show,
        compare,
        variants,
        selftest,
        scaffold,
        files,
        calibrate,
        local,
        clean,
        doctor,
    ):
        group.register(app)
    named = [c for c in app.registered_commands if first in (c.name, getattr(c.callback, "__name__", None))]
    if named:
        app.registered_commands, app.registered_groups = named, []
    return app
