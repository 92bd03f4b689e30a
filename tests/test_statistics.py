"""The statistics: known and published values, and the scientific libraries as the reference.

Published values: the judge verdicts of LLMBar (princeton-nlp/LLMBar, MIT) and the trajectories of
tau-bench (sierra-research/tau-bench, MIT), as counts.
"""

from __future__ import annotations

import math
import random
from statistics import fmean

import krippendorff
import pytest
import scipy.special
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from evalrun.statistics import (
    auroc,
    benjamini_hochberg,
    bootstrap,
    chi_square_quantile,
    clopper_pearson,
    corrected_rate,
    correlation,
    holm,
    incomplete_beta,
    incomplete_gamma,
    kappa,
    krippendorff_alpha,
    paired_interval,
    pass_at_k,
    pass_hat_k,
    pooled_variance,
    sign_flip,
    smallest_detectable,
    student_quantile,
    upper_variance,
    wilson,
)

PAIRS = st.lists(st.tuples(st.integers(1, 10), st.integers(1, 10)), min_size=2, max_size=60)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)
LLMBAR = {
    "GPT-4 on MT-Bench": ((87, 15, 11, 87), 0.7401039584166333),
    "GPT-4 on Natural": ((40, 3, 2, 55), 0.897708674304419),
    "ChatGPT on Neighbor": ((44, 35, 3, 52), 0.4616197927680271),
}
"""Verdicts in both orders of the answers as (1-1, 1-2, 2-1, 2-2), and the agreement that was published."""
GOOD = {0: 13, 1: 2, 2: 10, 4: 24, 5: 6, 6: 12, 7: 28, 8: 62, 9: 260}
BAD = {0: 64, 1: 13, 2: 67, 3: 7, 4: 99, 5: 9, 6: 26, 7: 43, 8: 30, 9: 61}
"""LLMBar: how often GPT-4 gave each score to an answer that people preferred, and to one they did not."""
TAU_BENCH = {0: 14, 1: 12, 2: 10, 3: 4, 4: 10}
"""tau-bench, airline, gpt-4o: of 50 tasks, how many passed in so many of 4 trials."""


def spread(counts: dict[int, int]) -> list[float]:
    """The values behind counts."""
    return [float(v) for v, n in counts.items() for _ in range(n)]


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(3, 3, 0.4385, 1.0), (0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (90, 100, 0.8256, 0.9448), (0, 0, 0.0, 1.0)],
)
def test_wilson_gives_published_intervals(hits: int, of: int, low: float, high: float) -> None:
    """To four digits, and exact at both ends."""
    assert wilson(hits, of) == pytest.approx((low, high), abs=5e-5)


def test_wilson_is_scipys() -> None:
    """For every count up to 60."""
    for of in (1, 2, 7, 30, 60):
        for hits in range(of + 1):
            theirs = scipy.stats.binomtest(hits, of).proportion_ci(method="wilson")
            assert wilson(hits, of) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_kappa_of_a_table_worked_by_hand() -> None:
    """Yes/no with 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: (0.7 - 0.5) / (1 - 0.5) = 0.4."""
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert kappa(pairs) == pytest.approx(0.4)
    assert kappa([(3, 3)] * 4) is None


@given(PAIRS)
def test_kappa_is_at_most_one_and_the_same_both_ways(pairs: list[tuple[int, int]]) -> None:
    """Full agreement is 1, and it does not matter who is the judge."""
    found = kappa(pairs)
    assert found == pytest.approx(kappa([(b, a) for a, b in pairs]))
    assert found is None or found <= 1 + 1e-9
    assert kappa([(a, a) for a, _ in pairs]) in (None, pytest.approx(1.0))


@pytest.mark.parametrize("name", LLMBAR)
def test_plain_kappa_is_the_published_one(name: str) -> None:
    """The agreement of a judge with itself in both orders, to all digits; for yes/no the weights change nothing."""
    (same1, first, second, same2), published = LLMBAR[name]
    pairs = [(1, 1)] * same1 + [(1, 2)] * first + [(2, 1)] * second + [(2, 2)] * same2
    assert kappa(pairs, weights="plain") == pytest.approx(published, abs=1e-12)
    assert kappa(pairs) == pytest.approx(published, abs=1e-12)


def test_kappa_is_scikit_learns() -> None:
    """Plain and with quadratic weights over the whole scale."""
    rng = random.Random(3)
    for _ in range(30):
        pairs = [(rng.randint(1, 10), rng.randint(1, 10)) for _ in range(40)]
        ones, others = zip(*pairs, strict=True)
        weighted = metrics.cohen_kappa_score(ones, others, weights="quadratic", labels=list(range(1, 11)))
        assert kappa(pairs) == pytest.approx(weighted)
        assert kappa(pairs, weights="plain") == pytest.approx(metrics.cohen_kappa_score(ones, others))


@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_alpha_is_the_reference_package_s(level: str) -> None:
    """With raters missing, and undefined where nothing differs."""
    rng = random.Random(5)
    for _ in range(20):
        table = [[rng.choice([1, 2, 3, 4, 5, math.nan]) for _ in range(12)] for _ in range(3)]
        units = [[row[i] for row in table if not math.isnan(row[i])] for i in range(12)]
        theirs = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
        assert krippendorff_alpha(units, level=level) == pytest.approx(theirs)
    assert krippendorff_alpha([[1], [2]]) is None
    assert krippendorff_alpha([[3, 3], [3, 3]]) is None


def test_a_bootstrap_interval_holds_the_figure_and_is_the_same_each_time() -> None:
    """Fixed seed; an undefined figure has no interval."""
    rng = random.Random(1)
    pairs = [(a, min(10, max(1, a + rng.choice((-1, 0, 0, 1))))) for a in (rng.randint(1, 10) for _ in range(80))]
    found = bootstrap(pairs, kappa)
    assert found is not None
    assert found == bootstrap(pairs, kappa)
    assert found[0] < (kappa(pairs) or 0) < found[1]
    assert bootstrap([(1, 1)] * 5, kappa) is None


def test_correlation_and_its_absence() -> None:
    """Rising together is 1, against each other -1; a side that never varies has none."""
    assert correlation([(1, 2), (2, 4), (3, 6)]) == pytest.approx(1.0)
    assert correlation([(1, 6), (2, 4), (3, 2)]) == pytest.approx(-1.0)
    assert correlation([(1, 5), (2, 5)]) is None


def test_the_corrected_rate_undoes_a_judges_errors() -> None:
    """A true rate of .8 seen through rates .9 and .85 comes back; a judge near chance is refused."""
    seen = 0.8 * 0.9 + 0.2 * (1 - 0.85)
    assert corrected_rate(seen, 0.9, 0.85) == pytest.approx(0.8)
    assert corrected_rate(0.5, 0.6, 0.55) is None
    assert corrected_rate(1.0, 0.9, 0.9) == 1.0
    assert not math.isnan(corrected_rate(0.0, 0.9, 0.9) or 0.0)


def test_auroc_is_the_published_one_and_scikit_learns() -> None:
    """.813 for GPT-4 on LLMBar; ties count half; none without both kinds."""
    assert auroc(spread(GOOD), spread(BAD)) == pytest.approx(0.813, abs=5e-4)
    scores = spread(GOOD) + spread(BAD)
    truth = [1] * sum(GOOD.values()) + [0] * sum(BAD.values())
    assert auroc(spread(GOOD), spread(BAD)) == pytest.approx(metrics.roc_auc_score(truth, scores))
    assert auroc([1.0], []) is None


@pytest.mark.parametrize(("hits", "of"), [(0, 5), (1, 1), (3, 3), (7, 20), (199, 200), (50, 1000)])
def test_clopper_pearson_is_scipys_and_statsmodels(hits: int, of: int) -> None:
    """Exact, also at both ends."""
    theirs = scipy.stats.binomtest(hits, of).proportion_ci(method="exact")
    assert clopper_pearson(hits, of) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert clopper_pearson(hits, of) == pytest.approx(proportion_confint(hits, of, method="beta"), abs=1e-12)
    assert clopper_pearson(0, 0) == (0.0, 1.0)


def test_pass_hat_k_and_pass_at_k_are_the_published_ones() -> None:
    """tau-bench, gpt-4o on the airline tasks: pass^1..4 and pass@4."""

    def over_tasks(of: object, k: int) -> float:
        return fmean(of(passed, 4, k) for passed, n in TAU_BENCH.items() for _ in range(n))  # type: ignore[operator]

    assert [round(over_tasks(pass_hat_k, k), 3) for k in (1, 2, 3, 4)] == [0.42, 0.273, 0.22, 0.2]
    assert over_tasks(pass_at_k, 4) == pytest.approx(0.72)
    assert pass_hat_k(2, 2, 3) is None
    assert pass_at_k(2, 2, 0) is None


@given(st.integers(1, 12), st.data())
def test_pass_hat_k_never_rises_with_k_and_pass_at_k_never_falls(trials: int, data: st.DataObject) -> None:
    """And both are the plain rate at 1."""
    passed = data.draw(st.integers(0, trials))
    hat = [pass_hat_k(passed, trials, k) or 0.0 for k in range(1, trials + 1)]
    at = [pass_at_k(passed, trials, k) or 0.0 for k in range(1, trials + 1)]
    assert hat == sorted(hat, reverse=True)
    assert at == sorted(at)
    assert hat[0] == pytest.approx(passed / trials) == at[0]


def test_the_paired_interval_is_scipys() -> None:
    """Student's t over the differences; fewer than two have none."""
    rng = random.Random(8)
    for n in (2, 3, 10, 35, 200):
        found = [rng.gauss(0.2, 0.6) for _ in range(n)]
        theirs = scipy.stats.ttest_1samp(found, 0).confidence_interval(0.95)
        assert paired_interval(found) == pytest.approx((theirs.low, theirs.high), abs=1e-10)
    assert paired_interval([0.4]) is None


@pytest.mark.parametrize("n", [1, 5, 9, 14])
def test_sign_flips_are_exact_for_few(n: int) -> None:
    """The same p-value as scipy's permutation test over all signs."""
    rng = random.Random(n)
    found = [rng.gauss(0.3, 1) for _ in range(n)]
    if n == 1:
        assert sign_flip(found) == 1.0
        return
    theirs = scipy.stats.permutation_test(
        (found,), fmean, permutation_type="samples", n_resamples=2**n + 1, alternative="two-sided"
    )
    assert sign_flip(found) == pytest.approx(theirs.pvalue)


def test_sign_flips_of_many_are_close_to_the_exact_and_the_same_each_time() -> None:
    """Ten thousand flips with a fixed seed; never 0."""
    rng = random.Random(2)
    found = [rng.gauss(0.25, 0.7) for _ in range(40)]
    p = sign_flip(found)
    assert p == sign_flip(found)
    assert p == pytest.approx(scipy.stats.ttest_1samp(found, 0).pvalue, abs=0.02)
    assert 0 < (sign_flip([1.0] * 40) or 0) < 0.001
    assert sign_flip([]) is None


@settings(deadline=None)
@given(P_VALUES)
def test_holm_and_benjamini_hochberg_are_statsmodels(p_values: list[float]) -> None:
    """In the order given, ties and ends included."""
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])
    assert benjamini_hochberg(p_values) == pytest.approx(multipletests(p_values, method="fdr_bh")[1])


@pytest.mark.parametrize(("trials", "found"), [(1, 0.25), (3, 0.17)])
def test_the_smallest_detectable_difference_of_the_shipped_defaults(trials: int, found: float) -> None:
    """35 scenarios, sd of a trial .35, of true differences .2."""
    assert smallest_detectable(between=0.2, within=0.35, trials=trials, scenarios=35) == pytest.approx(found, abs=0.005)


def test_the_pooled_variance_counts_repeats_only_and_its_bound_holds_four_times_in_five() -> None:
    """By hand, and the bound by simulation."""
    assert pooled_variance([[7.0, 8.0], [5.0], [6.0, 6.0, 9.0]]) == pytest.approx(((0.5 + 6.0) / 3, 3))
    assert pooled_variance([[7.0], [8.0]]) is None
    rng = random.Random(4)
    held = 0
    for _ in range(2000):
        found = pooled_variance([[rng.gauss(0, 1) for _ in range(3)] for _ in range(4)])
        assert found is not None
        held += upper_variance(*found) >= 1
    assert held / 2000 == pytest.approx(0.8, abs=0.03)


@given(st.floats(0.2, 80), st.floats(0.2, 80), st.floats(0, 1))
def test_the_incomplete_beta_is_scipys(a: float, b: float, x: float) -> None:
    """Over shapes as they are met here."""
    assert incomplete_beta(a, b, x) == pytest.approx(float(scipy.special.betainc(a, b, x)), abs=1e-10)


@given(st.floats(0.5, 100), st.floats(0, 300))
def test_the_incomplete_gamma_is_scipys(a: float, x: float) -> None:
    """Over shapes as they are met here."""
    assert incomplete_gamma(a, x) == pytest.approx(float(scipy.special.gammainc(a, x)), abs=1e-10)


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 29, 34, 500])
def test_quantiles_are_scipys(freedom: int) -> None:
    """Of Student's t and chi-square."""
    for p in (0.5, 0.8, 0.975, 0.999):
        assert student_quantile(p, freedom) == pytest.approx(scipy.stats.t.ppf(p, freedom), abs=1e-6)
        assert chi_square_quantile(p, freedom) == pytest.approx(scipy.stats.chi2.ppf(p, freedom), rel=1e-8)
    assert chi_square_quantile(0.2, freedom) == pytest.approx(scipy.stats.chi2.ppf(0.2, freedom), rel=1e-8)
