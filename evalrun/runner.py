"""Many trials side by side under one task group, each stored when it ends; stops, repeats, resume.

A conversation holds a place; judging a finished one does not, so that judge calls overlap with
other conversations. The first trials of all scenarios come before any repeat, and a repeat of the
scenario nearest to its decision before others, so that money that runs out costs the least.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

from evalrun.deciding import JUDGED, reason_for, verdict_so_far, weights_of
from evalrun.errors import StoreFailed
from evalrun.evidence import distance
from evalrun.interfaces.reports import Progress
from evalrun.interfaces.stores import Store
from evalrun.places import Places, Priority
from evalrun.redaction import Redactor
from evalrun.results import ScenarioResult, TrialResult
from evalrun.transcript import Ending, Transcript
from evalrun.trial import Trial, TrialPlan, Workings
from evalrun.verdict import Outcome, Stop, Verdict

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
    """Plays the trials of a run, and more of each scenario until its rule decides.

    `plans` are the first ones, in order; `results` may hold trials of a run that is resumed.
    """

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
    _places: Places = field(init=False)
    _open: Counter[str] = field(default_factory=Counter)
    _numbers: dict[str, int] = field(default_factory=dict)

    async def play(self) -> None:
        """Play everything that is planned; returns also after a stop. Raises StoreFailed when results cannot be kept."""
        self._places = Places(self.pace.concurrency)
        self._open = Counter(p.scenario.id for p in self.plans)
        alarm = asyncio.get_running_loop().call_later(self.workings.timeouts.run, self._out_of_time)
        try:
            async with asyncio.TaskGroup() as group:
                for place, plan in enumerate(self.plans):
                    task = group.create_task(self._slot(plan, place))
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

    async def _slot(self, plan: TrialPlan, place: int) -> None:
        """Play a planned trial; the last one of its scenario goes on until the rule decides."""
        scenario = plan.scenario.id
        await self._once(plan, place)
        if self._open[scenario] == 1:
            while not self.stopped and self._undecided(scenario):
                await self._once(replace(plan, number=self._fresh_number(scenario), replays=0), place)
        self._open[scenario] -= 1

    async def _once(self, plan: TrialPlan, place: int) -> None:
        """Play one trial; once more when the simulated user spoiled it."""
        result = await self._trial(plan, place)
        if result.outcome is Outcome.INVALID and not self.stopped:
            number = self._fresh_number(plan.scenario.id)
            await self._trial(replace(plan, number=number, replays=result.number), place)

    def _undecided(self, scenario: str) -> bool:
        return verdict_so_far(self.results.get(scenario, ()), self.skeletons[scenario].rule) is None

    def _fresh_number(self, scenario: str) -> int:
        """The next number of a trial that no plan and no result has."""
        planned = [p.number for p in self.plans if p.scenario.id == scenario]
        played = [t.number for t in self.results.get(scenario, ())]
        number = 1 + max(self._numbers.get(scenario, 0), *planned, *played, 0)
        self._numbers[scenario] = number
        return number

    def _priority(self, plan: TrialPlan, place: int) -> Priority:
        """The first trial of each scenario in order; then repeats, nearest to a decision first."""
        known = [t for t in self.results.get(plan.scenario.id, ()) if t.outcome in JUDGED]
        first = min((p.number for p in self.plans if p.scenario.id == plan.scenario.id), default=plan.number)
        if not known and plan.number == first:
            return 0, Fraction(0), place
        return 1, distance(weights_of(known), self.skeletons[plan.scenario.id].rule), place

    async def _trial(self, plan: TrialPlan, place: int) -> TrialResult:
        result = await self._played(plan, place)
        # kept also when the interruption comes at this moment
        await asyncio.shield(self._keep(result))
        self._maybe_stop(result)
        return result

    async def _played(self, plan: TrialPlan, place: int) -> TrialResult:
        trial: Trial | None = None
        try:
            async with self._places.place(self._priority(plan, place)):
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
            skeleton = self.skeletons[result.scenario]
            others = [t for t in self.results.get(result.scenario, ()) if t.number != result.number]
            if verdict_so_far([*others, result], skeleton.rule) is Verdict.FAIL:
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
        verdict = verdict_so_far(trials, skeleton.rule)
        if verdict is not None:
            reason = reason_for(verdict, trials, skeleton.rule)
            return replace(skeleton, verdict=verdict, reason=reason, trials=tuple(trials))
        why = _WHY.get(self.stopped or INTERRUPTED, self.stopped)
        reason = f"undecided after {len(trials)} of up to {skeleton.rule.at_most} trials: {why}" if trials else why
        return replace(skeleton, verdict=Verdict.NOT_RUN, reason=reason, trials=tuple(trials))


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
