"""The part of a selection that one machine plays, and the file it leaves for `evalrun merge`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Decimal
from pathlib import Path

from evalrun import git
from evalrun.archive import decode, encode
from evalrun.config import Settings
from evalrun.errors import StoreFailed, UsageError
from evalrun.results import RunHeader, RunResult, ShardResult
from evalrun.selection import Selection
from evalrun.sharding import Shard, split
from evalrun.suite import Suite
from evalrun.use_cases.plan_file import read_plan
from evalrun.use_cases.planning import skeleton_of

FOLDER = ".evalrun/shards"
CENT = Decimal("0.000001")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one machine plays (`own`) of the whole selection; `shard` None: all of it.

    `weight` is its share of the expected time, 0 to 1; its budget is that share of the budget.
    """

    whole: Selection
    own: Selection
    shard: Shard | None = None
    shard_of: Mapping[str, int] | None = None
    weight: Decimal = Decimal(1)

    def budget(self, cap: Decimal | None) -> Decimal | None:
        """The cap of this machine: all shares together never pass the whole."""
        return cap if cap is None or self.shard is None else (cap * self.weight).quantize(CENT, ROUND_DOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Which part of a run is asked of this machine: a shard, the file of a plan, and where the result goes."""

    shard: Shard | None = None
    plan: Path | None = None
    file: Path | None = None


def said_of(share: Share, cap: Decimal | None, *, verbose: bool) -> tuple[str, ...]:
    """What a user should read of a selection; with `verbose` also the changed files that selected nothing."""
    idle = [f"changed and selected nothing: {p}" for p in share.whole.idle] if verbose else []
    money = []
    if share.shard is not None and cap is not None:
        money = [f"shard {share.shard} may spend ${share.budget(cap)} of the budget of ${cap}"]
    return (*share.whole.notices, *money, *idle)


def share_of(selection: Selection, shard: Shard | None, weights: Mapping[str, float]) -> Share:
    """Split a selection. Every machine finds the same shares from the same selection and weights."""
    if shard is None:
        return Share(whole=selection, own=selection)
    parts = split({s.id: weights.get(s.id, 1.0) for s in selection.chosen}, shard.of)
    mine = tuple(s for s in selection.chosen if parts[s.id] == shard.number)
    total = sum(weights.get(s.id, 1.0) for s in selection.chosen)
    own = sum(weights.get(s.id, 1.0) for s in mine)
    return Share(
        whole=selection,
        own=replace(
            selection,
            chosen=mine,
            reasons={s.id: selection.reasons[s.id] for s in mine},
            line=f"{len(mine)} of {len(selection.chosen)} for shard {shard}: {selection.line}",
        ),
        shard=shard,
        shard_of=parts,
        weight=Decimal(repr(own)) / Decimal(repr(total)) if total else Decimal(0),
    )


def turns_of(selection: Selection, settings: Settings) -> dict[str, float]:
    """Weights that need no history: turns and first trials."""
    return {s.id: float(s.turns_at_most() * settings.rule_of(s.repeats).at_first) for s in selection.chosen}


def planned_share(settings: Settings, suite: Suite, part: Part) -> Share:
    """What a plan selected for this machine. Raises UsageError when the plan is of another commit or suite."""
    assert part.plan is not None
    plan = read_plan(part.plan)
    here = git.commit(settings.root)
    if plan.commit and here and plan.commit != here:
        raise UsageError(
            f"the plan {part.plan} is of commit {plan.commit[:10]}, this is {here[:10]}",
            remedy="plan and run the same commit",
        )
    known = {s.id for s in suite.scenarios}
    reasons = {p.id: p.reasons for p in plan.selected}
    if missing := sorted(reasons.keys() - known):
        raise UsageError(
            f"the plan {part.plan} has the scenario {missing[0]!r}, which is not here",
            remedy="plan and run the same commit",
        )
    chosen = tuple(s for s in suite.scenarios if s.id in reasons)
    selection = Selection(chosen=chosen, reasons=reasons, suite_size=plan.suite_size, line=plan.selection)
    return share_of(selection, part.shard, {p.id: p.seconds for p in plan.selected})


def leave(root: Path, part: Part, share: Share, run: RunResult) -> None:
    """Leave the result of a shard for `evalrun merge`; of a run that is whole there is nothing to leave."""
    if share.shard is not None:
        name = f"shard-{share.shard.number}-of-{share.shard.of}.json"
        write_shard(part.file or root / FOLDER / name, share, run)


def shard_header(share: Share, header: RunHeader) -> RunHeader:
    """The header of a run, which says when it is a shard's."""
    return replace(header, settings={**header.settings, "shard": str(share.shard)}) if share.shard else header


def write_shard(path: Path, share: Share, run: RunResult) -> None:
    """Leave the result of a shard in a file that appears when it is complete. Raises StoreFailed."""
    assert share.shard is not None
    result = ShardResult(
        number=share.shard.number,
        of=share.shard.of,
        selection=share.whole.line,
        planned=tuple(skeleton_of(s, share.whole.reasons[s.id]) for s in share.whole.chosen),
        shard_of=dict(share.shard_of or {}),
        run=run,
    )
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(encode(result))
        draft.replace(path)
    except OSError as e:
        raise StoreFailed(
            f"the result of shard {share.shard} cannot be written to {path}: {e.strerror}",
            remedy="free space or correct the rights; without it the shard counts as lost",
        ) from e


def read_shard(path: Path) -> ShardResult:
    """Read a shard's file. Raises StoreFailed for one that is damaged, UsageError for one that is not there."""
    try:
        data = path.read_bytes()
    except OSError as e:
        raise UsageError(f"{path} cannot be read: {e.strerror}", remedy="name the files that run --shard left") from e
    found = decode(ShardResult, data)
    if not (1 <= found.number <= found.of and {s.id for s in found.planned} == set(found.shard_of)):
        raise StoreFailed(f"{path} is no result of a shard", remedy="name the files that run --shard left")
    return found
