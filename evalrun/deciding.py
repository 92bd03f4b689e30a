"""From the trials of a scenario to its verdict so far: facts first, then the evidence, then what kept it from being judged."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from evalrun.evidence import EvidenceRule, Weight, decide, gathered
from evalrun.results import Judgement, JudgementStatus, TrialResult
from evalrun.verdict import Outcome, Verdict

JUDGED = (Outcome.PASS, Outcome.FAIL)


def final(trials: Sequence[TrialResult]) -> list[TrialResult]:
    """The trials without those that another one played again."""
    replayed = {t.replays for t in trials}
    return [t for t in trials if t.number not in replayed]


def weight_of(trial: TrialResult) -> Weight:
    """What a judged trial weighs, from the judgements that gate; of several judges with scores the strictest."""
    said = [j for j in trial.judgements if j.gates and not j.deterministic and j.status is JudgementStatus.OK]
    margins = [j.marks.mean - Fraction(j.marks.rule_mean) for j in said if j.marks is not None]
    failed = trial.outcome is Outcome.FAIL
    return Weight(
        passed=trial.outcome is Outcome.PASS,
        margin=min(margins, default=None),
        low=any(_low(j) for j in said) or (failed and not margins),
        certain=not said,
    )


def _low(judgement: Judgement) -> bool:
    """A score under the floor, a violation, or a bare no."""
    marks = judgement.marks
    if any(c.violated for c in judgement.checks) or (marks is not None and marks.lowest < marks.rule_minimum):
        return True
    return judgement.outcome is Outcome.FAIL and (marks is None or marks.passed)


def weights_of(trials: Sequence[TrialResult]) -> list[Weight]:
    """Those of the trials that were judged and count."""
    return [weight_of(t) for t in final(trials) if t.outcome in JUDGED]


def verdict_so_far(trials: Sequence[TrialResult], rule: EvidenceRule) -> Verdict | None:
    """The verdict of a scenario, or None while another trial must be played.

    A failed fact fails at once and no pass averages it away. A trial that could not be judged, or was
    never played, keeps the others from being a pass.
    """
    counted = final(trials)
    if any(t.outcome is Outcome.FAIL and t.fact for t in counted):
        return Verdict.FAIL
    decided = decide(weights_of(counted), rule)
    if decided is Verdict.FAIL:
        return decided
    found = {t.outcome for t in counted}
    for outcome, verdict in (
        (Outcome.ERROR, Verdict.ERROR),
        (Outcome.INVALID, Verdict.INVALID),
        (Outcome.NOT_RUN, Verdict.NOT_RUN),
    ):
        if outcome in found:
            return verdict
    return decided


def reason_for(verdict: Verdict, trials: Sequence[TrialResult], rule: EvidenceRule) -> str:
    """Why, in a sentence: the reason of the first trial that shows the verdict, and what all add up to."""
    counted = final(trials)
    wanted = Outcome.FAIL if verdict is Verdict.UNSTABLE else Outcome(verdict.value)
    first = next((t for t in counted if t.outcome is wanted), None)
    reason = first.reason if first is not None else ""
    weights = weights_of(counted)
    by_fact = first is not None and first.outcome is Outcome.FAIL and first.fact
    if len(weights) < 2 or by_fact or verdict not in (Verdict.PASS, Verdict.FAIL, Verdict.UNSTABLE):
        return reason or ("no trial was planned" if not counted else "undecided")
    return f"{reason} ({_summed(weights, rule)})" if reason else _summed(weights, rule)


def _summed(weights: Sequence[Weight], rule: EvidenceRule) -> str:
    """`4 of 5 trials pass, margins sum to +0.30, 1 low`."""
    of = gathered(weights, rule)
    parts = [f"{sum(w.passed for w in weights)} of {of.trials} trials pass"]
    if any(w.margin is not None for w in weights):
        parts.append(f"margins sum to {float(of.sum):+.2f}")
    if of.low:
        parts.append(f"{of.low} low")
    return ", ".join(parts)
