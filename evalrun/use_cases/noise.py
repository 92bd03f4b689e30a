"""Measure the noise of a suite from the runs that are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

from evalrun.errors import UsageError
from evalrun.loading.settings import Overrides, load_settings
from evalrun.noise import FREEDOM_ENOUGH, Noise, measure, repeated
from evalrun.results import RunResult
from evalrun.use_cases.wiring import make_store

__all__ = ["Overrides", "document", "lines", "noise_of"]


async def noise_of(start: Path, last: int, environ: Mapping[str, str], overrides: Overrides) -> tuple[Noise, Decimal]:
    """The noise of the `last` runs under the rule in force, and the margin of that rule. Raises UsageError when nothing was repeated."""
    settings = load_settings(start, overrides, environ)
    store = make_store(settings)
    try:
        await store.open()
        runs: list[RunResult] = [await store.load(r.header.id) for r in await store.runs(last)]
    finally:
        await store.close()
    found = measure(repeated(runs), settings.evidence)
    if found is None:
        raise UsageError(
            f"no scenario with scores was repeated under one ruler in the last {last} runs",
            remedy="evalrun run --repeats 5 plays each five times; it needs a rubric and a judge",
        )
    return found, settings.evidence.clear


def lines(noise: Noise, *, margin: Decimal) -> Iterator[str]:
    """For people. `margin` is the A in force."""
    bound = f", the bound that holds four times in five for want of {FREEDOM_ENOUGH}" if noise.bounded else ""
    yield (
        f"sd of a trial's mean  {noise.sd:.2f}  from {noise.scenarios} repeated scenarios, "
        f"{noise.freedom} degrees of freedom{bound}"
    )
    yield f"margin that fits      {noise.clear}  in force: {margin} ([tool.evalrun.evidence] margin)"
    yield f"red build by luck     {100 * noise.by_luck:.1f} %  over {len(noise.groups)} scenarios, with the margin in force"
    yield f"low trials            {100 * noise.low_share:.1f} %  of those of scenarios that pass on their mean"
    if noise.close:
        yield "within one sd of the limit, so they cannot be stable:"
        for group in noise.close:
            yield f"  {group.scenario}  margin {group.margin:+.2f} over {len(group.margins)} trials"


def document(noise: Noise) -> dict[str, Any]:
    """The same as plain values."""
    found = asdict(noise)
    found["clear"] = str(noise.clear)
    for name in ("close", "groups"):
        found[name] = [
            {"scenario": g.scenario, "margins": [float(m) for m in g.margins], "low": g.low}
            for g in getattr(noise, name)
        ]
    return found
