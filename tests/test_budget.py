"""The ledger: money is set aside before it is spent, over all calls of a run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.budget import Ledger, cost_of
from evalrun.config import Price
from evalrun.errors import BudgetReached, Unpriced
from evalrun.interfaces.models import Message, ModelRequest, Reservation
from evalrun.usage import ZERO, ModelName, Role, Tokens

DEAREST = Price(input=Decimal(150), output=Decimal(600))
SMALL = Price(input=Decimal("0.15"), output=Decimal("0.60"))


class Table:
    """A price table that knows `openai:small-a`, and `openai:small-a-1` as the same."""

    version = "table 1"

    def price(self, model: ModelName, tokens: Tokens, tier: str) -> Decimal | None:
        """USD; the tier `priority` costs twice as much."""
        if not self.entry(model):
            return None
        return cost_of(SMALL, tokens) * (2 if tier == "priority" else 1)

    def entry(self, model: ModelName) -> str:
        """The table's own name."""
        return "small-a" if model.provider == "openai" and model.model in ("small-a", "small-a-1") else ""

    def dearest(self) -> Price:
        """The dearest price."""
        return DEAREST

    def near(self, model: ModelName) -> str:
        """A similar name."""
        return "small-a" if "small" in model.model else ""


def ledger(
    cap: str | None, own: Mapping[str, Price] | None = None, *, strict: bool = False, fixed: str = "0.02"
) -> Ledger:
    """A ledger in which a call of `openai:stub` costs exactly `fixed` USD: its output's price, one token."""
    stub = {"openai:stub": Price(input=ZERO, output=Decimal(fixed) * 1_000_000)}
    return Ledger(
        cap=None if cap is None else Decimal(cap),
        own=stub | dict(own or {}),
        local=frozenset({"local"}),
        table=Table,
        strict=strict,
    )


def request(model: str = "openai:stub", text: str = "", *, limit: int = 1) -> ModelRequest:
    """A request."""
    return ModelRequest(
        role=Role.JUDGE,
        model=ModelName.parse(model),
        messages=(Message(role="user", content=text),),
        max_output_tokens=limit,
    )


ONE = Tokens(output=1)


def test_b26_an_unknown_model_costs_as_much_as_the_dearest_known() -> None:
    """A model without a price is never free: the dearest is taken, marked as an estimate, said once with a near name."""
    books = ledger(None)
    unknown = ModelName.parse("openai:small-a-2026-11-20")
    tokens = Tokens(input=1_000_000, output=1_000_000)
    assert books.price(unknown, tokens) == (Decimal(750), True)
    books.check(unknown)
    expected = (
        "no price for openai:small-a-2026-11-20 (near: small-a): counted at the dearest known,"
        " $150 in and $600 out per million tokens"
    )
    assert books.notices == [expected]


def test_b26_strict_prices_refuse_before_the_first_call() -> None:
    """Under strict prices an unknown model is a usage error naming the near model and the setting to write."""
    with pytest.raises(Unpriced) as error:
        ledger(None, strict=True).check(ModelName.parse("openai:small-a-2026-11-20"))
    assert str(error.value) == "no price for openai:small-a-2026-11-20 (near: small-a)"
    assert error.value.remedy == 'set [tool.evalrun.prices."small-a-2026-11-20"] input and output'


def test_b26_the_budget_stands_with_an_unknown_model() -> None:
    """With $0.01 an unknown model is refused before its first call."""
    with pytest.raises(BudgetReached):
        ledger("0.01").reserve(request("openai:small-a-2026-11-20", "hi", limit=100))


def test_b26_no_name_is_guessed_in_silence() -> None:
    """A model that the table prices under another name is said once; one it knows by its own name is not."""
    books = ledger(None)
    for name in ("openai:small-a", "openai:small-a-1", "openai:small-a-1", "local:x", "openai:stub"):
        books.check(ModelName.parse(name))
    assert books.notices == ["openai:small-a-1 has the price of small-a (table 1)"]


@pytest.mark.parametrize("key", ["compatible:mine", "mine"])
def test_a_users_own_price_counts_first(key: str) -> None:
    """An endpoint of one's own is priced by `provider:model` or by model, exactly and without a notice."""
    books = ledger(None, {key: Price(input=Decimal(1), cached=Decimal("0.1"), output=Decimal(4))}, strict=True)
    tokens = Tokens(input=1000, cached=800, output=100)
    assert books.price(ModelName.parse("compatible:mine"), tokens) == (Decimal("0.00068"), False)
    assert books.notices == []


def test_the_tier_that_was_returned_sets_the_price() -> None:
    """A call that the vendor ran at a dearer tier is booked at that tier."""
    books = ledger(None)
    reservation = books.reserve(request("openai:small-a"))
    assert books.settle(reservation, Tokens(input=1_000_000), tier="priority") == (Decimal("0.30"), False)


def test_b29_eight_calls_in_flight_do_not_pass_the_cap() -> None:
    """Of eight calls at $0.02 that start together under $0.10, five start."""
    books = ledger("0.10")
    started, refused = [], 0
    for _ in range(8):
        try:
            started.append(books.reserve(request()))
        except BudgetReached as e:
            refused += e.later
    assert (len(started), refused, books.reserved) == (5, 3, Decimal("0.10"))
    for reservation in started:
        books.settle(reservation, ONE)
    assert (books.spent, books.reserved) == (Decimal("0.10"), ZERO)


def test_b29_a_remainder_of_exactly_nothing_is_no_more_calls() -> None:
    """After three calls of $0.02 the remainder of $0.06 is 0.00, and that means none, not no limit."""
    books = ledger("0.06")
    for _ in range(3):
        books.settle(books.reserve(request()), ONE)
    with pytest.raises(BudgetReached) as error:
        books.reserve(request())
    assert not error.value.later
    assert books.spent == Decimal("0.06")


def test_b29_a_budget_of_nothing_allows_local_calls_only() -> None:
    """`--budget 0` refuses any paid call and lets the embedded model go on."""
    books = ledger("0")
    with pytest.raises(BudgetReached):
        books.reserve(request())
    local = books.reserve(request("local:smollm2-135m", "x" * 9000, limit=9000))
    assert (local.amount, books.settle(local, Tokens(input=9, output=9))) == (ZERO, (ZERO, False))


def test_b29_a_budget_of_nothing_refuses_a_paid_model_before_the_first_call() -> None:
    """A model that costs is refused when the run is planned; one that costs nothing is not."""
    books = ledger("0")
    with pytest.raises(BudgetReached, match=r"a budget of \$0 allows no paid call"):
        books.check(request().model)
    books.check(ModelName.parse("local:smollm2-135m"))
    ledger("0.01").check(request().model)


def test_b29_workers_on_threads_share_one_cap() -> None:
    """Many threads that reserve and settle at once never pass the cap, and the books balance."""
    books = ledger("1.00")
    refused = []

    def work() -> None:
        for _ in range(50):
            try:
                books.settle(books.reserve(request()), ONE)
            except BudgetReached:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (books.spent, books.reserved, len(refused)) == (Decimal("1.00"), ZERO, 350)


def test_an_unreliable_report_costs_the_worst_case() -> None:
    """Usage that is missing or contradicts itself is booked at what was set aside, and marked."""
    books = ledger(None)
    reservation = books.reserve(request("openai:small-a", "x" * 1000, limit=100))
    assert books.settle(reservation, Tokens(input=3, reliable=False)) == (reservation.amount, True)
    reservation = books.reserve(request("openai:small-a", "x" * 1000, limit=100))
    assert books.settle(reservation, None) == (reservation.amount, True)


def test_a_reservation_is_closed_once() -> None:
    """Settling twice, or settling what was released, is our own bug and is not booked."""
    books = ledger(None)
    reservation = books.reserve(request())
    books.release(reservation)
    with pytest.raises(ValueError, match="closed already"):
        books.settle(reservation, ONE)
    assert (books.spent, books.reserved) == (ZERO, ZERO)


@given(st.text(max_size=200), st.integers(min_value=1, max_value=500))
def test_what_is_set_aside_covers_any_tokenizer(text: str, limit: int) -> None:
    """A token a byte and the whole limit, plain or written to a cache, never cost more than the reservation."""
    own = Price(input=Decimal(1), cache_write=Decimal("1.25"), cached=Decimal("0.1"), output=Decimal(4))
    books = ledger(None, {"mine": own})
    reservation = books.reserve(request("compatible:mine", text, limit=limit))
    size = len(text.encode("utf-8", "replace"))
    for tokens in (Tokens(input=size, output=limit), Tokens(input=size, cache_write=size, output=limit)):
        assert cost_of(own, tokens) <= reservation.amount


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "settle", "unknown", "unreliable", "release"]),
        st.integers(min_value=0, max_value=7),
        st.integers(min_value=0, max_value=100),
    ),
    max_size=60,
)


@given(steps=STEPS, cap=st.decimals(min_value=0, max_value=Decimal("0.01"), places=5))
def test_the_cap_is_never_passed_and_the_books_balance(steps: list[tuple[str, int, int]], cap: Decimal) -> None:
    """For any order of reserving, settling and releasing: spent + set aside ≤ cap, and both are exact sums."""
    books = ledger(str(cap))
    open_: list[Reservation] = []
    paid: list[Decimal] = []
    for what, which, size in steps:
        if what == "reserve":
            try:
                open_.append(books.reserve(request("openai:small-a", "x" * size, limit=size + 1)))
            except BudgetReached:
                assert books.spent + books.reserved <= cap
        elif open_:
            reservation = open_.pop(which % len(open_))
            if what == "release":
                books.release(reservation)
            else:
                tokens = {"unknown": None, "unreliable": Tokens(reliable=False)}.get(what, Tokens(input=size))
                within = tokens is None or books.price(reservation.model, tokens)[0] <= reservation.amount
                paid.append(books.settle(reservation, tokens if within else None)[0])
        assert books.spent == sum(paid, ZERO)
        assert books.reserved == sum((r.amount for r in open_), ZERO)
        assert books.spent + books.reserved <= cap


def test_a_ledger_needs_no_event_loop() -> None:
    """The meter is plain code: it can be asked from any thread and any loop."""

    async def run() -> Decimal:
        books = ledger("1")
        await asyncio.to_thread(lambda: books.settle(books.reserve(request()), ONE))
        return books.spent

    assert asyncio.run(run()) == Decimal("0.02")
