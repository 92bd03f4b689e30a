"""Judges: the one argument they get, and what they must offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from evalrun.expectation import Checkpoint, Evidence
from evalrun.interfaces.models import ModelEndpoint
from evalrun.persona import Persona
from evalrun.results import Judgement
from evalrun.rubric import Rubric
from evalrun.scenario import Scenario
from evalrun.style import StyleRules
from evalrun.transcript import Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The one argument of every judge: everything there is to know about one trial.

    While the conversation goes on, `checkpoints` holds those met so far; at the end the last one
    is `final`. `earlier` are the judgements before this one in the chain. `allow` and the rest of
    what a scenario says are in `scenario`.
    """

    scenario: Scenario
    persona: Persona
    rubric: Rubric | None
    checks: tuple[Rubric, ...]
    style: StyleRules
    transcript: Transcript
    evidence: Evidence
    checkpoints: tuple[Checkpoint, ...]
    earlier: tuple[Judgement, ...]
    model: ModelEndpoint | None


class Judge(Protocol):
    """One link of the chain. Factory: `(JudgeSetup) -> Judge`.

    `deterministic` judges are code alone: they always gate and are asked again after every turn
    (`watch`), where a hard finding or an unmet expectation stops the conversation.
    """

    name: str
    version: str
    deterministic: bool

    def watch(self, case: Case) -> Judgement | None:
        """After each step, on the conversation so far; None when there is nothing to say. No model here."""

    async def judge(self, case: Case) -> Judgement:
        """At the end. Raise only for a broken judge: it becomes a judgement of status error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSetup:
    """What a judge is made from, once for a run. `options` is its own table in the settings.

    `confirm`: how often a low score or a violation is asked about again. `canaries`: known-bad
    turns are hidden among the calls of a model judge. Both are for a judge that gates: where
    nothing can change a verdict, nothing is paid for it.
    """

    options: Mapping[str, object]
    max_output_tokens: int = 700
    confirm: int = 0
    canaries: bool = False
