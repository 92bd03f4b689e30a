"""Runs that are kept: find one, or one scenario of it, and list them."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from evalrun.errors import UnknownName
from evalrun.interfaces.stores import Store
from evalrun.loading.settings import Overrides, load_settings
from evalrun.results import UNFINISHED, RunResult
from evalrun.use_cases.wiring import make_store
from evalrun.verdict import Verdict

SHORT_COMMIT = 7


async def kept_run(
    start: Path, reference: str, scenario: str, environ: Mapping[str, str], overrides: Overrides
) -> RunResult:
    """A run by id, by the end of its id, or "last"; with `scenario` only that one of it.

    Raises UnknownName for a run or scenario that is not there, StoreFailed, FileProblems.
    """
    store = await _opened(start, environ, overrides)
    try:
        run = await store.load(reference)
    finally:
        await store.close()
    return _only(run, scenario) if scenario else run


async def kept_runs(start: Path, limit: int, environ: Mapping[str, str], overrides: Overrides) -> tuple[RunResult, ...]:
    """The newest runs first, without their trials. Raises StoreFailed, FileProblems."""
    store = await _opened(start, environ, overrides)
    try:
        return await store.runs(limit)
    finally:
        await store.close()


def run_line(run: RunResult) -> str:
    """One run for a list: id, start, target, verdicts with the exit code, selection, commit."""
    header = run.header
    found = Counter(s.verdict for s in run.scenarios)
    counts = ", ".join(f"{found[v]} {v.value.replace('_', ' ')}" for v in Verdict if found[v]) or "no scenario"
    ended = "not ended" if UNFINISHED in run.notices else f"{counts} (exit {run.exit_code})"
    commit = [header.commit[:SHORT_COMMIT]] if header.commit else []
    return "  ".join([header.id, f"{header.started:%Y-%m-%d %H:%M}", header.target, ended, header.selection, *commit])


async def _opened(start: Path, environ: Mapping[str, str], overrides: Overrides) -> Store:
    store = make_store(load_settings(start, overrides, environ))
    try:
        await store.open()
    except BaseException:
        await store.close()
        raise
    return store


def _only(run: RunResult, scenario: str) -> RunResult:
    found = tuple(s for s in run.scenarios if s.id == scenario)
    if not found:
        known = [s.id for s in run.scenarios]
        near = difflib.get_close_matches(scenario, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UnknownName(
            f"run {run.header.id} has no scenario {scenario!r}{hint}", remedy=f"it has: {', '.join(known) or 'none'}"
        )
    return replace(run, scenarios=found)
