"""What a scenario refers to must exist, and something must be checked at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evalrun.config import Settings
from evalrun.errors import Where
from evalrun.loading.kinds import Problems, nearest
from evalrun.loading.nodes import Node
from evalrun.loading.scenarios import DEFAULT_RUBRIC
from evalrun.loading.variables import at
from evalrun.rubric import RubricKind
from evalrun.scenario import Category, EventStep, ExpectStep, Scenario, UserStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What there is to refer to. `broken` are ids of files that could not be read, told already."""

    personas: frozenset[str] = frozenset()
    rubrics: Mapping[str, RubricKind]
    broken: frozenset[str] = frozenset()
    hard_rules: bool = False

    def of(self, kind: RubricKind) -> list[str]:
        """The rubrics of a kind."""
        return [name for name, k in self.rubrics.items() if k is kind]


def check_scenario(scenario: Scenario, node: Node, known: Known, settings: Settings, problems: Problems) -> None:
    """Note what a scenario names that is not there. `node` is its file, for places."""
    _refer("persona", scenario.persona, known.personas | known.broken, _where(node, "persona"), problems)
    _check_judge(scenario, node, known, problems)
    _check_stage(scenario, node, settings, problems)
    _check_people(scenario, node, problems)
    _check_worth(scenario, known, settings, problems)


def plainly_fits(scenario: Scenario, known: Known, settings: Settings) -> bool:
    """Whether a scenario that was sound before needs no second look beside the files as they are now."""
    judge = scenario.judge
    scored = not judge.rubric or known.rubrics.get(judge.rubric) is RubricKind.SCORED
    checks = all(known.rubrics.get(c) is RubricKind.CHECK for c in judge.checks)
    stage = not scenario.stage or not settings.stages or scenario.stage in settings.stages
    worth = known.hard_rules or bool(scenario.expect) or (bool(judge.rubric) and "rubric" in settings.judges)
    return scenario.persona in known.personas and scored and checks and stage and worth


def _where(node: Node, *path: str) -> Where:
    """The place of a value, else of what it is in."""
    found = next((n for i in range(len(path), 0, -1) if (n := at(node, path[:i]))), node)
    return found.where


def _refer(what: str, name: str, names: Iterable[str], where: Where, problems: Problems) -> None:
    known = sorted(names)
    if name not in known:
        problems.add(where, f"there is no {what} `{name}`; {nearest(name, known)}")


def _check_judge(scenario: Scenario, node: Node, known: Known, problems: Problems) -> None:
    rubric = scenario.judge.rubric
    written = at(node, ("judge", "rubric")) is not None
    if rubric == DEFAULT_RUBRIC and not written and DEFAULT_RUBRIC not in known.rubrics:
        if known.rubrics and DEFAULT_RUBRIC not in known.broken:
            message = (
                f"no rubric is named and there is none called `{rubric}`; write judge: {{rubric: …}} or judge: none"
            )
            problems.add(_where(node, "judge"), message)
    elif rubric:
        names = {*known.of(RubricKind.SCORED), *known.broken}
        _refer("scored rubric", rubric, names, _where(node, "judge", "rubric"), problems)
    items = at(node, ("judge", "checks"))
    for i, check in enumerate(scenario.judge.checks):
        names = {*known.of(RubricKind.CHECK), *known.broken}
        _refer("check rubric", check, names, items.items[i].where if items else node.where, problems)
        if check in scenario.judge.checks[:i]:
            problems.add(_where(node, "judge", "checks"), f"the check `{check}` stands twice; remove one")


def _check_stage(scenario: Scenario, node: Node, settings: Settings, problems: Problems) -> None:
    if scenario.category is Category.STAGE and not scenario.stage:
        problems.add(_where(node, "category"), "`stage` is missing, expected for category stage; add stage: …")
    elif scenario.stage and settings.stages:
        _refer("stage", scenario.stage, settings.stages, _where(node, "stage"), problems)


def _check_people(scenario: Scenario, node: Node, problems: Problems) -> None:
    people = [scenario.persona, *(p.id for p in scenario.given.participants)]
    for name in dict.fromkeys(p for p in people if people.count(p) > 1):
        where = _where(node, "given", "participants")
        problems.add(where, f"the participant `{name}` stands twice (the persona is one too); rename one")
    for step in scenario.steps:
        if isinstance(step, ExpectStep):
            continue
        named = [*step.to]
        named += [step.sender] if isinstance(step, UserStep) and step.sender else []
        named += [step.participant] if isinstance(step, EventStep) and step.participant else []
        for name in named:
            _refer("participant", name, people, step.where, problems)


def _check_worth(scenario: Scenario, known: Known, settings: Settings, problems: Problems) -> None:
    """A scenario that checks nothing would be green for ever."""
    rubric = scenario.judge.rubric if scenario.judge.rubric in {*known.rubrics, *known.broken} else ""
    judged = bool(rubric or scenario.judge.checks) and "rubric" in settings.judges
    strangers = set(settings.judges) - {"rules", "expectations", "rubric"}
    checkpoints = [s for s in scenario.steps if isinstance(s, ExpectStep)]
    if not (known.hard_rules or judged or strangers or checkpoints or scenario.expect):
        message = "nothing is checked: no expectation, no hard style rule, no rubric; add `expect:`"
        problems.add(scenario.where, message)
