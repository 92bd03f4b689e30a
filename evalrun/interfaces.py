"""The doors: what a room must offer, and the values that cross.

A room (adapter, provider, judge, reporter, store, database) satisfies one Protocol here and is
reached by name only, through `plugins.py`. Beside each Protocol stands the shape of its factory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from evalrun.expectation import Checkpoint, Evidence
from evalrun.persona import Persona
from evalrun.results import Exchange, Judgement, RunHeader, RunResult, TrialResult
from evalrun.rubric import Rubric
from evalrun.scenario import Participant, Scenario
from evalrun.style import StyleRules
from evalrun.transcript import Transcript
from evalrun.usage import ModelName, Role, Tokens

# ------------------------------------------------------------------ models


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One chat message. `tool_calls` are the vendor's own objects, passed through untouched."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None
    tool_calls: tuple[Mapping[str, object], ...] = ()
    tool_call_id: str = ""


class Finish(StrEnum):
    """Why a model stopped writing."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"
    TOOLS = "tools"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One model call. `schema` is a JSON Schema the answer must follow where the vendor can enforce it.

    `lane` names a group of calls that share a static prefix, for prompt caches and slots.
    """

    role: Role
    model: ModelName
    messages: tuple[Message, ...]
    max_output_tokens: int
    schema: Mapping[str, object] | None = None
    schema_name: str = "answer"
    tools: tuple[Mapping[str, object], ...] = ()
    temperature: float | None = None
    seed: int | None = None
    lane: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """What came back of one call, normalised; `sent` and `received` are what really crossed the wire."""

    text: str
    finish: Finish
    tokens: Tokens
    returned: str = ""
    fingerprint: str = ""
    tier: str = ""
    tool_calls: tuple[Mapping[str, object], ...] = ()
    sent: Mapping[str, object] = field(default_factory=dict)
    received: Mapping[str, object] = field(default_factory=dict)


class Provider(Protocol):
    """A way to reach models. Factory: `(ProviderSetup) -> Provider`; it opens nothing until `start`."""

    name: str
    local: bool
    """Local models cost nothing and need no key."""

    async def start(self) -> None:
        """Get ready (import the SDK in a thread, start a server); called once, may take seconds."""

    async def complete(self, request: ModelRequest, timeout: float) -> ModelReply:
        """One attempt, no retry. Raises ModelFailed and its kinds."""

    async def close(self) -> None:
        """Release everything; idempotent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSetup:
    """What a provider is made from. `options` is its table in the settings; `models` the models it will be asked for."""

    name: str
    options: Mapping[str, object]
    environ: Mapping[str, str]
    models: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    concurrency: int = 64
    tmp: Path


class ModelEndpoint(Protocol):
    """A metered model of one role in one trial: what a persona, a judge or a target calls.

    Retries, limits, money and the record of what was sent are behind it.
    """

    @property
    def role(self) -> Role:
        """Who the calls are made for."""

    @property
    def model(self) -> ModelName:
        """Which model answers."""

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        max_output_tokens: int,
        schema: Mapping[str, object] | None = None,
        schema_name: str = "answer",
        tools: Sequence[Mapping[str, object]] = (),
        temperature: float | None = None,
        seed: int | None = None,
        lane: str = "",
    ) -> ModelReply:
        """Ask. Raises ModelFailed when no answer came, BudgetReached when the cap forbids the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Money set aside for one call (USD, worst case)."""

    id: int
    role: Role
    model: ModelName
    amount: Decimal


class Meter(Protocol):
    """The ledger as model calls see it; one for a whole run, all roles together."""

    def reserve(self, request: ModelRequest) -> Reservation:
        """Set aside the worst case of a call. Raises BudgetReached when the cap would be passed."""

    def settle(self, reservation: Reservation, tokens: Tokens | None, *, tier: str = "") -> tuple[Decimal, bool]:
        """Book what the call really cost; tokens None when nobody knows. Returns USD and whether it is an estimate."""

    def release(self, reservation: Reservation) -> None:
        """Give back a reservation whose call was never billed (nothing reached the model)."""


# ------------------------------------------------------------------ databases


class Database(Protocol):
    """One trial's own Postgres database."""

    @property
    def name(self) -> str:
        """The database's name."""

    @property
    def host(self) -> str:
        """A host name or an address."""

    @property
    def port(self) -> int:
        """The port."""

    @property
    def user(self) -> str:
        """The role."""

    @property
    def password(self) -> str:
        """The password, "" for none."""

    @property
    def url(self) -> str:
        """For SQLAlchemy's async engine: `postgresql+asyncpg://…`."""

    @property
    def dsn(self) -> str:
        """For libpq and asyncpg: `postgresql://…`."""

    @property
    def environ(self) -> Mapping[str, str]:
        """PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE."""

    async def fetch(self, query: str) -> tuple[tuple[object, ...], ...]:
        """Rows of a query, in a read-only transaction. Raises DatabaseFailed."""

    async def shift_time(self, interval: timedelta, keep: Sequence[str] = ()) -> int:
        """Move every timestamp, timestamptz and date back by `interval`; returns columns moved.

        `keep` names columns left alone, as `table.column` or `column`. Raises DatabaseFailed.
        """


Migrate = Callable[["Database"], object]
"""Prepares a template database; returns an awaitable or nothing."""


class DatabaseServer(Protocol):
    """Gives databases cloned from a template. Factory: `(DatabaseSetup) -> DatabaseServer`."""

    async def start(self) -> None:
        """Start or reach the server and sweep what dead runs left. Raises DatabaseFailed."""

    async def sweep(self) -> int:
        """Remove what dead runs left, also without `start`; returns how many. Raises DatabaseFailed."""

    async def prepare(self, migrate: Migrate | None, ahead: int) -> None:
        """Make the template, let `migrate` fill it, and clone up to `ahead` databases before they are asked for."""

    async def clone(self, label: str) -> Database:
        """A fresh database from the template. Raises DatabaseFailed."""

    async def drop(self, database: Database) -> None:
        """Forget a trial's database; idempotent."""

    async def close(self) -> None:
        """Drop everything of this run; idempotent, fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSetup:
    """What a database server is made from. `location` is "embedded" or a resolved DSN."""

    location: str
    run: str
    environ: Mapping[str, str]
    tmp: Path


# ------------------------------------------------------------------ targets


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


# ------------------------------------------------------------------ judges


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The one argument of every judge: everything there is to know about one trial.

    While the conversation goes on, `checkpoints` holds those met so far; at the end the last one
    is `final`. `earlier` are the judgements before this one in the chain. `allow` and the rest of
    what a scenario says are in `scenario`.
    """

    scenario: Scenario
    persona: Persona
    rubric: Rubric | None
    checks: tuple[Rubric, ...]
    style: StyleRules
    transcript: Transcript
    evidence: Evidence
    checkpoints: tuple[Checkpoint, ...]
    earlier: tuple[Judgement, ...]
    model: ModelEndpoint | None


class Judge(Protocol):
    """One link of the chain. Factory: `(JudgeSetup) -> Judge`.

    `deterministic` judges are code alone: they always gate and are asked again after every turn
    (`watch`), where a hard finding or an unmet expectation stops the conversation.
    """

    name: str
    version: str
    deterministic: bool

    def watch(self, case: Case) -> Judgement | None:
        """After each step, on the conversation so far; None when there is nothing to say. No model here."""

    async def judge(self, case: Case) -> Judgement:
        """At the end. Raise only for a broken judge: it becomes a judgement of status error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSetup:
    """What a judge is made from. `options` is its own table in the settings."""

    options: Mapping[str, object]
    max_output_tokens: int = 700


# ------------------------------------------------------------------ reports and stores


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """How a report is shown. `width` in columns, 0 for no limit; `animate` only on a real terminal.

    `detail`: every turn of every trial of `scenario` (empty: of all). `limit_bytes`: the most a
    report may take where something refuses more (0: no limit).
    """

    width: int = 120
    colour: bool = False
    animate: bool = False
    encoding: str = "utf-8"
    detail: bool = False
    scenario: str = ""
    limit_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One trial in play: its turn, what it waits for, USD so far (trial and run)."""

    scenario: str
    trial: int
    turn: int
    turns: int
    waiting_for: str
    cost: Decimal
    run_cost: Decimal
    done: bool = False


class TextSink(Protocol):
    """Where a report is written."""

    def write(self, text: str, /) -> object:
        """Write."""

    def flush(self) -> None:
        """Flush."""


class Reporter(Protocol):
    """Shows a run. Factory: `(out: TextSink, options: ReportOptions) -> Reporter`.

    A format that only renders the end leaves the other methods empty.
    """

    def started(self, header: RunHeader) -> None:
        """Before the first trial."""

    def progress(self, progress: Progress) -> None:
        """A trial moved on."""

    def trial(self, result: TrialResult) -> None:
        """A trial ended."""

    def notice(self, line: str) -> None:
        """One line the user should read now (a wait, a fallback)."""

    def finished(self, run: RunResult) -> None:
        """The end: render the whole run."""

    def close(self) -> None:
        """Let go of a terminal; always called, also when the run broke off; idempotent."""


class Store(Protocol):
    """Keeps runs. Factory: `(location: str) -> Store`."""

    async def open(self) -> None:
        """Open and migrate. Raises StoreFailed; a newer schema is refused, never altered."""

    async def begin(self, run: RunResult) -> None:
        """A run starts: its header and the chosen scenarios, none played yet."""

    async def add(self, run: str, trial: TrialResult) -> None:
        """Keep one trial, with its exchanges, at once."""

    async def finish(self, run: RunResult) -> None:
        """A run ends; its trials are already kept."""

    async def load(self, reference: str) -> RunResult:
        """A run by id, by the end of its id, or "last", without exchanges. Raises UnknownName."""

    async def runs(self, limit: int) -> tuple[RunHeader, ...]:
        """The newest runs first."""

    async def exchanges(self, run: str, scenario: str, number: int) -> tuple[Exchange, ...]:
        """What was sent to and returned by models in one trial."""

    async def close(self) -> None:
        """Flush and close; idempotent."""
