"""The settings of a project: `[tool.evalrun]` in pyproject.toml, or `evalrun.toml`.

Precedence, weakest first: defaults, file, profile, environment, command line.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

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
from evalrun.evidence import EvidenceRule
from evalrun.loading.fields import WHERE
from evalrun.loading.kinds import Problems, Skip, nearest
from evalrun.loading.nodes import Node, amount_of
from evalrun.loading.settings_shape import SETTINGS
from evalrun.loading.toml_nodes import read_toml
from evalrun.loading.variables import at, refuse_keys, resolved
from evalrun.usage import ModelName, Role


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
    repeats: int | Literal["auto"] | None = None
    min_trials: int | None = None


def find_settings(start: Path) -> Path | None:
    """The nearest settings file from a folder upwards: evalrun.toml, or a pyproject.toml with [tool.evalrun].

    Raises UsageError when one folder has both.
    """
    for folder in (start, *start.parents):
        own, project = folder / "evalrun.toml", folder / "pyproject.toml"
        has_table = project.is_file() and _has_table(project.read_bytes())
        if own.is_file() and has_table:
            raise UsageError(
                f"{folder} has an evalrun.toml and a pyproject.toml with [tool.evalrun]",
                remedy="keep the settings in one of them",
            )
        if own.is_file() or has_table:
            return own if own.is_file() else project
    return None


def _has_table(project: bytes) -> bool:
    """Whether a pyproject.toml holds settings of ours; a broken one that mentions them does too."""
    if b"evalrun" not in project:
        return False
    try:
        return "evalrun" in tomllib.loads(project.decode("utf-8-sig")).get("tool", {})
    except (ValueError, RecursionError):
        return b"[tool.evalrun" in project


def load_settings(start: Path, overrides: Overrides, environ: Mapping[str, str], *, connect: bool = True) -> Settings:
    """The settings that hold in a folder. Raises FileProblems, UnknownName and UsageError.

    Without `connect` the variables in connections are not put in, and may be unset.
    """
    path = find_settings(start.absolute())
    if path is None:
        raise UsageError(
            f"no evalrun.toml and no [tool.evalrun] in a pyproject.toml from {start} upwards",
            remedy="write an evalrun.toml with a target (see docs/tutorial.md)",
        )
    problems = Problems()
    try:
        node = _own_part(read_toml(path.read_bytes(), path.name))
        refuse_keys(node, problems)
        values: Mapping[str, Any] = SETTINGS.read(node, problems)
        values = _profiled(values, overrides.profile, path.name)
        settings = _settings(values, root=path.parent, file=path.name, profile=overrides.profile)
        settings = _overridden(settings, overrides, environ)
        written = _Written(node=node, profile=overrides.profile)
        _check_paths(settings, written, problems)
        if connect:
            settings = _connected(settings, written, overrides, environ, problems)
    except OSError as e:
        raise UsageError(f"{path} cannot be read: {e.strerror}", remedy="correct its permissions") from e
    except Skip:
        raise FileProblems(problems.found) from None
    if problems.found:
        raise FileProblems(problems.found)
    return settings


def money(text: str, source: str) -> Decimal:
    """USD from the command line or a variable. Raises UsageError for what is no amount from 0."""
    amount = amount_of(text)
    if amount is None:
        raise UsageError(f"{source} is {text!r}, expected USD from 0", remedy="write for example 0.50, with a point")
    return amount


def _own_part(node: Node) -> Node:
    """The table of ours: [tool.evalrun] of a pyproject.toml, or the whole file."""
    if not node.where.file.endswith("pyproject.toml"):
        return node
    return at(node, ("tool", "evalrun")) or node


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """The file as nodes, to find where a value that holds was written."""

    node: Node
    profile: str

    def at(self, *path: str) -> Node | None:
        """The value in the profile, else in the file."""
        in_profile = at(self.node, ("profiles", self.profile, *path)) if self.profile else None
        return in_profile or at(self.node, path)


def _check_paths(settings: Settings, written: _Written, problems: Problems) -> None:
    """A folder or file that is named must be there: a typing error would switch its rules off without a word."""
    for name in ("scenarios", "personas", "rubrics", "style_rules"):
        node = written.at(name)
        if node is None:
            continue
        path = settings.root / getattr(settings, name)
        what = "file" if name == "style_rules" else "folder"
        if not (path.is_file() if what == "file" else path.is_dir()):
            problems.add(node.where, f"there is no {what} {node.describe()}, expected one; correct `{name}`")


def _connected(
    settings: Settings, written: _Written, overrides: Overrides, environ: Mapping[str, str], problems: Problems
) -> Settings:
    """The settings with variables put into the connections that will be used; others may stay unset."""
    target = settings.targets[settings.target]
    changes: dict[str, Any] = {}
    before = len(problems.found)

    def connection(*path: str) -> str | None:
        node = written.at(*path)
        try:
            return resolved(node, environ, problems) if node else None
        except Skip:
            return None

    if not overrides.store and (store := connection("store")):
        changes["store"] = store
    if database := connection("targets", settings.target, "database"):
        changes["targets"] = {**settings.targets, settings.target: replace(target, database=database)}
    used = dict.fromkeys(m.provider for m in settings.models.values())
    urls = {name: url for name in used if (url := connection("providers", name, "base_url"))}
    changes["providers"] = {n: {**p, "base_url": urls[n]} if n in urls else p for n, p in settings.providers.items()}
    if len(problems.found) > before:
        raise Skip
    return replace(settings, **changes)


def _profiled(values: Mapping[str, Any], profile: str, file: str) -> Mapping[str, Any]:
    """The values with a profile's laid over them, tables merged key by key."""
    profiles = values.get("profiles", {})
    if not profile:
        return values
    if profile not in profiles:
        table = "tool.evalrun.profiles" if file == "pyproject.toml" else "profiles"
        raise UnknownName(
            f"no profile {profile!r} in {file}; {nearest(profile, profiles)}", remedy=f"add [{table}.{profile}] to it"
        )
    return _merged(values, profiles[profile])


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    both = {
        k: _merged(under[k], v) if isinstance(v, Mapping) and isinstance(under.get(k), Mapping) else v
        for k, v in over.items()
    }
    return {**under, **both}


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in table.items() if k != WHERE}


def _provider(table: Mapping[str, Any]) -> dict[str, Any]:
    """A provider's own options stand beside the known ones."""
    plain = _plain(table)
    options: Mapping[str, Any] = plain.pop("options", {})
    return {**options, **plain}


def _settings(values: Mapping[str, Any], *, root: Path, file: str, profile: str) -> Settings:
    given = _plain(values)
    for name in ("profiles", "targets", "models", "providers", "judge", "prices", "stages", "timeouts", "evidence"):
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
        providers={n: _provider(p) for n, p in values.get("providers", {}).items()},
        prices={n: Price(**_plain(p)) for n, p in values.get("prices", {}).items()},
        stages={n: StageSettings(**_plain(s)) for n, s in values.get("stages", {}).items()},
        judge=judge_settings,
        timeouts=Timeouts(**timeouts),
        evidence=_evidence(_plain(values.get("evidence", {}))),
        profile=profile,
        **given,
    )
    if not settings.target and len(targets) == 1:
        return replace(settings, target=next(iter(targets)))
    return settings


def _evidence(table: Mapping[str, Any]) -> EvidenceRule:
    names = {"margin": "clear", "min_trials": "least", "max_trials": "most"}
    return EvidenceRule(**{names[k]: v for k, v in table.items()})


def _overridden(settings: Settings, over: Overrides, environ: Mapping[str, str]) -> Settings:
    models = dict(settings.models)
    if subject := environ.get("EVAL_SUBJECT_MODEL", "").strip():
        models[Role.AGENT] = _subject(subject)
    models |= over.models
    budget = settings.budget_usd
    if environ.get("EVAL_USD_BUDGET", "").strip():
        budget = money(environ["EVAL_USD_BUDGET"], "EVAL_USD_BUDGET")
    if over.budget is not None:
        budget = money(over.budget, "--budget")
    if over.concurrency is not None and over.concurrency < 1:
        raise UsageError(f"--concurrency is {over.concurrency}, expected 1 or more", remedy="write for example 8")
    changes: dict[str, Any] = {"models": models, "budget_usd": budget}
    for name in ("target", "store", "unstable"):
        if value := getattr(over, name):
            changes[name] = value
    for name in ("concurrency", "strict_prices", "repeats"):
        if (value := getattr(over, name)) is not None:
            changes[name] = value
    if over.min_trials is not None:
        changes["evidence"] = replace(settings.evidence, least=over.min_trials)
    if over.gate is not None:
        changes["judge"] = replace(settings.judge, gate=over.gate)
    return _known_target(replace(settings, **changes))


def _subject(text: str) -> ModelName:
    try:
        return ModelName.parse(text)
    except UsageError as e:
        raise UsageError(f"EVAL_SUBJECT_MODEL: {e.message}", remedy=e.remedy) from e


def _known_target(settings: Settings) -> Settings:
    if settings.target in settings.targets:
        return settings
    known = ", ".join(settings.targets) or "none"
    if settings.target:
        hint = nearest(settings.target, settings.targets)
        raise UnknownName(f"no target {settings.target!r}; {hint}", remedy=f"add [targets.{settings.target}]")
    message = (
        f"no target is chosen, expected one of {known}; add target = …"
        if settings.targets
        else "no target is named, expected a table targets.NAME with an entry; add one"
    )
    raise FileProblems([Problem(where=Where(file=settings.file, line=1, column=1), message=message)])
