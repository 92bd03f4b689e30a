"""The results of shards become one run, one report, one exit code. What was lost is never green."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from evalrun.errors import StoreFailed, UsageError
from evalrun.interfaces.reports import Reporter
from evalrun.interfaces.stores import Store
from evalrun.loading.settings import Overrides
from evalrun.results import RunHeader, RunResult, ScenarioResult, ShardResult, TrialResult
from evalrun.scenario import Category
from evalrun.transcript import Ending, Transcript
from evalrun.use_cases.keyless import exit_code_of
from evalrun.use_cases.plan import settings_of
from evalrun.use_cases.plan_file import PlanFile, read_plan
from evalrun.use_cases.shards import read_shard
from evalrun.use_cases.wiring import make_store
from evalrun.verdict import Outcome, Stop, Verdict

__all__ = ["MergeRequest", "Overrides", "merge"]
LOST = "shard_lost"
FIRST = (130, 143, 70, 2, 1, 3, 4, 0)
"""The exit code that stands when several apply (design, section 7)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRequest:
    """`files` are results of shards, or folders of them. `plan` says what was to be played, also where no file came."""

    start: Path
    files: tuple[Path, ...] = ()
    plan: Path | None = None
    overrides: Overrides = field(default_factory=Overrides)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """What was to be played: every scenario before its first trial, its shard ("i/n"), and what came back."""

    planned: tuple[ScenarioResult, ...]
    shard_of: Mapping[str, str]
    selection: str
    shards: tuple[ShardResult, ...]
    notices: tuple[str, ...]


async def merge(request: MergeRequest, environ: Mapping[str, str], reporters: Sequence[Reporter]) -> RunResult:
    """Merge, keep the run in the history, report it.

    Raises UsageError for files that do not belong together or when nothing says what was to be
    played; a file that is damaged counts as lost.
    """
    settings = settings_of(request.start, request.overrides, environ)
    plan = read_plan(request.plan) if request.plan else None
    shards, notices = _read(_files(request.files, planned=plan is not None))
    if not shards and plan is None:
        raise UsageError(
            "no file holds the result of a shard" + "".join(f"; {n}" for n in notices),
            remedy="name the files that run --shard left, or the plan with --plan",
        )
    result = _merged(_whole(shards, plan, notices), plan)
    if "${" in settings.store:
        result = replace(
            result, notices=(*result.notices, f"the history {settings.store} is not set here: not kept in it")
        )
    else:
        result = await _kept(result, make_store(settings))
    for reporter in reporters:
        reporter.finished(result)
    return result


def _files(given: Sequence[Path], *, planned: bool) -> list[Path]:
    """The files, those of folders in the order of their names. Raises UsageError."""
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            found += sorted(path.rglob("*.json"))
        elif path.exists() or not planned:
            found.append(path)
    return list(dict.fromkeys(p.resolve() for p in found))


def _read(files: Sequence[Path]) -> tuple[tuple[ShardResult, ...], tuple[str, ...]]:
    """The shards by number, and what is to be said of files that cannot be read. Raises UsageError."""
    found: dict[int, tuple[Path, ShardResult]] = {}
    notices = []
    first: tuple[Path, ShardResult] | None = None
    for path in files:
        try:
            shard = read_shard(path)
        except StoreFailed as e:
            notices.append(f"{path.name} counts as lost: {e.message}")
            continue
        first = first or (path, shard)
        _refuse_stranger(first, (path, shard))
        known = found.setdefault(shard.number, (path, shard))
        if known[1] != shard:
            raise UsageError(
                f"{path} and {known[0]} are two results of shard {shard.number}/{shard.of}",
                remedy="leave the older one out",
            )
    return tuple(found[n][1] for n in sorted(found)), tuple(notices)


def _refuse_stranger(first: tuple[Path, ShardResult], other: tuple[Path, ShardResult]) -> None:
    """Shards of one run were told the same. Raises UsageError."""
    for what, value in _told(first[1]).items():
        if _told(other[1])[what] != value:
            raise UsageError(
                f"{other[0]} is of another run than {first[0]}: {what} differs",
                remedy="merge shards of one commit, selection and settings only",
            )


def _told(shard: ShardResult) -> dict[str, object]:
    header = shard.run.header
    return {
        "the number of shards": shard.of,
        "the commit": header.commit,
        "the target": header.target,
        "a model": dict(header.models),
        "the version of evalrun": header.version,
        "a setting": ({k: v for k, v in header.settings.items() if k != "shard"}, header.unstable_fails),
        "the selection": (shard.selection, dict(shard.shard_of)),
    }


def _whole(shards: tuple[ShardResult, ...], plan: PlanFile | None, notices: tuple[str, ...]) -> _Whole:
    if plan is not None and shards and {p.id for p in plan.selected} != set(shards[0].shard_of):
        raise UsageError("the shards are of another selection than the plan", remedy="merge with the plan they ran")
    if shards:
        first = shards[0]
        shard_of = {name: f"{number}/{first.of}" for name, number in first.shard_of.items()}
        return _Whole(
            planned=first.planned, shard_of=shard_of, selection=first.selection, shards=shards, notices=notices
        )
    assert plan is not None
    return _Whole(
        planned=tuple(_skeleton(plan)),
        shard_of={p.id: p.shard or "1/1" for p in plan.selected},
        selection=plan.selection,
        shards=(),
        notices=notices,
    )


def _skeleton(plan: PlanFile) -> list[ScenarioResult]:
    return [
        ScenarioResult(
            id=p.id,
            title=p.title,
            category=Category(p.category),
            stage=p.stage,
            path=p.path,
            line=p.line,
            objective=p.objective,
            persona=p.persona,
            verdict=Verdict.NOT_RUN,
            selected_because=p.reasons,
        )
        for p in plan.selected
    ]


def _merged(whole: _Whole, plan: PlanFile | None) -> RunResult:
    runs = [s.run for s in whole.shards]
    played = {scenario.id: scenario for run in runs for scenario in run.scenarios}
    scenarios = tuple(played.get(s.id) or _lost(s, whole.shard_of[s.id]) for s in whole.planned)
    lost = sorted({whole.shard_of[s.id] for s in whole.planned if s.id not in played}, key=_order)
    header = _header(whole, plan)
    stop = Stop(signal=next((r.stop.signal for r in runs if r.stop.signal), 0), budget=any(r.stop.budget for r in runs))
    own = exit_code_of(scenarios, header, stop)
    codes = {own, *(r.exit_code for r in runs)}
    told = [f"shard {shard} left no result: its scenarios are not run" for shard in lost]
    base = runs[0] if runs else RunResult(header=header, finished=header.started)
    return replace(
        base,
        header=header,
        finished=max((r.finished for r in runs), default=header.started),
        scenarios=scenarios,
        notices=tuple(dict.fromkeys([*told, *whole.notices, *(n for r in runs for n in r.notices)])),
        stop=stop,
        # never greener than one of its shards
        exit_code=next((c for c in FIRST if c in codes), own),
        seconds=max((r.seconds for r in runs), default=0.0),
    )


def _order(shard: str) -> int:
    return int(shard.partition("/")[0])


def _header(whole: _Whole, plan: PlanFile | None) -> RunHeader:
    headers = [s.run.header for s in whole.shards]
    now = datetime.now(UTC)
    started = min((h.started for h in headers), default=now)
    name = hashlib.sha256("\n".join(sorted(h.id for h in headers) or [f"{now}"]).encode()).hexdigest()[:6]
    caps = [h.cap for h in headers if h.cap is not None]
    if headers:
        base = replace(headers[0], trust=next((h.trust for h in headers if h.trust), ()))
    else:
        assert plan is not None
        base = RunHeader(
            id="",
            started=started,
            target=plan.target,
            models=plan.models,
            suite_size=plan.suite_size,
            commit=plan.commit,
        )
    return replace(
        base,
        id=f"{started:%Y-%m-%d}-{name}",
        started=started,
        selection=whole.selection,
        selected=len(whole.planned),
        # so that nobody counts the same trials twice where the shards are in the same history
        settings={
            **{k: v for k, v in base.settings.items() if k != "shard"},
            "merged": " ".join(h.id for h in headers),
        },
        cap=sum(caps[1:], caps[0]) if caps else None,
    )


def _lost(skeleton: ScenarioResult, shard: str) -> ScenarioResult:
    """A scenario whose shard left no result."""
    reason = f"shard lost: {shard} left no result"
    trial = TrialResult(
        scenario=skeleton.id,
        number=1,
        outcome=Outcome.NOT_RUN,
        fact=True,
        code=LOST,
        reason=reason,
        transcript=Transcript(ending=Ending.INTERRUPTED),
        started=datetime.now(UTC),
    )
    return replace(skeleton, verdict=Verdict.NOT_RUN, reason=reason, trials=(trial,))


async def _kept(run: RunResult, store: Store) -> RunResult:
    """Keep the merged run in the history; a failure is said, for the report must still come."""
    said: list[str] = []
    try:
        await store.open()
        await store.begin(run)
        for trial in (t for s in run.scenarios for t in s.trials if t.code != LOST):
            await store.add(run.header.id, trial)
        await store.finish(run)
    except StoreFailed as e:
        said.append(f"{e.message} ({e.remedy})")
    finally:
        await store.close()
    said += getattr(store, "notices", ())
    return replace(run, notices=tuple(dict.fromkeys([*run.notices, *said])))
