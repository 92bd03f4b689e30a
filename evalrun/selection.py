"""Which scenarios of a suite are run, and why each."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalrun.affected import Affected
from evalrun.errors import UnknownName
from evalrun.scenario import Category, Scenario
from evalrun.suite import Suite

ALL, SUITE = WHOLE = ("all", "whole suite")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the user asked for: ids or paths, and filters that all must hold. Empty asks for nothing special."""

    names: tuple[str, ...] = ()
    categories: tuple[Category, ...] = ()
    stages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    everything: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a change can affect: `affected.Affected`, and what it was compared with (`line`)."""

    affected: Affected
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The chosen scenarios in suite order, and why each was chosen.

    `idle` are changed paths that selected nothing. `notices` are lines the user should read.
    """

    chosen: tuple[Scenario, ...]
    reasons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    suite_size: int = 0
    line: str = ""
    idle: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def select(suite: Suite, wanted: Wanted, root: Path, change: Change | None = None) -> Selection:
    """Choose scenarios. Smoke scenarios are kept for when they are asked for, or for big changes.

    With a change only what it can affect is chosen of what is wanted, and that may be nothing.
    Raises UnknownName when a name, stage, tag or category asked for matches nothing.
    """
    _refuse_unknown(suite, wanted)
    named = _named(suite, wanted.names, root)
    asked = {s.id: why for s in suite.scenarios if (why := _why(s, wanted, named, changed=change is not None))}
    _refuse_empty(suite, wanted, asked)
    reasons = asked if change is None else _of_change(wanted, asked, change.affected)
    chosen = tuple(s for s in suite.scenarios if s.id in reasons)
    return Selection(
        chosen=chosen,
        reasons=reasons,
        suite_size=len(suite.scenarios),
        line=_line(suite, wanted, reasons, change),
        idle=change.affected.idle if change else (),
    )


def _of_change(wanted: Wanted, asked: Mapping[str, tuple[str, ...]], found: Affected) -> dict[str, tuple[str, ...]]:
    """Of what is asked for, what the change affects, with both reasons."""
    whys = dict(found.reasons)
    if wanted.everything or Category.SMOKE in wanted.categories or wanted.names:
        whys |= found.smoke
    return {name: (*whys[name], *(w for w in why if w not in WHOLE)) for name, why in asked.items() if name in whys}


def _line(suite: Suite, wanted: Wanted, reasons: Mapping[str, object], change: Change | None) -> str:
    total = len(suite.scenarios)
    if change is not None:
        kept = [name for name in change.affected.smoke if name not in reasons]
        head = (
            f"{len(reasons)} of {total} scenarios" if reasons else f"0 of {total} selected (nothing relevant changed)"
        )
        tail = f" ({len(kept)} smoke kept for --category smoke or --all)" if kept and not _asked(wanted) else ""
        return f"{head}, {change.line}{tail}"
    left = [s for s in suite.scenarios if s.id not in reasons and s.category is Category.SMOKE]
    tail = f" ({len(left)} smoke kept for --category smoke or --all)" if left and not _asked(wanted) else ""
    return f"{len(reasons)} of {total} scenarios{tail}"


def _asked(wanted: Wanted) -> bool:
    return bool(wanted.names or wanted.categories or wanted.stages or wanted.tags)


def _why(scenario: Scenario, wanted: Wanted, named: Mapping[str, str], *, changed: bool) -> tuple[str, ...]:
    if wanted.names and scenario.id not in named:
        return ()
    if wanted.categories and scenario.category not in wanted.categories:
        return ()
    if wanted.stages and scenario.stage not in wanted.stages:
        return ()
    if wanted.tags and not set(wanted.tags) & set(scenario.tags):
        return ()
    why = [named[scenario.id]] if scenario.id in named else []
    why += [f"category {scenario.category}"] if wanted.categories else []
    why += [f"stage {scenario.stage}"] if wanted.stages else []
    why += [f"tag {t}" for t in wanted.tags if t in scenario.tags]
    if why:
        return tuple(why)
    if wanted.everything:
        return (ALL,)
    # with a change, what it affects decides about smoke
    return () if scenario.category is Category.SMOKE and not changed else (SUITE,)


def _named(suite: Suite, names: Sequence[str], root: Path) -> dict[str, str]:
    """Scenario id -> why, for ids, files and folders. Raises UnknownName for a name without a match."""
    found: dict[str, str] = {}
    by_id = {s.id for s in suite.scenarios}
    for name in names:
        if name in by_id:
            found[name] = "asked for by id"
            continue
        path = (Path.cwd() / name).resolve()
        hits = [s.id for s in suite.scenarios if _inside((root / s.where.file).resolve(), path)]
        if not hits:
            near = difflib.get_close_matches(name, by_id, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UnknownName(
                f"no scenario has the id or path {name!r}{hint}",
                remedy="evalrun validate lists what is found; ids are in the files",
            )
        found |= dict.fromkeys(hits, f"asked for by {name}")
    return found


def _inside(file: Path, path: Path) -> bool:
    return file == path or path in file.parents


def _refuse_unknown(suite: Suite, wanted: Wanted) -> None:
    """A stage, tag or category that no scenario has is a usage error, even beside others that match."""
    for kind, asked, known in (
        ("category", wanted.categories, {s.category for s in suite.scenarios}),
        ("stage", wanted.stages, {s.stage for s in suite.scenarios if s.stage}),
        ("tag", wanted.tags, {t for s in suite.scenarios for t in s.tags}),
    ):
        for name in asked:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                listed = ", ".join(sorted(known)) or "none"
                raise UnknownName(f"no scenario has the {kind} {str(name)!r}{hint}", remedy=f"known: {listed}")


def _refuse_empty(suite: Suite, wanted: Wanted, reasons: Mapping[str, tuple[str, ...]]) -> None:
    if reasons:
        return
    if not suite.scenarios:
        raise UnknownName(
            "there is no scenario", remedy="write one under scenarios/, or set `scenarios` in the settings"
        )
    asked = [*wanted.names, *wanted.categories, *wanted.stages, *wanted.tags]
    if asked:
        raise UnknownName(
            f"no scenario matches {', '.join(map(str, asked))} together", remedy="leave one of the filters out"
        )
    raise UnknownName("only smoke scenarios exist", remedy="ask for them with --category smoke or --all")
