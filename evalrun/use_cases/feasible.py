"""What is checked when a run is planned: steps the target cannot take, tools it does not have."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from evalrun.errors import FileProblems, Problem, Where
from evalrun.expectation import Expectations, NamedTool, ToolExpectation
from evalrun.interfaces.targets import Capability, Target
from evalrun.scenario import AdvanceStep, EventStep, ExpectStep, PersonaStep, Scenario


def check_feasible(scenarios: Sequence[Scenario], target: Target, *, database: bool) -> None:
    """Refuse scenarios the target cannot play. Raises FileProblems with a line for each."""
    found = [p for s in scenarios for p in _problems(s, target, database)]
    if found:
        raise FileProblems(found)


def _problems(scenario: Scenario, target: Target, database: bool) -> Iterator[Problem]:
    able = target.capabilities
    for step in scenario.steps:
        if isinstance(step, EventStep) and Capability.DISPATCH not in able:
            yield _lacks(step.where, "an event", "dispatch(session, event)")
        elif isinstance(step, AdvanceStep) and not database and Capability.ADVANCE not in able:
            yield _lacks(step.where, "time that passes", "advance(session, now), or a database")
    for wanted in _expectations(scenario):
        if wanted.state and Capability.STATE not in able:
            yield _lacks(wanted.state[0].where, "an expectation on state", "state(session)")
        if wanted.sql and not database:
            yield _lacks(wanted.sql[0].where, "an expectation on SQL", "a database: set `database` in its settings")
        if target.tools is not None:
            named_tools: tuple[ToolExpectation | NamedTool, ...] = (*wanted.called, *wanted.not_called)
            for named in named_tools:
                if named.name not in target.tools:
                    yield _no_tool(named.where, named.name, target.tools)


def _expectations(scenario: Scenario) -> Iterator[Expectations]:
    yield scenario.expect
    for step in scenario.steps:
        if isinstance(step, ExpectStep):
            yield step.expectations
        elif isinstance(step, PersonaStep) and step.until is not None:
            yield step.until


def _lacks(where: Where, what: str, needed: str) -> Problem:
    return Problem(where=where, message=f"{what} needs a target with {needed}; the adapter has none")


def _no_tool(where: Where, name: str, tools: Sequence[str]) -> Problem:
    near = difflib.get_close_matches(name, tools, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"declared: {', '.join(tools) or 'none'}"
    return Problem(where=where, message=f"the target declares no tool `{name}`; {hint}")
