"""Models: a request and its reply, what a provider must offer, and what callers are handed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from evalrun.usage import ModelName, Role, Tokens


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


def unheard(line: str) -> None:
    """Where a line goes to that nobody waits for."""
    del line


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """Whether somebody asked for calls that may cost money.

    `command` is the command that was typed, "" when none was. `against` says why it does not count
    all the same: it was typed by a test or by a hook of git, not by a person.
    """

    command: str = ""
    against: str = ""

    @property
    def given(self) -> bool:
        """Whether money may be spent."""
        return bool(self.command) and not self.against


NO_CONSENT = Consent()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSetup:
    """What a provider is made from. `options` is its table in the settings; `models` the models it will be asked for.

    `notice` takes one line that the user should read now, such as what is waited for. `consent`: a
    provider that may cost money refuses to be made without it.
    """

    name: str
    options: Mapping[str, object]
    environ: Mapping[str, str]
    models: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    concurrency: int = 64
    tmp: Path
    notice: Callable[[str], None] = unheard
    consent: Consent = NO_CONSENT


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
