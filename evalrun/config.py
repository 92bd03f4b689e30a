"""The settings of a project, once read; reading them is `loading`'s work.

Precedence, weakest first: defaults, settings file, profile, environment, command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Literal

from evalrun.evidence import EvidenceRule
from evalrun.usage import ModelName, Role

EMBEDDED_MODEL = ModelName(provider="local", model="smollm2-135m")
FEW_TRIALS, MANY_TRIALS = 8, 40
"""Side by side where nothing is set: few where the embedded model or a database has to bear them."""


class Gate(StrEnum):
    """When a model judge counts for the outcome."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSettings:
    """One target. `database` is "", "embedded" or a DSN with its variables already resolved."""

    name: str
    adapter: str = "python"
    entry: str = ""
    database: str = ""
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """USD per million tokens."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None
    cache_write: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds."""

    call: float = 120.0
    turn: float = 180.0
    trial: float = 900.0
    run: float = 7200.0
    setup: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """How model judges are used. `options` maps a judge's name to its own table.

    `confirm`: how often a low score or a violation is asked about again (0, 2 or 4) before it counts.
    `canaries`: known-bad turns are hidden among the calls of a judge that gates.
    """

    gate: Gate = Gate.AUTO
    max_output_tokens: int = 700
    confirm: int = 2
    canaries: bool = True
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSettings:
    """What belongs to one stage of the product's funnel."""

    watch: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


def embedded_models() -> Mapping[Role, ModelName]:
    """The default: the embedded model in every role, free and offline."""
    return dict.fromkeys(Role, EMBEDDED_MODEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything a project sets. Paths are relative to `root`, the folder of the settings file.

    `concurrency` 0: nothing was set (see `side_by_side`). `repeats` holds for scenarios that say auto.
    """

    root: Path
    file: str = ""
    target: str = ""
    targets: Mapping[str, TargetSettings] = field(default_factory=dict)
    models: Mapping[Role, ModelName] = field(default_factory=embedded_models)
    providers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    judges: tuple[str, ...] = ("rules", "expectations", "rubric")
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    budget_usd: Decimal | None = None
    strict_prices: bool = False
    prices: Mapping[str, Price] = field(default_factory=dict)
    scenarios: str = "scenarios"
    personas: str = "personas"
    rubrics: str = "rubrics"
    style_rules: str = "style_rules.toml"
    source: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    stages: Mapping[str, StageSettings] = field(default_factory=dict)
    concurrency: int = 0
    calls_in_flight: int = 64
    timeouts: Timeouts = field(default_factory=Timeouts)
    repeats: int | Literal["auto"] = "auto"
    evidence: EvidenceRule = field(default_factory=EvidenceRule)
    store: str = ".evalrun/history.db"
    unstable: Literal["show", "fail"] = "show"
    profile: str = ""

    def rule_of(self, repeats: int | Literal["auto"]) -> EvidenceRule:
        """The rule of a scenario with such `repeats`."""
        wanted = self.repeats if repeats == "auto" else repeats
        return self.evidence if wanted == "auto" else replace(self.evidence, exactly=int(wanted))

    @property
    def side_by_side(self) -> int:
        """How many trials are played at once."""
        if self.concurrency:
            return self.concurrency
        embedded = any(self.models[r].provider == EMBEDDED_MODEL.provider for r in (Role.PERSONA, Role.JUDGE))
        database = self.target in self.targets and bool(self.targets[self.target].database)
        return FEW_TRIALS if embedded or database else MANY_TRIALS
