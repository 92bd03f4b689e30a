"""Tokens and money add up, exactly, in whatever order."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.errors import UsageError
from evalrun.usage import ModelName, Role, RoleTotal, Spending, Tokens

COUNT = st.integers(0, 10**9)
MONEY = st.decimals(0, 10**4, places=9)
TOKENS = st.builds(
    Tokens, input=COUNT, cached=COUNT, cache_write=COUNT, output=COUNT, reasoning=COUNT, reliable=st.booleans()
)
TOTALS = st.builds(
    RoleTotal, calls=COUNT, retries=COUNT, tokens=TOKENS, cost=MONEY, saved=MONEY, estimated=st.booleans()
)
SPENDING = st.builds(Spending, agent=TOTALS, persona=TOTALS, judge=TOTALS)


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [
        ("openai:gpt-x", "openai", "gpt-x"),
        (" compatible:org/model:free ", "compatible", "org/model:free"),
        ("local:smollm2-135m", "local", "smollm2-135m"),
    ],
)
def test_a_model_is_named_by_provider_and_model(text: str, provider: str, model: str) -> None:
    """The model may itself hold colons."""
    name = ModelName.parse(text)
    assert (provider, model, text.strip()) == (name.provider, name.model, str(name))


@pytest.mark.parametrize("text", ["", "gpt-x", ":gpt-x", "openai:", ":", "  "])
def test_half_a_name_is_refused(text: str) -> None:
    """No provider is guessed."""
    with pytest.raises(UsageError, match="not of the form provider:model"):
        ModelName.parse(text)


@given(st.lists(SPENDING, max_size=5))
def test_a_sum_is_the_same_in_any_order_and_by_role(parts: list[Spending]) -> None:
    """The table adds up by scenario, the store by call, the ledger as they come: one figure."""
    mixed = parts[::-1]
    total = Spending.total(parts)
    assert total == Spending.total(mixed)
    for role in Role:
        assert total.of(role).cost == sum((p.of(role).cost for p in parts), Decimal(0))
        assert total.of(role).tokens.input == sum(p.of(role).tokens.input for p in parts)
    assert total.cost == sum((p.cost for p in parts), Decimal(0))
    assert total.calls == sum(p.calls for p in parts)


@given(SPENDING)
def test_nothing_added_changes_nothing(spent: Spending) -> None:
    """And the roles are told apart."""
    assert spent == spent + Spending()
    assert spent == Spending.from_roles({role: spent.of(role) for role in Role})


@given(TOTALS, TOTALS)
def test_a_doubt_is_never_added_away(one: RoleTotal, other: RoleTotal) -> None:
    """One estimated price or unreliable report marks the sum."""
    both = one + other
    assert both.estimated == (one.estimated or other.estimated)
    assert both.tokens.reliable == (one.tokens.reliable and other.tokens.reliable)


@pytest.mark.parametrize("role", Role)
def test_one_estimate_marks_the_whole(role: Role) -> None:
    """Whichever role it is of."""
    assert Spending.from_roles({role: RoleTotal(estimated=True)}).estimated
    assert not Spending().estimated


@pytest.mark.parametrize(
    ("read", "cached", "percent"),
    [(0, 0, 0), (1000, 0, 0), (1000, 1000, 100), (1000, 999, 99), (3, 2, 66), (200, 1, 0)],
)
def test_the_share_of_a_cache_is_never_rounded_up(read: int, cached: int, percent: int) -> None:
    """100 % means all of it; nothing read is no share."""
    assert percent == replace(Tokens(), input=read, cached=cached).cached_percent
