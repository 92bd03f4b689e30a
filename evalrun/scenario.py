"""One scenario file: who talks, in which situation, what must hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

from evalrun.errors import Where
from evalrun.expectation import Expectations


class Category(StrEnum):
    """What kind of behaviour a scenario covers."""

    STAGE = "stage"
    ACTION = "action"
    EVENT = "event"
    SMOKE = "smoke"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserStep:
    """A scripted message. `sender` is a participant id (empty: the persona); `to` more people the agent may write to."""

    text: str
    sender: str = ""
    to: tuple[str, ...] = ()
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaStep:
    """The persona actor talks for at most `turns` turns, or until the expectations hold."""

    turns: int
    until: Expectations | None = None
    to: tuple[str, ...] = ()
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStep:
    """An event dispatched straight to the orchestrator; the agent speaks first.

    `participant` is whom it is about (empty: the persona).
    """

    name: str
    data: Mapping[str, object] = field(default_factory=dict)
    participant: str = ""
    to: tuple[str, ...] = ()
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceStep:
    """Time passes by `interval`; the target may run the jobs that are then due."""

    interval: timedelta
    to: tuple[str, ...] = ()
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectStep:
    """A checkpoint. With `silence` the turn before it must have been silent."""

    expectations: Expectations
    silence: bool = False
    where: Where


Step = UserStep | PersonaStep | EventStep | AdvanceStep | ExpectStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """Somebody the agent may meet: the persona, a match, staff. `address` is how the channel names them."""

    id: str
    name: str
    address: str = ""
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The situation before the first step. `state` is handed to the target as written."""

    now: datetime | None = None
    state: Mapping[str, object] = field(default_factory=dict)
    participants: tuple[Participant, ...] = ()
    keep_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePlan:
    """Which rubric and checks a scenario is judged by; an empty rubric means no scored rubric."""

    rubric: str = ""
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One scenario.

    `repeats` is a count, or "auto". `allow` lists texts that style rules must let pass in this
    scenario. `digest` is the hash of the file's bytes.
    """

    id: str
    title: str
    category: Category
    stage: str = ""
    persona: str
    objective: str
    given: Given = field(default_factory=Given)
    steps: tuple[Step, ...]
    expect: Expectations = field(default_factory=Expectations)
    judge: JudgePlan = field(default_factory=JudgePlan)
    repeats: int | Literal["auto"] = "auto"
    tags: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    where: Where
    digest: str = ""

    def turns_at_most(self) -> int:
        """How many turns the steps can give at most."""
        return sum(s.turns if isinstance(s, PersonaStep) else not isinstance(s, ExpectStep) for s in self.steps)
