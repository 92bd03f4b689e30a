"""The one way model calls are made: limits, retries and failures, over a scripted server."""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from evalrun import plugins
from evalrun.budget import Ledger
from evalrun.errors import KeyRefused, MissingKey, ModelFailed, RateLimited
from evalrun.interfaces.models import ModelReply, ModelRequest
from evalrun.model_calls import Limiter, ModelCalls, Patience, Tally, Time
from evalrun.usage import ZERO, ModelName, Role
from tests.model_bench import FAST, SPEED, bench, in_turn, limited, outcome
from tests.scripted_server import Answer


def test_b30_a_storm_of_429_is_waited_out_together() -> None:
    """40 refusals with Retry-After in all forms: every call that may wait is answered, one line is shown."""
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    forms = itertools.cycle([limited("0"), limited("2"), limited(soon), limited(), limited("0")])

    async def run() -> None:
        storm = in_turn(*itertools.islice(forms, 40), "ok")
        async with bench(storm, width=16, patience=Patience(cap=1000)) as b:
            replies = await b.ask_many(40)
            assert [outcome(r) for r in replies] == ["ok"] * 40
            assert b.server.peak <= 16
            assert len(b.notices) == 1
            assert b.notices[0].startswith("compatible limits the rate: all its calls wait")
            total = b.tally.spending().judge
            assert (total.calls, total.retries) == (40, 40)
            assert b.ledger.reserved == 0

    asyncio.run(run())


def test_b30_a_wait_over_the_cap_is_an_error_at_once() -> None:
    """Retry-After: 86400 is not waited for: the call fails as rate limited, naming the cap; others go on."""

    async def run() -> None:
        async with bench(in_turn(limited("86400"), "ok")) as b:
            with pytest.raises(RateLimited, match=r"86400 s more would pass the cap of 60 s"):
                await b.ask()
            assert (await b.ask()).text == "ok"
            assert b.notices == []

    asyncio.run(run())


def test_b30_a_server_that_always_refuses_ends_every_call() -> None:
    """Refused for the whole cap without one answer, all calls end as rate limited; the server is not hammered."""

    async def run() -> None:
        async with bench(in_turn(limited("0")), width=16) as b:
            replies = await b.ask_many(20)
            assert [outcome(r) for r in replies] == ["RateLimited"] * 20
            assert len(b.notices) == 1
            assert len(b.server.requests()) < 20 * 6
            assert (b.ledger.spent, b.ledger.reserved) == (ZERO, ZERO)

    asyncio.run(run())


def test_b30_a_retry_waits_even_for_retry_after_zero() -> None:
    """`Retry-After: 0` is not taken literally, and a date gone by neither."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await asyncio.sleep(seconds / SPEED)

    async def run() -> None:
        gone = "Wed, 02 Dec 1998 10:00:00 GMT"
        async with bench(in_turn(limited("0"), limited(gone), "ok")) as b:
            b.calls.limiter("compatible")._time = Time(now=FAST.now, sleep=sleep)
            assert (await b.ask()).text == "ok"

    asyncio.run(run())
    assert waits
    assert min(waits) > 0


def test_b30_a_429_pauses_everybody_and_narrows() -> None:
    """While one call waits for the vendor, nobody else starts; afterwards fewer are in flight, then more again."""
    limiter = Limiter(8, FAST)

    async def run() -> None:
        await limiter.enter()
        assert limiter.pause(1.0)
        assert not limiter.pause(0.5)
        limiter.leave(ok=False)
        assert limiter.allowed == 4
        before = FAST.now()
        await limiter.enter()
        assert FAST.now() - before > 0.5
        for _ in range(30):
            limiter.leave(ok=True)
            await limiter.enter()
        limiter.leave(ok=True)
        assert (limiter.allowed, limiter.strain) == (8, 0.0)
        assert limiter.pause(1.0)

    asyncio.run(run())


def test_the_calls_in_flight_are_bounded() -> None:
    """However many ask, no more than the width are at the server, and all are answered."""

    async def run() -> None:
        async with bench(lambda _role, _body: Answer(delay=0.005), width=3) as b:
            assert [outcome(r) for r in await b.ask_many(20)] == ["ok"] * 20
            assert b.server.peak == 3

    asyncio.run(run())


def test_a_cancelled_waiter_passes_its_turn_on() -> None:
    """A call cut while it waits for a pause that follows its turn does not leave the others waiting for ever."""

    async def run() -> None:
        limiter = Limiter(1, FAST)
        await limiter.enter()
        first, second = asyncio.create_task(limiter.enter()), asyncio.create_task(limiter.enter())
        await asyncio.sleep(0)
        limiter.pause(40.0)
        limiter.leave(ok=False)
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait_for(second, 5)
        assert limiter.in_flight == 1

    asyncio.run(run())


# ------------------------------------------------------------------ failures


def test_failures_of_the_server_are_tried_again_and_counted() -> None:
    """Errors of the server and dropped connections are retried; each attempt is kept and counted."""

    async def run() -> None:
        script = in_turn(Answer(text="oops", status=500), Answer(text="busy", status=503), "ok")
        async with bench(script) as b:
            reply = await b.ask()
            assert reply.text == "ok"
            kept = [(e.attempt, e.error) for e in b.tally.exchanges]
            assert kept == [(1, "compatible answered 500: oops"), (2, "compatible answered 503: busy"), (3, "")]
            total = b.tally.spending().judge
            assert (total.calls, total.retries) == (1, 2)

    asyncio.run(run())


def test_b09_1_an_outage_is_an_error_after_a_bounded_number_of_attempts() -> None:
    """500 on every attempt is an error, never a score, after six requests."""

    async def run() -> None:
        async with bench(in_turn(Answer(text="down", status=500))) as b:
            with pytest.raises(ModelFailed, match="compatible answered 500: down"):
                await b.ask()
            assert len(b.server.requests()) == 6
            assert (b.ledger.spent, b.ledger.reserved) == (ZERO, ZERO)

    asyncio.run(run())


def test_b09_2_a_refused_key_stops_at_the_first_call() -> None:
    """401 is one request: every later call fails at once, without one, as a fresh error."""

    async def run() -> None:
        async with bench(in_turn(Answer(text="invalid key", status=401)), width=1) as b:
            errors = await b.ask_many(30)
            assert [outcome(e) for e in errors] == ["KeyRefused"] * 30
            assert len({id(e) for e in errors}) == 30
            with pytest.raises(KeyRefused, match="invalid key"):
                await b.ask(Role.AGENT)
            assert len(b.server.requests()) == 1

    asyncio.run(run())


def test_a_mistake_of_the_request_is_not_tried_again() -> None:
    """404 is one request, and other calls go on."""

    async def run() -> None:
        async with bench(in_turn(Answer(text="no such model", status=404), "ok")) as b:
            with pytest.raises(ModelFailed, match="no such model"):
                await b.ask()
            assert (await b.ask()).text == "ok"

    asyncio.run(run())


def test_a_missing_key_is_an_error_of_the_call_that_needs_it() -> None:
    """A provider that could not be made raises its own error when it is called."""
    calls = ModelCalls(
        providers={"openai": MissingKey("no key for provider openai", remedy="set it")},
        models=dict.fromkeys(Role, ModelName(provider="openai", model="x")),
        meter=Ledger(cap=None, own={}, local=frozenset(), table=plugins.load("prices", "genai")),
        notice=lambda _line: None,
    )
    with pytest.raises(MissingKey):
        asyncio.run(calls.endpoint(Role.AGENT, Tally()).complete([], max_output_tokens=1))


class Unstartable:
    """A provider that does not come up."""

    name, local = "local", True
    starts = 0

    async def start(self) -> None:
        """Fails."""
        self.starts += 1
        raise ModelFailed("it did not start", remedy="look", fatal=True)

    async def complete(self, request: ModelRequest, timeout: float) -> ModelReply:
        """Never reached."""
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing to close."""


def test_a_provider_that_does_not_start_is_tried_once() -> None:
    """All calls to it fail with its error; it is not started again and again."""

    async def run() -> None:
        provider = Unstartable()
        calls = ModelCalls(
            providers={"local": provider},
            models=dict.fromkeys(Role, ModelName(provider="local", model="x")),
            meter=Ledger(cap=None, own={}, local=frozenset({"local"}), table=plugins.load("prices", "genai")),
            notice=lambda _line: None,
        )
        for _ in range(3):
            with pytest.raises(ModelFailed, match="did not start"):
                await calls.endpoint(Role.AGENT, Tally()).complete([], max_output_tokens=1)
        await calls.close()
        assert provider.starts == 1

    asyncio.run(run())
