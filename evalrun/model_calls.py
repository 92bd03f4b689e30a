"""The one way model calls are made: limits, retries, time, money and the record, for all roles.

One limiter for each provider and key bounds the calls in flight; a rate limit pauses all of them
together. Each attempt is reserved, sent, booked and kept, also one that failed.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from evalrun.errors import EvalrunError, ModelFailed, RateLimited
from evalrun.interfaces import Message, Meter, ModelReply, ModelRequest, Provider, Reservation
from evalrun.results import Exchange
from evalrun.usage import ZERO, ModelName, Role, RoleTotal, Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to insist. Seconds; `cap` bounds the waits of one call together, `call` one attempt."""

    attempts: int = 6
    first: float = 0.5
    longest: float = 20.0
    least: float = 0.1
    cap: float = 60.0
    call: float = 120.0


class Limiter:
    """Bounds the calls in flight to one provider; after a rate limit it pauses and narrows, then widens again."""

    def __init__(self, width: int, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self.width = width
        self.allowed = width
        self.in_flight = 0
        self._sleep = sleep
        self._paused_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._successes = 0

    async def enter(self) -> None:
        """Wait for a place; every `enter` is followed by one `leave`."""
        while True:
            pause = self._paused_until - time.monotonic()
            if pause > 0:
                await self._sleep(pause * random.uniform(1.0, 1.2))  # noqa: S311  jitter, not a secret
            elif self.in_flight < self.allowed:
                self.in_flight += 1
                return
            else:
                await self._queue()

    def leave(self, *, ok: bool) -> None:
        """Give the place back."""
        self.in_flight -= 1
        if ok and self.allowed < self.width:
            self._successes += 1
            if self._successes >= self.allowed:
                self.allowed, self._successes = self.allowed + 1, 0
                self._wake()
        self._wake()

    def pause(self, seconds: float) -> bool:
        """Nobody starts for some seconds, and fewer afterwards; True when this pause is a new one."""
        now = time.monotonic()
        new = now >= self._paused_until
        self._paused_until = max(self._paused_until, now + seconds)
        if new:
            self.allowed, self._successes = max(1, self.allowed // 2), 0
        return new

    async def _queue(self) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._wake()
            raise

    def _wake(self) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return


@dataclass(slots=True)
class Tally:
    """What one trial has used so far."""

    exchanges: list[Exchange] = field(default_factory=list)
    totals: dict[Role, RoleTotal] = field(default_factory=dict)

    def add(self, exchange: Exchange, *, estimated: bool) -> None:
        """Count one attempt: answered, or failed (a retry)."""
        failed = bool(exchange.error)
        part = RoleTotal(
            calls=0 if failed else 1,
            retries=1 if failed else 0,
            tokens=exchange.tokens,
            cost=exchange.cost,
            estimated=estimated,
        )
        self.totals[exchange.role] = self.totals.get(exchange.role, RoleTotal()) + part
        self.exchanges.append(exchange)

    def spending(self) -> Spending:
        """By role."""
        return Spending.from_roles(self.totals)


class ModelCalls:
    """All model calls of a run.

    `providers` by name; `missing` holds, for a provider that could not be made, the error to
    raise when it is called. `notice` hears one line when calls begin to wait.
    """

    def __init__(
        self,
        *,
        providers: Mapping[str, Provider],
        models: Mapping[Role, ModelName],
        meter: Meter,
        notice: Callable[[str], None],
        missing: Mapping[str, EvalrunError] | None = None,
        patience: Patience | None = None,
        width: int = 64,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.models = models
        self.meter = meter
        self.patience = patience or Patience()
        self.sleep = sleep
        self.notice = notice
        self._providers = providers
        self._missing = dict(missing or {})
        self._limiters = {name: Limiter(width, sleep) for name in providers}
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._dead: dict[str, ModelFailed] = {}

    def endpoint(self, role: Role, tally: Tally) -> Endpoint:
        """The metered model of a role in one trial."""
        return Endpoint(role=role, model=self.models[role], calls=self, tally=tally)

    def warm(self, names: Sequence[str]) -> None:
        """Begin to start providers beside other work; each is also started by its first call."""
        for name in names:
            if name in self._providers and name not in self._starting:
                self._starting[name] = asyncio.ensure_future(self._providers[name].start())

    async def provider(self, name: str) -> Provider:
        """A started provider. Raises what kept it from being made or started."""
        if name in self._missing:
            raise self._missing[name]
        if name in self._dead:
            raise self._dead[name]
        self.warm([name])
        await asyncio.shield(self._starting[name])
        return self._providers[name]

    def limiter(self, name: str) -> Limiter:
        """The limiter of a provider."""
        return self._limiters[name]

    def bury(self, name: str, error: ModelFailed) -> None:
        """No later call to this provider is tried."""
        self._dead[name] = error

    async def close(self) -> None:
        """Stop all providers; idempotent."""
        for task in self._starting.values():
            task.cancel()
        await asyncio.gather(*self._starting.values(), return_exceptions=True)
        await asyncio.gather(*(self._providers[n].close() for n in self._starting))
        self._starting.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A metered model of one role in one trial (see `interfaces.ModelEndpoint`)."""

    role: Role
    model: ModelName
    calls: ModelCalls
    tally: Tally

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
        """Ask, with retries. Raises ModelFailed, RateLimited, KeyRefused, MissingKey, BudgetReached."""
        request = ModelRequest(
            role=self.role,
            model=self.model,
            messages=tuple(messages),
            max_output_tokens=max_output_tokens,
            schema=schema,
            schema_name=schema_name,
            tools=tuple(tools),
            temperature=temperature,
            seed=seed,
            lane=lane,
        )
        provider = await self.calls.provider(self.model.provider)
        waited = 0.0
        attempt = 1
        while True:
            try:
                return await self._attempt(provider, request, attempt)
            except ModelFailed as e:
                waited += await self._wait(e, attempt, waited)
                attempt += 1

    async def _attempt(self, provider: Provider, request: ModelRequest, attempt: int) -> ModelReply:
        """One attempt: set money aside, wait for a place, send, book, keep."""
        limiter = self.calls.limiter(self.model.provider)
        await limiter.enter()
        ok = False
        started = time.monotonic()
        try:
            reservation = self.calls.meter.reserve(request)
            try:
                reply = await provider.complete(request, self.calls.patience.call)
            except ModelFailed as e:
                self._failed(e, reservation, attempt, time.monotonic() - started)
                raise
            except BaseException:
                # cut in the middle (an interruption): the vendor may have charged, nobody knows how much
                self.calls.meter.settle(reservation, None)
                raise
            cost, estimated = self.calls.meter.settle(reservation, reply.tokens, tier=reply.tier)
            ok = True
        finally:
            limiter.leave(ok=ok)
        self.tally.add(
            Exchange(
                role=self.role,
                asked=str(self.model),
                returned=reply.returned,
                fingerprint=reply.fingerprint,
                sent=reply.sent,
                received=reply.received,
                tokens=reply.tokens,
                cost=cost,
                attempt=attempt,
                seconds=round(time.monotonic() - started, 4),
            ),
            estimated=estimated,
        )
        return reply

    def _failed(self, error: ModelFailed, reservation: Reservation, attempt: int, seconds: float) -> None:
        """Book and keep an attempt that failed."""
        if error.billed:
            cost, estimated = self.calls.meter.settle(reservation, None)
        else:
            self.calls.meter.release(reservation)
            cost, estimated = ZERO, False
        self.tally.add(
            Exchange(
                role=self.role,
                asked=str(self.model),
                cost=cost,
                attempt=attempt,
                seconds=round(seconds, 4),
                error=error.message,
            ),
            estimated=estimated,
        )
        if error.fatal:
            self.calls.bury(self.model.provider, error)

    async def _wait(self, error: ModelFailed, attempt: int, waited: float) -> float:
        """Wait before the next attempt; returns seconds. Raises the error when there is none."""
        patience = self.calls.patience
        if not error.retryable:
            raise error
        pause = error.retry_after
        if pause is None:
            backoff = min(patience.first * 2 ** (attempt - 1), patience.longest)
            pause = backoff * random.uniform(0.5, 1.0)  # noqa: S311  jitter, not a secret
        pause = max(pause, patience.least)
        if waited + pause > patience.cap:
            kind = RateLimited if isinstance(error, RateLimited) else ModelFailed
            raise kind(
                f"{error.message}; waiting {pause:.0f} s more would pass the cap of {patience.cap:g} s",
                remedy="raise the vendor's limit, or lower --concurrency",
            ) from error
        if attempt >= patience.attempts:
            raise error
        if isinstance(error, RateLimited):
            if self.calls.limiter(self.model.provider).pause(pause):
                self.calls.notice(f"{self.model.provider} limits the rate: all its calls wait {pause:.1f} s")
        else:
            await self.calls.sleep(pause)
        return pause
