"""Run scenarios to a verdict: files, selection, rooms, trials, stored results, reports, exit code."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import tempfile
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from evalrun import __version__, git, plugins
from evalrun.config import Settings, Timeouts
from evalrun.errors import CannotJudge, EvalrunError, StoreFailed, UsageError
from evalrun.interfaces.models import NO_CONSENT, Consent
from evalrun.interfaces.reports import Reporter
from evalrun.interfaces.stores import Store
from evalrun.interfaces.targets import SuiteInfo
from evalrun.loading.settings import Overrides, load_settings
from evalrun.loading.suite import load_suite
from evalrun.redaction import Redactor
from evalrun.results import JudgeTrust, RunHeader, RunResult
from evalrun.runner import Heard, Pace, Runner
from evalrun.selection import Selection, Wanted
from evalrun.suite import Suite
from evalrun.trial import Workings
from evalrun.usage import Role
from evalrun.use_cases.choosing import Since, choose
from evalrun.use_cases.feasible import check_feasible
from evalrun.use_cases.keyless import NO_KEY, exit_code_of, offline_ok, without_keys
from evalrun.use_cases.opening import close_rooms, open_rooms
from evalrun.use_cases.planning import Planned, plan_trials, skeleton_of
from evalrun.use_cases.shards import Part, Share, leave, planned_share, said_of, shard_header, share_of, turns_of
from evalrun.use_cases.signals import Signals
from evalrun.use_cases.voices import Voices
from evalrun.use_cases.wiring import (
    Rooms,
    make_calls,
    make_chain,
    make_server,
    make_store,
    make_target,
    missing_keys,
    needed_roles,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What the user asked for. `start` is the folder it was asked in. `verbose`: say what selected nothing.

    `offline_ok`: whether scenarios that only lack a key may be missing from a success; None says
    everywhere but in CI. `consent`: whether money may be spent.
    """

    start: Path
    wanted: Wanted = field(default_factory=Wanted)
    since: Since | None = None
    part: Part = field(default_factory=Part)
    verbose: bool = False
    overrides: Overrides = field(default_factory=Overrides)
    fail_fast: bool = False
    resume: bool = False
    offline_ok: bool | None = None
    consent: Consent = NO_CONSENT


class Interrupted(BaseException):
    """A signal came before the first trial."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """What is known before anything is chosen. `earlier` is the run that is resumed."""

    request: RunRequest
    environ: Mapping[str, str]
    settings: Settings
    suite: Suite
    voices: Voices
    store: Store
    commit: str
    earlier: RunResult | None
    redactor: Redactor
    tmp: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A run that is planned."""

    ground: _Ground
    share: Share
    selection: Selection
    rooms: Rooms
    planned: Planned
    header: RunHeader


async def run(request: RunRequest, environ: Mapping[str, str], reporters: Sequence[Reporter]) -> RunResult:
    """Run and report. Raises EvalrunError for what stops it before the first trial, Interrupted for a signal then."""
    tmp = Path(tempfile.mkdtemp(prefix="evalrun-"))
    with Signals(Timeouts().turn) as signals:
        try:
            return await _run(request, environ, reporters, signals, tmp)
        except asyncio.CancelledError:
            if signals.received:
                raise Interrupted(signals.received) from None
            raise
        finally:
            shutil.rmtree(tmp, ignore_errors=True)


async def _run(
    request: RunRequest, environ: Mapping[str, str], reporters: Sequence[Reporter], signals: Signals, tmp: Path
) -> RunResult:
    settings = load_settings(request.start, request.overrides, environ)
    signals.limit(settings.timeouts.turn)
    suite = load_suite(settings)
    plugins.look_in(settings.root)
    redactor = Redactor.from_environ(environ, [t.database for t in settings.targets.values()])
    voices = Voices(reporters, redactor)
    store = make_store(settings)
    await store.open()
    try:
        ground = _Ground(
            request=request,
            environ=environ,
            settings=settings,
            suite=suite,
            voices=voices,
            store=store,
            commit=git.commit(settings.root),
            earlier=await store.load("last") if request.resume else None,
            redactor=redactor,
            tmp=tmp,
        )
        job = _plan(ground)
        voices.started(job.header)
        for line in (
            *said_of(job.share, settings.budget_usd, verbose=request.verbose),
            *job.planned.notices,
            *job.rooms.ledger.notices,
            *_notices_of(store),
        ):
            voices.notice(line)
        result = await _play(job, signals)
        voices.finished(result)
        leave(settings.root, request.part, job.share, result)
        return result
    finally:
        await store.close()


def _notices_of(store: object) -> Sequence[str]:
    return getattr(store, "notices", ())


def _plan(ground: _Ground) -> _Job:
    """Choose, resolve every name, and refuse what cannot be played: nothing is spent yet."""
    earlier = ground.earlier
    share = _share(ground)
    selection = share.own
    settings = replace(ground.settings, budget_usd=share.budget(ground.settings.budget_usd))
    run_id = earlier.header.id if earlier else f"{datetime.now(UTC):%Y-%m-%d}-{secrets.token_hex(3)}"
    target = make_target(settings)
    server = make_server(settings, run_id, ground.environ, ground.tmp)
    check_feasible(selection.chosen, target, database=server is not None)
    chain, trust = make_chain(settings, ground.suite, selection.chosen)
    planned = _planned(ground, settings, selection)
    needed = needed_roles(settings, ground.suite, tuple(p.scenario for p in planned.plans))
    calls, ledger, warm = make_calls(
        settings, needed, ground.environ, ground.tmp, ground.voices.notice, consent=ground.request.consent
    )
    if earlier is not None:
        ledger.spent = sum((s.spending.cost for s in earlier.scenarios), ledger.spent)
    rooms = Rooms(target=target, server=server, calls=calls, ledger=ledger, chain=chain, warm=warm)
    header = _header(run_id, ground, settings, selection, trust if _judged(ground, settings, selection) else ())
    return _Job(
        ground=ground,
        share=share,
        selection=selection,
        rooms=rooms,
        planned=planned,
        header=shard_header(share, header),
    )


def _planned(ground: _Ground, settings: Settings, selection: Selection) -> Planned:
    """The trials to play with the keys that are there."""
    planned = plan_trials(settings, ground.suite, selection, ground.earlier, commit=ground.commit)
    lacking = missing_keys(settings, ground.environ, ground.tmp, ground.request.consent)
    return without_keys(planned, lacking, settings, ground.suite)


def _judged(ground: _Ground, settings: Settings, selection: Selection) -> bool:
    return Role.JUDGE in needed_roles(settings, ground.suite, selection.chosen)


def _share(ground: _Ground) -> Share:
    """What this machine plays: what is asked for, else what the run that is resumed had chosen."""
    request, earlier = ground.request, ground.earlier
    wanted = request.wanted
    if earlier is not None and wanted == Wanted() and request.since is None and request.part == Part():
        known = {s.id for s in ground.suite.scenarios}
        wanted = Wanted(names=tuple(s.id for s in earlier.scenarios if s.id in known))
    if request.part.plan is not None:
        if wanted != Wanted() or request.since is not None:
            raise UsageError(
                "--plan says what is selected, and so does another option", remedy="select when planning, not here"
            )
        return planned_share(ground.settings, ground.suite, request.part)
    selection = choose(ground.suite, ground.settings, wanted, request.since)
    return share_of(selection, request.part.shard, turns_of(selection, ground.settings))


def _header(
    run_id: str, ground: _Ground, settings: Settings, selection: Selection, trust: tuple[JudgeTrust, ...]
) -> RunHeader:
    return RunHeader(
        id=run_id,
        started=ground.earlier.header.started if ground.earlier else datetime.now(UTC),
        target=settings.target,
        models={r.value: str(m) for r, m in settings.models.items()},
        trust=trust,
        selection=selection.line,
        selected=len(selection.chosen),
        suite_size=selection.suite_size,
        cap=settings.budget_usd,
        commit=ground.commit,
        version=__version__,
        settings={
            "profile": settings.profile,
            "gate": settings.judge.gate.value,
            NO_KEY: offline_ok(ground.request.offline_ok, ground.environ),
        },
        unstable_fails=settings.unstable == "fail",
    )


async def _play(job: _Job, signals: Signals) -> RunResult:
    """Start what is needed, play, close, and say how it ended."""
    ground, voices = job.ground, job.ground.voices
    began = asyncio.get_running_loop().time()
    skeletons = {
        s.id: skeleton_of(s, job.selection.reasons.get(s.id, ()), ground.settings.rule_of(s.repeats))
        for s in job.selection.chosen
    }
    if ground.earlier is None:
        start = RunResult(header=job.header, finished=job.header.started, scenarios=tuple(skeletons.values()))
        await _kept(voices, ground.store.begin(start))
    runner = Runner(
        run=job.header.id,
        workings=_workings(job),
        plans=job.planned.plans,
        skeletons=skeletons,
        store=ground.store,
        redactor=ground.redactor,
        heard=Heard(progress=voices.progress, trial=voices.trial, notice=voices.notice),
        pace=Pace(
            concurrency=1 if job.rooms.target.isolation == "serial" else ground.settings.side_by_side,
            fail_fast=ground.request.fail_fast,
            spent=lambda: job.rooms.ledger.spent,
        ),
        results={k: list(v) for k, v in job.planned.kept.items()},
    )
    left = await _played(job, runner, signals) if job.planned.plans else ()
    for line in (*_notices_of(ground.store), *(f"{e.message} ({e.remedy})" for e in left)):
        if line not in voices.notices:
            voices.notice(line)
    result = _result(job, runner, asyncio.get_running_loop().time() - began)
    if left:
        # what holds, holds; but a target that cannot end must not pass for a success
        result = replace(result, exit_code=result.exit_code or CannotJudge.exit_code)
    await _kept(voices, ground.store.finish(result))
    return result


async def _played(job: _Job, runner: Runner, signals: Signals) -> tuple[EvalrunError, ...]:
    """Open, play, close; what did not close. Raises EvalrunError for what keeps the first trial from being played."""
    left: tuple[EvalrunError, ...] = ()
    try:
        await open_rooms(job.rooms, _info(job), job.ground.settings.timeouts, len(job.planned.plans))
        signals.interrupt = runner.interrupt
        await runner.play()
    finally:
        left = await close_rooms(job.rooms)
    return left


async def _kept(voices: Voices, writing: Awaitable[None]) -> None:
    """Write to the history; a failure is said, for the report must still come."""
    try:
        await writing
    except StoreFailed as e:
        voices.notice(f"{e.message} ({e.remedy})")


def _workings(job: _Job) -> Workings:
    return Workings(
        run=job.header.id,
        target=job.rooms.target,
        server=job.rooms.server,
        calls=job.rooms.calls,
        chain=job.rooms.chain,
        style=job.ground.suite.style,
        timeouts=job.ground.settings.timeouts,
        tmp=job.ground.tmp,
    )


def _result(job: _Job, runner: Runner, seconds: float) -> RunResult:
    scenarios = runner.scenarios()
    return RunResult(
        header=job.header,
        finished=datetime.now(UTC),
        scenarios=scenarios,
        notices=tuple(dict.fromkeys([*job.rooms.ledger.notices, *job.ground.voices.notices])),
        stop=runner.stop,
        exit_code=exit_code_of(scenarios, job.header, runner.stop),
        seconds=round(seconds, 2),
    )


def _info(job: _Job) -> SuiteInfo:
    settings = job.ground.settings
    rules = settings.root / settings.style_rules
    return SuiteInfo(
        run=job.header.id,
        options=settings.targets[settings.target].options,
        root=settings.root,
        tmp=job.ground.tmp,
        style_rules=rules if rules.is_file() else None,
        environ=job.ground.environ,
    )
