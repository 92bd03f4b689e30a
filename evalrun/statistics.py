"""The statistics of verdicts, judges and comparisons: pure functions on numbers, standard library only.

Each says where its formula comes from; tests hold each against the scientific libraries.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean, pstdev, stdev
from typing import Literal, TypeVar

T = TypeVar("T")
Pair = tuple[int, int]
Interval = tuple[float, float]
Z95 = 1.959963984540054
RESAMPLES = 2000
FLIPS = 10_000
EXACT_UP_TO = 14
"""Differences whose signs are flipped in all ways; more of them are flipped at random."""
SEED = 20261201
"""Of everything drawn at random here, fixed so that the same numbers give the same answer."""


# rates


def wilson(hits: int, of: int) -> Interval:
    """Wilson's 95 % interval of a rate (Wilson 1927); of nothing: from 0 to 1."""
    if of == 0:
        return 0.0, 1.0
    share, square = hits / of, Z95**2
    middle = share + square / (2 * of)
    half = Z95 * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    low, high = (middle - half) / (1 + square / of), (middle + half) / (1 + square / of)
    return (0.0 if hits == 0 else max(low, 0.0)), (1.0 if hits == of else min(high, 1.0))


def clopper_pearson(hits: int, of: int) -> Interval:
    """The exact 95 % interval of a rate (Clopper and Pearson 1934), for gates that must not err; of nothing: 0 to 1."""
    if of == 0:
        return 0.0, 1.0
    low = 0.0 if hits == 0 else _solved(lambda p: incomplete_beta(hits, of - hits + 1, p) - 0.025)
    high = 1.0 if hits == of else _solved(lambda p: incomplete_beta(hits + 1, of - hits, p) - 0.975)
    return low, high


def pass_hat_k(passed: int, trials: int, k: int) -> float | None:
    """pass^k: the chance that k trials drawn from those played all passed, C(c,k)/C(n,k); None for k over n."""
    return None if k > trials or k < 1 else math.comb(passed, k) / math.comb(trials, k)


def pass_at_k(passed: int, trials: int, k: int) -> float | None:
    """pass@k: the chance that at least one of k trials drawn from those played passed, 1 - C(n-c,k)/C(n,k)."""
    return None if k > trials or k < 1 else 1 - math.comb(trials - passed, k) / math.comb(trials, k)


def corrected_rate(observed: float, true_positive: float, true_negative: float) -> float | None:
    """The pass rate behind an observed one (Rogan and Gladen 1978), kept within 0 and 1.

    None when the judge hardly tells good from bad (the two rates sum to less than 1.2).
    """
    youden = true_positive + true_negative - 1
    return None if youden < 0.2 else min(max((observed + true_negative - 1) / youden, 0.0), 1.0)


# agreement


def kappa(pairs: Sequence[Pair], *, weights: Literal["plain", "quadratic"] = "quadratic") -> float | None:
    """Cohen's kappa of two raters (Cohen 1960; quadratic weights: Cohen 1968); for yes/no both are the same.

    1 minus the observed disagreement over that expected by chance; None when chance leaves none.
    """
    if not pairs:
        return None
    ones, others = [a for a, _ in pairs], [b for _, b in pairs]
    if weights == "quadratic":
        observed = fmean((a - b) ** 2 for a, b in pairs)
        # over all pairs of the two margins: the variances and the squared difference of the means
        expected = pstdev(ones) ** 2 + pstdev(others) ** 2 + (fmean(ones) - fmean(others)) ** 2
    else:
        observed = fmean(a != b for a, b in pairs)
        left, right = Counter(ones), Counter(others)
        expected = 1 - sum(n * right[value] for value, n in left.items()) / len(pairs) ** 2
    return None if expected == 0 else 1 - observed / expected


def krippendorff_alpha(
    units: Sequence[Sequence[float]], *, level: Literal["nominal", "interval"] = "interval"
) -> float | None:
    """Krippendorff's alpha over units with the values their raters gave (Krippendorff 2011).

    Units may have different numbers of raters; those with fewer than two values say nothing. None when
    there is nothing to compare or nothing differs.
    """
    kept = [list(u) for u in units if len(u) > 1]
    values = [v for u in kept for v in u]
    if not kept:
        return None

    def apart(found: Sequence[float]) -> float:
        """The sum of the differences over all ordered pairs."""
        if level == "nominal":
            return float(len(found) ** 2 - sum(n * n for n in Counter(found).values()))
        return 2 * (len(found) * sum(v * v for v in found) - sum(found) ** 2)

    observed = sum(apart(u) / (len(u) - 1) for u in kept) / len(values)
    expected = apart(values) / (len(values) * (len(values) - 1))
    return None if expected == 0 else 1 - observed / expected


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's r; None when one side never varies."""
    if len(pairs) < 2:
        return None
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    mean_x, mean_y = fmean(x), fmean(y)
    both = math.sqrt(sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y))
    return None if both == 0 else sum((a - mean_x) * (b - mean_y) for a, b in pairs) / both


def auroc(good: Sequence[float], bad: Sequence[float]) -> float | None:
    """The chance that a good one is scored above a bad one, ties half (Hanley and McNeil 1982); None without both."""
    if not good or not bad:
        return None
    counts = Counter(bad)
    ordered = sorted(counts)
    wins, below, i = 0.0, 0, 0
    for value in sorted(good):
        while i < len(ordered) and ordered[i] < value:
            below += counts[ordered[i]]
            i += 1
        wins += below + counts[value] / 2
    return wins / (len(good) * len(bad))


def bootstrap(items: Sequence[T], of: Callable[[Sequence[T]], float | None]) -> Interval | None:
    """The 95 % percentile interval of a figure over resampled items; None when it is mostly undefined."""
    rng = random.Random(SEED)  # noqa: S311  a simulation, nothing secret
    found = [f for _ in range(RESAMPLES) if items and (f := of(rng.choices(items, k=len(items)))) is not None]
    if len(found) < RESAMPLES // 2:
        return None
    found.sort()
    return found[int(0.025 * len(found))], found[min(int(0.975 * len(found)), len(found) - 1)]


# comparing


def paired_interval(differences: Sequence[float]) -> Interval | None:
    """The 95 % interval of a mean difference (Student 1908): D ± t·sd/√n. None for fewer than two."""
    n = len(differences)
    if n < 2:
        return None
    middle, half = fmean(differences), student_quantile(0.975, n - 1) * stdev(differences) / math.sqrt(n)
    return middle - half, middle + half


def sign_flip(differences: Sequence[float]) -> float | None:
    """The two-sided p-value of a mean difference under flipped signs (Fisher 1935); None of nothing.

    Exact for up to `EXACT_UP_TO` differences, else over random flips with the seen one among them.
    """
    if not differences:
        return None
    seen = abs(math.fsum(differences)) - 1e-12
    n = len(differences)
    if n <= EXACT_UP_TO:
        signs = itertools.product((1, -1), repeat=n)
        return sum(abs(math.fsum(a * d for a, d in zip(s, differences, strict=True))) >= seen for s in signs) / (1 << n)
    rng = random.Random(SEED)  # noqa: S311  a simulation, nothing secret
    hits = 0
    for _ in range(FLIPS):
        bits = rng.getrandbits(n)
        hits += abs(math.fsum(d if bits >> i & 1 else -d for i, d in enumerate(differences))) >= seen
    return (hits + 1) / (FLIPS + 1)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """P-values adjusted so that any false one is as rare as stated (Holm 1979), in the order given."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min((len(p_values) - rank) * p_values[i], 1.0))
        adjusted[i] = highest
    return tuple(adjusted)


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """P-values adjusted for the share of false ones among those called (Benjamini and Hochberg 1995), in the order given."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    adjusted, lowest, n = [0.0] * len(p_values), 1.0, len(p_values)
    for rank, i in enumerate(order):
        lowest = min(lowest, p_values[i] * n / (n - rank))
        adjusted[i] = lowest
    return tuple(adjusted)


def smallest_detectable(*, between: float, within: float, trials: int, scenarios: int) -> float:
    """The mean difference found four times in five: 2.80·√((τ² + 2s²/k)/n).

    `between` is τ, the sd of true differences over scenarios; `within` is s, the sd of a trial's mean;
    k `trials` on each side of n `scenarios`. 2.80 is the sum of the normal quantiles of .975 and .80.
    """
    return 2.80 * math.sqrt((between**2 + 2 * within**2 / trials) / scenarios)


# noise


def pooled_variance(groups: Sequence[Sequence[float]]) -> tuple[float, int] | None:
    """The variance within groups and its degrees of freedom, Σ(x - mean)²/Σ(k - 1); None when no group repeats."""
    kept = [g for g in groups if len(g) > 1]
    freedom = sum(len(g) - 1 for g in kept)
    if not freedom:
        return None
    return sum((x - fmean(g)) ** 2 for g in kept for x in g) / freedom, freedom


def upper_variance(variance: float, freedom: int) -> float:
    """The upper bound that holds four times in five, df·s²/χ²(.20, df)."""
    return freedom * variance / chi_square_quantile(0.20, freedom)


# distributions


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (DLMF 8.17.22, Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    whole = d
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            whole *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * whole


def student_quantile(p: float, freedom: int) -> float:
    """The value that Student's t stays under with a chance of `p` between 0.5 and 1."""
    # P(|t| > q) = I_x(df/2, 1/2) with x = df / (df + q²)
    x = _solved(lambda x: incomplete_beta(freedom / 2, 0.5, x) - 2 * (1 - p))
    return math.sqrt(freedom * (1 - x) / x)


def incomplete_gamma(a: float, x: float) -> float:
    """The regularised lower incomplete gamma function, by its series (DLMF 8.11.4)."""
    if x <= 0:
        return 0.0
    term = total = 1 / a
    n = a
    while term > total * 1e-16:
        n += 1
        term *= x / n
        total += term
    return total * math.exp(a * math.log(x) - x - math.lgamma(a))


def chi_square_quantile(p: float, freedom: int) -> float:
    """The value that a chi-square of so many degrees of freedom stays under with a chance of `p`."""
    highest = freedom + 40 * math.sqrt(freedom) + 40
    return highest * _solved(lambda share: incomplete_gamma(freedom / 2, highest * share / 2) - p)


def _solved(rising: Callable[[float], float]) -> float:
    """Where a rising function of 0 to 1 is zero, by bisection to the last bit."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2
