"""A plan as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from evalrun.usage import Role
from evalrun.use_cases.forecast import Expected
from evalrun.use_cases.plan import Plan

SHOWN_AT_MOST = 200


def lines(plan: Plan, *, verbose: bool) -> Iterator[str]:
    """What would run and why, then what it takes and rests on; with `verbose` all of it, and what selected nothing."""
    selection = plan.selection
    yield selection.line
    shown = selection.chosen if verbose else selection.chosen[:SHOWN_AT_MOST]
    width = max((len(s.id) for s in shown), default=0)
    for scenario in shown:
        yield f"  {scenario.id:<{width}}  {'; '.join(selection.reasons[scenario.id])}"
    if left := len(selection.chosen) - len(shown):
        yield f"  and {left} more (-v lists all)"
    yield f"expected    {took(plan.chosen)}"
    if plan.chosen.scenarios:
        yield f"  basis     {plan.chosen.basis}"
    yield f"full suite  {took(plan.whole)}"
    if plan.whole.scenarios:
        yield f"  saved     {plan.saved:.0%} of {'the cost' if plan.whole.usd else 'the calls'}"
    if len(set(plan.shards.values())) > 1:
        for entry in sorted(set(plan.shards.values())):
            count = sum(own == entry for own in plan.shards.values())
            yield f"shard {entry}   {count} scenarios, {duration(plan.seconds_of(entry))} one after another"
    if selection.idle and verbose:
        yield "changed and selected nothing:"
        yield from (f"  {path}" for path in selection.idle)
    elif selection.idle:
        yield f"{len(selection.idle)} changed files selected nothing (-v lists them)"
    yield from (f"note: {n}" for n in plan.notices)


def took(expected: Expected) -> str:
    """Trials, calls by role, time and money in one line."""
    calls = ", ".join(f"{r.value} {expected.calls.get(r, 0):.0f}" for r in Role)
    trials = f"{expected.trials} trial{'' if expected.trials == 1 else 's'}"
    return f"{trials}, calls: {calls}; about {duration(expected.elapsed)}; {money(expected.usd)}"


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def money(usd: Decimal) -> str:
    """USD, with digits enough for small sums."""
    return "free" if not usd else f"${usd:.4f}" if usd < 1 else f"${usd:.2f}"
