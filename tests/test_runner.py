"""Many trials: side by side within bounds, each kept when it ends, stopped in order, none lost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalrun import plugins
from evalrun.config import Timeouts
from evalrun.errors import StoreFailed
from evalrun.interfaces.judges import Case
from evalrun.judging import JudgeChain
from evalrun.redaction import Redactor
from evalrun.results import Judgement, RunHeader, RunResult, TrialResult
from evalrun.runner import Heard, Pace, Runner
from evalrun.scenario import Scenario
from evalrun.transcript import Ending
from evalrun.trial import TrialPlan
from evalrun.use_cases.planning import skeleton_of
from evalrun.verdict import Outcome, Stop, Verdict
from tests.playing import persona, scenario_of, user
from tests.trials import Table, asks, on_table, plan_of

ASSISTANT = '{"message": "Comment puis-je vous aider ?", "done": false}'


@dataclass(slots=True, kw_only=True)
class Ear:
    """What is heard while a run goes on."""

    trials: list[TrialResult] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    progress: list[Any] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Ran:
    """A run that has ended: its runner, what was heard, and what the store holds."""

    runner: Runner
    ear: Ear
    kept: RunResult

    def outcomes(self) -> list[str]:
        """Of all trials, by scenario and number."""
        return [t.outcome.value for s in self.runner.scenarios() for t in s.trials]

    def stored(self) -> list[tuple[str, int]]:
        """The trials in the store."""
        return [(s.id, t.number) for s in self.kept.scenarios for t in s.trials]


def named(*names: str, **more: Any) -> list[TrialPlan]:
    """A trial of each of some scenarios of one message, which is the scenario's name."""
    return [plan_of(scenario_of(user(n), id=n, **more)) for n in names]


async def run(
    table: Table,
    plans: Sequence[TrialPlan],
    folder: Path,
    *,
    concurrency: int = 4,
    fail_fast: bool = False,
    results: dict[str, list[TrialResult]] | None = None,
    meanwhile: Any = None,
) -> Ran:
    """Play trials, with a store in a file. `meanwhile` is called with the runner once it plays."""
    ear = Ear()
    scenarios: dict[str, Scenario] = {p.scenario.id: p.scenario for p in plans}
    skeletons = {i: skeleton_of(s, ()) for i, s in scenarios.items()}
    store = plugins.load("stores", "sqlite")(str(folder / "history.db"))
    await store.open()
    now = datetime.now(UTC)
    header = RunHeader(id="r1", started=now, target="bot")
    await store.begin(RunResult(header=header, finished=now, scenarios=tuple(skeletons.values())))
    runner = Runner(
        run="r1",
        workings=table.workings,
        plans=plans,
        skeletons=skeletons,
        store=store,
        redactor=Redactor(["s3cr3t-value"]),
        heard=Heard(progress=ear.progress.append, trial=ear.trials.append, notice=ear.notices.append),
        pace=Pace(concurrency=concurrency, fail_fast=fail_fast, spent=lambda: table.bench.ledger.spent),
        results=dict(results or {}),
    )
    try:
        if meanwhile is None:
            await runner.play()
        else:
            await asyncio.gather(runner.play(), meanwhile(runner))
        return Ran(runner=runner, ear=ear, kept=await store.load("r1"))
    finally:
        await store.close()


def ran(bot: object, plans: Sequence[TrialPlan], folder: Path, script: Any = lambda *_: "ok", **more: Any) -> Ran:
    """A whole run."""
    how = {k: more.pop(k) for k in ("concurrency", "fail_fast", "results", "meanwhile") if k in more}
    found: Ran = on_table(lambda t: run(t, plans, folder, **how), bot, script, **more)
    return found


class Counting:
    """A bot that knows how many conversations it has at once. A message `a?b?` gets a bad answer."""

    def __init__(self, seconds=0.0):
        self.seconds, self.inside, self.peak = seconds, 0, 0
        self.played = []

    async def open(self, session):
        """One more."""
        self.inside += 1
        self.peak = max(self.peak, self.inside)

    async def handle(self, session, inbound):
        """Say it back."""
        await asyncio.sleep(self.seconds)
        self.played.append(inbound.text)
        return "qui ? où ?" if inbound.text.startswith("bad") else "ok s3cr3t-value"

    async def close(self, session):
        """One less."""
        self.inside -= 1


def test_every_trial_is_kept_once_when_it_ends(tmp_path: Path) -> None:
    """The store, those who listen and the result agree, and secrets are in none of them."""
    done = ran(Counting(), named("a", "b", "bad"), tmp_path)
    assert [("a", 1), ("b", 1), ("bad", 1)] == sorted(done.stored())
    assert sorted(t.scenario for t in done.ear.trials) == ["a", "b", "bad"]
    verdicts = {s.id: s.verdict for s in done.runner.scenarios()}
    assert verdicts == {"a": Verdict.PASS, "b": Verdict.PASS, "bad": Verdict.FAIL}
    assert "s3cr3t" not in str(done.kept) + str(done.ear.trials) + str(done.runner.results)
    assert done.runner.stop == Stop()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 3))
def test_never_more_side_by_side_than_asked_for(tmp_path_factory: Any, many: int, places: int, repeats: int) -> None:
    """And however many there are, each is played once."""
    bot = Counting(0.001)
    plans = [plan_of(p.scenario, n) for p in named(*map(str, range(many))) for n in range(1, repeats + 1)]
    done = ran(bot, plans, tmp_path_factory.mktemp("run"), concurrency=places)
    assert min(places, len(plans)) >= bot.peak
    assert len(plans) == len(bot.played) == len(set(done.stored()))
    assert {"pass"} == set(done.outcomes())


class Patient:
    """A judge that waits until both conversations are over."""

    name, version, deterministic = "patient", "1", True

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.both = asyncio.Event()

    def watch(self, case: Case) -> None:
        """Nothing."""

    async def judge(self, case: Case) -> Judgement:
        """Wait."""
        self.asked.append(case.scenario.id)
        if len(self.asked) == 2:
            self.both.set()
        async with asyncio.timeout(10):
            await self.both.wait()
        return Judgement(judge=self.name, version=self.version)


def test_judging_holds_no_place(tmp_path: Path) -> None:
    """The next conversation begins while a finished one is judged."""
    chain = JudgeChain(judges=(Patient(),), gates={})
    assert ["pass", "pass"] == ran(Counting(), named("a", "b"), tmp_path, concurrency=1, chain=chain).outcomes()


def test_b11_an_invalid_trial_is_played_once_more(tmp_path: Path) -> None:
    """The second play stands for the first; both are kept and paid for."""
    answers = iter([ASSISTANT, ASSISTANT, '{"message": "combien ?", "done": true}'])
    plans = [plan_of(scenario_of(persona(2), id="a"))]
    done = ran(lambda t: "20 euros", plans, tmp_path, lambda *_: next(answers))
    [scenario] = done.runner.scenarios()
    assert (["invalid", "pass"], Verdict.PASS) == (done.outcomes(), scenario.verdict)
    assert [(1, 0), (2, 1)] == [(t.number, t.replays) for t in scenario.trials]


def test_b11_twice_invalid_is_invalid(tmp_path: Path) -> None:
    """It is not played for ever, and the verdict is none of the agent's."""
    done = ran(lambda t: "ok", [plan_of(scenario_of(persona(2), id="a"))], tmp_path, lambda *_: ASSISTANT)
    assert (["invalid", "invalid"], Verdict.INVALID) == (done.outcomes(), done.runner.scenarios()[0].verdict)


def test_fail_fast_starts_nothing_after_a_failure(tmp_path: Path) -> None:
    """What was not played says why."""
    bot = Counting()
    done = ran(bot, named("a", "bad", "c", "d"), tmp_path, concurrency=1, fail_fast=True)
    assert (["pass", "fail", "not_run", "not_run"], ["a", "bad"]) == (done.outcomes(), bot.played)
    assert "another scenario failed and --fail-fast was set" == done.runner.scenarios()[-1].reason
    assert [("a", 1), ("bad", 1)] == sorted(done.stored())


def test_b29_money_running_out_stops_the_rest(tmp_path: Path) -> None:
    """What is judged stands, the rest is not run for want of money, and nothing is charged beyond the cap."""
    done = ran(asks, named("a", "b", "c", "d"), tmp_path, concurrency=1, cap="0.0004")
    assert (["pass", "pass", "not_run", "not_run"], True) == (done.outcomes(), done.runner.stop.budget)
    assert Decimal("0.00036") == sum(t.spending.cost for t in done.ear.trials)
    assert ["budget", "budget"] == [s.trials[0].code for s in done.runner.scenarios()[2:]]
    assert len(done.ear.notices) == 1


def test_b33_an_interruption_keeps_what_has_ended(tmp_path: Path) -> None:
    """Trials in flight and those that wait are not run; the signal is the run's."""

    class Bot(Counting):
        async def handle(self, session, inbound):
            """The later ones hang."""
            return await super().handle(session, inbound) if inbound.text in "ab" else await asyncio.sleep(60)

    async def meanwhile(runner: Runner) -> None:
        while sum(map(len, runner.results.values())) < 2:  # noqa: ASYNC110  the runner tells only its reporters
            await asyncio.sleep(0.01)
        runner.interrupt(15)

    done = ran(Bot(), named("a", "b", "c", "d", "e"), tmp_path, concurrency=2, meanwhile=meanwhile)
    assert ["pass", "pass", "not_run", "not_run", "not_run"] == done.outcomes()
    assert (15, {"interrupted"}) == (done.runner.stop.signal, {s.trials[0].code for s in done.runner.scenarios()[2:]})
    # a trial in the middle of a conversation is kept as not run only when something had been said
    assert {("a", 1), ("b", 1)} == set(done.stored())


def test_the_run_has_a_time_of_its_own(tmp_path: Path) -> None:
    """What is over stands; the rest is not run and says so."""
    bot = Counting(0.3)
    done = ran(bot, named("a", "b", "c"), tmp_path, concurrency=1, timeouts=Timeouts(turn=5, trial=20, run=0.45))
    assert ["pass", "not_run", "not_run"] == done.outcomes()
    assert ["the run took over 0.45 s and was stopped"] == done.ear.notices
    assert {"the time of the run was up"} == {s.reason for s in done.runner.scenarios()[2:]}


def test_trials_of_an_earlier_run_stand_beside_new_ones(tmp_path: Path) -> None:
    """A resumed run has one verdict over both; numbers go on from the last."""
    plan = named("a")[0]
    first = ran(Counting(), [plan], tmp_path / "first").runner.results
    again = plan_of(plan.scenario, 2)
    done = ran(Counting(), [again], tmp_path / "second", results=first)
    assert [1, 2] == [t.number for t in done.runner.scenarios()[0].trials]
    assert ["pass", "pass"] == done.outcomes()


def test_progress_names_turn_and_money(tmp_path: Path) -> None:
    """What the terminal shows while it goes on."""
    done = ran(Counting(), named("a"), tmp_path)
    assert [(1, 1, "agent"), (1, 1, "judge")] == [(p.turn, p.turns, p.waiting_for) for p in done.ear.progress]


def test_what_was_never_played_has_an_ending(tmp_path: Path) -> None:
    """A scenario without a trial is not run, never a pass."""
    done = ran(Counting(), named("bad", "b"), tmp_path, concurrency=1, fail_fast=True)
    last = done.runner.scenarios()[-1]
    assert (Verdict.NOT_RUN, Outcome.NOT_RUN) == (last.verdict, last.trials[0].outcome)
    assert last.trials[0].transcript.ending is Ending.INTERRUPTED


class Full:
    """A store in which no trial can be kept."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def add(self, run: str, trial: TrialResult) -> None:
        """Raise."""
        raise StoreFailed("no space left on device", remedy="free some")


def test_a_result_that_cannot_be_kept_is_reported_all_the_same(tmp_path: Path) -> None:
    """The user is told of each, and the verdicts stand."""

    async def spoil(runner: Runner) -> None:
        runner.store = Full(runner.store)

    found = ran(Counting(0.1), named("a", "b"), tmp_path, meanwhile=spoil)
    assert (["pass", "pass"], []) == (found.outcomes(), found.stored())
    assert ["no space left on device (free some)"] * 2 == found.ear.notices


@pytest.mark.parametrize("number", [1, 3])
def test_repeats_are_trials_of_one_scenario(tmp_path: Path, number: int) -> None:
    """All are shown, in order."""
    scenario = scenario_of(user("a"), id="a")
    done = ran(Counting(0.001), [plan_of(scenario, n) for n in range(1, number + 1)], tmp_path)
    assert list(range(1, number + 1)) == [t.number for t in done.runner.scenarios()[0].trials]
    assert (number, number) == done.runner.scenarios()[0].plays
