"""The one way model calls are made: limits, retries, time, money and the record, for all roles.

One limiter for each provider and key bounds the calls in flight; a rate limit pauses all of them
together. Each attempt is reserved, sent, booked and kept, also one that failed. One that was cut
in the middle (an interruption) is booked at its worst case: nobody knows whether it was charged.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from evalrun.errors import BudgetReached, EvalrunError, KeyRefused, ModelFailed, RateLimited
from evalrun.interfaces.models import Message, Meter, ModelReply, ModelRequest, Provider, Reservation
from evalrun.results import Exchange
from evalrun.usage import ZERO, ModelName, Role, RoleTotal, Spending

BOOKED_ELSEWHERE = 0.5
"""Seconds after which a call that waits for money asks again, in case the meter is shared with others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """The one clock and the one way to wait, in seconds; tests run them faster."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long and how hard to insist. Seconds.

    `width` bounds the calls in flight to one provider. `call` bounds one attempt. `cap` bounds the waits of one call together, and the time a provider
    may refuse everybody by rate limits without one answer between. `attempts` counts failures of
    other kinds. Waits double from `first` to `longest` and are never under `least`.
    """

    attempts: int = 6
    first: float = 0.5
    longest: float = 20.0
    least: float = 0.1
    cap: float = 60.0
    call: float = 120.0
    width: int = 64


class Limiter:
    """Bounds the calls in flight to one provider; after a rate limit it pauses and narrows, then widens again.

    `strain` is the time paused since the last answer, in seconds.
    """

    def __init__(self, width: int, time: Time | None = None) -> None:
        self.width = width
        self.allowed = width
        self.in_flight = 0
        self.strain = 0.0
        self._time = time or Time()
        self._paused_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._successes = 0

    async def enter(self) -> None:
        """Wait for a place; every `enter` is followed by one `leave`."""
        try:
            while True:
                pause = self._paused_until - self._time.now()
                if pause > 0:
                    await self._time.sleep(pause * random.uniform(1.0, 1.2))  # noqa: S311  jitter, not a secret
                elif self.in_flight < self.allowed:
                    self.in_flight += 1
                    return
                else:
                    place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                    self._waiting.append(place)
                    await place
        except asyncio.CancelledError:
            # the turn this one may have been given goes to the next
            self._wake()
            raise

    def leave(self, *, ok: bool) -> None:
        """Give the place back; `ok` when an answer came."""
        self.in_flight -= 1
        if ok:
            self.strain = 0.0
            self._successes += 1
            if self.allowed < self.width and self._successes >= self.allowed:
                self.allowed, self._successes = self.allowed + 1, 0
                self._wake()
        self._wake()

    def pause(self, seconds: float) -> bool:
        """Nobody starts for some seconds, and fewer afterwards; True when a spell without answers begins."""
        now = self._time.now()
        until = now + seconds
        begins = self.strain == 0.0
        if now >= self._paused_until:
            self.allowed, self._successes = max(1, self.allowed // 2), 0
        self.strain += max(until - max(self._paused_until, now), 0.0)
        self._paused_until = max(self._paused_until, until)
        return begins

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

    @property
    def cost(self) -> Decimal:
        """USD over all roles."""
        return sum((total.cost for total in self.totals.values()), ZERO)

    def spending(self) -> Spending:
        """By role."""
        return Spending.from_roles(self.totals)


class ModelCalls:
    """All model calls of a run.

    `providers` by name; for one that could not be made, the error to raise when it is called.
    `notice` hears one line when calls begin to wait.
    """

    def __init__(
        self,
        *,
        providers: Mapping[str, Provider | EvalrunError],
        models: Mapping[Role, ModelName],
        meter: Meter,
        notice: Callable[[str], None],
        patience: Patience | None = None,
        time: Time | None = None,
    ) -> None:
        self.models = models
        self.meter = meter
        self.patience = patience or Patience()
        self.time = time or Time()
        self.notice = notice
        self._providers = {n: p for n, p in providers.items() if not isinstance(p, EvalrunError)}
        self._missing = {n: p for n, p in providers.items() if isinstance(p, EvalrunError)}
        self._limiters = {name: Limiter(self.patience.width, self.time) for name in self._providers}
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._dead: dict[str, ModelFailed] = {}
        self._booking = asyncio.Event()

    def endpoint(self, role: Role, tally: Tally) -> Endpoint:
        """The metered model of a role in one trial."""
        return Endpoint(role=role, model=self.models[role], calls=self, tally=tally)

    def warm(self, names: Sequence[str]) -> None:
        """Begin to start providers beside other work; each is also started by its first call."""
        for name in names:
            if name in self._providers and name not in self._starting:
                self._starting[name] = asyncio.ensure_future(self._providers[name].start())

    async def ready(self, names: Sequence[str]) -> None:
        """Wait until some providers are started. Raises what kept one from starting."""
        for name in names:
            await self.provider(name)

    async def provider(self, name: str) -> Provider:
        """A started provider. Raises what kept it from being made or started."""
        if name in self._missing:
            raise self._missing[name]
        self.check(name)
        self.warm([name])
        if (starting := self._starting[name]).done() and not starting.cancelled() and starting.exception() is None:
            return self._providers[name]
        try:
            await asyncio.shield(starting)
        except ModelFailed as e:
            self.bury(name, e)
            raise
        return self._providers[name]

    def limiter(self, name: str) -> Limiter:
        """The limiter of a provider."""
        return self._limiters[name]

    def bury(self, name: str, error: ModelFailed) -> None:
        """No later call to this provider is tried."""
        self._dead.setdefault(name, error)

    def check(self, name: str) -> None:
        """Raises the error of a provider that was buried: a new one each time, with no old traceback."""
        if (error := self._dead.get(name)) is not None:
            kind = KeyRefused if isinstance(error, KeyRefused) else ModelFailed
            raise kind(error.message, remedy=error.remedy, fatal=True) from None

    async def reserve(self, request: ModelRequest) -> Reservation:
        """Set money aside, waiting where calls in flight may give some back. Raises BudgetReached."""
        while True:
            booking = self._booking
            try:
                return self.meter.reserve(request)
            except BudgetReached as e:
                if not e.later:
                    raise
            try:
                async with asyncio.timeout(BOOKED_ELSEWHERE):
                    await booking.wait()
            except TimeoutError:
                continue

    def booked(self) -> None:
        """A reservation was closed: those who wait for money look again."""
        self._booking.set()
        self._booking = asyncio.Event()

    async def close(self) -> None:
        """Stop all providers; idempotent."""
        for task in self._starting.values():
            task.cancel()
        await asyncio.gather(*self._starting.values(), return_exceptions=True)
        await asyncio.gather(*(self._providers[n].close() for n in self._starting))
        self._starting.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A metered model of one role in one trial (see `interfaces.models.ModelEndpoint`)."""

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
        """One attempt: wait for a place, set money aside, send, book, keep."""
        calls = self.calls
        limiter = calls.limiter(self.model.provider)
        await limiter.enter()
        ok = False
        try:
            calls.check(self.model.provider)
            reservation = await calls.reserve(request)
            started = calls.time.now()
            try:
                reply = await provider.complete(request, calls.patience.call)
            except BaseException as e:
                self._failed(e, reservation, attempt, calls.time.now() - started)
                raise
            cost, estimated = calls.meter.settle(reservation, reply.tokens, tier=reply.tier)
            calls.booked()
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
                seconds=round(calls.time.now() - started, 4),
            ),
            estimated=estimated,
        )
        return reply

    def _failed(self, error: BaseException, reservation: Reservation, attempt: int, seconds: float) -> None:
        """Book and keep an attempt that failed or was cut in the middle."""
        if isinstance(error, ModelFailed) and not error.billed:
            self.calls.meter.release(reservation)
            cost, estimated = ZERO, False
        else:
            cost, estimated = self.calls.meter.settle(reservation, None)
        self.calls.booked()
        what = error.message if isinstance(error, EvalrunError) else f"interrupted ({type(error).__name__})"
        self.tally.add(
            Exchange(
                role=self.role,
                asked=str(self.model),
                cost=cost,
                attempt=attempt,
                seconds=round(seconds, 4),
                error=what,
            ),
            estimated=estimated,
        )
        if isinstance(error, ModelFailed) and error.fatal:
            self.calls.bury(self.model.provider, error)

    async def _wait(self, error: ModelFailed, attempt: int, waited: float) -> float:
        """Wait before the next attempt; returns seconds. Raises the error when there is none."""
        patience, limiter = self.calls.patience, self.calls.limiter(self.model.provider)
        if not error.retryable:
            raise error
        limited = isinstance(error, RateLimited)
        if not limited and attempt >= patience.attempts:
            raise error
        backoff = min(patience.first * 2.0 ** (attempt - 1), patience.longest)
        pause = max(
            error.retry_after or 0.0,
            backoff * random.uniform(0.5, 1.0),  # noqa: S311  jitter, not a secret
            patience.least,
        )
        if max(waited, limiter.strain if limited else 0.0) + pause > patience.cap:
            kind = RateLimited if limited else ModelFailed
            raise kind(
                f"{error.message}; waiting {pause:.0f} s more would pass the cap of {patience.cap:g} s",
                remedy=error.remedy,
            ) from error
        if not limited:
            await self.calls.time.sleep(pause)
        elif limiter.pause(pause):
            self.calls.notice(f"{self.model.provider} limits the rate: all its calls wait, {pause:.1f} s at first")
        return pause
