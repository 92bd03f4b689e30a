"""`evalrun run`: play scenarios and give a verdict."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from evalrun import plugins
from evalrun.cli import completion
from evalrun.cli.comparing import beside
from evalrun.cli.consent import consent_to
from evalrun.cli.ladder import AGENT, ladder, steps_of
from evalrun.cli.output import FORMAT, OUTPUT, TABLE, Wish, reporters
from evalrun.config import Gate
from evalrun.errors import UsageError
from evalrun.scenario import Category
from evalrun.sharding import Shard
from evalrun.usage import ModelName, Role

Names = Annotated[
    list[str] | None,
    typer.Argument(
        help="Ids, files or folders of scenarios; default: all but smoke.", autocompletion=completion.scenarios
    ),
]
Categories = Annotated[list[Category] | None, typer.Option("--category", help="Only this category (repeatable).")]
Stages = Annotated[
    list[str] | None, typer.Option("--stage", help="Only this stage (repeatable).", autocompletion=completion.stages)
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", help="Only scenarios with this tag (repeatable).", autocompletion=completion.tags),
]
Everything = Annotated[bool, typer.Option("--all", help="Smoke scenarios too.")]
ChangedSince = Annotated[
    str | None, typer.Option(metavar="REF", help="Only what a change since REF (its merge base with HEAD) can affect.")
]
OnMissingBase = Annotated[str, typer.Option(help="error, or all: what to do where git cannot tell what changed.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Also list changed files that selected nothing.")]
PlanOption = Annotated[
    Path | None, typer.Option("--plan", metavar="FILE", help="Run what evalrun plan --output wrote.")
]
ShardOption = Annotated[str, typer.Option("--shard", metavar="I/N", help="Play only part I of N; then evalrun merge.")]
ShardFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Where the shard's result goes (default .evalrun/shards/).")
]
Profile = Annotated[str, typer.Option(help="A profile of the settings.", autocompletion=completion.profiles)]
Target = Annotated[str, typer.Option(help="The target to run against.")]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="role=provider:model (repeatable); several of the agent make a ladder."),
]
Budget = Annotated[str | None, typer.Option(help="Hard cap in USD over the whole run; 0 allows no paid call.")]
Concurrency = Annotated[int | None, typer.Option(min=1, help="Trials side by side.")]
FailFast = Annotated[bool, typer.Option("--fail-fast", help="Stop at the first scenario that fails.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the last run: only what is missing or changed.")]
GateOption = Annotated[Gate | None, typer.Option("--judge-gate", help="Whether model judges gate.")]
Strict = Annotated[bool | None, typer.Option("--strict-prices", help="Refuse a model without a known price.")]
Unstable = Annotated[str, typer.Option(help="show, or fail: whether an unstable scenario fails the run.")]
Repeats = Annotated[
    str, typer.Option(metavar="auto|N", help="Trials of scenarios that do not say: until it is clear, or exactly N.")
]
MinTrials = Annotated[int | None, typer.Option(min=1, max=100, help="Fewest trials for a pass, with repeats auto.")]
OfflineOk = Annotated[
    bool | None,
    typer.Option(help="Whether scenarios that only lack a key may be missing from a success (default: not in CI)."),
]
BaselineOption = Annotated[
    str, typer.Option("--baseline", metavar="RUN|REF", help="Compare with a run, or with the newest of a git ref.")
]
StoreOption = Annotated[str, typer.Option("--store", help="The history: a file or a postgresql:// DSN.")]
Format = Annotated[str, FORMAT]
Output = Annotated[Path | None, OUTPUT]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run")(run)


def run(  # noqa: PLR0917  typer reads one option from each parameter
    ctx: typer.Context,
    names: Names = None,
    category: Categories = None,
    stage: Stages = None,
    tag: Tags = None,
    everything: Everything = False,
    changed_since: ChangedSince = None,
    on_missing_base: OnMissingBase = "error",
    verbose: Verbose = False,
    plan: PlanOption = None,
    shard: ShardOption = "",
    shard_file: ShardFile = None,
    profile: Profile = "",
    target: Target = "",
    model: Models = None,
    budget: Budget = None,
    concurrency: Concurrency = None,
    fail_fast: FailFast = False,
    resume: Resume = False,
    judge_gate: GateOption = None,
    strict_prices: Strict = None,
    unstable: Unstable = "",
    repeats: Repeats = "",
    min_trials: MinTrials = None,
    offline_ok: OfflineOk = None,
    baseline: BaselineOption = "",
    store: StoreOption = "",
    report_format: Format = TABLE,
    output: Output = None,
) -> None:
    """Play scenarios against the target and give a verdict.

    Exit codes: 0 all selected pass; 1 a scenario failed; 2 usage or files; 3 could not be judged;
    4 budget reached; 70 a bug of evalrun; 130 and 143 interrupted.
    """
    if unstable not in ("", "show", "fail"):
        raise UsageError(f"--unstable is {unstable!r}", remedy="write show or fail")
    steps = steps_of(model)
    use_case = plugins.use_case("run")
    overrides = use_case.Overrides(
        profile=profile,
        target=target,
        models=models([text for text in model or [] if not steps or not text.startswith(AGENT)]),
        budget=budget,
        concurrency=concurrency,
        store=store,
        gate=judge_gate,
        strict_prices=strict_prices,
        unstable=unstable,
        repeats=repeats_of(repeats),
        min_trials=min_trials,
    )
    if steps:
        ladder(ctx, steps, overrides, report_format, output)
    before = _baseline(baseline, overrides)
    request = use_case.RunRequest(
        start=Path.cwd(),
        wanted=wanted(use_case, names, category, stage, tag, everything=everything),
        since=since(use_case, changed_since, on_missing_base),
        part=use_case.Part(shard=Shard.parse(shard) if shard else None, plan=plan, file=shard_file),
        verbose=verbose,
        overrides=overrides,
        fail_fast=fail_fast,
        resume=resume,
        offline_ok=offline_ok,
        consent=consent_to("run", os.environ),
    )
    with reporters(Wish(format=report_format, output=output), os.environ, beside=True) as made:
        try:
            result = plugins.wait_for(use_case.run(request, os.environ, made))
        except use_case.Interrupted as e:
            raise typer.Exit(128 + e.signum) from None
    if before is not None:
        beside(plugins.use_case("compare").compare_runs(before, result), report_format, output)
    raise typer.Exit(result.exit_code)


def _baseline(reference: str, overrides: Any) -> Any:
    """The run that --baseline names, found before anything is played; None without one."""
    if not reference:
        return None
    case = plugins.use_case("compare")
    found = plugins.wait_for(case.baseline(Path.cwd(), reference, os.environ, overrides))
    if found is None:
        typer.echo(f"no run of {reference} is kept: nothing is compared", err=True)
    return found


def wanted(
    use_case: Any,
    names: list[str] | None,
    categories: list[Category] | None,
    stages: list[str] | None,
    tags: list[str] | None,
    *,
    everything: bool,
) -> Any:
    """What the filters of the command line ask for."""
    return use_case.Wanted(
        names=tuple(names or ()),
        categories=tuple(categories or ()),
        stages=tuple(stages or ()),
        tags=tuple(tags or ()),
        everything=everything,
    )


def since(use_case: Any, reference: str | None, on_missing_base: str) -> Any:
    """What --changed-since and --on-missing-base say; None when nothing. Raises UsageError."""
    if on_missing_base not in ("error", "all"):
        raise UsageError(f"--on-missing-base is {on_missing_base!r}", remedy="write error or all")
    return None if reference is None else use_case.Since(reference=reference, otherwise=on_missing_base)


def repeats_of(written: str) -> Any:
    """What --repeats says; None when nothing. Raises UsageError."""
    if written in ("", "auto"):
        return written or None
    if written.isascii() and written.isdigit() and 1 <= int(written) <= 100:
        return int(written)
    raise UsageError(f"--repeats is {written!r}, expected auto or 1 to 100", remedy="write auto, or a number such as 3")


def models(written: list[str]) -> dict[Role, ModelName]:
    """`role=provider:model` options. Raises UsageError."""
    chosen: dict[Role, ModelName] = {}
    for text in written:
        role, equals, name = text.partition("=")
        if not equals or role not in list(Role):
            raise UsageError(f"--model {text!r}, expected role=provider:model", remedy=f"roles: {', '.join(Role)}")
        if Role(role) in chosen:
            raise UsageError(f"--model names {role} twice", remedy="name each role once")
        chosen[Role(role)] = ModelName.parse(name)
    return chosen
