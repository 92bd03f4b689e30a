"""Deterministic conditions on tools, replies, text, state and SQL: what they are and what came of them.

The matching itself is in `matching.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalrun.errors import Where


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExpectation:
    """A tool that must have been called.

    `args` must be contained in the call's arguments (`exact`: must equal them). `times` is the
    exact number of matching calls; None means at least one.
    """

    name: str
    args: Mapping[str, object] = field(default_factory=dict)
    exact: bool = False
    times: int | None = None
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTool:
    """A tool's name with its place, for `not_called`."""

    name: str
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class RepliesExpectation:
    """Over all turns looked at: number of bubbles from `min` to `max`; in each turn at most `max_bubbles`."""

    min: int | None = None
    max: int | None = None
    max_bubbles: int | None = None
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class TextExpectation:
    """A text that must be present in, or absent from, what the agent said (folded comparison)."""

    text: str
    present: bool
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class StateExpectation:
    """A dotted path of the target's state and the value it must have."""

    path: str
    value: object
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlExpectation:
    """A query on the trial's database whose single value must equal `equals`, or whose rows must be `rows`."""

    query: str
    equals: object = None
    rows: tuple[tuple[object, ...], ...] | None = None
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """Everything that must hold at one point of a conversation."""

    called: tuple[ToolExpectation, ...] = ()
    not_called: tuple[NamedTool, ...] = ()
    replies: RepliesExpectation | None = None
    text: tuple[TextExpectation, ...] = ()
    state: tuple[StateExpectation, ...] = ()
    sql: tuple[SqlExpectation, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to check."""
        return bool(self.called or self.not_called or self.replies or self.text or self.state or self.sql)

    @property
    def on_tools(self) -> bool:
        """Whether anything is expected of tools."""
        return bool(self.called or self.not_called)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlResult:
    """What a query returned when its expectation was looked at, or the error the server gave."""

    query: str
    rows: tuple[tuple[object, ...], ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What code saw outside the conversation. `state` is None when the adapter reports none."""

    state: Mapping[str, object] | None = None
    sql: tuple[SqlResult, ...] = ()
    tools_declared: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Expectations met at one point: after `turn` turns, with the evidence of that moment.

    `silence` says the last turn had to be silent.
    """

    expectations: Expectations
    evidence: Evidence
    turn: int
    silence: bool = False
    final: bool = False
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmet:
    """One expectation that does not hold, or (`broken`) that could not be checked at all."""

    path: str
    expected: str
    got: str
    turn: int
    broken: bool = False
    where: Where
