"""All files of a project: read, checked against one another, and gathered into a suite."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from evalrun.config import Settings
from evalrun.errors import FileProblems, Problem, Where
from evalrun.expectation import Expectations
from evalrun.loading.fields import Problems, Skip
from evalrun.loading.nodes import Node
from evalrun.loading.people_and_rulers import persona_of, rubric_of, style_rules_of
from evalrun.loading.scenarios import DEFAULT_RUBRIC, scenario_of
from evalrun.loading.toml_nodes import read_toml
from evalrun.loading.yaml_nodes import read_yaml
from evalrun.persona import Persona
from evalrun.rubric import Rubric, RubricKind
from evalrun.scenario import Category, EventStep, ExpectStep, Scenario, UserStep
from evalrun.style import Severity, StyleRules
from evalrun.suite import Suite

T = TypeVar("T", Scenario, Persona, Rubric)
ENDINGS = (".yaml", ".yml")


@dataclass(slots=True, kw_only=True)
class Loaded:
    """What was read and what is wrong with it. `files` counts the files looked at."""

    root: Path
    scenarios: list[Scenario] = field(default_factory=list)
    personas: list[Persona] = field(default_factory=list)
    rubrics: list[Rubric] = field(default_factory=list)
    style: StyleRules = field(default_factory=StyleRules)
    problems: Problems = field(default_factory=Problems)
    files: int = 0
    broken: set[str] = field(default_factory=set)


def load_suite(settings: Settings) -> Suite:
    """The suite of a project. Raises FileProblems with everything that is wrong."""
    loaded = read_all(settings)
    if loaded.problems.found:
        raise FileProblems(sorted(loaded.problems.found, key=lambda p: p.where))
    return Suite(
        scenarios=tuple(loaded.scenarios),
        personas={p.id: p for p in loaded.personas},
        rubrics={r.id: r for r in loaded.rubrics},
        style=loaded.style,
    )


def read_all(settings: Settings) -> Loaded:
    """Read every file and check what refers to what; problems are gathered, not raised."""
    loaded = Loaded(root=settings.root)
    loaded.personas = _read(loaded, settings.personas, persona_of)
    loaded.rubrics = _read(loaded, settings.rubrics, rubric_of)
    rules = settings.root / settings.style_rules
    if rules.is_file():
        loaded.style = _style(loaded, rules)
    loaded.scenarios = _read(loaded, settings.scenarios, scenario_of)
    _check(loaded, settings)
    return loaded


def load_style_rules(path: Path, name: str) -> StyleRules:
    """The rules of one file; `name` is how messages call it. Raises FileProblems."""
    loaded = Loaded(root=path.parent)
    style = _style(loaded, path, name)
    if loaded.problems.found:
        raise FileProblems(loaded.problems.found)
    return style


def shown(path: Path, root: Path) -> str:
    """A path relative to the project, with forward slashes."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _style(loaded: Loaded, path: Path, name: str = "") -> StyleRules:
    file = name or shown(path, loaded.root)
    loaded.files += 1
    try:
        data = path.read_bytes()
        node = read_toml(data, file)
        return style_rules_of(node, file=file, digest=_digest(data), problems=loaded.problems)
    except FileProblems as e:
        loaded.problems.found += e.problems
    except OSError as e:
        loaded.problems.add(Where(file=file), f"cannot be read: {e.strerror}")
    except Skip:
        pass
    return StyleRules(path=file)


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix in ENDINGS and p.is_file())


def _read(loaded: Loaded, folder: str, make: Callable[..., T]) -> list[T]:
    """The files of a folder, in the order of their paths."""
    found: list[T] = []
    for path in _files(loaded.root / folder):
        file = shown(path, loaded.root)
        loaded.files += 1
        try:
            data = path.read_bytes()
            node: Node = read_yaml(data, file)
            before = len(loaded.problems.found)
            item = make(node, stem=path.stem, digest=_digest(data), problems=loaded.problems)
            if len(loaded.problems.found) == before:
                found.append(item)
                continue
        except FileProblems as e:
            loaded.problems.found += e.problems
        except OSError as e:
            loaded.problems.add(Where(file=file), f"cannot be read: {e.strerror}")
        except Skip:
            pass
        # what a broken file would have been called: others may rightly refer to it
        loaded.broken.add(path.stem)
    _refuse_twins(found, loaded.problems)
    return found


def _refuse_twins(items: Iterable[Scenario | Persona | Rubric], problems: Problems) -> None:
    seen: dict[str, Scenario | Persona | Rubric] = {}
    for item in items:
        first = seen.setdefault(item.id, item)
        if first is not item:
            problems.add(item.where, f"the id `{item.id}` stands twice, first in {first.where.file}; give each its own")


def _check(loaded: Loaded, settings: Settings) -> None:
    personas = {p.id for p in loaded.personas} | loaded.broken
    kinds = {r.id: r.kind for r in loaded.rubrics}
    for scenario in loaded.scenarios:
        _refer(loaded.problems, scenario.where, "persona", scenario.persona, personas)
        _check_judge(scenario, kinds, loaded)
        _check_stage(scenario, settings, loaded.problems)
        _check_people(scenario, loaded.problems)
        _check_worth(scenario, loaded)


def _refer(problems: Problems, where: Where, what: str, name: str, known: Iterable[str]) -> None:
    names = set(known)
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(sorted(names)) or 'none'}"
    problems.add(where, f"there is no {what} `{name}`; {hint}")


def _check_judge(scenario: Scenario, kinds: Mapping[str, RubricKind], loaded: Loaded) -> None:
    rubric = scenario.judge.rubric
    optional = rubric == DEFAULT_RUBRIC and not kinds and not loaded.broken
    if rubric and not optional:
        known = {r for r, k in kinds.items() if k is RubricKind.SCORED} | loaded.broken
        _refer(loaded.problems, scenario.where, "scored rubric", rubric, known)
    for check in scenario.judge.checks:
        known = {r for r, k in kinds.items() if k is RubricKind.CHECK} | loaded.broken
        _refer(loaded.problems, scenario.where, "check rubric", check, known)


def _check_stage(scenario: Scenario, settings: Settings, problems: Problems) -> None:
    if scenario.category is Category.STAGE and not scenario.stage:
        problems.add(scenario.where, "`stage` is missing, expected for category stage; add stage: …")
    elif scenario.stage and settings.stages:
        _refer(problems, scenario.where, "stage", scenario.stage, settings.stages)


def _check_people(scenario: Scenario, problems: Problems) -> None:
    people = {p.id for p in scenario.given.participants} | {scenario.persona}
    for step in scenario.steps:
        if isinstance(step, ExpectStep):
            continue
        named = [*step.to]
        named += [step.sender] if isinstance(step, UserStep) and step.sender else []
        named += [step.participant] if isinstance(step, EventStep) and step.participant else []
        for name in named:
            _refer(problems, step.where, "participant", name, people)


def _check_worth(scenario: Scenario, loaded: Loaded) -> None:
    """A scenario that checks nothing would be green for ever."""
    hard = any(r.severity is Severity.HARD for r in loaded.style.rules)
    judged = bool(loaded.rubrics and scenario.judge.rubric) or scenario.judge.checks
    steps: list[Expectations] = [s.expectations for s in scenario.steps if isinstance(s, ExpectStep)]
    silence = any(isinstance(s, ExpectStep) and s.silence for s in scenario.steps)
    if not (hard or judged or silence or any(steps) or scenario.expect):
        message = "nothing is checked: no expectation, no hard style rule, no rubric; add `expect:`"
        loaded.problems.found.append(Problem(where=scenario.where, message=message))
