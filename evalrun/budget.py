"""The ledger of a run: money is set aside before a call and booked after it, all roles together.

The prompt's worst case is one token a byte, which no tokenizer passes; the answer's is its limit.
So what is spent and set aside together never passes the cap, however many calls are in flight.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Protocol

from evalrun.config import Price
from evalrun.errors import BudgetReached, Unpriced
from evalrun.interfaces.models import ModelRequest, Reservation
from evalrun.usage import ZERO, ModelName, Tokens

MILLION_TOKENS = 1_000_000
MILLION = Decimal(MILLION_TOKENS)
BYTES_OF_FRAME = 16
"""Tokens a vendor may add around each message."""


class PriceTable(Protocol):
    """Known prices."""

    version: str

    def price(self, model: ModelName, tokens: Tokens, tier: str) -> Decimal | None:
        """USD of a call, None when the model is unknown."""

    def entry(self, model: ModelName) -> str:
        """The name under which the table knows the model, "" when it does not."""

    def dearest(self) -> Price:
        """The dearest input and the dearest output of all known models."""

    def near(self, model: ModelName) -> str:
        """A known model with a similar name, or ""."""


def cost_of(price: Price, tokens: Tokens) -> Decimal:
    """USD at prices per million: cached and written parts at their own price, the rest at the input price."""
    cached_price = price.input if price.cached is None else price.cached
    write_price = price.input if price.cache_write is None else price.cache_write
    plain = max(tokens.input - tokens.cached - tokens.cache_write, 0)
    cost = plain * price.input + tokens.output * price.output
    if tokens.cached or tokens.cache_write:
        cost += tokens.cached * cached_price + tokens.cache_write * write_price
    return cost / MILLION


class Ledger:
    """The books of one run (see `interfaces.models.Meter`). Safe to use from several threads.

    `cap` in USD, None for no cap; `own` are the user's prices by `provider:model` or model;
    `local` names providers whose calls cost nothing; `table` gives known prices when first needed.
    """

    def __init__(
        self,
        *,
        cap: Decimal | None,
        own: Mapping[str, Price],
        local: frozenset[str],
        table: Callable[[], PriceTable],
        strict: bool = False,
    ) -> None:
        self.cap = cap
        self.spent = ZERO
        self.reserved = ZERO
        self.notices: list[str] = []
        self._own = own
        self._local = local
        self._table = table
        self._strict = strict
        self._ids = itertools.count(1)
        self._open: dict[int, Reservation] = {}
        self._said: set[ModelName] = set()
        self._lock = threading.Lock()

    def reserve(self, request: ModelRequest) -> Reservation:
        """Set aside the worst case of a call. Raises BudgetReached when the cap would be passed."""
        amount = self._worst(request)
        with self._lock:
            if self.cap is not None and amount and self.spent + self.reserved + amount > self.cap:
                raise BudgetReached(
                    f"the budget of ${self.cap} does not allow another {request.role} call"
                    f" (spent ${self.spent:.4f}, in flight ${self.reserved:.4f}, this call at most ${amount:.4f})",
                    remedy="raise --budget, choose a cheaper model, or run fewer scenarios",
                    later=self.spent + amount <= self.cap,
                )
            reservation = Reservation(id=next(self._ids), role=request.role, model=request.model, amount=amount)
            self._open[reservation.id] = reservation
            self.reserved += amount
        return reservation

    def settle(self, reservation: Reservation, tokens: Tokens | None, *, tier: str = "") -> tuple[Decimal, bool]:
        """Book a call: its tokens, or the whole reservation when nobody knows what was billed (None).

        Returns USD and whether the figure is an estimate.
        """
        if tokens is None:
            cost, estimated = reservation.amount, reservation.amount > 0
        else:
            cost, estimated = self.price(reservation.model, tokens, tier)
            if not tokens.reliable:
                cost, estimated = max(cost, reservation.amount), reservation.amount > 0
        with self._lock:
            self._close(reservation)
            self.spent += cost
        return cost, estimated

    def release(self, reservation: Reservation) -> None:
        """Give back a reservation whose call was not billed."""
        with self._lock:
            self._close(reservation)

    def price(self, model: ModelName, tokens: Tokens, tier: str = "") -> tuple[Decimal, bool]:
        """USD of some tokens, and whether it is an estimate at the dearest known price.

        Raises Unpriced for an unknown model under strict prices.
        """
        if model.provider in self._local:
            return ZERO, False
        own = self._own_price(model)
        if own is not None:
            return cost_of(own, tokens), False
        table = self._table()
        known = table.price(model, tokens, tier)
        if known is not None:
            return known, False
        self._unknown(model, table)
        return cost_of(table.dearest(), tokens), True

    def check(self, model: ModelName) -> None:
        """Before anything is spent: refuse an unknown model under strict prices, or note it.

        A model priced under another name of the table is noted too: no prefix is guessed in silence.
        Raises BudgetReached for a paid model where no money may be spent at all.
        """
        if model.provider in self._local:
            return
        if (
            self.cap is not None
            and not self.cap
            and self.price(model, Tokens(input=MILLION_TOKENS, output=MILLION_TOKENS))[0]
        ):
            raise BudgetReached(
                f"a budget of $0 allows no paid call, and {model} costs money",
                remedy="raise --budget, or choose models that cost nothing (--model role=local:…)",
            )
        if self._own_price(model) is not None:
            return
        self.price(model, Tokens())
        entry = self._table().entry(model)
        if entry and entry != model.model:
            self._note(model, f"{model} has the price of {entry} ({self._table().version})")

    def _own_price(self, model: ModelName) -> Price | None:
        return self._own.get(str(model)) or self._own.get(model.model)

    def _worst(self, request: ModelRequest) -> Decimal:
        """USD of a call at most: every byte of the prompt a token, read plainly or written to a cache."""
        size, output = _prompt_at_most(request), request.max_output_tokens
        plain, _ = self.price(request.model, Tokens(input=size, output=output))
        if not plain:
            return plain
        written, _ = self.price(request.model, Tokens(input=size, cache_write=size, output=output))
        return max(plain, written)

    def _unknown(self, model: ModelName, table: PriceTable) -> None:
        near = table.near(model)
        hint = f" (near: {near})" if near else ""
        if self._strict:
            raise Unpriced(
                f"no price for {model}{hint}", remedy=f'set [tool.evalrun.prices."{model.model}"] input and output'
            )
        dear = table.dearest()
        self._note(
            model,
            f"no price for {model}{hint}: counted at the dearest known,"
            f" ${dear.input:f} in and ${dear.output:f} out per million tokens",
        )

    def _note(self, model: ModelName, line: str) -> None:
        with self._lock:
            if model not in self._said:
                self._said.add(model)
                self.notices.append(line)

    def _close(self, reservation: Reservation) -> None:
        if self._open.pop(reservation.id, None) is None:
            raise ValueError(f"reservation {reservation.id} is closed already")
        self.reserved -= reservation.amount


def _prompt_at_most(request: ModelRequest) -> int:
    """Tokens the prompt can have at most."""
    size = sum(_bytes_of(m.content or "") + BYTES_OF_FRAME for m in request.messages)
    size += sum(len(repr(m.tool_calls)) for m in request.messages if m.tool_calls)
    if request.schema is not None:
        size += len(repr(request.schema))
    if request.tools:
        size += len(repr(request.tools))
    return size


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
