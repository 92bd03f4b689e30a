"""`evalrun validate`, `schema` and `rules`: files, without running anything."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from evalrun import plugins
from evalrun.cli import completion
from evalrun.errors import FileProblems

KINDS = ("scenario", "persona", "rubric", "style_rules", "settings", "label")
RULES = typer.Option("--rules", help="A file of style rules; by default the project's.", metavar="FILE")


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command()(validate)
    app.command()(schema)
    group = typer.Typer(
        name="rules",
        help="Style rules for prompts and for any text.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    group.command("prompt")(prompt)
    group.command("check")(check)
    app.add_typer(group)


def validate(
    paths: Annotated[list[Path] | None, typer.Argument(help="Report only on these files or folders.")] = None,
    profile: Annotated[
        str, typer.Option(help="The profile of the settings to use.", autocompletion=completion.profiles)
    ] = "",
) -> None:
    """Check settings, scenarios, personas, rubrics and style rules; nothing is run, nothing is spent."""
    files = plugins.use_case("validate")
    overrides = files.Overrides(profile=profile)
    report = files.validate(Path.cwd(), paths or (), overrides=overrides, environ=os.environ)
    if report.problems:
        raise FileProblems(report.problems)
    typer.echo(f"{report.files} file{'' if report.files == 1 else 's'}, no problem")


def schema(
    kind: Annotated[str, typer.Argument(help=f"One of {', '.join(KINDS)}.", metavar="KIND")],
) -> None:
    """Print the JSON Schema (2020-12) of a kind of file, for editors."""
    typer.echo(plugins.use_case("schemas").schema(kind), nl=False)


def prompt(rules: Annotated[Path | None, RULES] = None) -> None:
    """Print the block of style rules for the production prompt of your agent."""
    typer.echo(plugins.use_case("rules").prompt(Path.cwd(), rules, os.environ))


def check(
    files: Annotated[list[Path], typer.Argument(help="A text (one reply), or JSON: a list of messages.")],
    rules: Annotated[Path | None, RULES] = None,
) -> None:
    """Apply the style rules to texts or exported chats; exit 1 when a hard rule is broken."""
    style = plugins.use_case("rules")
    report = style.check(style.rules_of(Path.cwd(), rules, os.environ), files)
    for broken in report.found:
        finding = broken.finding
        bubble = f", bubble {finding.bubble}" if finding.bubble else ""
        quote = f": {_plain(finding.quote)}" if finding.quote else ""
        typer.echo(
            f"{broken.file}: reply {broken.reply}{bubble}: {finding.severity} {finding.rule}: "
            f"{_plain(finding.message)}{quote}"
        )
    findings = f"{len(report.found)} finding{'' if len(report.found) == 1 else 's'}, {report.hard} hard"
    typer.echo(f"{findings}, in {report.replies} repl{'y' if report.replies == 1 else 'ies'}")
    if report.hard:
        raise typer.Exit(code=1)


def _plain(text: str) -> str:
    """A text on one line without signs that could steer a terminal."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
