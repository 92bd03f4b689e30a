"""Known prices, from the data of the `genai-prices` package; never updated while a run goes on."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime
from decimal import Decimal

import genai_prices
from genai_prices import Usage, calc_price
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ConditionalPrice, ModelPrice, TieredPrices

from evalrun.config import Price
from evalrun.usage import ModelName, Tokens


class GenaiPrices:
    """The table (see `budget.PriceTable`)."""

    def __init__(self) -> None:
        self.version = f"genai-prices {genai_prices.__version__}"
        self._dearest: Price | None = None

    def price(self, model: ModelName, tokens: Tokens, tier: str) -> Decimal | None:
        """USD of a call, None when the provider or the model is unknown to the table."""
        usage = Usage(
            input_tokens=tokens.input,
            cache_read_tokens=tokens.cached,
            cache_write_tokens=tokens.cache_write,
            output_tokens=tokens.output,
        )
        try:
            if tier:
                found = calc_price(usage, model.model, provider_id=model.provider, price_context={"service_tier": tier})
            else:
                found = calc_price(usage, model.model, provider_id=model.provider)
        except LookupError:
            return None
        return found.total_price

    def entry(self, model: ModelName) -> str:
        """The name under which the table knows the model, "" when it does not."""
        try:
            found = calc_price(Usage(input_tokens=0, output_tokens=0), model.model, provider_id=model.provider)
        except LookupError:
            return ""
        return found.model.id

    def dearest(self) -> Price:
        """The dearest input and output, USD per million tokens, of all models of all providers."""
        if self._dearest is None:
            prices = [_now(m.prices) for p in get_snapshot().providers for m in p.models if m.prices]
            self._dearest = Price(
                input=max(_base(p.input_mtok) for p in prices), output=max(_base(p.output_mtok) for p in prices)
            )
        return self._dearest

    def near(self, model: ModelName) -> str:
        """A known model with a similar name, or ""."""
        names = [m.id for p in get_snapshot().providers for m in p.models if p.id == model.provider]
        return next(iter(difflib.get_close_matches(model.model, names, n=1)), "")


def _now(prices: ModelPrice | list[ConditionalPrice]) -> ModelPrice:
    if isinstance(prices, ModelPrice):
        return prices
    now = datetime.now(UTC)
    active = [c for c in prices if c.constraint is None or c.constraint.active(now)]
    return active[-1].prices if active else prices[0].prices


def _base(price: Decimal | TieredPrices | None) -> Decimal:
    if price is None:
        return Decimal(0)
    if isinstance(price, Decimal):
        return price
    return max([price.base, *(t.price for t in price.tiers)])
