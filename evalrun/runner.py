"""Many trials side by side under one task group, each stored when it ends; stops, retries of the invalid, resume.

A conversation holds a place; judging a finished one does not, so that judge calls overlap with
other conversations.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal

from evalrun.errors import StoreFailed
from evalrun.interfaces.reports import Progress
from evalrun.interfaces.stores import Store
from evalrun.redaction import Redactor
from evalrun.results import ScenarioResult, TrialResult
from evalrun.transcript import Ending, Transcript
from evalrun.trial import Trial, TrialPlan, Workings
from evalrun.verdict import Outcome, Stop, Verdict, verdict_of

INTERRUPTED = "interrupted"
BUDGET = "budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Who hears of the run while it goes on."""

    progress: Callable[[Progress], None]
    trial: Callable[[TrialResult], None]
    notice: Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How a run goes: trials side by side, whether the first failure ends it, USD spent so far."""

    concurrency: int
    fail_fast: bool
    spent: Callable[[], Decimal]


@dataclass(slots=True, kw_only=True)
class Runner:
    """Plays the trials of a run. `plans` are in order; `results` may hold trials of a run that is resumed."""

    run: str
    workings: Workings
    plans: Sequence[TrialPlan]
    skeletons: Mapping[str, ScenarioResult]
    store: Store
    redactor: Redactor
    heard: Heard
    pace: Pace
    results: dict[str, list[TrialResult]] = field(default_factory=dict)
    stopped: str = ""
    signal: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _places: asyncio.Semaphore = field(init=False)

    async def play(self) -> None:
        """Play everything that is planned; returns also after a stop. Raises StoreFailed when results cannot be kept."""
        self._places = asyncio.Semaphore(self.pace.concurrency)
        alarm = asyncio.get_running_loop().call_later(self.workings.timeouts.run, self._out_of_time)
        try:
            async with asyncio.TaskGroup() as group:
                for plan in self.plans:
                    task = group.create_task(self._slot(plan))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
        except BaseExceptionGroup as e:
            raise e.exceptions[0] from None
        finally:
            alarm.cancel()

    def _out_of_time(self) -> None:
        self.heard.notice(f"the run took over {self.workings.timeouts.run:g} s and was stopped")
        self._cancel("run_timeout")

    def interrupt(self, signum: int) -> None:
        """Stop now: trials in flight end as not run, those finished are kept."""
        self.signal = signum
        self._cancel(INTERRUPTED)

    def _cancel(self, why: str) -> None:
        self.stopped = why
        for task in list(self._tasks):
            task.cancel()

    @property
    def stop(self) -> Stop:
        """Why the run stopped before its end, if it did."""
        return Stop(signal=self.signal, budget=self.stopped == BUDGET)

    def scenarios(self) -> tuple[ScenarioResult, ...]:
        """The scenarios with their trials and verdicts, as far as is known."""
        return tuple(self._scenario(s) for s in self.skeletons.values())

    async def _slot(self, plan: TrialPlan) -> None:
        """Play one planned trial; once more when the simulated user spoiled it."""
        result = await self._trial(plan)
        if result.outcome is Outcome.INVALID and not self.stopped:
            number = 1 + max(p.number for p in self.plans if p.scenario.id == plan.scenario.id)
            number = max(number, 1 + max(t.number for t in self.results[plan.scenario.id]))
            await self._trial(replace(plan, number=number, replays=result.number))

    async def _trial(self, plan: TrialPlan) -> TrialResult:
        result = await self._played(plan)
        # kept also when the interruption comes at this moment
        await asyncio.shield(self._keep(result))
        self._maybe_stop(result)
        return result

    async def _played(self, plan: TrialPlan) -> TrialResult:
        trial: Trial | None = None
        try:
            async with self._places:
                if self.stopped:
                    return not_run(plan, self.stopped)
                # made here: its time does not count while it waits for a place
                trial = self._made(plan)
                await trial.converse()
                if self.pace.fail_fast:
                    # judged before the place is given back, so that nothing starts after a failure
                    await trial.judge()
                    self._maybe_stop(trial.result())
            await trial.judge()
        except asyncio.CancelledError:
            if not self.stopped:
                raise
            return trial.result(stopped=self.stopped) if trial else not_run(plan, self.stopped)
        return trial.result()

    def _made(self, plan: TrialPlan) -> Trial:
        trial = Trial(workings=self.workings, plan=plan, tell=lambda turn, what: self._tell(plan, trial, turn, what))
        return trial

    async def _keep(self, result: TrialResult) -> None:
        clean = self.redactor.clean(result)
        self.results.setdefault(result.scenario, []).append(replace(clean, exchanges=()))
        if result.outcome is not Outcome.NOT_RUN or result.transcript.turns or result.spending.calls:
            try:
                await self.store.add(self.run, clean)
            except StoreFailed as e:
                self.heard.notice(f"{e.message} ({e.remedy})")
        self.heard.trial(clean)

    def _maybe_stop(self, result: TrialResult) -> None:
        if self.stopped:
            return
        if result.code == BUDGET:
            self.stopped = BUDGET
            self.heard.notice(result.reason)
        elif self.pace.fail_fast and result.outcome is Outcome.FAIL:
            self.stopped = "fail_fast"

    def _tell(self, plan: TrialPlan, trial: Trial, turn: int, waiting_for: str) -> None:
        self.heard.progress(
            Progress(
                scenario=plan.scenario.id,
                trial=plan.number,
                turn=turn,
                turns=plan.scenario.turns_at_most(),
                waiting_for=waiting_for,
                cost=trial.tally.cost,
                run_cost=self.pace.spent(),
            )
        )

    def _scenario(self, skeleton: ScenarioResult) -> ScenarioResult:
        trials = sorted(self.results.get(skeleton.id, []), key=lambda t: t.number)
        planned = [p for p in self.plans if p.scenario.id == skeleton.id]
        trials += [
            not_run(p, self.stopped or INTERRUPTED) for p in planned if p.number not in {t.number for t in trials}
        ]
        replayed = {t.replays for t in trials}
        final = [t for t in trials if t.number not in replayed]
        verdict = verdict_of([(t.outcome, t.fact) for t in final])
        return replace(skeleton, verdict=verdict, reason=_reason(verdict, final), trials=tuple(trials))


def _reason(verdict: Verdict, trials: Sequence[TrialResult]) -> str:
    """The reason of the first trial that shows the verdict."""
    wanted = Outcome.FAIL if verdict is Verdict.UNSTABLE else Outcome(verdict.value)
    return next((t.reason for t in trials if t.outcome is wanted), "no trial was planned")


_WHY = {
    INTERRUPTED: "the run was interrupted",
    BUDGET: "the budget was reached",
    "fail_fast": "another scenario failed and --fail-fast was set",
    "run_timeout": "the time of the run was up",
}


def not_run(plan: TrialPlan, code: str) -> TrialResult:
    """A trial that was never played."""
    return TrialResult(
        scenario=plan.scenario.id,
        number=plan.number,
        outcome=Outcome.NOT_RUN,
        fact=True,
        code=code,
        reason=_WHY.get(code, code),
        transcript=Transcript(ending=Ending.BUDGET if code == BUDGET else Ending.INTERRUPTED),
        started=datetime.now(UTC),
        key=plan.key,
        replays=plan.replays,
    )
