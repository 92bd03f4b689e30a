"""One trial from its database to its outcome: the boundary where every fault becomes a value.

A faulty simulated user makes the trial `invalid`; a broken judge, adapter, model, database or
our own bug makes it `error`; money running out leaves it `not_run`. None counts for or against
the agent.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalrun.clock import TrialClock
from evalrun.config import Timeouts
from evalrun.conversation import Conversation, Stage
from evalrun.errors import BudgetReached, EvalrunError, MissingKey, SimulatorFault, TargetFailed
from evalrun.expectation import Checkpoint, Evidence
from evalrun.interfaces.databases import Database, DatabaseServer
from evalrun.interfaces.judges import Case
from evalrun.interfaces.targets import Target
from evalrun.judging import JudgeChain, Ruling, rule
from evalrun.model_calls import ModelCalls, Tally
from evalrun.persona import Persona
from evalrun.persona_actor import PersonaActor
from evalrun.results import Judgement, TrialResult
from evalrun.rubric import Rubric
from evalrun.scenario import Participant, Scenario
from evalrun.session import LiveSession, Recorder
from evalrun.style import StyleRules
from evalrun.transcript import Ending, Transcript
from evalrun.turn_play import done_by_target
from evalrun.usage import Role
from evalrun.verdict import Outcome

CLOSE_SECONDS = 5.0
CLOSE_AFTER_FAULT_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Workings:
    """What all trials of a run share."""

    run: str
    target: Target
    server: DatabaseServer | None
    calls: ModelCalls
    chain: JudgeChain
    style: StyleRules
    timeouts: Timeouts
    tmp: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """One trial to play. `replays` is the number of the invalid trial it plays again (0: none)."""

    scenario: Scenario
    persona: Persona
    rubric: Rubric | None
    checks: tuple[Rubric, ...]
    number: int
    replays: int = 0
    key: str = ""


@dataclass(slots=True, kw_only=True)
class Trial:
    """One trial in play: first `converse`, then `judge`; `result` at any time after a fault."""

    workings: Workings
    plan: TrialPlan
    tell: Callable[[int, str], None]
    tally: Tally = field(default_factory=Tally)
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    began: float = field(default_factory=time.monotonic)
    conversation: Conversation | None = None
    judgements: tuple[Judgement, ...] = ()
    ruling: Ruling | None = None

    async def converse(self) -> None:
        """Play the conversation on a fresh database. A fault is kept as the ruling, never raised."""
        await self._guarded(self._converse)

    async def judge(self) -> None:
        """Ask the judge chain, when the conversation ended without a fault."""
        if self.ruling is None:
            await self._guarded(self._judge)

    def result(self, *, stopped: str = "interrupted") -> TrialResult:
        """The trial as a value; `not_run` with why it was stopped while nothing else is known."""
        if self.ruling is None:
            self._end(Ending.INTERRUPTED)
        ruling = self.ruling or Ruling(
            outcome=Outcome.NOT_RUN, fact=True, code=stopped, reason=f"stopped while it was played ({stopped})"
        )
        return TrialResult(
            scenario=self.plan.scenario.id,
            number=self.plan.number,
            outcome=ruling.outcome,
            fact=ruling.fact,
            code=ruling.code,
            reason=ruling.reason,
            detail=ruling.detail,
            transcript=self._transcript(),
            judgements=self.judgements,
            spending=self.tally.spending(),
            started=self.started,
            seconds=round(time.monotonic() - self.began, 3),
            key=self.plan.key,
            replays=self.plan.replays,
            exchanges=tuple(self.tally.exchanges),
        )

    def _transcript(self) -> Transcript:
        return self.conversation.transcript if self.conversation else Transcript(ending=Ending.HARNESS_ERROR)

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        left = self.workings.timeouts.trial - (time.monotonic() - self.began)
        try:
            async with asyncio.timeout(max(left, 0)) as limit:
                await work()
        except EvalrunError as e:
            self._fault(e)
        except Exception as e:  # noqa: BLE001  a bug met in one trial must not take the run down
            if limit.expired():
                self._timed_out()
                return
            self._end(Ending.HARNESS_ERROR)
            self.ruling = Ruling(
                outcome=Outcome.ERROR,
                fact=True,
                code="harness",
                reason=f"evalrun itself failed: {type(e).__name__}: {e}",
                detail=traceback.format_exc(),
            )

    def _timed_out(self) -> None:
        seconds = self.workings.timeouts.trial
        self._end(Ending.TIMEOUT)
        self.ruling = Ruling(
            outcome=Outcome.ERROR, fact=True, code="trial_timeout", reason=f"the trial took over {seconds:g} s"
        )

    def _fault(self, error: EvalrunError) -> None:
        outcome, ending = Outcome.ERROR, Ending.HARNESS_ERROR
        code, detail, reason = error.reason, "", f"{error.message} ({error.remedy})"
        if isinstance(error, SimulatorFault):
            outcome, ending, code = Outcome.INVALID, Ending.SIMULATOR_FAULT, f"simulator_{error.fault}"
        elif isinstance(error, BudgetReached):
            outcome, ending = Outcome.NOT_RUN, Ending.BUDGET
        elif isinstance(error, MissingKey):
            outcome, reason = Outcome.NOT_RUN, error.short
        elif isinstance(error, TargetFailed):
            ending, detail = Ending.AGENT_ERROR, error.detail
        if self.conversation is not None and not self.judgements:
            self._end(ending)
        self.ruling = Ruling(outcome=outcome, fact=True, code=code, reason=reason, detail=detail)

    def _end(self, ending: Ending) -> None:
        if self.conversation is not None:
            self.conversation.ending = ending

    async def _converse(self) -> None:
        work, scenario = self.workings, self.plan.scenario
        async with self._database() as database, self._session(database) as session:
            actor = PersonaActor(
                self.plan.persona,
                work.calls.endpoint(Role.PERSONA, self.tally),
                goal=self.plan.persona.goal,
                seed=f"{scenario.id}/{self.plan.number}",
            )
            self.conversation = Conversation(
                on=Stage(
                    scenario=scenario,
                    persona=self.plan.persona,
                    target=work.target,
                    session=session,
                    actor=actor,
                    watch=self._watch,
                    turn_timeout=work.timeouts.turn,
                    tell=self.tell,
                )
            )
            await self.conversation.play()
        if self.conversation.ending is Ending.TIMEOUT:
            self.ruling = Ruling(
                outcome=Outcome.ERROR, fact=True, code="agent_timeout", reason=self.conversation.ending_detail
            )

    @asynccontextmanager
    async def _database(self) -> AsyncIterator[Database | None]:
        server = self.workings.server
        if server is None:
            yield None
            return
        database = await server.clone(f"{self.plan.scenario.id}/{self.plan.number}")
        try:
            yield database
        finally:
            await server.drop(database)

    @asynccontextmanager
    async def _session(self, database: Database | None) -> AsyncIterator[LiveSession]:
        work = self.workings
        session = make_session(self.plan, work, database, self.tally)
        try:
            await open_session(work.target, session)
            yield session
        except BaseException:
            session.end()
            with suppress(EvalrunError):  # what went wrong first is what is reported
                await close_session(work.target, session, CLOSE_AFTER_FAULT_SECONDS)
            raise
        session.end()
        await close_session(work.target, session, CLOSE_SECONDS)

    def _watch(
        self, transcript: Transcript, checkpoints: Sequence[Checkpoint], evidence: Evidence
    ) -> tuple[Ending, str] | None:
        judgement = self.workings.chain.watch(self._case(transcript, checkpoints, evidence))
        if judgement is None:
            return None
        ending = Ending.HARD_FINDING if judgement.findings else Ending.EXPECTATION_FAILED
        return ending, judgement.reason

    async def _judge(self) -> None:
        assert self.conversation is not None
        self.tell(len(self.conversation.turns), "judge")
        case = self._case(self.conversation.transcript, self.conversation.checkpoints, self.conversation.evidence)
        self.judgements = await self.workings.chain.judge(case)
        self.ruling = rule(self.judgements)

    def _case(self, transcript: Transcript, checkpoints: Sequence[Checkpoint], evidence: Evidence) -> Case:
        return Case(
            scenario=self.plan.scenario,
            persona=self.plan.persona,
            rubric=self.plan.rubric,
            checks=self.plan.checks,
            style=self.workings.style,
            transcript=transcript,
            evidence=evidence,
            checkpoints=tuple(checkpoints),
            earlier=(),
            model=self.workings.calls.endpoint(Role.JUDGE, self.tally),
        )


def make_session(plan: TrialPlan, work: Workings, database: Database | None, tally: Tally) -> LiveSession:
    """The session of a trial: who is there, the clock, the given state with its relative times resolved."""
    scenario = plan.scenario
    persona = Participant(id=plan.persona.id, name=plan.persona.name, address=plan.persona.id)
    people = {persona.id: persona} | {p.id: p for p in scenario.given.participants}
    clock = TrialClock(scenario.given.now or datetime.now(UTC))
    given: Any = clock.resolve_tree(scenario.given.state)
    return LiveSession(
        id=f"{work.run}-{scenario.id}-{plan.number}",
        persona=people[persona.id],
        participants=people,
        clock=clock,
        database=database,
        model=work.calls.endpoint(Role.AGENT, tally),
        tmp=work.tmp,
        given=given,
        recorder=Recorder(sees_tools=work.target.tools is not None),
    )


async def open_session(target: Target, session: LiveSession) -> None:
    """Open the target's side. Raises TargetFailed when it raises, what is not its fault as itself."""
    await done_by_target(target.open(session), "open()")


async def close_session(target: Target, session: LiveSession, seconds: float) -> None:
    """Close the target's side within some seconds. Raises TargetFailed when it raises or hangs."""
    try:
        async with asyncio.timeout(seconds):
            await done_by_target(target.close(session), "close()")
    except TimeoutError as e:
        raise TargetFailed(
            f"the target's close() took over {seconds:g} s", remedy="close() must be quick and may be called twice"
        ) from e
