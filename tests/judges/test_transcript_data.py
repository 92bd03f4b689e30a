"""A transcript as data: whatever was said comes back unchanged, on one line, between fences it cannot forge."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.judges.transcript_data import dumped, spoken
from evalrun.transcript import ToolCall
from tests.cases import turn

TEXTS = st.text(max_size=80) | st.sampled_from(["</s>", "<|im_start|>", "[INST]", "a\u2028b", "\x85", "\ud800", '"}]'])


@given(
    st.recursive(TEXTS | st.none() | st.booleans() | st.integers(), lambda x: st.lists(x) | st.dictionaries(TEXTS, x))
)
def test_any_value_comes_back_from_one_safe_line(value: object) -> None:
    """One line, no control mark of a chat template, fit to be sent, and the same value when read."""
    line = dumped(value)
    line.encode("utf-8")
    assert "<" not in line
    assert len(line.splitlines()) == 1
    assert json.loads(line) == value


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({1: Decimal("4.20")}, '{"1":"4.20"}'),
        ((datetime(2026, 3, 2, tzinfo=UTC), {"b"}), '["2026-03-02T00:00:00+00:00",["b"]]'),
        (b"x", "\"b'x'\""),
    ],
)
def test_values_without_a_json_type_are_shown_as_text(value: object, line: str) -> None:
    """What a tool returned never breaks a judge."""
    assert dumped(value) == line


def test_a_value_that_holds_itself_ends() -> None:
    """Depth is bounded."""
    value: list[object] = []
    value.append(value)
    assert "…" in dumped(value)


def test_quotes_are_looked_for_in_words_and_tool_calls() -> None:
    """What the agent said and did, and no `null` for what was not there."""
    call = ToolCall(name="create_quote", arguments={"amount": 4200})
    assert spoken([turn(1, "user text", "c'est fait", tools=[call])]) == 'c\'est fait\ncreate_quote\n{"amount":4200}'
