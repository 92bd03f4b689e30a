"""Trials and runs of a bot on real parts: the python adapter, the deterministic judges, models on a scripted server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evalrun import plugins
from evalrun.config import Timeouts
from evalrun.errors import DatabaseFailed
from evalrun.interfaces.databases import Database
from evalrun.interfaces.judges import JudgeSetup
from evalrun.interfaces.models import Message
from evalrun.interfaces.targets import Inbound, Session
from evalrun.judging import JudgeChain
from evalrun.results import TrialResult
from evalrun.scenario import Scenario
from evalrun.style import Severity, StyleRule, StyleRules
from evalrun.trial import Trial, TrialPlan, Workings
from tests.model_bench import Bench, bench
from tests.playing import HERE, LEA, scenario_of, user
from tests.scripted_server import Script
from tests.sessions import target_of

ONE_QUESTION = StyleRule(
    id="one-question", check="max_questions", severity=Severity.HARD, say="One.", params={"max": 1}, where=HERE
)


async def asks(session: Session, inbound: Inbound) -> str:
    """A bot that asks its model."""
    reply = await session.model.complete([Message(role="user", content=inbound.text)], max_output_tokens=20)
    return reply.text


@dataclass(slots=True, kw_only=True)
class Servers:
    """A database server that fails, for what becomes of it in a trial; counts what it was asked."""

    clones: int = 0
    drops: int = 0

    async def clone(self, label: str) -> Database:
        """Raise."""
        self.clones += 1
        raise DatabaseFailed(f"no room for {label}", remedy="free some")

    async def drop(self, database: Database) -> None:
        """Count."""
        self.drops += 1


@dataclass(slots=True, kw_only=True)
class Table:
    """What trials are played with, and the models' server behind them."""

    bench: Bench
    workings: Workings
    told: list[tuple[int, str]] = field(default_factory=list)

    def trial(self, scenario: Scenario | None = None, **more: Any) -> Trial:
        """A trial of a scenario, by default of one message."""
        tell = more.pop("tell", lambda *what: self.told.append(what))
        return Trial(workings=self.workings, plan=plan_of(scenario or scenario_of(user("salut"))), tell=tell, **more)

    async def play(self, scenario: Scenario | None = None, **more: Any) -> TrialResult:
        """A trial to its end."""
        trial = self.trial(scenario, **more)
        await trial.converse()
        await trial.judge()
        return trial.result()


def plan_of(scenario: Scenario, number: int = 1) -> TrialPlan:
    """One trial of Léa."""
    return TrialPlan(scenario=scenario, persona=LEA, rubric=None, checks=(), number=number, key="k=1")


def chain() -> JudgeChain:
    """The judges that are code."""
    made = [plugins.load("judges", n)(JudgeSetup(options={})) for n in ("rules", "expectations")]
    return JudgeChain(judges=tuple(made), gates={})


@asynccontextmanager
async def table(
    bot: object, script: Script = lambda *_: "ok", *, cap: str | None = None, **more: Any
) -> AsyncIterator[Table]:
    """Everything wired. `more` replaces parts of the workings."""
    async with bench(script, cap=cap) as models:
        work = Workings(
            run="r1",
            target=target_of(bot),
            server=None,
            calls=models.calls,
            chain=chain(),
            style=StyleRules(rules=(ONE_QUESTION,)),
            timeouts=Timeouts(turn=5, trial=20),
            tmp=Path("/nonexistent"),
        )
        yield Table(bench=models, workings=replace(work, **more))


def result_of(
    bot: object, scenario: Scenario | None = None, script: Script = lambda *_: "ok", **more: Any
) -> TrialResult:
    """The result of one trial."""
    return on_table(lambda t: t.play(scenario), bot, script, **more)


def on_table(
    work: Callable[[Table], Coroutine[Any, Any, Any]], bot: object, script: Script = lambda *_: "ok", **more: Any
) -> Any:
    """Whatever is done at a table."""

    async def done() -> Any:
        async with table(bot, script, **more) as made:
            return await work(made)

    return asyncio.run(done())
