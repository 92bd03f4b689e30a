"""Turns that a person has judged: what a judge is measured against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalrun.errors import Where
from evalrun.rubric import Rubric
from evalrun.transcript import Turn
from evalrun.verdict import Score, weigh

USER = "user"
"""Who the agent talks with in a labelled turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One judged turn: the last of `turns`; those before it are context.

    Under a scored rubric `scores` holds a person's 1-10 for each criterion. Under a check
    `violated` is the person's answer, and `quote` the agent's words that break the rule.
    """

    id: str
    turns: tuple[Turn, ...]
    language: str = ""
    objective: str = ""
    scores: Mapping[str, int] = field(default_factory=dict)
    violated: bool | None = None
    quote: str = ""
    where: Where

    def good(self, rubric: Rubric) -> bool:
        """Whether the person lets the turn pass: by the rubric's own arithmetic, or no violation."""
        if self.violated is not None:
            return not self.violated
        number = self.turns[-1].number
        marks = weigh([Score(turn=number, criterion=c, value=v) for c, v in self.scores.items()], rubric.passing)
        return marks is not None and marks.passed
