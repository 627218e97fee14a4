"""Probabilistic information loss, and whether a release keeps mean and covariance.

pil(theta) = P(|Z| <= |theta' - theta| / sd(theta')), Z ~ N(0, 1): how unlikely it is that a sample
as large as the release would miss the statistic theta of the original by less (Mateo-Sanz,
Domingo-Ferrer and Sebe, 2005; section 1 of Domingo-Ferrer and Rebollo-Monedero, 2009).
0 where nothing changed, uniform on (0, 1) for a fresh sample, near 1 where a statistic is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, ndtri

from anonymizer.channels.validation import number_of, numbers_of, require_flag, sample_of
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats

LARGE = 100
"""Records below which the normal approximation is not to be trusted (Mateo-Sanz et al., 2005)."""


@dataclass(frozen=True, eq=False)
class ProbabilisticLoss:
    """pil of the usual statistics of c columns, each from 0 to 1.

    Parameters
    ----------
    mean, variance, quantiles
        Shape (c,); (quantiles, c) in the requested order.
    covariance, correlation
        Shape (c, c), symmetric; nan on the diagonal, which is the variance's.
    approximate
        Whether there are so few records that the normal approximation is poor.
    """

    mean: Floats
    variance: Floats
    covariance: Floats
    correlation: Floats
    quantiles: Floats
    approximate: bool

    @property
    def average(self) -> float:
        """The mean over the kinds of statistics that there are, of the mean of each kind."""
        kinds = (self.mean, self.variance, self.covariance, self.correlation, self.quantiles)
        means = [kind[~np.isnan(kind)].mean() for kind in kinds if not np.isnan(kind).all()]
        return float(np.mean(means))


@dataclass(frozen=True)
class Moments:
    """Whether mean and covariance of a release are the original's, but for chance.

    Parameters
    ----------
    mean, covariance
        True: no difference beyond chance at the level, all columns and pairs taken together. That
        is no proof of equality.
    mean_deviation, covariance_deviation
        Largest difference of means, in standard deviations of the original, and of covariances,
        relative to the product of the standard deviations.
    level
        The chance of a false alarm, for means and for covariances.
    """

    mean: bool
    covariance: bool
    mean_deviation: float
    covariance_deviation: float
    level: float


def pil(original: float, released: float, variance: float) -> float:
    """P(|Z| <= |released - original| / sqrt(variance)) of one statistic, Z ~ N(0, 1).

    Parameters
    ----------
    original, released, variance
        The statistic before and after, and the variance of the released one as a sample's; 0 tells
        any difference from none. Finite numbers.

    Returns
    -------
    float
        A probability, from 0 to 1.

    >>> round(pil(10.0, 10.5, 0.25), 4)
    0.6827
    """
    before, after = number_of("original", original), number_of("released", released)
    spread = number_of("variance", variance, least=0)
    return float(_pil(np.array(after - before), np.array(spread)))


def probabilistic_loss(
    original: ArrayLike,
    released: ArrayLike,
    *,
    quantiles: Sequence[float] = (0.25, 0.5, 0.75),
    population: bool = True,
    sizes: ArrayLike | None = None,
) -> ProbabilisticLoss:
    """Pil of mean, variance, covariance, correlation and quantiles, column by column.

    The variances of the statistics are those of samples of the released size from the original
    (fourth moments for covariances; the delta method for correlations; q (1 - q) / (n f^2) for
    quantiles, with f a kernel estimate of the density).

    Parameters
    ----------
    original, released
        Shape (records,) or (records, c); the numbers of records may differ.
    quantiles
        Which, between 0 and 1.
    population
        Whether the original stands for the whole population, as the papers have it. If it is itself
        a sample, and the release one drawn independently of it, False adds its own variance:
        otherwise pil of two samples of equal size averages 0.61 instead of 0.5.
    sizes
        How many records each row of both stands for, shape (rows,); one when left out. Quantiles
        are of single records: there are none then, ``quantiles=()``.

    Returns
    -------
    ProbabilisticLoss
        A probability for every statistic of every column.

    Raises
    ------
    InputError
        When columns are not finite numbers, are not as many, or a quantile is not within (0, 1).
    """
    x, y, n = _weighed(original, released, sizes)
    require_flag("population", population)
    wanted = numbers_of("quantiles", quantiles)
    if wanted.ndim != 1:
        raise InputError("quantiles must be a list of numbers")
    if ((wanted <= 0) | (wanted >= 1)).any():
        raise InputError("quantiles must lie between 0 and 1, ends excluded")
    if n is not None and len(wanted):
        raise InputError("quantiles are of single records; with sizes, give quantiles = ()")
    before, after, off = _Fourth.of(x, n), _Fourth.of(y, n), np.eye(x.shape[1], dtype=bool)
    share = 1 / after.records + (0 if population else 1 / before.records)
    moved = after.unbiased - before.unbiased
    covariance = _pil(moved, before.covariance_variance(after.records) * share)
    moved = after.correlation - before.correlation
    correlation = _pil(moved, before.correlation_variance * share)
    at = np.quantile(x, wanted, axis=0).reshape(len(wanted), x.shape[1])
    density = np.array([_density(column, at[:, c]) for c, column in enumerate(x.T)]).T
    spread = (wanted * (1 - wanted))[:, None] / np.maximum(density.reshape(at.shape), 1e-150) ** 2
    return ProbabilisticLoss(
        mean=_pil(_mean(y, n) - _mean(x, n), _variance(x, n) * share),
        variance=np.diag(covariance).copy(),
        covariance=np.where(off, np.nan, covariance),
        correlation=np.where(off, np.nan, correlation),
        quantiles=_pil(np.quantile(y, wanted, axis=0).reshape(at.shape) - at, spread * share),
        approximate=min(before.records, after.records) <= LARGE,
    )


def moments_kept(
    original: ArrayLike,
    released: ArrayLike,
    *,
    level: float = 0.01,
    sizes: ArrayLike | None = None,
) -> Moments:
    """Test whether a release keeps mean and covariance, record by record: paired, Bonferroni.

    Parameters
    ----------
    original, released
        Finite numbers, shape (records,) or (records, c); row by row the same records.
    level
        The chance of a false alarm.
    sizes
        How many records each row of both stands for, shape (rows,); one when left out.
    """
    x, y, n = _weighed(original, released, sizes)
    if len(x) != len(y):
        raise InputError(
            f"original has {len(x)} records and released {len(y)}; they are compared in pairs"
        )
    chance = number_of("level", level, above=0.0, most=0.5)
    # Products of two are above the smallest number.
    spread = np.maximum(np.sqrt(_variance(x, n)), 1e-150)
    a, b = x - _mean(x, n), y - _mean(y, n)
    rows, columns = np.triu_indices(x.shape[1])
    products = b[:, rows] * b[:, columns] - a[:, rows] * a[:, columns]
    scale = spread[rows] * spread[columns]
    shift = _mean(y, n) - _mean(x, n)
    return Moments(
        mean=_chance_alone(y - x, n, np.abs(x).max(axis=0), chance),
        covariance=_chance_alone(products, n, scale, chance),
        mean_deviation=float(np.abs(shift / spread).max()),
        covariance_deviation=float(np.abs(_mean(products, n) / scale).max()),
        level=chance,
    )


def _mean(x: Floats, sizes: Floats | None) -> Floats:
    """The mean of each column over the records, shape (c,)."""
    return np.asarray(x.mean(axis=0) if sizes is None else sizes @ x / sizes.sum())


def _variance(x: Floats, sizes: Floats | None) -> Floats:
    return np.asarray(x.var(axis=0) if sizes is None else _mean((x - _mean(x, sizes)) ** 2, sizes))


def _chance_alone(differences: Floats, sizes: Floats | None, scale: Floats, level: float) -> bool:
    """Return whether no column's mean differs from 0 beyond chance, or rounding."""
    records = len(differences) if sizes is None else sizes.sum()
    found = np.abs(_mean(differences, sizes))
    error = np.sqrt(_variance(differences, sizes)) / np.sqrt(records)
    # Bonferroni: every column has its share of the level, half of that on either side.
    limit = -float(ndtri(level / 2 / differences.shape[1]))
    return bool((found <= limit * error + 1e-12 * scale).all())


@dataclass(frozen=True, eq=False)
class _Fourth:
    """Central moments of pairs of columns up to the fourth order, each of shape (c, c)."""

    records: int
    m11: Floats
    m22: Floats
    m31: Floats

    @classmethod
    def of(cls, x: Floats, sizes: Floats | None) -> _Fourth:
        a = x - _mean(x, sizes)
        n = len(a) if sizes is None else int(sizes.sum())
        b = a if sizes is None else a * sizes[:, None]
        return cls(n, a.T @ b / n, (a**2).T @ (b * a) / n, (a**3).T @ b / n)

    @property
    def unbiased(self) -> Floats:
        """Covariances with n - 1."""
        return self.m11 * self.records / (self.records - 1)

    @property
    def correlation(self) -> Floats:
        """Correlations; 0 where a column is constant."""
        scale = np.sqrt(np.outer(np.diag(self.m11), np.diag(self.m11)))
        return np.divide(self.m11, scale, out=np.zeros_like(scale), where=scale > 0)

    def covariance_variance(self, n: int) -> Floats:
        """N Var of a sample covariance of n records: m22 - m11^2 (n-2)/(n-1) + m20 m02 / (n-1)."""
        m2 = np.diag(self.m11)
        exact = self.m22 - self.m11**2 * (n - 2) / (n - 1) + np.outer(m2, m2) / (n - 1)
        return np.maximum(exact, 0.0)

    @property
    def correlation_variance(self) -> Floats:
        """N Var of a sample correlation by the delta method, without dividing by the covariance."""
        m2, m4 = np.maximum(np.diag(self.m11), 1e-150), np.diag(self.m22)
        scale = np.outer(m2, m2)
        r = self.correlation
        kurtosis = m4 / m2**2
        spread = (
            self.m22 / scale * (1 + r**2 / 2)
            + r**2 / 4 * (kurtosis[:, None] + kurtosis[None])
            - r * (self.m31 / m2[:, None] + self.m31.T / m2[None]) / np.sqrt(scale)
        )
        return np.asarray(np.maximum(spread, 0.0))


def _pil(difference: Floats, variance: Floats) -> Floats:
    """erf(|difference| / sqrt(2 variance)); without variance any difference is certain."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(difference) / np.sqrt(2 * variance)
    return np.asarray(np.where(variance > 0, erf(z), difference != 0))


def _density(column: Floats, at: Floats) -> Floats:
    """Kernel estimate of a density, Silverman's width; infinite for a constant column."""
    low, high = np.quantile(column, [0.25, 0.75])
    widths = [width for width in (column.std(), (high - low) / 1.34) if width > 0]
    if not widths:
        return np.full(len(at), np.inf)
    h = 0.9 * min(widths) * len(column) ** -0.2
    near = np.exp(-0.5 * ((column[:, None] - at) / h) ** 2).sum(axis=0)
    return np.asarray(near / (len(column) * h * np.sqrt(2 * np.pi)))


def _weighed(
    original: ArrayLike, released: ArrayLike, sizes: ArrayLike | None
) -> tuple[Floats, Floats, Floats | None]:
    """Both, rescaled, and the records of each row."""
    if sizes is None:
        return *_rescaled(original, released, 4), None
    x, y = _rescaled(original, released, 1)
    weights = numbers_of("sizes", sizes)
    if not weights.shape == (len(x),) == (len(y),):
        raise InputError("sizes must hold one number for each row of original and of released")
    if (weights <= 0).any() or weights.sum() < 4:
        raise InputError("sizes must be above 0, of 4 records at least")
    return x, y, weights


def _rescaled(original: ArrayLike, released: ArrayLike, least: int) -> tuple[Floats, Floats]:
    """Both in units of a power of 2 near the largest number of each column: nothing is rounded.

    Differences are judged against their chance variation, whatever the unit; fourth powers of
    numbers near 1 are neither beyond all numbers nor 0.
    """
    x, y = sample_of("original", original, least), sample_of("released", released, min(least, 2))
    if x.shape[1] != y.shape[1]:
        raise InputError(
            f"original has {x.shape[1]} columns and released {y.shape[1]}; they must be the same"
        )
    _, power = np.frexp(np.maximum(np.abs(x).max(axis=0), np.abs(y).max(axis=0)))
    return np.ldexp(x, -power), np.ldexp(y, -power)
