"""Prove that an adapter is wired, in a test of your own: `check_adapter("my_bot.adapter:Bot", database="embedded")`.

It plays one message in two conversations, as a run does, with a model that answers at once and
costs nothing, and raises AdapterBroken with a line for each thing that does not hold.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalrun import plugins
from evalrun.clock import TrialClock
from evalrun.errors import CannotJudge, ModelFailed
from evalrun.interfaces.databases import Database, DatabaseServer, DatabaseSetup
from evalrun.interfaces.models import Finish, Message, ModelEndpoint, ModelReply
from evalrun.interfaces.targets import Capability, Inbound, SuiteInfo, Target, TargetSetup
from evalrun.scenario import Participant
from evalrun.session import LiveSession, Recorder
from evalrun.transcript import InboundKind, Observed, Opening, Turn
from evalrun.turn_play import Move, play_turn
from evalrun.usage import ModelName, Role, Tokens

TURN_SECONDS = 30.0
SOMEBODY = Participant(id="somebody", name="Somebody", address="somebody")
_OBJECT = "evalrun.adapters.python:PythonTarget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One thing that was looked at. `holds` is None for what is only worth knowing."""

    what: str
    holds: bool | None
    detail: str = ""

    def __str__(self) -> str:
        """One line."""
        sign = {True: "ok", False: "NOT OK", None: "note"}[self.holds]
        return f"{sign}: {self.what}{f': {self.detail}' if self.detail else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterReport:
    """Everything that was looked at, and the turn of the first conversation."""

    checked: tuple[Checked, ...]
    turn: Turn | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return all(c.holds is not False for c in self.checked)

    def __str__(self) -> str:
        """A line for each."""
        return "\n".join(map(str, self.checked))


class AdapterBroken(AssertionError):
    """The adapter is not wired as a run needs it; `report` says where."""

    def __init__(self, report: AdapterReport) -> None:
        super().__init__(f"the adapter is not wired:\n{report}")
        self.report = report


class FixedModel:
    """A model that always answers the same text at once; a ModelEndpoint for tests of adapters."""

    role = Role.AGENT
    model = ModelName(provider="fixed", model="fixed")

    def __init__(self, text: str = "ok", *, failure: ModelFailed | None = None) -> None:
        self.text = text
        self.failure = failure
        self.asked: list[tuple[Message, ...]] = []

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        max_output_tokens: int,  # noqa: ARG002  the signature of ModelEndpoint
        schema: Mapping[str, object] | None = None,  # noqa: ARG002
        schema_name: str = "answer",  # noqa: ARG002
        tools: Sequence[Mapping[str, object]] = (),  # noqa: ARG002
        temperature: float | None = None,  # noqa: ARG002
        seed: int | None = None,  # noqa: ARG002
        lane: str = "",  # noqa: ARG002
    ) -> ModelReply:
        """The fixed text. Raises `failure` when there is one."""
        self.asked.append(tuple(messages))
        if self.failure is not None:
            raise self.failure
        return ModelReply(text=self.text, finish=Finish.STOP, tokens=Tokens())


def check_adapter(
    adapter: object,
    *,
    message: str = "hello",
    database: str = "",
    given: Mapping[str, object] | None = None,
    silent: bool = False,
    model: ModelEndpoint | None = None,
) -> AdapterReport:
    """Play `message` in two conversations and look at what came back.

    `adapter` is `"module:attribute"`, an adapter instance or a bare function. `database` is "",
    "embedded" or a DSN; `given` is a scenario's `given.state`. `silent` says that no reply to the
    message is right. Without `model` the agent's model answers "ok".
    Raises AdapterBroken, UsageError or MissingExtra when it cannot be connected, and whatever
    the adapter's setup, migrate, open, state, close or teardown raise.
    """
    probe = _Probe(adapter=adapter, message=message, database=database, given=given or {}, silent=silent, model=model)
    report = asyncio.run(probe.report())
    if not report.holds:
        raise AdapterBroken(report)
    return report


@dataclass(slots=True, kw_only=True)
class _Probe:
    """One check of one adapter."""

    adapter: object
    message: str
    database: str
    given: Mapping[str, object]
    silent: bool
    model: ModelEndpoint | None
    found: list[Checked] = field(default_factory=list)
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    async def report(self) -> AdapterReport:
        """Look at everything."""
        target = self._connect()
        with tempfile.TemporaryDirectory(prefix="evalrun-") as folder:
            async with self._ready(target, Path(folder)) as server:
                turn = await self._play(target, server, Path(folder))
        return AdapterReport(checked=tuple(self.found), turn=turn)

    def _note(self, what: str, holds: bool | None, detail: str = "") -> None:
        self.found.append(Checked(what=what, holds=holds, detail=detail))

    def _connect(self) -> Target:
        if isinstance(self.adapter, str):
            setup = TargetSetup(name="checked", entry=self.adapter, options={}, root=Path.cwd())
            target: Target = plugins.load("adapters", "python")(setup)
            return target
        made = self.adapter() if isinstance(self.adapter, type) else self.adapter
        wrapped: Target = plugins.load("adapters", _OBJECT)(made, name="checked")
        return wrapped

    @asynccontextmanager
    async def _ready(self, target: Target, tmp: Path) -> AsyncIterator[DatabaseServer | None]:
        """The target set up, and its databases prepared."""
        server: DatabaseServer | None = None
        if self.database:
            kind = "embedded" if self.database == "embedded" else "dsn"
            run = f"check-{os.getpid()}"
            setup = DatabaseSetup(location=self.database, run=run, environ=os.environ, tmp=tmp)
            server = plugins.load("databases", kind)(setup)
        info = SuiteInfo(run="check", options={}, root=Path.cwd(), tmp=tmp, style_rules=None, environ=os.environ)
        async with AsyncExitStack() as closing:
            if server is not None:
                closing.push_async_callback(server.close)
                await server.start()
            closing.push_async_callback(target.teardown)
            await target.setup(info)
            if server is not None:
                migrate = target.migrate if Capability.MIGRATE in target.capabilities else None
                await server.prepare(migrate, 0)
            yield server

    async def _play(self, target: Target, server: DatabaseServer | None, tmp: Path) -> Turn | None:
        model = self.model or FixedModel()
        first = await self._session(target, server, tmp, model)
        await target.open(first)
        turn = await self._turn(target, first)
        if turn is None:
            await self._closes(target, first)
            return None
        self._look_at(turn, target, first)
        if Capability.STATE in target.capabilities:
            state = await target.state(first)
            self._note("state() can be read", True, ", ".join(map(str, state)) or "empty")
        if target.isolation == "serial":  # it waits for the first conversation to be closed
            await self._closes(target, first)
        await self._apart(target, first, await self._session(target, server, tmp, model))
        if target.isolation != "serial":
            await self._closes(target, first)
        if isinstance(model, FixedModel) and model.asked:
            failing = FixedModel(failure=ModelFailed("the model is down", remedy="none: this is a check"))
            await self._surfaces(target, await self._session(target, server, tmp, failing))
        return turn

    async def _session(
        self, target: Target, server: DatabaseServer | None, tmp: Path, model: ModelEndpoint
    ) -> LiveSession:
        number = next(self.numbers)
        database: Database | None = await server.clone(f"check {number}") if server else None
        clock = TrialClock(datetime.now(UTC))
        given: Any = clock.resolve_tree(self.given)
        return LiveSession(
            id=f"check-{number}",
            persona=SOMEBODY,
            participants={SOMEBODY.id: SOMEBODY},
            clock=clock,
            database=database,
            model=model,
            tmp=tmp,
            given=given,
            recorder=Recorder(sees_tools=target.tools is not None),
        )

    async def _turn(self, target: Target, session: LiveSession) -> Turn | None:
        """One turn; None when the target raised, which is noted."""
        try:
            return await play_turn(target, session, self._move(session))
        except CannotJudge as e:
            self._note("a message can be played", False, getattr(e, "detail", "") or e.message)
            return None

    def _move(self, session: LiveSession) -> Move:
        return Move(
            opening=Opening(kind=InboundKind.USER, text=self.message, sender=SOMEBODY.id),
            allowed=(SOMEBODY.id,),
            inbound=Inbound(id=f"{session.id}-in-1", text=self.message, sender=SOMEBODY),
            timeout=TURN_SECONDS,
        )

    def _look_at(self, turn: Turn, target: Target, session: LiveSession) -> None:
        """What one turn shows."""
        said = ", ".join(repr(b.text) for b in turn.said)
        if turn.observed is Observed.TIMED_OUT:
            self._note("the turn ends", False, f"not within {TURN_SECONDS:g} s")
        elif turn.observed is Observed.SILENT and not turn.acted and not self.silent:
            self._note("the reply arrives", False, "nothing was returned and nothing emitted before the turn ended")
        else:
            self._note("the reply arrives", True, f"{said or 'silence'}, known by {turn.settled_by}")
        if turn.said and not any(b.text.strip() for b in turn.said):
            self._note("the reply has a text", False, "it is empty")
        strangers = {b.to for b in turn.bubbles} - set(session.participants)
        self._note("it goes to people of the scenario", not strangers, ", ".join(sorted(strangers)))
        if turn.tools is None:
            self._note("tool calls", None, "none declared or reported: expectations on tools will be errors")
            return
        unknown = {t.name for t in turn.tools} - set(target.tools or ())
        if target.tools is not None and unknown:
            self._note("tools that are called are declared", False, ", ".join(sorted(unknown)))
        else:
            declared = ", ".join(target.tools or ()) or "none"
            self._note("tool calls", True, f"{len(turn.tools)} reported, declared: {declared}")

    async def _apart(self, target: Target, first: LiveSession, second: LiveSession) -> None:
        """Play the same in another conversation: nothing of it may arrive in the first."""
        before = first.recorder.changes(1)
        await target.open(second)
        turn = await self._turn(target, second)
        leaked = first.recorder.changes(1) - before
        if turn is not None:
            silent = turn.observed is not Observed.REPLIED and not turn.acted and not self.silent
            detail = f"{leaked} outputs of the second arrived in the first" if leaked else ""
            if silent and not leaked:
                detail = "the second was not answered"
            self._note("two conversations are kept apart", not (leaked or silent), detail)
        await self._closes(target, second)

    async def _closes(self, target: Target, session: LiveSession) -> None:
        """Close a conversation twice, as a run may."""
        session.end()
        for _ in range(2):
            await target.close(session)

    async def _surfaces(self, target: Target, session: LiveSession) -> None:
        """Play with a model that fails: it should be seen, and not pass for an answer of the product."""
        await target.open(session)
        try:
            turn = await play_turn(target, session, self._move(session))
        except CannotJudge:
            self._note("a failed model is seen", True)
        else:
            said = ", ".join(repr(b.text) for b in turn.said) or "silence"
            self._note("a failed model is hidden", None, f"the product answers with {said} when its model is down")
        finally:
            await self._closes(target, session)
