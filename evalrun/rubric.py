"""What a model judge scores: criteria, anchors, the rule of passing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from evalrun.errors import Where


class RubricKind(StrEnum):
    """`scored`: criteria from 1 to 10; `check`: one adversarial yes/no question."""

    SCORED = "scored"
    CHECK = "check"


class Scope(StrEnum):
    """What one judge call looks at."""

    TURN = "turn"
    CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One thing that is scored. `anchors` maps a score or range as written ("1", "9-10") to words."""

    id: str
    ask: str
    anchors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRule:
    """A trial passes when the mean of its scores is at least `mean` and none is under `minimum`."""

    mean: Decimal = Decimal("6.5")
    minimum: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """A rubric file. A `scored` one has criteria and a pass rule; a `check` has the question `ask`.

    `only_when` is a regular expression: a check is asked only of turns whose bubbles match it
    (empty: of every turn). `labelled` is the path of its labelled examples, relative to the file.
    """

    id: str
    kind: RubricKind
    criteria: tuple[Criterion, ...] = ()
    passing: PassRule = field(default_factory=PassRule)
    scope: Scope = Scope.TURN
    ask: str = ""
    only_when: str = ""
    critical: bool = False
    labelled: str = ""
    where: Where
    digest: str = ""
