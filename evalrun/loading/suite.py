"""All files of a project: read, checked against one another, and gathered into a suite."""

from __future__ import annotations

import gc
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from evalrun.config import Settings
from evalrun.errors import FileProblems, Where
from evalrun.loading.kinds import Problems, Skip
from evalrun.loading.nodes import Node
from evalrun.loading.parsed_files import ParsedFiles
from evalrun.loading.people_and_rulers import persona_of, rubric_of
from evalrun.loading.references import Known, check_scenario, plainly_fits
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
CACHE = ".evalrun/cache"


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
    cache: Path | None = None


def load_suite(settings: Settings) -> Suite:
    """The suite of a project. Raises FileProblems with everything that is wrong.

    What was parsed before is taken from a cache, and so is the time that it takes.
    """
    collecting = gc.isenabled()
    # ten thousand files of small values: looking for cycles among them costs as much as reading them
    gc.disable()
    try:
        loaded = read_all(settings, settings.root / CACHE)
    finally:
        if collecting:
            gc.enable()
    if loaded.problems.found:
        raise FileProblems(sorted(loaded.problems.found, key=lambda p: p.where))
    return Suite(
        scenarios=tuple(loaded.scenarios),
        personas={p.id: p for p in loaded.personas},
        rubrics={r.id: r for r in loaded.rubrics},
        style=loaded.style,
    )


def read_all(settings: Settings, cache: Path | None = None) -> Loaded:
    """Read every file and check what refers to what; problems are gathered, not raised.

    `cache` is a folder for what was parsed; None parses everything.
    """
    loaded = Loaded(root=settings.root, cache=cache)
    loaded.personas = _read(loaded, settings.personas, _Maker(kind=Persona, make=persona_of))
    loaded.rubrics = _read(loaded, settings.rubrics, _Maker(kind=Rubric, make=rubric_of))
    rules = settings.root / settings.style_rules
    if rules.is_file():
        loaded.style = _style(loaded, rules)
    others = len(loaded.files)
    known = _known(loaded)
    maker = _Maker(
        kind=Scenario,
        make=partial(_scenario, settings, known),
        still_fits=lambda scenario: plainly_fits(scenario, known, settings),
    )
    loaded.scenarios = _read(loaded, settings.scenarios, maker)
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

    found = [
        os.path.join(top, name)  # noqa: PTH118  ten thousand times
        for top, _, names in os.walk(folder, onerror=unreadable)
        for name in names
        if os.path.splitext(name)[1].lower() in ENDINGS  # noqa: PTH122  same
    ]
    yield from map(Path, sorted(found, key=lambda f: f.split(os.sep)))  # noqa: PTH206  same


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maker(Generic[T]):
    """How one kind of file is read. `still_fits`: whether what was parsed before needs no second look."""

    kind: type[T]
    make: Callable[..., T]
    still_fits: Callable[[T], bool] = lambda _: True


def _read(loaded: Loaded, folder: str, maker: _Maker[T]) -> list[T]:
    """The files of a folder; what a broken one is called goes to `broken`."""
    found: list[T] = []
    parsed = ParsedFiles.open(loaded.cache, maker.kind) if loaded.cache else None
    top = f"{loaded.root}/"
    for path in _files(loaded.root / folder, loaded):
        name = str(path)
        file = name.removeprefix(top) if os.sep == "/" and name.startswith(top) else shown(path, loaded.root)
        loaded.files.append(file)
        try:
            item = parsed.get(file, path) if parsed else None
            if item is None or not maker.still_fits(item):
                item = _parse(loaded, path, file, maker, parsed)
            found.append(item)
        except FileProblems as e:
            loaded.problems.found += e.problems
        except OSError as e:
            loaded.broken.add(path.stem)
            loaded.problems.add(Where(file=file), f"cannot be read: {e.strerror}; correct its permissions")
        except Skip:
            continue
    if parsed:
        parsed.close()
    _refuse_twins(found, loaded.problems)
    return found


def _parse(loaded: Loaded, path: Path, file: str, maker: _Maker[T], parsed: ParsedFiles | None) -> T:
    """One file. Raises FileProblems, OSError, and Skip after noting problems."""
    loaded.broken.add(path.stem)
    before = len(loaded.problems.found)
    with path.open("rb") as opened:
        data = opened.read(BYTES_AT_MOST + 1)
    node = read_yaml(data, file)
    named = at(node, ("id",))
    loaded.broken.add(named.text if named else path.stem)
    item = maker.make(node, stem=path.stem, digest=_digest(data), problems=loaded.problems)
    if len(loaded.problems.found) == before:
        loaded.broken -= {path.stem, item.id}
        if parsed:
            parsed.keep(file, path, data, item)
    return item


def _refuse_twins(items: Iterable[Scenario | Persona | Rubric], problems: Problems) -> None:
    seen: dict[str, Scenario | Persona | Rubric] = {}
    for item in items:
        first = seen.setdefault(item.id, item)
        if first is not item:
            problems.add(item.where, f"the id `{item.id}` stands twice, first in {first.where}; give each its own")
