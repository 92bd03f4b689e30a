"""`evalrun init` and the `new-…` commands: files to start from."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from evalrun import plugins
from evalrun.errors import UsageError
from evalrun.scenario import Category

Force = Annotated[bool, typer.Option("--force", help="Replace files that exist; the old ones are kept beside them.")]
Id = Annotated[str, typer.Argument(help="Its id, and the name of its file: a-z, 0-9 and -.", metavar="ID")]
Chat = Annotated[Path | None, typer.Option("--from-transcript", help="Replay the user's side of an exported chat.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("init")(init)
    app.command("new-scenario")(new_scenario)
    app.command("new-persona")(new_persona)
    app.command("new-rubric")(new_rubric)


def init(
    folder: Annotated[Path, typer.Argument(help="Where; default: this folder.", show_default=False)] = Path(),
    force: Force = False,
) -> None:
    """Write a project to start from: settings, a target that runs, a scenario of each category; files are kept."""
    scaffold = plugins.use_case("scaffold")
    for line in scaffold.summary(scaffold.init(folder, force=force)):
        typer.echo(line)
    typer.echo("next: evalrun run")


def new_scenario(  # noqa: PLR0917  typer reads one option from each parameter
    name: Id,
    category: Annotated[Category | None, typer.Option(help="What kind of behaviour.")] = None,
    stage: Annotated[str, typer.Option(help="The step of the funnel; needed for category stage.")] = "",
    persona: Annotated[str, typer.Option(help="The id of a persona.")] = "",
    title: Annotated[str, typer.Option(help="What is guarded, in a sentence.")] = "",
    event: Annotated[str, typer.Option(help="The event's name; needed for category event.")] = "",
    chat: Chat = None,
    agent: Annotated[str, typer.Option(help="Who is the agent in a WhatsApp export.")] = "",
    scenario: Annotated[str, typer.Option(help="Which scenario of a JSON report.")] = "",
) -> None:
    """Write a scenario that validates and runs; what is missing is asked for where a terminal is there."""
    new_files = plugins.use_case("new_files")
    settings, suite = new_files.project(Path.cwd(), os.environ)
    kind = category or Category(_ask("--category", "category", "", tuple(Category)))
    outline = new_files.Outline(
        id=name,
        category=kind,
        persona=persona or _ask("--persona", "persona", "", tuple(suite.personas)),
        stage=stage or (_ask("--stage", "stage", "", tuple(settings.stages)) if kind is Category.STAGE else ""),
        title=title or _ask("--title", "what is guarded, in a sentence", name.replace("-", " ").capitalize()),
        event=event or (_ask("--event", "name of the event", "") if kind is Category.EVENT and not chat else event),
    )
    if chat is None:
        typer.echo(f"written {new_files.new_scenario(settings, suite, outline).path}")
        return
    source = new_files.Source(path=chat, agent=agent, scenario=scenario)
    written, replaced = new_files.scenario_from_chat(settings, suite, outline, source)
    counts = ", ".join(f"{n} × {kind}" for kind, n in sorted(replaced.items())) or "nothing"
    typer.echo(f"written {written.path}; replaced {counts}: read it before you share it")


def new_persona(
    name: Id,
    language: Annotated[str, typer.Option(help="As in fr or en.")] = "en",
) -> None:
    """Write a persona to fill in."""
    new_files = plugins.use_case("new_files")
    settings, suite = new_files.project(Path.cwd(), os.environ)
    typer.echo(f"written {new_files.new_persona(settings, suite, name, language).path}")


def new_rubric(
    name: Id,
    scored: Annotated[
        bool, typer.Option("--scored", help="Four criteria to score, instead of a yes/no check.")
    ] = False,
) -> None:
    """Write a rubric to fill in: a check, or criteria to score."""
    new_files = plugins.use_case("new_files")
    settings, suite = new_files.project(Path.cwd(), os.environ)
    typer.echo(f"written {new_files.new_rubric(settings, suite, name, check=not scored).path}")


def _ask(option: str, what: str, default: str, choices: tuple[str, ...] = ()) -> str:
    """What was not given: the default, or asked for on a terminal. Raises UsageError where nobody can be asked."""
    shown = f" ({', '.join(choices)})" if choices else ""
    if not sys.stdin.isatty():
        if default:
            return default
        raise UsageError(f"{option} is missing{shown}", remedy=f"add {option} …")
    while True:
        answer = str(typer.prompt(f"{what}{shown}", default=default or None)).strip()
        if answer and (not choices or answer in choices):
            return answer
