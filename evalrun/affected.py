"""Which scenarios a change can affect, and by what each.

A scenario depends on its file, its persona, its rubric, checks and their labelled examples, on
what it watches, and on its stage: what that watches, and the files that its modules import.
`shared`, the style rules and the settings affect all. Code under `source` that no stage claims
affects all but smoke. In doubt a scenario is run.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evalrun.changes import Change
from evalrun.config import Settings
from evalrun.path_patterns import composed, read_pattern
from evalrun.scenario import Category, Scenario
from evalrun.suite import Suite

DOCS = ("*.md", "*.rst", "*.txt", "docs/**", "LICENSE*", ".github/**", ".gitignore", ".gitattributes")
"""What is no code of the agent where the settings name no `source`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """The files that the modules of a stage import, and among them those of the modules themselves (`named`)."""

    files: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """Why each scenario is affected, by id; those that are left out are not.

    `smoke` are affected smoke scenarios that are kept for when they are asked for. `idle` are the
    changed paths that selected nothing.
    """

    reasons: Mapping[str, tuple[str, ...]]
    smoke: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    idle: tuple[str, ...] = ()


def affected(
    suite: Suite,
    settings: Settings,
    changes: Sequence[Change],
    closures: Mapping[str, Closure],
    *,
    settings_changed: bool,
) -> Affected:
    """What changes can affect. `closures` by stage; `settings_changed`: our part of the settings file is another.

    Raises UsageError for a pattern that cannot be read.
    """
    graph = _Graph(suite, settings, _Touched(changes), closures, settings_changed=settings_changed)
    reasons: dict[str, tuple[str, ...]] = {}
    smoke: dict[str, tuple[str, ...]] = {}
    for scenario in suite.scenarios:
        own = graph.own(scenario)
        more = graph.by_others(scenario)
        if scenario.category is Category.SMOKE and not own and more:
            smoke[scenario.id] = more
        elif own or more:
            reasons[scenario.id] = (*own, *more)
    graph.mark(s for s in suite.scenarios if s.id in reasons or s.id in smoke)
    idle = tuple(c.path for c in changes if c.path not in graph.used)
    return Affected(reasons=reasons, smoke=smoke, idle=idle)


class _Touched:
    """The changed paths, looked up by path or pattern."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self._changes = changes
        self.folders = [c.path for c in changes if c.folder]
        self._under: dict[str, list[str]] = {}
        self._known: dict[str, tuple[str, ...]] = {}
        for change in changes:
            path = change.path
            while path:
                self._under.setdefault(path, []).append(change.path)
                path = posixpath.dirname(path)

    def at(self, path: str) -> tuple[str, ...]:
        """The changed paths that are a path, lie in it, or hold it."""
        found = list(self._under.get(path, ()))
        found += [f for f in self.folders if path.startswith(f"{f}/")]
        return tuple(found)

    def by(self, pattern: str) -> tuple[str, ...]:
        """The changed paths that a pattern stands for. Raises UsageError for one that cannot be read."""
        known = self._known.get(pattern)
        if known is None:
            read = read_pattern(pattern)
            if read.literal:
                known = self.at(read.literal)
            else:
                known = tuple(
                    c.path for c in self._changes if read.matches(c.path) or (c.folder and read.may_match_in(c.path))
                )
            self._known[pattern] = known
        return known

    def by_any(self, patterns: Iterable[str]) -> tuple[str, ...]:
        """The changed paths that one of some patterns stands for."""
        return tuple(dict.fromkeys(p for pattern in patterns for p in self.by(pattern)))


class _Graph:
    """What depends on what, as far as it was touched."""

    def __init__(
        self,
        suite: Suite,
        settings: Settings,
        touched: _Touched,
        closures: Mapping[str, Closure],
        *,
        settings_changed: bool,
    ) -> None:
        self._suite = suite
        self._touched = touched
        self._stages = settings.stages
        self._closures = closures
        self._all = _labelled("shared", touched.by_any(settings.shared))
        self._all += _labelled("style rules", touched.at(composed(settings.style_rules)))
        if settings_changed:
            self._all += _labelled("settings", (settings.file,))
        self._people = {p.id: touched.at(composed(p.where.file)) for p in suite.personas.values()}
        self._rulers = {r.id: self._ruler(r.where.file, r.labelled) for r in suite.rubrics.values()}
        self._by_stage = {name: self._stage(name) for name in settings.stages}
        self._loose, self._common = self._source(settings)
        self.used: set[str] = set()

    def own(self, scenario: Scenario) -> tuple[str, ...]:
        """By its own file, what it watches, and what affects all: reasons that hold for smoke too."""
        return tuple(_text(label, paths) for label, paths in self._own(scenario) if paths)

    def by_others(self, scenario: Scenario) -> tuple[str, ...]:
        """By what it shares with other scenarios."""
        return tuple(_text(label, paths) for label, paths in self._shared(scenario) if paths)

    def mark(self, scenarios: Iterable[Scenario]) -> None:
        """Remember which changed paths had an effect."""
        for scenario in scenarios:
            for _, paths in (*self._own(scenario), *self._shared(scenario)):
                self.used.update(paths)

    def _own(self, scenario: Scenario) -> list[tuple[str, tuple[str, ...]]]:
        watched = self._touched.by_any(scenario.watch) if scenario.watch else ()
        file = self._touched.at(composed(scenario.where.file))
        return [("its file", file), ("it watches", watched), *self._all]

    def _shared(self, scenario: Scenario) -> list[tuple[str, tuple[str, ...]]]:
        found = [(f"persona {scenario.persona}", self._people.get(scenario.persona, ()))]
        found += [
            (f"rubric {name}", self._rulers.get(name, ()))
            for name in (scenario.judge.rubric, *scenario.judge.checks)
            if name
        ]
        found += self._by_stage.get(scenario.stage, [])
        if not self._declares(scenario.stage):
            found.append(("code that stages share, and it belongs to none that says what it uses", self._common))
        found.append(("code that no stage claims", self._loose))
        return found

    def _declares(self, stage: str) -> bool:
        settings = self._stages.get(stage)
        return settings is not None and bool(settings.watch or settings.modules)

    def _ruler(self, file: str, labelled: str) -> tuple[str, ...]:
        found = self._touched.at(composed(file))
        if labelled:
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(file), labelled))
            found += self._touched.at(composed(beside))
        return found

    def _stage(self, name: str) -> list[tuple[str, tuple[str, ...]]]:
        watched = self._touched.by_any(self._stages[name].watch)
        closure = self._closures.get(name, Closure())
        imported = [p for f in sorted(closure.files) for p in self._touched.at(f) if p not in watched]
        return [(f"stage {name} watches", watched), (f"stage {name} imports", tuple(dict.fromkeys(imported)))]

    def _source(self, settings: Settings) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The agent's code that changed: what no stage claims, and what stages import without claiming it as their own."""
        code = self._touched.by_any(settings.source) if settings.source else self._no_docs()
        own_files = {composed(f) for f in self._files_of_the_suite()} | {settings.style_rules, settings.file}
        folders = tuple(
            f"{composed(f).rstrip('/')}/" for f in (settings.scenarios, settings.personas, settings.rubrics)
        )
        big = {p for _, paths in self._all for p in paths}
        claimed = {p for found in self._by_stage.values() for _, paths in found for p in paths if self._is_whole(p)}
        common = {p for p in claimed if self._is_common(p)}
        loose = [
            p for p in code if p not in own_files and p not in claimed and p not in big and not p.startswith(folders)
        ]
        return tuple(loose), tuple(p for p in code if p in common)

    def _no_docs(self) -> tuple[str, ...]:
        """Where no `source` is set, everything in the project but what is plainly documents."""
        docs = set(self._touched.by_any(DOCS))
        return tuple(p for p in self._touched.by("**") if p not in docs and not p.startswith("../"))

    def _is_whole(self, path: str) -> bool:
        """Whether a stage claims all of a changed path: of a folder it may claim a part only."""
        if path not in self._touched.folders:
            return True
        samples = (f"{path}/\0", f"{path}/\0/\0")
        patterns = [read_pattern(w) for stage in self._stages.values() for w in stage.watch]
        return any(all(p.matches(s) for s in samples) for p in patterns)

    def _is_common(self, path: str) -> bool:
        """Whether a stage imports a file without having named it."""
        for name, closure in self._closures.items():
            if path in closure.files and path not in closure.named:
                watched = self._by_stage[name][0][1]
                if path not in watched:
                    return True
        return False

    def _files_of_the_suite(self) -> Iterable[str]:
        yield from (s.where.file for s in self._suite.scenarios)
        yield from (p.where.file for p in self._suite.personas.values())
        yield from (r.where.file for r in self._suite.rubrics.values())


def _labelled(label: str, paths: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    return [(label, paths)] if paths else []


def _text(label: str, paths: tuple[str, ...]) -> str:
    """A reason in one line."""
    distinct = list(dict.fromkeys(paths))
    more = f" and {len(distinct) - 1} more" if len(distinct) > 1 else ""
    return f"{label}: {distinct[0]}{more}"
