"""The conversation of one trial: steps in order, scripted and simulated turns mixed, until it ends.

It knows the scenario, the target's Protocol and the persona actor; not judges (it is handed a
`watch`), not money, not how a turn settles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from evalrun.errors import CannotJudge, DatabaseFailed, EvalrunError
from evalrun.expectation import Checkpoint, Evidence, Expectations, SqlResult
from evalrun.interfaces.targets import Capability, Event, Inbound, Target
from evalrun.matching import evaluate
from evalrun.persona import Persona
from evalrun.persona_actor import Drafted, closing
from evalrun.scenario import AdvanceStep, EventStep, ExpectStep, Participant, PersonaStep, Scenario, Step, UserStep
from evalrun.session import LiveSession
from evalrun.transcript import Ending, InboundKind, Observed, Opening, Transcript, Turn
from evalrun.turn_play import Move, play_turn, state_of

CLOSING_EXCHANGES = 2


class Actor(Protocol):
    """Who speaks for the persona."""

    async def draft(self, transcript: Transcript, *, turns_left: int, now: datetime | None = None) -> Drafted:
        """The next user message at a time of the trial's clock. Raises SimulatorFault."""


Watch = Callable[[Transcript, Sequence[Checkpoint], Evidence], tuple[Ending, str] | None]
Tell = Callable[[int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Everything a conversation is played with. `tell` hears the turn's number and what is waited for."""

    scenario: Scenario
    persona: Persona
    target: Target
    session: LiveSession
    actor: Actor
    watch: Watch
    turn_timeout: float
    tell: Tell


@dataclass(slots=True, kw_only=True)
class Conversation:
    """One conversation as it goes on; what is known so far can be read at any moment, also after an error."""

    on: Stage
    turns: list[Turn] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    evidence: Evidence = field(default_factory=Evidence)
    ending: Ending = Ending.STEPS_DONE
    ending_detail: str = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def transcript(self) -> Transcript:
        """What was said so far; late and retracted bubbles as they stand now."""
        return Transcript(
            turns=self._now(),
            ending=self.ending,
            ending_detail=self.ending_detail,
            names={p.id: p.name for p in self.on.session.participants.values()},
            warnings=tuple(self.warnings),
        )

    async def play(self) -> None:
        """Play all steps. Raises what stops a trial: SimulatorFault, TargetFailed, ModelFailed, BudgetReached."""
        steps = self.on.scenario.steps
        self.evidence = Evidence(tools_declared=self.on.target.tools)
        for step, following in zip(steps, (*steps[1:], None), strict=True):
            silent = isinstance(following, ExpectStep) and following.silence
            if await self._step(step, silent):
                return
        await self._check(self.on.scenario.expect, final=True)

    async def _step(self, step: Step, silent: bool) -> bool:
        """Play one step; True when the conversation must stop here."""
        if isinstance(step, ExpectStep):
            await self._check(step.expectations, step=step)
            return self._stopped()
        if isinstance(step, PersonaStep):
            return await self._simulated(step)
        if isinstance(step, UserStep):
            sender = self._participant(step.sender)
            opening = Opening(kind=InboundKind.USER, text=step.text, sender=sender.id)
            move = Move(opening=opening, allowed=(sender.id, *step.to), silent=silent)
            return await self._turn(move, inbound=self._inbound(step.text, sender))
        if isinstance(step, EventStep):
            who = self._participant(step.participant)
            data: Any = self.on.session.clock.resolve_tree(step.data)
            opening = Opening(kind=InboundKind.EVENT, event=step.name, data=data, sender=who.id)
            move = Move(opening=opening, allowed=(who.id, *step.to), silent=silent)
            return await self._turn(move, event=Event(name=step.name, data=data, participant=who))
        seconds = step.interval.total_seconds()
        opening = Opening(kind=InboundKind.TIME, seconds=seconds)
        move = Move(opening=opening, allowed=(self.on.session.persona.id, *step.to), silent=silent)
        return await self._turn(move, advance=step)

    async def _simulated(self, step: PersonaStep) -> bool:
        """Let the persona talk; True when the conversation must stop here."""
        who = self.on.session.persona
        closed = 0
        self.ending = Ending.TURNS_USED
        for left in range(step.turns, 0, -1):
            self.on.tell(len(self.turns) + 1, "persona")
            drafted = await self.on.actor.draft(self.transcript, turns_left=left, now=self.on.session.clock.now())
            self.warnings += drafted.warnings
            if drafted.message:
                opening = Opening(kind=InboundKind.USER, text=drafted.message, sender=who.id, simulated=True)
                move = Move(opening=opening, allowed=(who.id, *step.to))
                if await self._turn(move, inbound=self._inbound(drafted.message, who)):
                    return True
            if step.until is not None and await self._holds(step.until):
                self.ending = Ending.UNTIL_MET
                return False
            if drafted.done:
                self.ending = Ending.PERSONA_DONE
                return False
            closed = closed + 1 if self._closing(drafted.message) else 0
            if closed >= CLOSING_EXCHANGES:
                self.ending = Ending.GOODBYES
                return False
        return False

    def _now(self) -> tuple[Turn, ...]:
        """The turns as they stand: what came late or was taken back since included."""
        return self.on.session.refresh(self.turns)

    def _closing(self, message: str) -> bool:
        """Whether both sides said goodbye in the last exchange."""
        said = self._now()[-1].said
        return bool(said) and closing(message) and closing(said[-1].text)

    async def _turn(
        self,
        move: Move,
        *,
        inbound: Inbound | None = None,
        event: Event | None = None,
        advance: AdvanceStep | None = None,
    ) -> bool:
        number = len(self.turns) + 1
        self.on.tell(number, "agent")
        keep = self.on.scenario.given.keep_columns
        full = replace(
            move, number=number, inbound=inbound, event=event, keep_columns=keep, timeout=self.on.turn_timeout
        )
        if advance is not None:
            full = replace(full, interval=advance.interval)
            self.ending = Ending.STEPS_DONE
        elif not move.opening.simulated:
            self.ending = Ending.STEPS_DONE
        try:
            self.turns.append(await play_turn(self.on.target, self.on.session, full))
        except EvalrunError as e:
            if isinstance(e.turn, Turn):
                self.turns.append(e.turn)
            raise
        if self.turns[-1].observed is Observed.TIMED_OUT:
            self.ending = Ending.TIMEOUT
            self.ending_detail = f"the agent did not settle turn {number} within {self.on.turn_timeout:g} s"
            return True
        return self._stopped()

    def _stopped(self) -> bool:
        stop = self.on.watch(self.transcript, tuple(self.checkpoints), self.evidence)
        if stop is None:
            return False
        self.ending, self.ending_detail = stop
        return True

    async def _check(self, wanted: Expectations, *, step: ExpectStep | None = None, final: bool = False) -> None:
        """Meet a checkpoint: gather its evidence and keep both."""
        self.evidence = await self._gather(wanted)
        self.checkpoints.append(
            Checkpoint(
                expectations=wanted,
                evidence=self.evidence,
                turn=len(self.turns),
                silence=step.silence if step else False,
                final=final,
                where=step.where if step else self.on.scenario.where,
            )
        )

    async def _holds(self, wanted: Expectations) -> bool:
        """Whether `until` holds now. Raises CannotJudge when it cannot be looked at."""
        point = Checkpoint(
            expectations=wanted,
            evidence=await self._gather(wanted),
            turn=len(self.turns),
            where=self.on.scenario.where,
        )
        unmet = evaluate(point, self._now())
        broken = [u for u in unmet if u.broken]
        if broken:
            raise CannotJudge(
                f"`until` cannot be checked: {broken[0].path}: {broken[0].got}", remedy="correct the scenario's `until`"
            )
        return not unmet

    async def _gather(self, wanted: Expectations) -> Evidence:
        session, target = self.on.session, self.on.target
        state = None
        if wanted.state and Capability.STATE in target.capabilities:
            state = await state_of(target, session)
        results = []
        for query in dict.fromkeys(q.query for q in wanted.sql):
            if session.database is None:
                results.append(SqlResult(query=query, error="the target has no database"))
                continue
            try:
                results.append(SqlResult(query=query, rows=await session.database.fetch(query)))
            except DatabaseFailed as e:
                results.append(SqlResult(query=query, error=e.message))
        return Evidence(state=state, sql=tuple(results), tools_declared=target.tools)

    def _participant(self, name: str) -> Participant:
        return self.on.session.participants[name] if name else self.on.session.persona

    def _inbound(self, text: str, sender: Participant) -> Inbound:
        return Inbound(id=f"{self.on.session.id}-in-{len(self.turns) + 1}", text=text, sender=sender)
