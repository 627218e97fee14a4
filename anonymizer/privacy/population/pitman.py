"""Pitman's sampling formula: maximum likelihood of theta and alpha, and the uniques it expects.

The probability of the class sizes of n records, f_j classes of size j and u in all, is
proportional to

    prod_{i=1}^{u-1} (theta + i alpha) / prod_{i=1}^{n-1} (theta + i)
        * prod_j (prod_{i=1}^{j-1} (i - alpha))^f_j

(Pitman, 1995; Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk
assessment", Journal of Official Statistics 17, 2001). 0 <= alpha < 1 has ever new classes: alpha
= 0 is Ewens' formula (a Dirichlet process), larger alpha a heavier tail of small classes. alpha <
0 with theta = -m alpha is m classes whose probabilities are Dirichlet(-alpha): m equally likely
classes as alpha falls. A sample of the population's records follows the formula with the same
parameters, which is why the sample gives information about the population.

Bias, measured in the tests: right for all populations of the family, Poisson-gamma and equally
likely classes among them, if with a wide spread where alpha < 0 and the fraction is below 0.1; too
high for tails of another shape (Zipf's with a largest class, Poisson-lognormal), at any fraction
below 1; too low for slide negative binomials with many uniques.
"""

from math import exp, log, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.kernels.arrays import Floats
from anonymizer.privacy.population.frequencies import Frequencies

# alpha of classes whose probabilities differ by 1% (1 / sqrt(10^4)): beyond it, equal.
EVEN = -1e4
HEAVIEST = 1 - 1e-9
# e^LARGEST: a theta beyond it says that the sample knows no finite one.
LARGEST = 80.0
STEPS = 200


NEAR = 20
"""Below, terms of a harmonic sum are added up one by one."""


class Pitman(NamedTuple):
    """The two parameters: theta, alpha."""

    theta: float
    alpha: float


def fit(sample: Frequencies) -> Pitman | None:
    """Maximum likelihood, or None where the sample does not determine it.

    For each alpha the likelihood has its maximum in theta at the root of one equation, and these
    maxima have theirs at the root of another; both are found by bracketing, so the search cannot
    run away. None with one class only, without a class of two records (the larger theta the
    likelier), and where theta would exceed e^LARGEST. alpha stays at EVEN where it would be less.
    """
    from scipy.optimize import brentq

    if not 1 < sample.distinct < sample.records:
        return None
    try:
        lowest, highest = _bracket(sample)
        if lowest == highest:
            return Pitman(_theta(sample, lowest), lowest)
        alpha = brentq(lambda alpha: _slope(sample, alpha), lowest, highest, xtol=1e-12)
        return Pitman(_theta(sample, alpha), float(alpha))
    except _UndeterminedError:
        return None


def uniques(model: Pitman, population: float) -> float:
    """E[S_1], the classes with one record that the model expects among N records.

    N Gamma(theta + 1) Gamma(theta + alpha + N - 1) / (Gamma(theta + alpha) Gamma(theta + N)):
    exact for every N, where Hoshino's N^alpha Gamma(theta + 1) / Gamma(theta + alpha) is the
    limit of large N. A record is alone with the same chance in the sample's first draw as in
    its last, hence one factor N times the chance that none of N - 1 draws joins the first.
    """
    theta, alpha = model
    alone = _log_gamma_ratio(theta + population, alpha - 1) - _log_gamma_ratio(theta + 1, alpha - 1)
    return population * exp(min(alone, 0.0))


class _UndeterminedError(ArithmeticError):
    """No finite theta has the largest likelihood."""


def _bracket(sample: Frequencies) -> tuple[float, float]:
    """Two alphas around the maximum of the likelihood; one twice where it is at the end."""
    if _slope(sample, 0.0) > 0:
        return 0.0, HEAVIEST
    above, alpha = 0.0, -0.01
    while alpha > EVEN:
        if _slope(sample, alpha) > 0:
            return alpha, above
        above, alpha = alpha, 4 * alpha
    return (EVEN, above) if _slope(sample, EVEN) > 0 else (EVEN, EVEN)


def _slope(sample: Frequencies, alpha: float) -> float:
    """Derivative of the log-likelihood by alpha, at the theta that is best for it."""
    theta = _theta(sample, alpha)
    others = sample.distinct - 1
    if others * abs(alpha) < 1e-5 * theta:  # the quotient below would cancel
        squares = others * (others + 1) * (2 * others + 1) / 6
        gained = others * (others + 1) / 2 / theta - alpha * squares / theta**2
    else:
        gained = (others - theta * _new_classes(others, theta, alpha)) / alpha
    several = sample.sizes > 1
    lost = (sample.classes[several] * _harmonic(1 - alpha, sample.sizes[several] - 1)).sum()
    return float(gained - lost)


def _theta(sample: Frequencies, alpha: float) -> float:
    """Root of sum_{i<u} 1 / (theta + i alpha) = sum_{i<n} 1 / (theta + i), above its lower limit.

    In log(theta - limit). The left sum has a term 1 / (theta - limit), which gives a point where
    it is the larger one; as there are fewer classes than records, the right sum is, in the end.
    """
    from scipy.optimize import brentq

    others, records = sample.distinct - 1, sample.records - 1
    limit = max(-alpha, -alpha * others)

    def excess(scale: float) -> float:
        theta = limit + exp(scale)
        return _new_classes(others, theta, alpha, exp(scale)) - _one_harmonic(theta + 1, records)

    low = -log(_one_harmonic(limit + 1, records) + 1)
    step = 1.0
    while excess(low + step) > 0:
        step *= 2
        if low + step > LARGEST:
            raise _UndeterminedError
    return limit + exp(brentq(excess, low, low + step, xtol=1e-13))


def _new_classes(others: float, theta: float, alpha: float, beyond: float | None = None) -> float:
    """sum_{i=1}^{others} 1 / (theta + i alpha); ``beyond`` is theta less its lower limit."""
    if alpha == 0:
        return others / theta
    least = beyond if beyond is not None else theta - max(-alpha, -alpha * others)
    return _one_harmonic(least / abs(alpha), others) / abs(alpha)


def _one_harmonic(start: float, count: float) -> float:
    """``_harmonic`` of one start; what the search for theta spends its time on.

    Terms below ``NEAR`` are added up, the others by the series of digamma about the midpoint, whose
    first left-out term is below 1e-15 there.
    """
    total = 0.0
    while start < NEAR and count > 0:
        total += 1 / start
        start, count = start + 1, count - 1
    if count <= 0:
        return total
    first = start - 0.5
    return total + log1p(count / first) + _series((first + count) ** -2) - _series(first**-2)


def _series(x: float) -> float:
    return x * (1 / 24 + x * (-7 / 960 + x * (31 / 8064 - x * 127 / 30720)))


def _harmonic(start: ArrayLike, count: ArrayLike) -> Floats:
    """sum_{i=0}^{count-1} 1 / (start + i), start > 0, without cancellation.

    A difference of digamma functions; from 100 on its asymptotic series about the midpoint,
    whose first left-out term is below 1e-15.
    """
    from scipy.special import digamma

    start, count = np.asarray(start, float), np.asarray(count, float)
    near = digamma(np.minimum(start, 100) + count) - digamma(np.minimum(start, 100))
    first = np.maximum(start, 100) - 0.5
    last = first + count
    far = np.log1p(count / first) + (last**-2 - first**-2) / 24 - 7 * (last**-4 - first**-4) / 960
    return np.asarray(np.where(start < 100, near, far))


def _log_gamma_ratio(x: float, shift: float) -> float:
    """log(Gamma(x + shift) / Gamma(x)), by Stirling's series where the two would cancel."""
    from scipy.special import gammaln

    moved = x + shift
    if moved < 100:
        return float(gammaln(moved) - gammaln(x))
    tail = (1 / moved - 1 / x) / 12 - (moved**-3 - x**-3) / 360 + (moved**-5 - x**-5) / 1260
    return (moved - 0.5) * log1p(shift / x) + shift * log(x) - shift + tail
