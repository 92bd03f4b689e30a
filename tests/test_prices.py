"""Known prices, as the shipped table gives them."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import pytest
from genai_prices.data_snapshot import get_snapshot

from evalrun.prices import GenaiPrices
from evalrun.usage import ModelName, Tokens

TABLE = GenaiPrices()


def known(provider: str) -> ModelName:
    """Some model of a provider that the table knows by its own name and at a plain price."""
    ids = next(p for p in get_snapshot().providers if p.id == provider).models
    named = (ModelName(provider=provider, model=m.id) for m in ids)
    return next(n for n in named if TABLE.entry(n) == n.model and TABLE.price(n, Tokens(input=1000), ""))


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_known_model_has_a_price_that_grows(provider: str) -> None:
    """More tokens cost more, nothing costs nothing, all as exact decimals."""
    model = known(provider)
    nothing, some, more = (TABLE.price(model, Tokens(input=n, output=n), "") for n in (0, 1000, 2000))
    assert nothing == 0
    assert some is not None
    assert more is not None
    assert isinstance(some, Decimal)
    assert 0 < some < more


@pytest.mark.parametrize("name", ["compatible:mine", "openai:small-a-2026-11-20", "nobody:gpt-4o", "openai:ft:x:y"])
def test_b26_an_unknown_model_has_no_price(name: str) -> None:
    """An unknown model, a tuned one and an endpoint of one's own are unknown, never 0 and never guessed."""
    model = ModelName.parse(name)
    assert (TABLE.price(model, Tokens(input=1000), ""), TABLE.entry(model)) == (None, "")


def test_the_dearest_is_no_cheaper_than_any() -> None:
    """No known model costs more for a short call than the dearest input and output together."""
    dear = TABLE.dearest()
    for provider in ("openai", "anthropic", "google", "mistral"):
        for model in next(p for p in get_snapshot().providers if p.id == provider).models:
            name = ModelName(provider=provider, model=model.id)
            for tokens, most in ((Tokens(input=1000), dear.input), (Tokens(output=1000), dear.output)):
                price = TABLE.price(name, tokens, "")
                assert price is None or price <= most / 1000


def test_a_near_name_is_offered() -> None:
    """A name that is nearly right is met with the right one of that provider; a strange one with none."""
    model = known("openai")
    assert TABLE.near(ModelName(provider="openai", model=model.model + "x")) == model.model
    assert TABLE.near(ModelName.parse("compatible:mine")) == ""


def test_the_table_says_which_it_is() -> None:
    """The version of the table is part of what a run keeps."""
    assert TABLE.version.startswith("genai-prices ")


def test_the_table_is_loaded_only_for_a_paid_model() -> None:
    """The ledger and the model calls do not import the table: the embedded model never needs it."""
    code = "import sys, evalrun.budget, evalrun.model_calls, evalrun.plugins; print('genai_prices' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
