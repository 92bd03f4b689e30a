"""The one way model calls are made: money and the record, over a scripted server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from decimal import Decimal

import pytest

from evalrun.errors import BudgetReached, ModelFailed
from evalrun.model_calls import Patience
from evalrun.usage import ZERO, Role
from tests.model_bench import CENT, PRICES, Held, bench, in_turn, outcome
from tests.scripted_server import Answer, Usage


def test_the_books_equal_the_servers_own_count() -> None:
    """Cost by role in the tally, in the ledger and by the server's count are equal to the last decimal."""

    def script(role: str, _body: Mapping[str, object]) -> Answer:
        return Answer(usage=Usage(input=137, cached=100, output=11 if role == "agent" else 7))

    async def run() -> None:
        async with bench(script) as b:
            await asyncio.gather(*(b.ask(role) for role in (Role.AGENT, Role.JUDGE) for _ in range(5)))
            spending = b.tally.spending()
            for role, price in PRICES.items():
                assert spending.of(role).cost == b.server.cost({role.value: price})
            assert spending.cost == b.ledger.spent == sum(e.cost for e in b.tally.exchanges)
            assert b.ledger.reserved == 0
            assert not spending.estimated

    asyncio.run(run())


def test_an_exchange_holds_what_crossed_the_wire() -> None:
    """What was sent and received, the model asked and returned, the attempt and the tokens are kept."""

    async def run() -> None:
        async with bench(in_turn(Answer(text="8", model="judge-1-2026"))) as b:
            await b.ask(text="salut")
            (exchange,) = b.tally.exchanges
            assert exchange.sent == b.server.requests()[0].body
            assert exchange.received["model"] == exchange.returned == "judge-1-2026"
            assert (exchange.asked, exchange.attempt, exchange.tokens.input) == ("compatible:judge-1", 1, 100)

    asyncio.run(run())


@pytest.mark.parametrize(("cap", "calls"), [("0.10", 5), ("0.06", 3), ("0.02", 1), ("0.019", 0), ("0", 0)])
def test_b29_calls_side_by_side_never_pass_the_cap(cap: str, calls: int) -> None:
    """48 calls at $0.02, 8 in flight: as many are made as the cap allows, none more, whatever is in flight."""

    async def run() -> None:
        async with bench(lambda _role, _body: Answer(delay=0.002), width=8, cap=cap, own=CENT) as b:
            replies = await b.ask_many(48)
            assert [outcome(r) for r in replies].count("ok") == calls
            assert {outcome(r) for r in replies} <= {"ok", "BudgetReached"}
            assert len(b.server.requests()) == calls
            assert (b.ledger.spent, b.ledger.reserved) == (calls * Decimal("0.02"), ZERO)

    asyncio.run(run())


def test_b29_money_set_aside_in_flight_is_waited_for() -> None:
    """A call that only the worst cases of calls in flight forbid waits for them: the cap is used, not half of it."""

    async def run() -> None:
        async with bench(lambda _role, _body: Answer(usage=Usage(output=2)), width=8, cap="0.10", own=CENT) as b:
            replies = await b.ask_many(40)
            assert [outcome(r) for r in replies] == ["ok"] * 40
            assert b.ledger.spent == 40 * Decimal("0.002")

    asyncio.run(run())


def test_an_answer_without_usage_costs_the_worst_case() -> None:
    """A vendor that reports no usage is booked at what was set aside, marked as an estimate."""

    async def run() -> None:
        async with bench(lambda _role, _body: Answer(usage=None), own=CENT) as b:
            await b.ask(limit=30)
            total = b.tally.spending().judge
            assert (total.cost, total.estimated, total.tokens.reliable) == (Decimal("0.03"), True, False)

    asyncio.run(run())


@pytest.mark.parametrize("cancelled", [True, False], ids=["cancelled", "timed out"])
def test_a_call_cut_in_the_middle_is_booked_at_its_worst_case(*, cancelled: bool) -> None:
    """Nobody knows whether a call that was cut was charged: it counts in full in ledger and tally, and nothing leaks."""

    async def run() -> None:
        patience = Patience(attempts=1, call=60.0 if cancelled else 0.05)
        script = Held()
        async with bench(script, own=CENT, patience=patience) as b:
            task = asyncio.create_task(b.ask())
            await script.arrived.wait()
            if cancelled:
                task.cancel()
            (result,) = await asyncio.gather(task, return_exceptions=True)
            script.gate.set()
            assert isinstance(result, asyncio.CancelledError if cancelled else ModelFailed)
            assert (b.ledger.spent, b.ledger.reserved) == (Decimal("0.02"), ZERO)
            total = b.tally.spending().judge
            assert (total.calls, total.retries, total.cost, total.estimated) == (0, 1, Decimal("0.02"), True)
            assert b.calls.limiter("compatible").in_flight == 0

    asyncio.run(run())


def test_a_call_cut_while_it_waits_costs_nothing() -> None:
    """A call that was cut before it was sent leaves no reservation and no exchange."""

    async def run() -> None:
        script = Held()
        async with bench(script, width=1, own=CENT) as b:
            first, second = asyncio.create_task(b.ask()), asyncio.create_task(b.ask())
            await script.arrived.wait()
            second.cancel()
            script.gate.set()
            await asyncio.gather(first, second, return_exceptions=True)
            assert (b.ledger.spent, b.ledger.reserved, len(b.tally.exchanges)) == (Decimal("0.02"), ZERO, 1)

    asyncio.run(run())


def test_a_refused_budget_keeps_no_place() -> None:
    """A call that the budget forbids gives its place back."""

    async def run() -> None:
        async with bench(in_turn("ok"), width=1, cap="0", own=CENT) as b:
            for _ in range(3):
                with pytest.raises(BudgetReached):
                    await b.ask()
            assert b.calls.limiter("compatible").in_flight == 0
            assert b.server.requests() == []

    asyncio.run(run())
