"""The slide negative binomial model: its parameters from three moments, and its uniques.

Each of the K classes of the population has F = 1 + X records, X negative binomial: P(F = j) =
Gamma(alpha + j - 1) / (Gamma(alpha) (j - 1)!) beta^alpha (1 - beta)^(j-1), so that K beta^alpha
classes are unique (Chen and Keller-McNulty, "Estimation of identification disclosure risk in
microdata", Journal of Official Statistics 14, 1998). Of records drawn with probability pi each,
with q = 1 - pi and G(z) = z (beta / (1 - (1 - beta) z))^alpha, the sample expects

    K (1 - G(q)) classes,   K pi G'(q) of one record,   K pi^2 G''(q) / 2 of two.

K, alpha and beta are those that expect what the sample has. ARX puts a Shlosser-type estimate
(Haas and Stokes, 1998) for K and drops the first equation; that estimate knows nothing of the
model: at a fraction of 0.1 of a population of the model with 6 306 uniques it led to 12 777, where
these equations led to 5 055.

Bias, measured in the tests: right for populations of the model from a fraction of 0.1 on, with a
wide spread below; too high for heavier tails (Pitman's with alpha > 0, Zipf's).
"""

from math import exp, expm1, log, log1p, sqrt
from typing import NamedTuple

import numpy as np

from anonymizer.privacy.population.frequencies import Frequencies

# Where log(beta / (1 - beta)) is looked for: beyond, all classes would be unique or endless.
FIRST, LAST, POINTS = -30.0, 30.0, 241


class SlideNegativeBinomial(NamedTuple):
    """Classes of the population, and the two parameters of their size less one."""

    classes: float
    alpha: float
    beta: float


def fit(sample: Frequencies, fraction: float) -> SlideNegativeBinomial | None:
    """Solution of the three moment equations, or None where there is none or more than one.

    The ratio of the last two gives alpha as the positive root of a quadratic, for each beta; the
    ratio of the first two then has one unknown. It is looked for between neighbours of a grid
    where the sign changes. None without classes of one or two records; where the sizes vary less
    than the model can (alpha grows without bound); and for a fraction of 1, which needs no model.
    """
    from scipy.optimize import brentq

    one, two = sample.of_size(1), sample.of_size(2)
    if not one or not two or fraction >= 1:
        return None
    curvature = 2 * two / (fraction * one)
    target = log(fraction * sample.distinct / one)

    def gap(place: float) -> float:
        model = _Sampled(place, curvature, fraction)
        return target + model.log_slope - log(model.seen)

    grid = np.linspace(FIRST, LAST, POINTS)
    signs = np.sign([gap(place) for place in grid.tolist()])
    changes = np.flatnonzero(signs[1:] != signs[:-1])
    if len(changes) != 1:
        return None
    place = float(brentq(gap, grid[changes[0]], grid[changes[0] + 1], xtol=1e-12))
    found = _Sampled(place, curvature, fraction)
    return SlideNegativeBinomial(sample.distinct / found.seen, found.alpha, found.beta)


def uniques(model: SlideNegativeBinomial) -> float:
    """E[S_1] = K beta^alpha."""
    return float(model.classes * model.beta**model.alpha)


class _Sampled:
    """Sample that the model expects with a given log odds of beta and G''(q) / G'(q)."""

    def __init__(self, place: float, curvature: float, fraction: float) -> None:
        rest = 1 / (1 + exp(place))  # 1 - beta, exact where beta is close to 1
        missed = (1 - fraction) * rest
        left = 1 - missed
        self.beta = 1 / (1 + exp(-place))
        self.alpha = _alpha(rest, missed, left, curvature)
        power = self.alpha * (log(self.beta) if place < 0 else log1p(-rest))
        power -= self.alpha * log1p(-missed)
        self.log_slope = power + log1p(self.alpha * missed / left)
        # 1 - q e^power = pi + q (1 - e^power)
        self.seen = fraction - (1 - fraction) * expm1(power)


def _alpha(rest: float, missed: float, left: float, curvature: float) -> float:
    """Positive root of r a (2 v + (a + 1) d) = curvature v (v + a d); r, d, v as named below.

    Its constant term is negative and its square's positive, so there is exactly one.
    """
    square = rest * missed
    linear = rest * (2 * left + missed) - curvature * left * missed
    constant = curvature * left * left
    root = sqrt(linear * linear + 4 * square * constant)
    return 2 * constant / (linear + root) if linear > 0 else (root - linear) / (2 * square)
