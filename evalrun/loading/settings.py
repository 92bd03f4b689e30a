"""The settings of a project: `[tool.evalrun]` in pyproject.toml, or `evalrun.toml`.

Precedence, weakest first: defaults, file, profile, environment, command line.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from evalrun.config import (
    Gate,
    JudgeSettings,
    Price,
    Settings,
    StageSettings,
    TargetSettings,
    Timeouts,
    embedded_models,
)
from evalrun.errors import FileProblems, Problem, UnknownName, UsageError, Where
from evalrun.loading.fields import (
    Amount,
    Anything,
    Field,
    Flag,
    Integer,
    ListOf,
    MappingOf,
    Problems,
    Skip,
    Table,
    Text,
)
from evalrun.loading.nodes import Node, NodeKind
from evalrun.loading.toml_nodes import read_toml
from evalrun.usage import ModelName, Role

TEXTS = ListOf(item=Text())
PATHS = ListOf(item=Text(what="a path or a pattern"))
MODEL = Text(pattern=r"[^:\s]+:\S+", what="a model such as local:smollm2-135m (provider:model)")
_VARIABLE = re.compile(r"\$\{([^}]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY_LIKE = re.compile(r"(?:sk|pk|key|xai|gsk)[-_][A-Za-z0-9_-]{12,}")

TARGET = Table(
    name="target",
    fields=(
        Field(name="adapter", kind=Text(), meaning="how it is connected (default python)"),
        Field(name="entry", kind=Text(), meaning="module:attribute of the adapter or of a function"),
        Field(name="database", kind=Text(), meaning='"embedded", or a DSN as "${VARIABLE}"; none by default'),
        Field(name="options", kind=MappingOf(value=Anything()), meaning="handed to the adapter"),
    ),
)
MODELS = Table(
    name="models",
    fields=tuple(Field(name=r.value, kind=MODEL, meaning=f"provider:model of the role {r}") for r in Role),
)
PROVIDER = Table(
    name="provider",
    rest=Anything(),
    fields=(
        Field(name="kind", kind=Text(), meaning="the provider it is one of (default: its own name)"),
        Field(name="base_url", kind=Text(), meaning="address of the API, up to and including /v1"),
        Field(name="api_key_env", kind=Text(), meaning="the NAME of the variable that holds the key"),
    ),
)
PRICE = Table(
    name="price",
    fields=(
        Field(name="input", kind=Amount(), meaning="USD per million tokens in", required=True),
        Field(name="output", kind=Amount(), meaning="USD per million tokens out", required=True),
        Field(name="cached", kind=Amount(), meaning="USD per million tokens read from a cache"),
        Field(name="cache_write", kind=Amount(), meaning="USD per million tokens written to a cache"),
    ),
)
STAGE = Table(
    name="stage",
    fields=(
        Field(name="watch", kind=PATHS, meaning="paths whose change selects the stage's scenarios"),
        Field(name="modules", kind=TEXTS, meaning="Python modules whose import closure does"),
    ),
)
JUDGE = Table(
    name="judge",
    fields=(
        Field(name="gate", kind=Text(choices=tuple(Gate)), meaning="auto: once it has earned it; always; never"),
        Field(name="max_output_tokens", kind=Integer(least=50, most=100_000), meaning="of one judge call"),
        Field(name="options", kind=MappingOf(value=MappingOf(value=Anything())), meaning="a table for each judge"),
    ),
)
TIMEOUTS = Table(
    name="timeouts",
    fields=tuple(
        Field(name=n, kind=Amount(what="seconds", most=86_400), meaning=f"seconds for {m}")
        for n, m in (
            ("call", "one model call"),
            ("turn", "one turn of the target"),
            ("trial", "one trial"),
            ("run", "the whole run"),
            ("setup", "the start of target and database"),
        )
    ),
)
_FIELDS = (
    Field(name="target", kind=Text(), meaning="the target to run against (default: the only one)"),
    Field(name="targets", kind=MappingOf(value=TARGET), meaning="the targets by name"),
    Field(name="models", kind=MODELS, meaning="who plays which role"),
    Field(name="providers", kind=MappingOf(value=PROVIDER), meaning="addresses and keys of providers"),
    Field(name="judges", kind=ListOf(item=Text(), least=1), meaning="the judge chain, in order"),
    Field(name="judge", kind=JUDGE, meaning="how model judges are used"),
    Field(name="budget_usd", kind=Amount(), meaning="hard cap over a run"),
    Field(name="strict_prices", kind=Flag(), meaning="refuse a model without a known price"),
    Field(name="prices", kind=MappingOf(value=PRICE), meaning="your own prices, by model or provider:model"),
    Field(name="scenarios", kind=Text(), meaning="folder of the scenarios"),
    Field(name="personas", kind=Text(), meaning="folder of the personas"),
    Field(name="rubrics", kind=Text(), meaning="folder of the rubrics"),
    Field(name="style_rules", kind=Text(), meaning="the file of style rules"),
    Field(name="source", kind=PATHS, meaning="the agent's code: a change that no stage claims selects all"),
    Field(name="shared", kind=PATHS, meaning="paths whose change selects all"),
    Field(name="stages", kind=MappingOf(value=STAGE), meaning="the funnel's stages"),
    Field(name="concurrency", kind=Integer(least=1, most=10_000), meaning="trials side by side"),
    Field(name="calls_in_flight", kind=Integer(least=1, most=10_000), meaning="calls to one provider side by side"),
    Field(name="timeouts", kind=TIMEOUTS, meaning="seconds"),
    Field(name="store", kind=Text(), meaning="history: a file, or a postgresql:// DSN as ${VARIABLE}"),
    Field(name="unstable", kind=Text(choices=("show", "fail")), meaning="whether an unstable scenario fails the run"),
)
SETTINGS = Table(
    name="tool.evalrun",
    meaning="The settings of a project.",
    fields=(
        *_FIELDS,
        Field(
            name="profiles",
            kind=MappingOf(value=Table(name="profile", fields=_FIELDS)),
            meaning="any of the above, by profile",
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """What the command line says; None or empty says nothing. `budget` is text as typed, USD."""

    profile: str = ""
    target: str = ""
    models: Mapping[Role, ModelName] = field(default_factory=dict)
    budget: str | None = None
    concurrency: int | None = None
    store: str = ""
    gate: Gate | None = None
    strict_prices: bool | None = None
    unstable: str = ""


def find_settings(start: Path) -> Path | None:
    """The nearest settings file from a folder upwards: evalrun.toml, or a pyproject.toml with [tool.evalrun]."""
    for folder in (start, *start.parents):
        if (folder / "evalrun.toml").is_file():
            return folder / "evalrun.toml"
        project = folder / "pyproject.toml"
        if project.is_file() and b"[tool.evalrun" in project.read_bytes():
            return project
    return None


def load_settings(start: Path, overrides: Overrides, environ: Mapping[str, str]) -> Settings:
    """The settings that hold in a folder. Raises FileProblems, UnknownName and UsageError."""
    path = find_settings(start)
    if path is None:
        raise UsageError(
            f"no evalrun.toml and no [tool.evalrun] in a pyproject.toml from {start} upwards",
            remedy="write an evalrun.toml with a target (see docs/tutorial.md)",
        )
    problems = Problems()
    node = _own_part(read_toml(path.read_bytes(), path.name))
    try:
        _refuse_keys(node, problems)
        _interpolate(node, environ, problems)
        values: Mapping[str, Any] = SETTINGS.read(node, problems)
    except Skip:
        raise FileProblems(problems.found) from None
    if problems.found:
        raise FileProblems(problems.found)
    values = _profiled(values, overrides.profile or environ.get("EVALRUN_PROFILE", ""))
    settings = _settings(values, root=path.parent, file=path.name, profile=overrides.profile)
    return _overridden(settings, overrides, environ)


def money(text: str, source: str) -> Decimal:
    """USD from the command line or a variable. Raises UsageError for what is no amount from 0."""
    try:
        amount = Decimal(text.strip())
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        raise UsageError(f"{source} is {text!r}, expected USD from 0", remedy="write for example 0.50")
    return amount


def _own_part(node: Node) -> Node:
    """The table of ours: [tool.evalrun] of a pyproject.toml, or the whole file."""
    current = node
    if not node.where.file.endswith("pyproject.toml"):
        return node
    for name in ("tool", "evalrun"):
        current = next((v for k, v in current.pairs if k.text == name), current)
    return current


def _refuse_keys(node: Node, problems: Problems) -> None:
    """A key's value in a settings file would end up in the repository."""
    for text in _scalars(node):
        if _KEY_LIKE.search(text.text):
            problems.add(
                text.where, "this looks like a key; put it into an environment variable and name that in `api_key_env`"
            )
    if problems.found:
        raise Skip


def _scalars(node: Node) -> list[Node]:
    if node.kind is NodeKind.TEXT:
        return [node]
    return [s for child in (*node.items, *(v for _, v in node.pairs)) for s in _scalars(child)]


def _interpolate(node: Node, environ: Mapping[str, str], problems: Problems) -> None:
    """Put variables into the connection fields, once; text elsewhere keeps its dollars."""
    for key, value in node.pairs:
        if key.text == "store":
            _resolve(value, environ, problems)
        elif key.text in ("targets", "providers"):
            for _, table in value.pairs:
                for name, entry in table.pairs:
                    if name.text in ("database", "base_url"):
                        _resolve(entry, environ, problems)
        elif key.text == "profiles":
            for _, profile in value.pairs:
                _interpolate(profile, environ, problems)


def _resolve(node: Node, environ: Mapping[str, str], problems: Problems) -> None:
    if node.kind is not NodeKind.TEXT or "$" not in node.text:
        return
    fine = True

    def put(found: re.Match[str]) -> str:
        nonlocal fine
        braced, bare = found.groups()
        name = braced if braced is not None else bare
        if bare is not None or not _NAME.fullmatch(name):
            problems.add(
                node.where, f"`{found.group()}`, expected ${{NAME}} with a plain name; write ${{{bare or 'NAME'}}}"
            )
        elif not environ.get(name, ""):
            problems.add(node.where, f"the variable {name} is {'empty' if name in environ else 'not set'}; set it")
        else:
            return environ[name]
        fine = False
        return ""

    resolved = _VARIABLE.sub(put, node.text)
    if fine:
        node.text = resolved
        node.source = "${…}"


def _profiled(values: Mapping[str, Any], profile: str) -> Mapping[str, Any]:
    """The values with a profile's laid over them, tables merged key by key."""
    profiles = values.get("profiles", {})
    if not profile:
        return values
    if profile not in profiles:
        near = difflib.get_close_matches(profile, profiles, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        known = ", ".join(profiles) or "none"
        raise UnknownName(
            f"no profile {profile!r}{hint}", remedy=f"known: {known}; add [tool.evalrun.profiles.{profile}]"
        )
    return _merged(values, profiles[profile])


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    both = {
        k: _merged(under[k], v) if isinstance(v, Mapping) and isinstance(under.get(k), Mapping) else v
        for k, v in over.items()
    }
    return {**under, **both}


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in table.items() if not k.startswith("__")}


def _settings(values: Mapping[str, Any], *, root: Path, file: str, profile: str) -> Settings:
    given = _plain(values)
    for name in ("profiles", "targets", "models", "providers", "judge", "prices", "stages", "timeouts"):
        given.pop(name, None)
    judge = _plain(values.get("judge", {}))
    judge_settings = JudgeSettings(**({**judge, "gate": Gate(judge["gate"])} if "gate" in judge else judge))
    models = {Role(k): ModelName.parse(v) for k, v in _plain(values.get("models", {})).items()}
    timeouts = {k: float(v) for k, v in _plain(values.get("timeouts", {})).items()}
    targets = {n: TargetSettings(name=n, **_plain(t)) for n, t in values.get("targets", {}).items()}
    settings = Settings(
        root=root,
        file=file,
        targets=targets,
        models={**embedded_models(), **models},
        providers={n: _plain(p) for n, p in values.get("providers", {}).items()},
        prices={n: Price(**_plain(p)) for n, p in values.get("prices", {}).items()},
        stages={n: StageSettings(**_plain(s)) for n, s in values.get("stages", {}).items()},
        judge=judge_settings,
        timeouts=Timeouts(**timeouts),
        profile=profile,
        **given,
    )
    if not settings.target and len(targets) == 1:
        return replace(settings, target=next(iter(targets)))
    return settings


def _overridden(settings: Settings, over: Overrides, environ: Mapping[str, str]) -> Settings:
    models = dict(settings.models)
    if environ.get("EVAL_SUBJECT_MODEL", "").strip():
        models[Role.AGENT] = ModelName.parse(environ["EVAL_SUBJECT_MODEL"])
    models |= over.models
    budget = settings.budget_usd
    if environ.get("EVAL_USD_BUDGET", "").strip():
        budget = money(environ["EVAL_USD_BUDGET"], "EVAL_USD_BUDGET")
    if over.budget is not None:
        budget = money(over.budget, "--budget")
    changes: dict[str, Any] = {"models": models, "budget_usd": budget}
    for name in ("target", "store", "unstable"):
        if value := getattr(over, name):
            changes[name] = value
    for name in ("concurrency", "strict_prices"):
        if (value := getattr(over, name)) is not None:
            changes[name] = value
    if over.gate is not None:
        changes["judge"] = replace(settings.judge, gate=over.gate)
    return _known_target(replace(settings, **changes))


def _known_target(settings: Settings) -> Settings:
    if settings.target in settings.targets:
        return settings
    known = ", ".join(settings.targets) or "none"
    where = Where(file=settings.file, line=1)
    if not settings.target:
        message = (
            f"no target is chosen, expected one of: {known}; add target = …"
            if settings.targets
            else ("no target is named, expected [tool.evalrun.targets.NAME] with an entry; add one")
        )
        raise FileProblems([Problem(where=where, message=message)])
    near = difflib.get_close_matches(settings.target, settings.targets, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownName(f"no target {settings.target!r}{hint}", remedy=f"known: {known}")
