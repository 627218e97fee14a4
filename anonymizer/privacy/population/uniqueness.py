"""Uniqueness in the population, estimated from a sample's class sizes and sampling fraction.

A record is unique when no other shares its class. The sample shows which of its own records are;
of these only some are unique in the population of N = n / fraction records as well. Every
estimator takes each record of the population to be drawn with the same probability.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.errors import require_number, require_one_of
from anonymizer.kernels.arrays import Floats
from anonymizer.privacy.population.frequencies import LEAST_FRACTION, Frequencies, frequencies

ESTIMATORS = ("dankar", "zayatz", "pitman", "snb")


WHAT = "population-uniqueness"


# Up to this fraction Dankar et al. trust Pitman's model.
SMALL_FRACTION = 0.1


class Uniqueness(NamedTuple):
    """An estimate, and the ``estimator`` that made it: "exact" where there was nothing to estimate.

    ``uniques`` is the expected number S_1 of population uniques, within [0, f_1 + N - n]: each is
    one of the f_1 sample uniques or of the N - n records not drawn. ``share`` is S_1 / N.
    ``sample_share`` is the expected share of the sample's records that are unique in the
    population: fraction S_1 / n = S_1 / N, as each of the S_1 is drawn with probability
    ``fraction``; but at most f_1 / n, for only sample uniques can be population uniques.
    """

    estimator: str
    uniques: float
    share: float
    sample_share: float


def sample_uniqueness(sizes: ArrayLike) -> float:
    """f_1 / n, the share of records that are the only ones of their class; 0 without records.

    ``sizes`` (classes,) are the records of each class. Merging two classes never raises it: the
    merged class has two records at least, and no other changes.

    >>> sample_uniqueness([1, 1, 2])
    0.5
    """
    sample = frequencies(sizes, "sample-uniqueness")
    return sample.of_size(1) / sample.records if sample.records else 0.0


def population_uniqueness(
    sizes: ArrayLike, fraction: float, estimator: str = "dankar"
) -> Uniqueness | None:
    """Population uniques expected from the sample, or None where the estimator has no answer.

    Parameters
    ----------
    sizes
        (classes,) records of each class of the sample; classes without records do not count.
    fraction
        Share of the population's records in the sample, in [1e-12, 1].
    estimator
        One of ``ESTIMATORS``. "dankar" and "zayatz" always answer; "pitman" and "snb" do not where
        the sample does not determine their model.

    Notes
    -----
    With fraction 1 the sample is the population and its uniques are counted. Without sample
    uniques the answer is 0: no record of the sample can be a population unique, and none is
    taken to be outside it. Both are "exact".

    None of the estimates is monotone: merging two classes can raise each of them, so that none
    licenses pruning. Examples of each are in the tests.

    Dankar's rule (Dankar, El Emam, Neisa and Roffey, "Estimating the re-identification risk of
    clinical data sets", BMC Medical Informatics and Decision Making 12:66, 2012; as ARX has it):
    up to a fraction of 0.1 Pitman, or Zayatz where Pitman has no answer; above 0.1 the smaller of
    SNB and Zayatz, or Zayatz where SNB has none.

    InputError where the estimator is unknown, ``fraction`` is not in [1e-12, 1], or the sizes are
    not whole numbers of at least 0.

    >>> population_uniqueness([1, 1, 2, 2, 2], 0.5, "zayatz")
    Uniqueness(estimator='zayatz', uniques=1.6, share=0.1, sample_share=0.1)
    """
    require_one_of(f"{WHAT}: estimator", estimator, ESTIMATORS)
    require_number(WHAT, "fraction", fraction, LEAST_FRACTION, 1)
    share = float(fraction)
    sample = frequencies(sizes, WHAT)
    if share == 1 or not sample.of_size(1):
        return _answer("exact", sample.of_size(1), sample, share)
    if estimator == "dankar":
        return _dankar(sample, share)
    return _estimate(estimator, sample, share)


def _dankar(sample: Frequencies, fraction: float) -> Uniqueness:
    """Dankar's rule, see ``population_uniqueness``; a tie of the two goes to SNB."""
    fallback = _answer("zayatz", _zayatz(sample, fraction), sample, fraction)
    if fraction <= SMALL_FRACTION:
        return _estimate("pitman", sample, fraction) or fallback
    other = _estimate("snb", sample, fraction) or fallback
    return fallback if fallback.uniques < other.uniques else other


def _estimate(estimator: str, sample: Frequencies, fraction: float) -> Uniqueness | None:
    """Estimate by one of the three models, or None."""
    expected: float | None
    if estimator == "zayatz":
        expected = _zayatz(sample, fraction)
    elif estimator == "pitman":
        superpopulation = Pitman.fit(sample)
        expected = superpopulation and superpopulation.uniques(sample.records / fraction)
    else:
        classes = SlideNegativeBinomial.fit(sample, fraction)
        expected = classes and classes.uniques()
    return None if expected is None else _answer(estimator, expected, sample, fraction)


def _zayatz(sample: Frequencies, fraction: float) -> float:
    """f_1 P(F = 1 | f = 1) / fraction, with P by Bayes' rule and the sample's sizes as prior.

    P(F = 1 | f = 1) = f_1 / sum_j f_j j (1 - fraction)^(j-1): a population class of j records
    leaves one in the sample with probability j fraction (1 - fraction)^(j-1), and the share of
    population classes of size j is taken to be the sample's f_j / u (Zayatz, "Estimation of the
    number of unique population elements using a sample", 1991). Binomial, the limit of her
    hypergeometric for large N: the fraction is a probability here, not a count of records.

    As sampled classes are smaller than those they come from, the prior has too many small ones: it
    overestimates, the more the smaller the fraction, and tends to S_1 = f_1 / fraction as all
    classes of the sample become unique.
    """
    one = sample.of_size(1)
    drawn = sample.sizes * (1 - fraction) ** (sample.sizes - 1)
    return float(one * one / (sample.classes * drawn).sum() / fraction)


def _answer(estimator: str, expected: float, sample: Frequencies, fraction: float) -> Uniqueness:
    """Clip the expectation to what is possible, and give it in shares."""
    if not sample.records:
        return Uniqueness(estimator, 0.0, 0.0, 0.0)
    one, population = sample.of_size(1), sample.records / fraction
    uniques = float(min(max(expected, 0.0), one + population - sample.records))
    share = min(uniques / population, 1.0)
    return Uniqueness(estimator, uniques, share, min(share, one / sample.records))


# alpha of classes whose probabilities differ by 1% (1 / sqrt(10^4)): beyond it, equal.
EVEN = -1e4


HEAVIEST = 1 - 1e-9


# e^LARGEST: a theta beyond it says that the sample knows no finite one.
LARGEST = 80.0


NEAR = 20
"""Below, terms of a harmonic sum are added up one by one."""


class Pitman(NamedTuple):
    """Pitman's sampling formula: maximum likelihood of theta and alpha, and the uniques it expects.

    The probability of the class sizes of n records, f_j classes of size j and u in all, is
    proportional to

        prod_{i=1}^{u-1} (theta + i alpha) / prod_{i=1}^{n-1} (theta + i)
            * prod_j (prod_{i=1}^{j-1} (i - alpha))^f_j

    (Pitman, 1995; Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk
    assessment", Journal of Official Statistics 17, 2001). 0 <= alpha < 1 has ever new classes:
    alpha = 0 is Ewens' formula (a Dirichlet process), larger alpha a heavier tail of small classes.
    alpha < 0 with theta = -m alpha is m classes whose probabilities are Dirichlet(-alpha): m
    equally likely classes as alpha falls. A sample of the population's records follows the formula
    with the same parameters, which is why the sample gives information about the population.

    Bias, measured in the tests: right for all populations of the family, Poisson-gamma and equally
    likely classes among them, if with a wide spread where alpha < 0 and the fraction is below 0.1;
    too high for tails of another shape (Zipf's with a largest class, Poisson-lognormal), at any
    fraction below 1; too low for slide negative binomials with many uniques.
    """

    theta: float
    alpha: float

    @classmethod
    def fit(cls, sample: Frequencies) -> Pitman | None:
        """Maximum likelihood, or None where the sample does not determine it.

        For each alpha the likelihood has its maximum in theta at the root of one equation, and
        these maxima have theirs at the root of another; both are found by bracketing, so the search
        cannot run away. None with one class only, without a class of two records (the larger theta
        the likelier), and where theta would exceed e^LARGEST. alpha stays at EVEN where it would be
        less.
        """
        from scipy.optimize import brentq

        if not 1 < sample.distinct < sample.records:
            return None
        try:
            lowest, highest = _bracket(sample)
            if lowest == highest:
                return cls(_theta(sample, lowest), lowest)
            alpha = brentq(lambda alpha: _slope(sample, alpha), lowest, highest, xtol=1e-12)
            return cls(_theta(sample, alpha), float(alpha))
        except _UndeterminedError:
            return None

    def uniques(self, population: float) -> float:
        """E[S_1], the classes with one record that the model expects among N records.

        N Gamma(theta + 1) Gamma(theta + alpha + N - 1) / (Gamma(theta + alpha) Gamma(theta + N)):
        exact for every N, where Hoshino's N^alpha Gamma(theta + 1) / Gamma(theta + alpha) is the
        limit of large N. A record is alone with the same chance in the sample's first draw as in
        its last, hence one factor N times the chance that none of N - 1 draws joins the first.
        """
        theta, alpha = self
        alone = log_gamma_ratio(theta + population, alpha - 1)
        alone -= log_gamma_ratio(theta + 1, alpha - 1)
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
    lost = (sample.classes[several] * harmonic(1 - alpha, sample.sizes[several] - 1)).sum()
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
    """``harmonic`` of one start; what the search for theta spends its time on.

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


def harmonic(start: ArrayLike, count: ArrayLike) -> Floats:
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


def log_gamma_ratio(x: float, shift: float) -> float:
    """log(Gamma(x + shift) / Gamma(x)), by Stirling's series where the two would cancel."""
    from scipy.special import gammaln

    moved = x + shift
    if moved < 100:
        return float(gammaln(moved) - gammaln(x))
    tail = (1 / moved - 1 / x) / 12 - (moved**-3 - x**-3) / 360 + (moved**-5 - x**-5) / 1260
    return (moved - 0.5) * log1p(shift / x) + shift * log(x) - shift + tail


# Where log(beta / (1 - beta)) is looked for: beyond, all classes would be unique or endless.
FIRST, LAST, POINTS = -30.0, 30.0, 241


class SlideNegativeBinomial(NamedTuple):
    """The slide negative binomial model: its parameters from three moments, and its uniques.

    Each of the K classes of the population has F = 1 + X records, X negative binomial: P(F = j) =
    Gamma(alpha + j - 1) / (Gamma(alpha) (j - 1)!) beta^alpha (1 - beta)^(j-1), so that K beta^alpha
    classes are unique (Chen and Keller-McNulty, "Estimation of identification disclosure risk in
    microdata", Journal of Official Statistics 14, 1998). Of records drawn with probability pi each,
    with q = 1 - pi and G(z) = z (beta / (1 - (1 - beta) z))^alpha, the sample expects

        K (1 - G(q)) classes,   K pi G'(q) of one record,   K pi^2 G''(q) / 2 of two.

    K, alpha and beta are those that expect what the sample has. ARX puts a Shlosser-type estimate
    (Haas and Stokes, 1998) for K and drops the first equation; that estimate knows nothing of the
    model: at a fraction of 0.1 of a population of the model with 6 306 uniques it led to 12 777,
    where these equations led to 5 055.

    Bias, measured in the tests: right for populations of the model from a fraction of 0.1 on, with
    a wide spread below; too high for heavier tails (Pitman's with alpha > 0, Zipf's).
    """

    classes: float
    alpha: float
    beta: float

    @classmethod
    def fit(cls, sample: Frequencies, fraction: float) -> SlideNegativeBinomial | None:
        """Solution of the three moment equations, or None where there is none or more than one.

        The ratio of the last two gives alpha as the positive root of a quadratic, for each beta;
        the ratio of the first two then has one unknown. It is looked for between neighbours of a
        grid where the sign changes. None without classes of one or two records; where the sizes
        vary less than the model can (alpha grows without bound); and for a fraction of 1, which
        needs no model.
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
        return cls(sample.distinct / found.seen, found.alpha, found.beta)

    def uniques(self) -> float:
        """E[S_1] = K beta^alpha."""
        return float(self.classes * self.beta**self.alpha)


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
