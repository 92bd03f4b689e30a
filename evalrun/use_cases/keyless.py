"""Scenarios that cannot be played for want of a key: not run, each saying so, and excused only where that is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evalrun.config import Settings
from evalrun.errors import MissingKey
from evalrun.results import RunHeader, ScenarioResult, TrialResult
from evalrun.runner import not_run
from evalrun.suite import Suite
from evalrun.trial import TrialPlan
from evalrun.usage import Role
from evalrun.use_cases.planning import Planned
from evalrun.use_cases.wiring import needed_roles
from evalrun.verdict import Stop, exit_code

NO_KEY = "no_key"
"""The setting of a run that says whether it may succeed without some scenarios."""
ALLOWED, REFUSED = "allowed", "refused"


def offline_ok(asked: bool | None, environ: Mapping[str, str]) -> str:
    """`allowed` or `refused`: what was asked for, else allowed everywhere but in CI."""
    in_ci = environ.get("CI", "").strip().lower() not in ("", "0", "false")
    return ALLOWED if asked or (asked is None and not in_ci) else REFUSED


def without_keys(planned: Planned, lacking: Mapping[Role, MissingKey], settings: Settings, suite: Suite) -> Planned:
    """The trials that can be played with the keys at hand; the others are there as not run, with the reason."""
    if not lacking:
        return planned
    plans: list[TrialPlan] = []
    kept = {name: list(trials) for name, trials in planned.kept.items()}
    missed: dict[str, str] = {}
    for plan in planned.plans:
        needed = needed_roles(settings, suite, (plan.scenario,))
        error = next((lacking[r] for r in Role if r in needed and r in lacking), None)
        if error is None:
            plans.append(plan)
        else:
            missed[plan.scenario.id] = error.short
            kept.setdefault(plan.scenario.id, []).append(_missed(plan, error))
    why = dict.fromkeys(missed.values())
    notices = [f"{short}: what needs it is not run (pull requests from forks get no secrets)" for short in why]
    return replace(planned, plans=tuple(plans), kept=kept, notices=(*planned.notices, *notices))


def _missed(plan: TrialPlan, error: MissingKey) -> TrialResult:
    return replace(not_run(plan, error.reason), fact=True, reason=error.short)


def exit_code_of(scenarios: Sequence[ScenarioResult], header: RunHeader, stop: Stop) -> int:
    """The exit code of a run; scenarios that only lacked a key do not count where that is allowed."""
    excused = [s for s in scenarios if s.no_key] if header.settings.get(NO_KEY) == ALLOWED else []
    return exit_code(
        [s.verdict for s in scenarios if s not in excused],
        stop=stop,
        selected=header.selected - len(excused),
        unstable_fails=header.unstable_fails,
    )
