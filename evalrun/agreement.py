"""How far two raters agree: rates with their interval, kappa, bias, correlation. Pure arithmetic, standard library."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from statistics import fmean, pstdev
from typing import TypeVar

T = TypeVar("T")
Pair = tuple[int, int]
Z95 = 1.959963984540054
RESAMPLES = 2000
SEED = 20261201
"""Of the bootstrap, fixed so that the same labels give the same interval."""


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a rate (Wilson 1927); of nothing: from 0 to 1."""
    if of == 0:
        return 0.0, 1.0
    share, square = hits / of, Z95**2
    middle = share + square / (2 * of)
    half = Z95 * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    low, high = (middle - half) / (1 + square / of), (middle + half) / (1 + square / of)
    return (0.0 if hits == 0 else max(low, 0.0)), (1.0 if hits == of else min(high, 1.0))


def kappa(pairs: Sequence[Pair]) -> float | None:
    """Cohen's kappa with quadratic weights (Cohen 1968) over integer ratings; for yes/no it is the plain one.

    1 minus the mean squared difference over that expected by chance; None when nothing differs by chance.
    """
    if not pairs:
        return None
    ones, others = [a for a, _ in pairs], [b for _, b in pairs]
    observed = fmean((a - b) ** 2 for a, b in pairs)
    # over all pairs of the two margins: the variances and the squared difference of the means
    expected = pstdev(ones) ** 2 + pstdev(others) ** 2 + (fmean(ones) - fmean(others)) ** 2
    return None if expected == 0 else 1 - observed / expected


def bootstrap(items: Sequence[T], of: Callable[[Sequence[T]], float | None]) -> tuple[float, float] | None:
    """The 95 % percentile interval of a figure over resampled items; None when it is mostly undefined."""
    rng = random.Random(SEED)  # noqa: S311  a simulation, nothing secret
    found = [f for _ in range(RESAMPLES) if items and (f := of(rng.choices(items, k=len(items)))) is not None]
    if len(found) < RESAMPLES // 2:
        return None
    found.sort()
    return found[int(0.025 * len(found))], found[min(int(0.975 * len(found)), len(found) - 1)]


def correlation(pairs: Sequence[Pair]) -> float | None:
    """Pearson's r; None when one side never varies."""
    if len(pairs) < 2:
        return None
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    mean_x, mean_y = fmean(x), fmean(y)
    both = math.sqrt(sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y))
    return None if both == 0 else sum((a - mean_x) * (b - mean_y) for a, b in pairs) / both


def corrected_rate(observed: float, true_positive: float, true_negative: float) -> float | None:
    """The pass rate behind an observed one (Rogan and Gladen 1978), kept within 0 and 1.

    None when the judge hardly tells good from bad (the two rates sum to less than 1.2).
    """
    youden = true_positive + true_negative - 1
    return None if youden < 0.2 else min(max((observed + true_negative - 1) / youden, 0.0), 1.0)
