"""The ladder: the same scenarios with each of several agent models, and what variants share."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import typer

from evalrun import plugins
from evalrun.cli.output import ReportFile, Screen, Wish, checked, screen_options
from evalrun.interfaces.reports import ReportOptions

AGENT = "agent="


def steps_of(models: Sequence[str] | None) -> list[str]:
    """The agent models of a ladder; empty where fewer than two are named."""
    found = [text.removeprefix(AGENT) for text in models or () if text.startswith(AGENT)]
    return found if len(found) > 1 else []


def ladder(ctx: typer.Context, models: Sequence[str], overrides: Any, format_name: str, output: Path | None) -> None:
    """Play the same scenarios with each agent model, and show where behaviour breaks."""
    checked(format_name)
    case = plugins.use_case("variants")
    steps = [case.parse(text, [f"agent={text}"], Path.cwd()) for text in models]
    typed = retyped(ctx, skip={"budget", "report_format", "output", "model"})
    others = [text for text in ctx.params.get("model") or [] if not text.startswith(AGENT)]
    arguments = [*typed, *(part for text in others for part in ("--model", text))]
    found = play(case, steps, arguments, overrides)
    if output is not None:
        with ReportFile(output) as file:
            plugins.load("ladders", format_name)(file, ReportOptions(width=0)).show(found)
    else:
        screen = screen_options(sys.stdout, os.environ, Wish())
        plugins.load("ladders", format_name)(Screen(sys.stdout), screen).show(found)
    raise typer.Exit(code_of(found))


def play(case: Any, variants: Sequence[Any], arguments: Sequence[str], overrides: Any) -> Any:
    """The runs of variants, in order; an interruption ends the command with its exit code."""
    asked = case.Asked(start=Path.cwd(), arguments=arguments, overrides=overrides)
    try:
        return plugins.wait_for(case.play(variants, asked, os.environ, lambda line: typer.echo(line, err=True)))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def code_of(runs_played: Sequence[Any]) -> int:
    """0 when all could be judged, whatever the verdicts: a comparison blocks nothing; else 3 or 4."""
    return next((r.exit_code for r in runs_played if r.exit_code not in (0, 1)), 0)


def retyped(ctx: typer.Context, *, skip: Collection[str]) -> list[str]:
    """The arguments as they were typed, but for some, for another command line of ours."""
    found: list[str] = []
    trailing: list[str] = []
    for parameter in ctx.command.params:
        name = parameter.name or ""
        value = ctx.params.get(name)
        if name in skip or value in (None, "", [], ()) or value == parameter.default:
            continue
        values = value if isinstance(value, list | tuple) else [value]
        if parameter.param_type_name == "argument":
            trailing += [str(v) for v in values]
        elif isinstance(value, bool):
            options = parameter.opts if value else parameter.secondary_opts
            found += options[:1]
        else:
            for v in values:
                found += [parameter.opts[-1], str(getattr(v, "value", v))]
    return [*found, "--", *trailing] if trailing else found
