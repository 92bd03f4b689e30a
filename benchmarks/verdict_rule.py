"""What the verdict rule does to a healthy suite and to a drop of one point: `python -m benchmarks.verdict_rule [plays]`.

Prints each rule's rates under the noise model of tests/noise_model.py, then the shipped rule at three
strengths of noise. The last line holds the two figures that are promised; the exit code is 1 when
either is over.
"""

from __future__ import annotations

import sys
import time

from evalrun.evidence import EvidenceRule
from evalrun.verdict import Verdict
from tests.noise_model import FACTS, HEALTHY, POLICIES, Rates, evidence, rates

PLAYS = 20_000
"""Of each scenario under each rule."""
SD = 0.75
RED_AT_MOST, MISSED_AT_MOST = 0.04, 0.02


def row(name: str, found: Rates) -> str:
    return f"{name:<28} {found.red:7.3f} {found.trials:8.1f} {found.calls:8.1f} {found.missed:8.4f}"


def main() -> int:
    plays = int(sys.argv[1]) if len(sys.argv) > 1 else PLAYS
    began = time.monotonic()
    print(f"35 good scenarios at sd {SD}, {plays} plays of each")
    print(f"{'rule':<28} {'red':>7} {'trials':>8} {'calls':>8} {'missed':>8}   designed with")
    for name, policy in POLICIES.items():
        many = plays if name == "evidence rule" else plays // 4
        found = rates(policy, SD, many)
        print(row(name, found), "  {:.3f} {} {} {:.3f}".format(*FACTS[name]))
        shipped = found
    for sd in (0.5, 1.0):
        print(row(f"evidence rule, sd {sd}", rates(evidence(EvidenceRule()), sd, plays)))
    careful = evidence(EvidenceRule(least=2))
    print(row("evidence rule, min_trials 2", rates(careful, SD, plays // 4)))
    for mean in HEALTHY[:2]:
        tally = shipped.by_mean[mean]
        print(f"of scenarios at mean {mean}: {ending(tally.verdicts)}")
    print(f"of scenarios at mean 6.0: {ending(shipped.dropped.verdicts)}")
    print(f"{time.monotonic() - began:.0f} s")
    over = shipped.red > RED_AT_MOST or shipped.missed > MISSED_AT_MOST
    print(
        f"false red {100 * shipped.red:.2f} % (at most {100 * RED_AT_MOST:g} %), "
        f"missed one-point drop {100 * shipped.missed:.2f} % (at most {100 * MISSED_AT_MOST:g} %)"
    )
    return int(over)


def ending(verdicts: dict[Verdict, int]) -> str:
    whole = sum(verdicts.values())
    return ", ".join(
        f"{v.value} {100 * verdicts[v] / whole:.2f} %" for v in (Verdict.PASS, Verdict.FAIL, Verdict.UNSTABLE)
    )


if __name__ == "__main__":
    sys.exit(main())
