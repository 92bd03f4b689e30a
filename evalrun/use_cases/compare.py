"""Compare two runs that are kept, by id, by the end of one, "last", or a git ref whose commit was run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalrun import git
from evalrun.comparison import Comparison
from evalrun.comparison import compare as compare_runs
from evalrun.errors import UnknownName
from evalrun.interfaces.stores import Store
from evalrun.loading.settings import Overrides, load_settings
from evalrun.results import RunResult
from evalrun.use_cases.wiring import make_store

__all__ = ["Overrides", "baseline", "compare", "compare_runs", "document", "run_named"]

LOOKED_BACK = 500
"""Runs among which the one of a commit is looked for."""


async def compare(start: Path, a: str, b: str, environ: Mapping[str, str], overrides: Overrides) -> Comparison:
    """Run B against run A. Raises UnknownName for a run or ref that is not there, StoreFailed, FileProblems."""
    settings = load_settings(start, overrides, environ)
    store = make_store(settings)
    try:
        await store.open()
        return compare_runs(await run_named(store, settings.root, a), await run_named(store, settings.root, b))
    finally:
        await store.close()


async def baseline(start: Path, reference: str, environ: Mapping[str, str], overrides: Overrides) -> RunResult | None:
    """The run to compare with: named by itself, or the newest of a git ref's commit. None where that has none.

    Raises UnknownName for what is neither a run nor a ref.
    """
    settings = load_settings(start, overrides, environ)
    store = make_store(settings)
    try:
        await store.open()
        commit = git.resolved(settings.root, reference)
        return await newest_of(store, commit) if commit else await run_named(store, settings.root, reference)
    finally:
        await store.close()


async def run_named(store: Store, root: Path, reference: str) -> RunResult:
    """A run by its id, or the newest of the commit a git ref names. Raises UnknownName, StoreFailed."""
    try:
        return await store.load(reference)
    except UnknownName as e:
        commit = git.resolved(root, reference)
        if not commit:
            raise UnknownName(
                f"no run and no git ref is called {reference!r}", remedy="evalrun runs lists the runs that are kept"
            ) from e
    found = await newest_of(store, commit)
    if found is None:
        raise UnknownName(
            f"no run of {reference} ({commit[:10]}) is kept",
            remedy="check it out and evalrun run, or keep one history for both (store in the settings)",
        )
    return found


async def newest_of(store: Store, commit: str) -> RunResult | None:
    """The newest run of a commit, if one is kept."""
    for run in await store.runs(LOOKED_BACK):
        if run.header.commit == commit:
            return await store.load(run.header.id)
    return None


def document(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain values."""
    return {
        "schema_version": 1,
        "a": comparison.a.header.id,
        "b": comparison.b.header.id,
        "word": comparison.word.value,
        "sd": comparison.sd,
        "sd_measured": comparison.measured,
        "trials_a_scenario": comparison.trials,
        "differences": [
            {
                "criterion": d.criterion,
                "scenarios": d.scenarios,
                "a": d.a,
                "b": d.b,
                "difference": d.difference,
                "interval": d.interval,
                "p_value": d.p_value,
                "detectable": d.detectable,
                "word": d.word.value,
                "at_equal_length": d.at_equal_length,
            }
            for d in comparison.differences
        ],
        "scenarios": [
            {
                "id": p.id,
                "verdicts": [p.a.verdict.value, p.b.verdict.value],
                "flipped": p.flipped,
                "differences": dict(p.differences),
                "p_value": p.p_value,
                "holm": p.holm,
                "listed": p.listed,
            }
            for p in comparison.pairs
        ],
        "not_comparable": [{"id": a.id, "why": list(a.why)} for a in comparison.apart],
        "caveats": list(comparison.caveats),
        "cost_usd": [str(comparison.a.spending.cost), str(comparison.b.spending.cost)],
    }
