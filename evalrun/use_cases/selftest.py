"""A/A: scenarios against themselves. Nothing differs between the runs, so every flip of a verdict is noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from evalrun.errors import UsageError
from evalrun.evidence import EvidenceRule
from evalrun.loading.settings import Overrides, load_settings
from evalrun.noise import Noise, Repeated, Scatter, measure, repeated, simulated
from evalrun.results import RunResult
from evalrun.selection import Wanted
from evalrun.use_cases.run import Interrupted, RunRequest, run
from evalrun.verdict import Verdict

__all__ = ["Interrupted", "Overrides", "RunRequest", "Wanted", "document", "lines", "selftest"]

SIMULATIONS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest:
    """What N runs of the same gave. `flips`: verdicts unlike the most common one of their scenario.

    `expected` holds 95 % of what the measured noise gives in as many runs; None when no scenario has
    scores that gate.
    """

    runs: tuple[RunResult, ...]
    verdicts: Mapping[str, Counter[Verdict]]
    noise: Noise | None
    expected: tuple[int, int] | None

    @property
    def flips(self) -> int:
        """Over all scenarios."""
        return sum(flipped(c) for c in self.verdicts.values())

    @property
    def red(self) -> int:
        """Runs that would have blocked a merge."""
        return sum(r.exit_code != 0 for r in self.runs)

    @property
    def exit_code(self) -> int:
        """The first of the runs that could not be judged whole, else 0."""
        return next((r.exit_code for r in self.runs if r.exit_code not in (0, 1)), 0)


def flipped(found: Counter[Verdict]) -> int:
    """How many are unlike the most common."""
    return found.total() - max(found.values(), default=0)


async def selftest(request: RunRequest, times: int, environ: Mapping[str, str], say: Callable[[str], None]) -> SelfTest:
    """Run `times` times under one cap. Raises as `run` does, Interrupted for a signal."""
    settings = load_settings(request.start, request.overrides, environ)
    left = settings.budget_usd
    runs: list[RunResult] = []
    for number in range(1, times + 1):
        budget = None if left is None else str(left)
        found = await run(replace(request, overrides=replace(request.overrides, budget=budget)), environ, ())
        if found.stop.signal:
            raise Interrupted(found.stop.signal)
        if not found.scenarios:
            raise UsageError("nothing was selected", remedy="name scenarios, or leave the filters out")
        runs.append(found)
        left = None if left is None else max(left - found.spending.cost, Decimal(0))
        told = Counter(s.verdict for s in found.scenarios)
        say(
            f"[{number}/{times}] {', '.join(f'{n} {v.value}' for v, n in sorted(told.items()))} · run {found.header.id}"
        )
        if found.stop.budget:
            break
    return told_of(runs, settings.evidence)


def told_of(runs: list[RunResult], rule: EvidenceRule) -> SelfTest:
    """What so many runs of the same say."""
    verdicts: dict[str, Counter[Verdict]] = {}
    for found in runs:
        for scenario in found.scenarios:
            verdicts.setdefault(scenario.id, Counter())[scenario.verdict] += 1
    gating = {
        s.id: s.rule
        for r in runs
        for s in r.scenarios
        if any(j.gates and j.marks for t in s.trials for j in t.judgements)
    }
    noise = measure(repeated(reversed(runs)), rule)
    groups = [g for g in noise.groups if g.scenario in gating] if noise else []
    expected = _expected(groups, noise, gating, len(runs)) if noise and groups else None
    return SelfTest(runs=tuple(runs), verdicts=verdicts, noise=noise, expected=expected)


def _expected(groups: list[Repeated], noise: Noise, rules: Mapping[str, EvidenceRule], times: int) -> tuple[int, int]:
    """95 % of the numbers of flips that the noise gives in so many runs."""
    scatter = Scatter(sd=noise.sd, low_share=noise.low_share)
    found = [0] * SIMULATIONS
    for group in groups:
        drawn = list(simulated(group.margin, scatter, rules[group.scenario], SIMULATIONS * times))
        for i in range(SIMULATIONS):
            found[i] += flipped(Counter(drawn[i * times : (i + 1) * times]))
    found.sort()
    return found[int(0.025 * SIMULATIONS)], found[int(0.975 * SIMULATIONS)]


def lines(test: SelfTest) -> Iterator[str]:
    """For people."""
    total = sum(c.total() for c in test.verdicts.values())
    yield f"A/A: {len(test.runs)} runs of {len(test.verdicts)} scenarios, {total} verdicts"
    explained = "no score gates, so none is expected"
    if test.expected is not None and test.noise is not None:
        low, high = test.expected
        explained = f"the measured noise (sd {test.noise.sd:.2f}) explains {low} to {high}"
    yield f"flips {test.flips} (verdicts unlike the most common one of their scenario); {explained}"
    yield f"gate  {len(test.runs) - test.red} green, {test.red} red"
    margins = {g.scenario: g.margin for g in (test.noise.groups if test.noise else ())}
    for name, found in test.verdicts.items():
        if flipped(found):
            said = ", ".join(f"{v.value} {n}" for v, n in found.most_common())
            yield f"  {name}  {said}" + (f"  margin {margins[name]:+.2f}" if name in margins else "")


def document(test: SelfTest) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "schema_version": 1,
        "runs": [r.header.id for r in test.runs],
        "exit_codes": [r.exit_code for r in test.runs],
        "verdicts": {name: {v.value: n for v, n in found.items()} for name, found in test.verdicts.items()},
        "flips": test.flips,
        "expected": test.expected,
        "red": test.red,
        "sd": test.noise.sd if test.noise else None,
    }
