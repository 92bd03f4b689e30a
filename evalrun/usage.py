"""What model calls used and cost: tokens normalised over vendors, money as exact decimals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from evalrun.errors import UsageError

ZERO = Decimal(0)


class Role(StrEnum):
    """Who a model call is made for."""

    AGENT = "agent"
    PERSONA = "persona"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelName:
    """A model as users name it: `provider:model`."""

    provider: str
    model: str

    @classmethod
    def parse(cls, text: str) -> ModelName:
        """Read `provider:model`; the model may itself hold colons. Raises UsageError otherwise."""
        provider, colon, model = text.strip().partition(":")
        if not (colon and provider and model):
            raise UsageError(
                f"model {text!r} is not of the form provider:model",
                remedy="write for example local:smollm2-135m or anthropic:<model id>",
            )
        return cls(provider=provider, model=model)

    def __str__(self) -> str:
        """`provider:model`."""
        return f"{self.provider}:{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of one or more calls, in one meaning for all vendors.

    `input` is everything that went in, cached reads and cache writes included; `output` is
    everything that came out, reasoning included. `reliable` is False when the vendor reported
    no usage or one that contradicts itself; the figures are then a worst-case estimate.
    """

    input: int = 0
    cached: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    reliable: bool = True

    @property
    def cached_percent(self) -> int:
        """The share of what went in that was read from a cache, in whole percent, never rounded up."""
        return 100 * self.cached // self.input if self.input else 0

    def __add__(self, other: Tokens) -> Tokens:
        """The sum; reliable only when both are."""
        return Tokens(
            input=self.input + other.input,
            cached=self.cached + other.cached,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            reliable=self.reliable and other.reliable,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleTotal:
    """What one role used: `calls` that were answered, `retries` beside them, tokens, USD.

    `saved` is what replayed or cached answers would have cost (USD); `estimated` is True when a
    price or a usage report was missing and the dearest known figure was taken.
    """

    calls: int = 0
    retries: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    cost: Decimal = ZERO
    saved: Decimal = ZERO
    estimated: bool = False

    def __add__(self, other: RoleTotal) -> RoleTotal:
        """The sum of two totals."""
        return RoleTotal(
            calls=self.calls + other.calls,
            retries=self.retries + other.retries,
            tokens=self.tokens + other.tokens,
            cost=self.cost + other.cost,
            saved=self.saved + other.saved,
            estimated=self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What a trial or a run used, by role."""

    agent: RoleTotal = field(default_factory=RoleTotal)
    persona: RoleTotal = field(default_factory=RoleTotal)
    judge: RoleTotal = field(default_factory=RoleTotal)

    def of(self, role: Role) -> RoleTotal:
        """The total of one role."""
        return {Role.AGENT: self.agent, Role.PERSONA: self.persona, Role.JUDGE: self.judge}[role]

    @property
    def cost(self) -> Decimal:
        """USD over all roles."""
        return self.agent.cost + self.persona.cost + self.judge.cost

    @property
    def calls(self) -> int:
        """Answered calls over all roles."""
        return self.agent.calls + self.persona.calls + self.judge.calls

    @property
    def estimated(self) -> bool:
        """Whether any figure rests on a missing price or usage report."""
        return self.agent.estimated or self.persona.estimated or self.judge.estimated

    def __add__(self, other: Spending) -> Spending:
        """The sum by role."""
        return Spending(
            agent=self.agent + other.agent,
            persona=self.persona + other.persona,
            judge=self.judge + other.judge,
        )

    @classmethod
    def from_roles(cls, totals: Mapping[Role, RoleTotal]) -> Spending:
        """From a mapping; roles left out used nothing."""
        return cls(**{role.value: total for role, total in totals.items()})

    @classmethod
    def total(cls, parts: Iterable[Spending]) -> Spending:
        """The sum of many."""
        return sum(parts, cls())
