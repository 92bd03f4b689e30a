"""Targets: what crosses between evalrun and the system under test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from evalrun.interfaces.databases import Database
from evalrun.interfaces.models import ModelEndpoint
from evalrun.scenario import Participant


class Clock(Protocol):
    """The one clock of a trial: every call is a millisecond later than the one before."""

    def now(self) -> datetime:
        """The trial's present, with a time zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message the agent sends; `to` is a participant's id or address (empty: the persona)."""

    text: str
    to: str = ""
    kind: str = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """A user's message as it reaches the target. `id` is unique in the trial."""

    id: str
    text: str
    sender: Participant


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in the product and about which the agent speaks first."""

    name: str
    data: Mapping[str, object]
    participant: Participant


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """How the end of a turn is known.

    `return`: when the handler returns. `quiet`: no output for `quiet` seconds after it returned.
    `idle`: the adapter's `idle()` says so. The turn's timeout bounds all three.
    """

    how: Literal["return", "quiet", "idle"] = "return"
    quiet: float = 0.5


class Capability(StrEnum):
    """What a target may or may not be able to do."""

    DISPATCH = "dispatch"
    ADVANCE = "advance"
    STATE = "state"
    IDLE = "idle"
    MIGRATE = "migrate"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteInfo:
    """What a target's `setup` is told, once. `options` is its own table in the settings."""

    run: str
    options: Mapping[str, object]
    root: Path
    tmp: Path
    style_rules: Path | None
    environ: Mapping[str, str]


class Session(Protocol):
    """One conversation, made by evalrun and handed to the adapter: the only way results come back.

    The session handed to `handle` belongs to that turn: what is emitted through it later is
    kept, flagged late and attached to its own turn.
    """

    @property
    def id(self) -> str:
        """Run, scenario and trial: never shared between trials."""

    @property
    def participants(self) -> Mapping[str, Participant]:
        """The persona, and others a scenario names, by id."""

    @property
    def persona(self) -> Participant:
        """Whom the agent talks with."""

    @property
    def clock(self) -> Clock:
        """The one clock of the trial."""

    @property
    def database(self) -> Database | None:
        """The trial's own database, None when the target has none."""

    @property
    def model(self) -> ModelEndpoint:
        """The metered model of the role agent."""

    @property
    def tmp(self) -> Path:
        """A folder of the run's own."""

    @property
    def deadline(self) -> float:
        """Monotonic seconds (`time.monotonic`) at which the turn in play times out."""

    @property
    def given(self) -> Mapping[str, object]:
        """The scenario's `given.state`, its relative times resolved."""

    def emit(self, message: Outgoing | str, to: str | None = None) -> str:
        """Record a message the agent sent, from any task or thread; returns its id."""

    def retract(self, message_id: str) -> None:
        """The agent took a message back."""

    def tool(
        self, name: str, arguments: object, result: object = None, error: str | None = None, agent: str | None = None
    ) -> None:
        """Record a tool call."""

    def route(self, source: str, destination: str) -> None:
        """Record that the conversation was handed to another specialist."""


Reply = Outgoing | str | Sequence[Outgoing | str] | None


class Target(Protocol):
    """A connected target: the adapter contract with everything optional filled in.

    Factory: `(TargetSetup) -> Target`. `tools` are the names the agent can call, None when the
    adapter cannot see tool calls. A missing capability raises CapabilityMissing when used.
    """

    capabilities: frozenset[Capability]
    tools: tuple[str, ...] | None
    isolation: Literal["instance", "session-key", "process", "serial"]
    settle: Settle

    async def setup(self, suite: SuiteInfo) -> None:
        """Once for a run: start the process, build the app."""

    async def migrate(self, database: Database) -> None:
        """Fill the template database, once for a run."""

    async def open(self, session: Session) -> None:
        """Once for a trial: seed the database from `session.given`."""

    async def handle(self, session: Session, inbound: Inbound) -> None:
        """Play one user message; whatever the adapter returned has been emitted."""

    async def dispatch(self, session: Session, event: Event) -> None:
        """Dispatch an event straight to the orchestrator."""

    async def advance(self, session: Session, now: datetime) -> None:
        """Time has moved: run the jobs now due."""

    async def state(self, session: Session) -> Mapping[str, object]:
        """The observable state."""

    async def idle(self, session: Session) -> bool:
        """Whether the target has finished the turn."""

    async def close(self, session: Session) -> None:
        """Always called, idempotent."""

    async def teardown(self) -> None:
        """Once, at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSetup:
    """What a target is made from. `file` is the settings file, for messages."""

    name: str
    entry: str
    options: Mapping[str, object]
    root: Path
    file: str = ""
