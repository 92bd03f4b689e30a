"""The worked example of wiring a product into evalrun: Ori's five seams tied to a session.

Database, model, sender, clock and tool hook come from the session of each trial; the product runs
as it does in production. This is the one module of Ori that knows evalrun.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast

from sqlalchemy.ext.asyncio import create_async_engine

from evalrun.interfaces import databases, models, targets
from evalrun.sample_orchestrator.errors import FixtureRefused, UnknownUser
from evalrun.sample_orchestrator.fixtures import arrange, snapshot
from evalrun.sample_orchestrator.heard import Inbound
from evalrun.sample_orchestrator.migrations import migrate
from evalrun.sample_orchestrator.orchestrator import Orchestrator, Seams
from evalrun.sample_orchestrator.settings import Settings
from evalrun.sample_orchestrator.tools import TOOLS
from evalrun.scenario import Participant
from evalrun.style import prompt_block

_Role = Literal["system", "user", "assistant"]


@dataclass(slots=True)
class Wire:
    """The session of the turn in play, seen by Ori as its model, its sender and its tool hook."""

    session: targets.Session

    async def complete(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> str:
        """Ask the metered model of the role agent."""
        asked = [models.Message(role=cast("_Role", m["role"]), content=m["content"]) for m in messages]
        reply = await self.session.model.complete(asked, max_output_tokens=max_tokens, lane="ori")
        return reply.text

    async def send(self, to: str, text: str) -> str:
        """Capture what production would send."""
        return self.session.emit(text, to)

    def on_tool(self, name: str, arguments: Mapping[str, object], result: object, error: str | None) -> None:
        """Show a tool call."""
        self.session.tool(name, arguments, result, error)

    def now(self) -> datetime:
        """The one clock of the trial."""
        return self.session.clock.now()


class Ori:
    """The adapter: one orchestrator for each trial."""

    tools = TOOLS

    def __init__(self) -> None:
        self._style = ""
        self._trials: dict[str, tuple[Orchestrator, Wire]] = {}

    async def setup(self, suite: targets.SuiteInfo) -> None:
        """Take the house style from the file that the tests use too."""
        self._style = prompt_block(suite.style_rules) if suite.style_rules else ""

    async def migrate(self, database: databases.Database) -> None:
        """Fill the template database, once for a run."""
        engine = create_async_engine(database.url)
        try:
            await migrate(engine)
        finally:
            await engine.dispose()

    async def open(self, session: targets.Session) -> None:
        """Connect an orchestrator to the trial and arrange what the scenario gives."""
        if session.database is None:
            raise FixtureRefused('Ori needs a database: set database = "embedded" in its target table')
        wire = Wire(session)
        settings = Settings(style_block=self._style)
        seams = Seams(model=wire, sender=wire, now=wire.now, on_tool=wire.on_tool, settings=settings)
        ori = Orchestrator(session.database.url, seams)
        self._trials[session.id] = (ori, wire)
        await arrange(ori.engine, _people(session), session.clock.now())

    async def handle(self, session: targets.Session, inbound: targets.Inbound) -> None:
        """A user's message."""
        message = Inbound(id=inbound.id, sender=_address(inbound.sender), text=inbound.text)
        await self._ori(session).handle(message)

    async def dispatch(self, session: targets.Session, event: targets.Event) -> None:
        """An event, straight to the orchestrator."""
        named = _named(session)
        data = {name: _whom(value, named) for name, value in event.data.items()}
        await self._ori(session).dispatch_event(event.name, _address(event.participant), data)

    async def advance(self, session: targets.Session, _now: datetime) -> None:
        """Time has moved in the database: run what is due."""
        await self._ori(session).run_due_jobs()

    async def state(self, session: targets.Session) -> Mapping[str, object]:
        """The persona as `user` with the counts around them, the other participants by id."""
        ori = self._ori(session)
        seen: dict[str, object] = {}
        for name, participant in _named(session).items():
            try:
                found = await snapshot(ori.engine, _address(participant))
            except UnknownUser:
                continue
            seen |= found if name == "user" else {name: found["user"]}
        return seen

    async def close(self, session: targets.Session) -> None:
        """Give the connections back."""
        ori, _ = self._trials.pop(session.id, (None, None))
        if ori:
            await ori.close()

    def _ori(self, session: targets.Session) -> Orchestrator:
        """The trial's orchestrator, its wire tied to the turn in play."""
        ori, wire = self._trials[session.id]
        wire.session = session
        return ori


def _address(participant: Participant) -> str:
    return participant.address or participant.id


def _named(session: targets.Session) -> dict[str, Participant]:
    others = {p.id: p for p in session.participants.values() if p.id != session.persona.id}
    return {"user": session.persona} | others


def _people(session: targets.Session) -> dict[str, Mapping[str, object]]:
    """The given state by address. Raises FixtureRefused when it names nobody of the scenario."""
    named = _named(session)
    people: dict[str, Mapping[str, object]] = {}
    for name, fields in session.given.items():
        if name not in named or not isinstance(fields, Mapping):
            raise FixtureRefused(f"given.state.{name} is not one of {', '.join(named)} with fields")
        people[_address(named[name])] = {k: _with_address(v, named) for k, v in fields.items()}
    return people


def _with_address(value: object, named: Mapping[str, Participant]) -> object:
    """A match, a meeting or blocks with the addresses of the others for the names the scenario gives them."""
    if isinstance(value, Mapping) and "with" in value:
        return {**value, "with": _whom(value["with"], named)}
    return [_whom(one, named) for one in value] if isinstance(value, (list, tuple)) else value


def _whom(value: object, named: Mapping[str, Participant]) -> object:
    """The address of somebody named; anything else as it is."""
    participant = named.get(value) if isinstance(value, str) else None
    return _address(participant) if participant else value
