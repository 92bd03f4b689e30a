"""Results to JSON and back."""

from __future__ import annotations

import dataclasses
import enum
import json
import types
import typing
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalrun.archive import decode, document, encode, text_of
from evalrun.errors import StoreFailed
from evalrun.results import RESULTS_VERSION, Exchange, RunHeader, RunResult, TrialResult
from evalrun.transcript import ToolCall
from evalrun.usage import Role
from tests.results_samples import exchange, said, transcript, trial
from tests.runs_samples import hostile_run, mixed_run

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ZONES = st.integers(-840, 840).map(lambda m: timezone(timedelta(minutes=m)))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
PLAIN: Mapping[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(-(2**60), 2**60),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    object: JSON_VALUES,
    type(None): st.none(),
    Decimal: st.decimals(allow_nan=False, allow_infinity=False),
    datetime: st.datetimes(timezones=ZONES, min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)),  # noqa: DTZ001
}


def any_of(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type that results are made of."""
    if kind in PLAIN:
        return PLAIN[kind]
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        return st.builds(kind, **{f.name: any_of(hints[f.name]) for f in dataclasses.fields(kind)})
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return st.sampled_from(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        return st.lists(any_of(arguments[0]), max_size=2).map(tuple)
    if origin is Mapping:
        return st.dictionaries(TEXT, any_of(arguments[1]), max_size=2)
    assert origin is types.UnionType, kind
    return st.one_of([any_of(a) for a in arguments])


@pytest.mark.parametrize("kind", [TrialResult, RunHeader, RunResult, Exchange])
def test_round_trip_of_samples(kind: type[Any]) -> None:
    """What comes back equals what was kept, money and times to the last digit."""
    run = mixed_run()
    values: dict[type[Any], Any] = {
        TrialResult: run.scenarios[1].trials[0],
        RunHeader: run.header,
        RunResult: run,
        Exchange: exchange(),
    }
    value = values[kind]
    assert decode(kind, encode(value)) == value


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_round_trip_of_anything(data: st.DataObject) -> None:
    """Any value of the types comes back equal."""
    kind = data.draw(st.sampled_from([TrialResult, RunHeader, Exchange]))
    value = data.draw(any_of(kind))
    assert decode(kind, encode(value)) == value


def test_money_is_text_and_the_version_comes_first() -> None:
    """The document says its version, and money is text with all its digits."""
    found = document(mixed_run())
    assert next(iter(found)) == "schema_version"
    assert found["schema_version"] == RESULTS_VERSION
    assert found["scenarios"][0]["trials"][0]["spending"]["judge"]["cost"] == "0.00243"


@pytest.mark.parametrize("kind", [TrialResult, RunHeader, RunResult, Exchange])
def test_a_newer_version_is_refused(kind: type[Any]) -> None:
    """What a newer evalrun wrote is not guessed at."""
    with pytest.raises(StoreFailed, match=f"has version {RESULTS_VERSION + 1}, this evalrun knows {RESULTS_VERSION}"):
        decode(kind, json.dumps({"schema_version": RESULTS_VERSION + 1, "anything": "new"}))


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"scenario": 1}', b'{"schema_version": "x"}', b"\xff"])
def test_damaged_data_is_refused(data: bytes) -> None:
    """Never a default for what is missing."""
    with pytest.raises(StoreFailed, match="cannot be read"):
        decode(TrialResult, data)


class Odd:
    """A value of a target's own."""

    def __str__(self) -> str:
        return "odd"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (date(2026, 3, 2), "2026-03-02"),
        (datetime(2026, 3, 2, tzinfo=UTC), "2026-03-02T00:00:00Z"),
        (Decimal("1.10"), "1.10"),
        (Role.AGENT, "agent"),
        (Odd(), "odd"),
        ({3: "x"}, {"3": "x"}),
        ({(1, 2): "x"}, {"(1, 2)": "x"}),
        ({None: [Odd()]}, {"None": ["odd"]}),
        ("a\x00b", "a\x00b"),
        ("ok \ud83d", "ok \ufffd"),
        ({"\udc00": ["\ud83d"]}, {"\ufffd": ["\ufffd"]}),
        (10**40, 10**40),
        (float("nan"), None),
    ],
)
def test_b68_whatever_a_target_gave_can_be_kept(value: object, expected: object) -> None:
    """No value of a tool call, of SQL or of a provider keeps a trial from being stored."""
    one = trial("s", "pass", "ok", talk=transcript(said(1, "salut", "ok", tools=[ToolCall(name="t", result=value)])))
    kept = decode(TrialResult, encode(one))
    tools = kept.transcript.turns[0].tools
    assert tools is not None
    assert tools[0].result == expected


def test_b68_a_value_without_end_can_be_kept() -> None:
    """A value that holds itself is cut, not followed."""
    loop: list[object] = []
    loop.append(loop)
    one = trial("s", "pass", "ok", talk=transcript(said(1, "salut", "ok", tools=[ToolCall(name="t", result=loop)])))
    assert "nested over" in encode(one).decode()


def test_hostile_texts_come_back_as_they_were() -> None:
    """Only halves of surrogates are changed."""
    assert decode(RunResult, encode(hostile_run())) == hostile_run()


def test_text_of_indents() -> None:
    """Plain values as readable JSON."""
    assert text_of({"a": [1]}, indent=2) == '{\n  "a": [\n    1\n  ]\n}'
    assert text_of({"a": Decimal("1.50"), "é": None}) == '{"a":"1.50","é":null}'
