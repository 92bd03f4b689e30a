"""The noise of a suite: what counts as a repeat, the margin that fits, the chance of a red build by luck."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest

from evalrun.evidence import EvidenceRule
from evalrun.noise import Repeated, Scatter, failing, fitting, measure, repeated, simulated
from evalrun.results import Ruler
from evalrun.verdict import Verdict
from tests.runs_samples import run_of
from tests.test_comparison import played

RULE = EvidenceRule()


def group(name: str, *margins: float, low: int = 0) -> Repeated:
    """Trials of a scenario with such margins."""
    return Repeated(scenario=name, margins=tuple(Fraction(str(m)) for m in margins), low=low)


def test_repeats_are_trials_under_one_ruler_and_one_key() -> None:
    """Over runs too; another ruler or another prompt is another group, and the newest with repeats counts."""
    other = Ruler(parts={"model": "anthropic:judge-2"})
    newest = run_of(played("one", (8, 8, 8, 8)), played("two", (7, 7, 7, 7), ruler=other))
    older = run_of(played("one", (9, 9, 9, 9)), played("two", (7, 7, 7, 7), (8, 8, 8, 8)))
    found = {g.scenario: [float(m) for m in g.margins] for g in repeated([newest, older])}
    assert found == {"one": [1.5, 2.5], "two": [0.5, 1.5]}


def test_nothing_repeated_is_no_measure() -> None:
    """Never a default."""
    assert measure([group("one", 1.0), group("two", 0.5)], RULE) is None


@pytest.mark.parametrize(("variance", "clear"), [(0.0, "0.30"), (0.17, "0.50"), (0.2, "0.59"), (2.0, "1.00")])
def test_the_margin_that_fits(variance: float, clear: str) -> None:
    """2.94 times the variance, between 0.3 and 1.0."""
    assert fitting(variance) == Decimal(clear)


def test_few_repeats_use_the_upper_bound_and_many_find_the_truth() -> None:
    """The bound shrinks with more of them."""
    rng = random.Random(7)
    few = measure([group("s", *(rng.gauss(1, 0.4) for _ in range(4)))], RULE)
    many = measure([group(f"s{i}", *(round(rng.gauss(1, 0.4), 4) for _ in range(5))) for i in range(40)], RULE)
    assert few is not None
    assert few.bounded
    assert many is not None
    assert (many.bounded, many.freedom, many.scenarios) == (False, 160, 40)
    assert many.sd == pytest.approx(0.4, abs=0.05)


def test_scenarios_near_the_limit_are_named_on_both_sides() -> None:
    """Within one sd of the limit a scenario cannot be stable."""
    found = measure([group("near", 0.1, 0.5, -0.2), group("under", -0.3, 0.1), group("far", 2.0, 2.6, 1.4)], RULE)
    assert found is not None
    assert [g.scenario for g in found.close] == ["under", "near"]
    assert 0 < found.by_luck < 1


def test_a_scenario_at_the_limit_fails_by_luck_and_one_far_from_it_does_not() -> None:
    """The simulation plays the rule itself, with a fixed seed."""
    scatter = Scatter(sd=0.4)
    assert failing(0.0, scatter, RULE) > 0.2
    assert failing(1.5, scatter, RULE) == 0.0
    assert failing(1.5, Scatter(sd=0.4, low_share=0.5), RULE) > 0.1
    assert failing(0.2, scatter, RULE) == failing(0.2, scatter, RULE)


def test_the_simulation_gives_verdicts_of_the_rule() -> None:
    """At the limit all three are met, and there are as many as asked for."""
    found = Counter(simulated(0.0, Scatter(sd=0.4), RULE, 500))
    assert found.total() == 500
    assert set(found) == {Verdict.PASS, Verdict.FAIL, Verdict.UNSTABLE}
