"""What machines that share a plan read of its document (see `plan_document`): what was selected and why, for which shard."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from evalrun.errors import UsageError

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedScenario:
    """One selected scenario. `seconds` weigh it when shards are made; `shard` is "i/n"."""

    id: str
    reasons: tuple[str, ...]
    title: str = ""
    category: str = ""
    stage: str = ""
    path: str = ""
    line: int = 0
    objective: str = ""
    persona: str = ""
    seconds: float = 0.0
    shard: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """What of a plan is read back."""

    schema_version: int
    target: str
    commit: str
    selection: str
    suite_size: int
    selected: tuple[PlannedScenario, ...]
    models: dict[str, str] = field(default_factory=dict)


def read_plan(path: Path) -> PlanFile:
    """A plan that `evalrun plan --format json` wrote. Raises UsageError."""
    remedy = "write it with: evalrun plan --format json --output FILE"
    try:
        found = msgspec.json.decode(path.read_bytes(), type=PlanFile)
    except OSError as e:
        raise UsageError(f"the plan {path} cannot be read: {e.strerror}", remedy=remedy) from e
    except (msgspec.DecodeError, msgspec.ValidationError) as e:
        raise UsageError(f"{path} is no plan: {e}", remedy=remedy) from e
    if found.schema_version > VERSION:
        raise UsageError(
            f"the plan {path} has version {found.schema_version}, this evalrun knows {VERSION}",
            remedy="plan and run with the same evalrun",
        )
    return found
