"""Agreement of two raters: known values, and the libraries of others as the reference."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.agreement import bootstrap, corrected_rate, correlation, kappa, wilson

PAIRS = st.lists(st.tuples(st.integers(1, 10), st.integers(1, 10)), min_size=2, max_size=60)


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(3, 3, 0.4385, 1.0), (0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (90, 100, 0.8256, 0.9448), (0, 0, 0.0, 1.0)],
)
def test_wilson_gives_published_intervals(hits: int, of: int, low: float, high: float) -> None:
    """To four digits, and exact at both ends."""
    assert wilson(hits, of) == pytest.approx((low, high), abs=5e-5)


def test_wilson_is_scipys() -> None:
    """For every count up to 60."""
    stats = pytest.importorskip("scipy.stats")
    for of in (1, 2, 7, 30, 60):
        for hits in range(of + 1):
            theirs = stats.binomtest(hits, of).proportion_ci(method="wilson")
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


def test_kappa_is_scikit_learns() -> None:
    """Quadratic weights over the whole scale."""
    metrics = pytest.importorskip("sklearn.metrics")
    rng = random.Random(3)
    for _ in range(30):
        pairs = [(rng.randint(1, 10), rng.randint(1, 10)) for _ in range(40)]
        ones, others = zip(*pairs, strict=True)
        theirs = metrics.cohen_kappa_score(ones, others, weights="quadratic", labels=list(range(1, 11)))
        assert kappa(pairs) == pytest.approx(theirs)


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
