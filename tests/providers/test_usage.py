"""Vendors count tokens in four ways; evalrun in one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.budget import cost_of
from evalrun.config import Price
from evalrun.providers.usage import from_chat, from_generate, from_messages

PRICE = Price(input=Decimal(1), cached=Decimal("0.1"), output=Decimal(4))
INCLUSIVE = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 800}}
EXCLUSIVE = {
    "input_tokens": 200,
    "cache_read_input_tokens": 800,
    "cache_creation_input_tokens": 0,
    "output_tokens": 100,
}
REASONING = {
    "prompt_tokens": 1000,
    "completion_tokens": 600,
    "completion_tokens_details": {"reasoning_tokens": 500},
}
THOUGHTS = {"promptTokenCount": 1000, "candidatesTokenCount": 100, "thoughtsTokenCount": 500}


@pytest.mark.parametrize(
    ("read", "usage", "cost"),
    [
        (from_chat, INCLUSIVE, "0.00068"),
        (from_messages, EXCLUSIVE, "0.00068"),
        (from_chat, REASONING, "0.0034"),
        (from_generate, THOUGHTS, "0.0034"),
    ],
    ids=["A inclusive", "B exclusive", "C reasoning inside output", "D thoughts outside output"],
)
def test_b27_every_way_to_count_gives_the_same_money(read: Any, usage: Any, cost: str) -> None:
    """Cached and reasoning tokens are counted once, whatever the vendor includes where."""
    assert cost_of(PRICE, read(usage)) == Decimal(cost)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        [],
        "1000",
        {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 1200}},
        {"prompt_tokens": -1, "completion_tokens": 100},
        {"prompt_tokens": True, "completion_tokens": 100},
        {"prompt_tokens": 1000},
        {"prompt_tokens": "1000", "completion_tokens": 100},
        {"prompt_tokens": 10, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 9}},
    ],
)
def test_b27_e_a_missing_or_contradictory_report_is_unreliable_and_never_negative(usage: Any) -> None:
    """Usage that is null, or that says more cached than sent, is flagged and costs no less than nothing."""
    tokens = from_chat(usage)
    assert not tokens.reliable
    assert cost_of(PRICE, tokens) >= 0


@pytest.mark.parametrize(("read", "usage"), [(from_messages, {}), (from_messages, None), (from_generate, {})])
def test_other_vendors_missing_report_is_unreliable(read: Any, usage: Any) -> None:
    """A report without its figures is unreliable for every vendor."""
    assert not read(usage).reliable


COUNT = st.none() | st.integers(min_value=-5, max_value=5000) | st.booleans() | st.text(max_size=3)


@given(
    prompt=COUNT,
    output=COUNT,
    cached=COUNT,
    written=COUNT,
    reasoning=COUNT,
)
def test_no_report_makes_a_negative_part(prompt: Any, output: Any, cached: Any, written: Any, reasoning: Any) -> None:
    """Whatever a vendor reports, no part is negative and the parts of the input do not pass the input."""
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    tokens = from_chat(usage)
    assert min(tokens.input, tokens.cached, tokens.cache_write, tokens.output, tokens.reasoning) >= 0
    assert tokens.cached + tokens.cache_write <= tokens.input
    assert tokens.reasoning <= tokens.output
