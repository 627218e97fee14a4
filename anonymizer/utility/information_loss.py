"""Probabilistic information loss: how far statistics of numbers moved, in standard errors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import erf, sqrt

import numpy as np

from anonymizer.kernels.arrays import Floats
from anonymizer.release.results import Result

QUANTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class InformationLoss(Result):
    """How far one statistic moved; its values themselves are not shown.

    ``standard_errors`` is |released - original| / standard error of the original, None where that
    is 0, and ``pil`` the probabilistic information loss, 0 to 1.
    """

    statistic: str  # mean, variance, covariance or quantile
    columns: tuple[str, ...]  # one, or two
    share: float | None  # which quantile
    standard_errors: float | None
    pil: float


def pil(original: float, released: float, variance: float) -> float:
    """P(|Z| <= |released - original| / sqrt(variance)) for a standard normal Z, 0 to 1.

    erf(|released - original| / sqrt(2 variance)) (Mateo-Sanz, Domingo-Ferrer, Sebé 2005), as in
    ``anonymizer.channels``, but without its libraries, which take long to load. Of the statistic of
    a fresh sample against that of the population it is uniform. Between two samples of the same
    size it is so only with the variance doubled: else its mean is 0.61, 2 / pi atan sqrt 2.

    >>> pil(1.0, 1.0, 0.25), round(pil(1.0, 1.98, 0.25), 3)
    (0.0, 0.95)
    """
    distance = abs(released - original)
    return erf(distance / sqrt(2 * variance)) if variance > 0 else float(distance > 0)


def variance_of_mean(x: Floats) -> float:
    """s^2 / n."""
    return float(x.var(ddof=1)) / len(x)


def variance_of_covariance(x: Floats, y: Floats) -> float:
    """(mu22 - mu11^2 (n - 2) / (n - 1) + mu20 mu02 / (n - 1)) / n, by central moments.

    Of a column with itself it is that of the variance, (mu4 - sigma^4 (n - 3) / (n - 1)) / n.
    """
    n = len(x)
    a, b = x - x.mean(), y - y.mean()
    mu22, mu11 = float((a * a * b * b).mean()), float((a * b).mean())
    mu20, mu02 = float((a * a).mean()), float((b * b).mean())
    return max(mu22 - mu11**2 * (n - 2) / (n - 1) + mu20 * mu02 / (n - 1), 0.0) / n


def variance_of_quantile(x: Floats, share: float) -> float:
    """Q (1 - q) / (n f^2), the density f at the quantile by a Gaussian kernel.

    Its bandwidth is Silverman's, 0.9 min(s, IQR / 1.34) n^(-1/5), with s alone where the IQR is 0.
    0 for a column of equal values. Where many records share the value at the quantile the density
    is high and the yardstick short: any move is many standard errors.
    """
    n, deviation = len(x), float(x.std(ddof=1))
    if not deviation:
        return 0.0
    low, at, high = np.quantile(x, [0.25, share, 0.75])
    width = 0.9 * (min(deviation, (high - low) / 1.34) or deviation) * n**-0.2
    density = float(np.exp(-(((x - at) / width) ** 2) / 2).mean()) / (width * sqrt(2 * np.pi))
    return float(share * (1 - share) / (n * density**2))


def information_losses(
    columns: Mapping[str, tuple[Floats, Floats]], quantiles: Sequence[float] = QUANTILES
) -> list[InformationLoss]:
    """The loss of means, variances, quantiles and covariances of some columns of numbers.

    Each column comes as the original numbers and those released, NaN where one is missing; a
    covariance is over the records that have both. The original statistic stands for the truth and
    its own variance, estimated from the original records, for the yardstick: 0 says that nothing
    moved, 1 that it moved by more than sampling ever would. Columns of fewer than two numbers, on
    either side, are passed over.
    """
    found: list[InformationLoss] = []
    for name, (original, released) in columns.items():
        before, after = _centred(original, released)
        x, y = before[~np.isnan(before)], after[~np.isnan(after)]
        if min(len(x), len(y)) > 1:
            found += _of_column(name, x, y, quantiles)
    for (one, a), (other, b) in combinations(columns.items(), 2):
        found += _of_pair((one, other), _centred(*a), _centred(*b))
    return found


def _centred(original: Floats, released: Floats) -> tuple[Floats, Floats]:
    """Both less the same number, so that equal values are exactly 0 whatever they were."""
    known = original[~np.isnan(original)]
    offset = known[0] if len(known) else 0.0
    return original - offset, released - offset


def _of_column(
    name: str, x: Floats, y: Floats, quantiles: Sequence[float]
) -> Iterator[InformationLoss]:
    yield _loss("mean", (name,), y.mean(), x.mean(), variance_of_mean(x))
    yield _loss("variance", (name,), y.var(ddof=1), x.var(ddof=1), variance_of_covariance(x, x))
    for share in quantiles:
        both = np.quantile(y, share), np.quantile(x, share)
        yield _loss("quantile", (name,), *both, variance_of_quantile(x, share), share)


def _of_pair(
    names: tuple[str, str], one: tuple[Floats, Floats], other: tuple[Floats, Floats]
) -> Iterator[InformationLoss]:
    (x, y), (after_x, after_y) = (_complete(a, b) for a, b in zip(one, other, strict=True))
    if min(len(x), len(after_x)) > 1:
        both = _covariance(after_x, after_y), _covariance(x, y)
        yield _loss("covariance", names, *both, variance_of_covariance(x, y))


def _complete(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    known = ~(np.isnan(a) | np.isnan(b))
    return a[known], b[known]


def _covariance(x: Floats, y: Floats) -> float:
    return float(((x - x.mean()) * (y - y.mean())).sum() / (len(x) - 1))


def _loss(
    statistic: str,
    columns: tuple[str, ...],
    released: float,
    original: float,
    variance: float,
    share: float | None = None,
) -> InformationLoss:
    errors = float(abs(released - original)) / sqrt(variance) if variance > 0 else None
    return InformationLoss(statistic, columns, share, errors, pil(original, released, variance))
