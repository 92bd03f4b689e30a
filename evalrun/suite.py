"""All the files of a project once loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalrun.persona import Persona
from evalrun.rubric import Rubric
from evalrun.scenario import Scenario
from evalrun.style import StyleRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Scenarios in the order of their paths, and what they refer to by id."""

    scenarios: tuple[Scenario, ...]
    personas: Mapping[str, Persona] = field(default_factory=dict)
    rubrics: Mapping[str, Rubric] = field(default_factory=dict)
    style: StyleRules = field(default_factory=StyleRules)
