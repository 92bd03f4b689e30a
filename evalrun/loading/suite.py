"""All files of a project: read, checked against one another, and gathered into a suite."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from evalrun.config import Settings
from evalrun.errors import FileProblems, Where
from evalrun.loading.kinds import Problems, Skip
from evalrun.loading.nodes import Node
from evalrun.loading.people_and_rulers import persona_of, rubric_of
from evalrun.loading.references import Known, check_scenario
from evalrun.loading.scenarios import scenario_of
from evalrun.loading.style_rules import style_rules_of
from evalrun.loading.toml_nodes import read_toml
from evalrun.loading.variables import at
from evalrun.loading.yaml_nodes import BYTES_AT_MOST, read_yaml
from evalrun.persona import Persona
from evalrun.rubric import Rubric
from evalrun.scenario import Scenario
from evalrun.style import Severity, StyleRules
from evalrun.suite import Suite

T = TypeVar("T", Scenario, Persona, Rubric)
ENDINGS = (".yaml", ".yml")


@dataclass(slots=True, kw_only=True)
class Loaded:
    """What was read and what is wrong with it. `files` are the files looked at, relative to `root`."""

    root: Path
    scenarios: list[Scenario] = field(default_factory=list)
    personas: list[Persona] = field(default_factory=list)
    rubrics: list[Rubric] = field(default_factory=list)
    style: StyleRules = field(default_factory=StyleRules)
    problems: Problems = field(default_factory=Problems)
    files: list[str] = field(default_factory=list)
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
    others = len(loaded.files)
    loaded.scenarios = _read(loaded, settings.scenarios, partial(_scenario, settings, _known(loaded)))
    if len(loaded.files) == others and not loaded.problems.found:
        where = Where(file=settings.file, line=1, column=1)
        message = (
            f"no scenario in the folder `{settings.scenarios}`, expected a file *.yaml; add one, or set `scenarios`"
        )
        loaded.problems.add(where, message)
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


def _known(loaded: Loaded) -> Known:
    return Known(
        personas=frozenset(p.id for p in loaded.personas),
        rubrics={r.id: r.kind for r in loaded.rubrics},
        # of a broken file the id is enough: who refers to it is not to blame
        broken=frozenset(loaded.broken),
        hard_rules=any(r.severity is Severity.HARD for r in loaded.style.rules),
    )


def _scenario(settings: Settings, known: Known, node: Node, *, stem: str, digest: str, problems: Problems) -> Scenario:
    scenario = scenario_of(node, stem=stem, digest=digest, problems=problems)
    check_scenario(scenario, node, known, settings, problems)
    return scenario


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _style(loaded: Loaded, path: Path, name: str = "") -> StyleRules:
    file = name or shown(path, loaded.root)
    loaded.files.append(file)
    try:
        data = path.read_bytes()
        node = read_toml(data, file)
        return style_rules_of(node, file=file, digest=_digest(data), problems=loaded.problems)
    except FileProblems as e:
        loaded.problems.found += e.problems
    except OSError as e:
        loaded.problems.add(Where(file=file), f"cannot be read: {e.strerror}; correct its name or its permissions")
    except Skip:
        pass
    return StyleRules(path=file)


def _files(folder: Path, loaded: Loaded) -> Iterator[Path]:
    """The YAML files under a folder in the order of their paths; a folder that cannot be listed is a problem."""

    def unreadable(error: OSError) -> None:
        if folder.exists():
            where = Where(file=shown(Path(error.filename), loaded.root))
            loaded.problems.add(where, f"cannot be listed: {error.strerror}; correct its permissions")

    found = [Path(top, name) for top, _, names in os.walk(folder, onerror=unreadable) for name in names]
    yield from sorted(p for p in found if p.suffix.lower() in ENDINGS)


def _read(loaded: Loaded, folder: str, make: Callable[..., T]) -> list[T]:
    """The files of a folder; what a broken one is called goes to `broken`."""
    found: list[T] = []
    for path in _files(loaded.root / folder, loaded):
        file = shown(path, loaded.root)
        loaded.files.append(file)
        loaded.broken.add(path.stem)
        before = len(loaded.problems.found)
        try:
            with path.open("rb") as opened:
                data = opened.read(BYTES_AT_MOST + 1)
            node = read_yaml(data, file)
            named = at(node, ("id",))
            loaded.broken.add(named.text if named else path.stem)
            item = make(node, stem=path.stem, digest=_digest(data), problems=loaded.problems)
            found.append(item)
            if len(loaded.problems.found) == before:
                loaded.broken -= {path.stem, item.id}
        except FileProblems as e:
            loaded.problems.found += e.problems
        except OSError as e:
            loaded.problems.add(Where(file=file), f"cannot be read: {e.strerror}; correct its permissions")
        except Skip:
            continue
    _refuse_twins(found, loaded.problems)
    return found


def _refuse_twins(items: Iterable[Scenario | Persona | Rubric], problems: Problems) -> None:
    seen: dict[str, Scenario | Persona | Rubric] = {}
    for item in items:
        first = seen.setdefault(item.id, item)
        if first is not item:
            problems.add(item.where, f"the id `{item.id}` stands twice, first in {first.where}; give each its own")
