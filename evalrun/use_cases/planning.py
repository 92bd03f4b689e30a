"""The trials of a run: one for each repeat, keyed by all that shapes a result; and those of an earlier run kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalrun import __version__, git
from evalrun.config import Settings
from evalrun.deciding import final, verdict_so_far
from evalrun.evidence import EvidenceRule
from evalrun.results import RunResult, ScenarioResult, TrialResult
from evalrun.scenario import Scenario
from evalrun.selection import Selection
from evalrun.suite import Suite
from evalrun.trial import TrialPlan
from evalrun.use_cases.wiring import hash_of
from evalrun.verdict import Outcome, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """Trials to play, trials kept from the run that is resumed, and why kept ones are played again."""

    plans: tuple[TrialPlan, ...]
    kept: Mapping[str, list[TrialResult]] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


def plan_trials(
    settings: Settings, suite: Suite, selection: Selection, earlier: RunResult | None, *, commit: str
) -> Planned:
    """The trials of a selection at a commit. Trials of `earlier` that passed or failed under the same key are kept."""
    shared = _shared_key(settings, suite, commit)
    old = {s.id: s.trials for s in earlier.scenarios} if earlier else {}
    plans: list[TrialPlan] = []
    kept: dict[str, list[TrialResult]] = {}
    notices = []
    for scenario in selection.chosen:
        key = _key(scenario, suite, shared)
        known = list(old.get(scenario.id, ()))
        kept[scenario.id] = known
        counted = final(known)
        stale = [t for t in counted if t.outcome not in (Outcome.PASS, Outcome.FAIL) or t.key != key]
        changed = [c for t in stale if t.key != key for c in _changed(t.key, key)]
        if changed:
            notices.append(f"{scenario.id} is played again: {', '.join(dict.fromkeys(changed))} changed")
        number = max((t.number for t in known), default=0)
        rule = settings.rule_of(scenario.repeats)
        missing = max(rule.at_first - len(counted), 0)
        if not stale and not missing and verdict_so_far(counted, rule) is None:
            missing = 1  # undecided when it was stopped
        replays = [t.number for t in stale] + [0] * missing
        for replayed_number in replays:
            number += 1
            plans.append(_plan(scenario, suite, number, replayed_number, key))
    return Planned(plans=tuple(plans), kept=kept, notices=tuple(notices))


def _plan(scenario: Scenario, suite: Suite, number: int, replays: int, key: str) -> TrialPlan:
    return TrialPlan(
        scenario=scenario,
        persona=suite.personas[scenario.persona],
        rubric=suite.rubrics.get(scenario.judge.rubric),
        checks=tuple(suite.rubrics[c] for c in scenario.judge.checks),
        number=number,
        replays=replays,
        key=key,
    )


def skeleton_of(
    scenario: Scenario,
    reasons: Sequence[str],
    rule: EvidenceRule = EvidenceRule(),  # noqa: B008  frozen
) -> ScenarioResult:
    """A scenario of a run before any trial."""
    return ScenarioResult(
        id=scenario.id,
        title=scenario.title,
        category=scenario.category,
        stage=scenario.stage,
        path=scenario.where.file,
        line=scenario.where.line,
        objective=scenario.objective,
        persona=scenario.persona,
        verdict=Verdict.NOT_RUN,
        reason="not played yet",
        selected_because=tuple(reasons),
        rule=rule,
    )


def models_key(settings: Settings) -> str:
    """What of a trial's key says which models played."""
    return hash_of({r.value: str(m) for r, m in settings.models.items()})


def _shared_key(settings: Settings, suite: Suite, commit: str) -> dict[str, str]:
    """What shapes every result: models, judges, rules, target, the agent's code."""
    target = settings.targets[settings.target]
    return {
        "models": models_key(settings),
        "judges": hash_of([settings.judges, settings.judge.gate, settings.judge.options]),
        "style rules": suite.style.digest,
        "target": hash_of([target.adapter, target.entry, target.options]),
        "code": git.fingerprint(settings.root, commit),
        "evalrun": __version__,
    }


def _key(scenario: Scenario, suite: Suite, shared: Mapping[str, str]) -> str:
    """The key as readable parts, so that a difference can be named."""
    rubrics = [suite.rubrics[r].digest for r in (scenario.judge.rubric, *scenario.judge.checks) if r in suite.rubrics]
    parts = {
        "scenario": scenario.digest,
        "persona": suite.personas[scenario.persona].digest,
        "rubric": hash_of(rubrics),
        **shared,
    }
    return ";".join(f"{k}={v}" for k, v in parts.items())


def _changed(old: str, new: str) -> list[str]:
    """The names of the parts that differ."""
    before = dict(p.partition("=")[::2] for p in old.split(";"))
    return [k for k, v in (p.partition("=")[::2] for p in new.split(";")) if before.get(k) != v]
