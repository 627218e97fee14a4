"""Optimal noise for numbers of normal law: closed forms of the privacy-distortion function.

Scalars as in Rebollo-Monedero, Forne and Domingo-Ferrer (2008), Eq. 5. For a vector X ~ N(mu, S),
sensitive W = b'X + noise and distortion |X - Y|^2 the same argument gives

    R(D) = -1/2 ln(1 - (b'S b - g(D)) / Var W),    g(D) = max { b'E b : 0 <= E <= S, tr E <= D },

E being the covariance of the error X - Y, and Y = mu + K (X - mu) + N(0, K E), K = (S - E) S^-1
the mechanism that has it: Cov(Y, X - Y) = 0, so that Y is the estimate of X, and of W, given Y.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from anonymizer.channels.validation import (
    nats_per,
    number_of,
    only_one,
    require_generator,
    sample_of,
    vector_of,
)
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats

SINGULAR = 1e-10
"""Eigenvalues of a correlation matrix below this are none."""


@dataclass(frozen=True, eq=False)
class GaussianMechanism:
    """Y = mean + gain (X - mean) + N(0, noise): noise that keeps Y the best estimate of X given Y.

    Parameters
    ----------
    mean
        Of X, and of Y, shape (n,).
    gain, noise
        K and the covariance K E of what is added, shape (n, n).
    error
        E, the covariance of X - Y, shape (n, n); that of Y is the covariance of X less E.
    distortion, leakage
        E |X - Y|^2 = tr E; and I(W;Y), in ``unit``, if X and W are jointly normal.
    slope
        Distortion per unit of leakage there, -dD/dR; None where Y tells nothing of W.
    unit
        ``"bits"`` or ``"nats"``.
    """

    mean: Floats
    gain: Floats
    noise: Floats
    error: Floats
    distortion: float
    leakage: float
    slope: float | None
    unit: str

    def apply(self, x: ArrayLike, rng: np.random.Generator) -> Floats:
        """Y for records X, finite numbers, of the shape that X has: (records,) or (records, n)."""
        sample = sample_of("x", x, records=0)
        if sample.shape[1] != len(self.mean):
            raise InputError(
                f"x has {sample.shape[1]} columns, but the mechanism is for {len(self.mean)}"
            )
        require_generator(rng)
        noise = rng.standard_normal(sample.shape) @ root_of(self.noise).T
        released = self.mean + (sample - self.mean) @ self.gain.T + noise
        return released.reshape(np.shape(x))


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """X ~ N(mean, covariance) and W = regression' X + noise, of variance ``variance``.

    Parameters
    ----------
    mean, covariance
        Of X, shapes (n,) and (n, n); the covariance is positive definite.
    regression
        b, shape (n,).
    variance
        Of W, at least that of b'X.
    """

    mean: Floats
    covariance: Floats
    regression: Floats
    variance: float

    def __post_init__(self) -> None:
        mean, b = vector_of("mean", self.mean), vector_of("regression", self.regression)
        s = sample_of("covariance", self.covariance, records=1)
        variance = number_of("variance", self.variance, above=0)
        if s.shape != (len(mean), len(mean)) or len(b) != len(mean):
            raise InputError(
                f"mean, covariance and regression are of {len(mean)}, {s.shape} and {len(b)} "
                "numbers; n, (n, n) and n are needed"
            )
        require_definite(s)
        if b @ s @ b > variance * (1 + 1e-9):
            raise InputError("variance of W is less than that of its regression on X")
        for name, value in zip(("mean", "covariance", "regression"), (mean, s, b), strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def of_scalar(cls, mean: float, variance: float, correlation: float) -> "GaussianModel":
        """A single X, and a W of variance 1 that it is correlated with."""
        spread = number_of("variance", variance, above=0)
        b = number_of("correlation", correlation, least=-1.0, most=1.0) / np.sqrt(spread)
        return cls(np.array([number_of("mean", mean)]), np.diag([spread]), np.array([b]), 1.0)

    @classmethod
    def fit(cls, x: ArrayLike, w: ArrayLike) -> "GaussianModel":
        """Moments of records: x of shape (records,) or (records, n), a numeric w (records,).

        Raises
        ------
        InputError
            When columns are not finite numbers, constant, or linear in each other.
        """
        sample, sensitive = sample_of("x", x), vector_of("w", w)
        if len(sample) != len(sensitive):
            raise InputError(f"x has {len(sample)} records and w {len(sensitive)}")
        if sensitive.max() == sensitive.min():
            raise InputError("w is constant: there is nothing to protect")
        mean = sample.mean(axis=0)
        s = (sample - mean).T @ (sample - mean) / len(sample)
        require_definite(s)
        shared = (sample - mean).T @ (sensitive - sensitive.mean()) / len(sample)
        return cls(mean, s, np.linalg.solve(s, shared), float(sensitive.var()))

    @property
    def explained(self) -> float:
        """B'S b: the variance of W that X accounts for."""
        return float(self.regression @ self.covariance @ self.regression)

    @property
    def _noise(self) -> float:
        """The variance of W that X does not account for."""
        return max(0.0, self.variance - self.explained)

    @property
    def information(self) -> float:
        """I(W;X) in nats: infinite where W is a function of X."""
        return self._leakage(0.0)

    @property
    def most(self) -> float:
        """The least distortion at which Y tells nothing of W: |S b|^2 / b'S b."""
        along = self.covariance @ self.regression
        return float(along @ along / self.explained) if self.explained > 0 else 0.0

    def mechanism(
        self,
        *,
        distortion_limit: float | None = None,
        leakage_limit: float | None = None,
        unit: str = "bits",
    ) -> GaussianMechanism:
        """The least leakage of a distortion, or the least distortion of a leakage: one is given.

        A distortion beyond what leakage 0 takes is not used up.
        """
        nats = nats_per(unit)
        given, value = only_one(distortion_limit=distortion_limit, leakage_limit=leakage_limit)
        limit = number_of(given, value, least=0)
        if given == "distortion_limit":
            error, price = self._error(limit, lambda error: float(np.trace(error)))
        else:
            error, price = self._error(self._least_hidden(limit * nats), self._hidden)
        gain = np.asarray(np.linalg.solve(self.covariance, self.covariance - error).T, float)
        noise, hidden = gain @ error, self._hidden(error)
        leakage, left = self._leakage(hidden), self._noise + hidden
        return GaussianMechanism(
            mean=self.mean,
            gain=gain,
            noise=(noise + noise.T) / 2,
            error=error,
            distortion=float(np.trace(error)),
            leakage=leakage / nats,
            slope=2 * left / price * nats if price > 0 and leakage > 0 else None,
            unit=unit,
        )

    def _leakage(self, hidden: float) -> float:
        """-1/2 ln(1 - (b'S b - g) / Var W), of what is left of Var W where that is little."""
        share, left = self.explained - hidden, self._noise + hidden
        if share < 0.5 * self.variance:
            return 0.5 * abs(float(np.log1p(-max(share / self.variance, 0.0))))
        return 0.5 * abs(float(np.log(left / self.variance))) if left > 0 else float("inf")

    def _error(self, limit: float, measure: Callable[[Floats], float]) -> tuple[Floats, float]:
        """E of g(D), and g'(D), where tr E, or what is hidden of W, b'E b, is a limit.

        Along b while that fits under S, up to D1 = |b|^2 / b'S^-1 b. Beyond, of rank 1 and on the
        boundary of S: E = r v v' r, r = S^1/2, v the first eigenvector of r (b b' - tau) r, with
        tau such that tr E = D. Dual: g(D) <= tau D + that eigenvalue, for any tau, is met.
        """
        b, s = self.regression, self.covariance
        along, squared = s @ b, float(b @ b)
        full = np.outer(along, along) / self.explained if self.explained > 0 else np.zeros_like(s)
        if limit >= measure(full):
            return full, 0.0
        first = np.outer(b, b) / float(b @ np.linalg.solve(s, b))
        if limit <= measure(first):
            return first * (limit / measure(first)), squared
        off = lambda tau: measure(self._boundary(tau)) - limit  # noqa: E731
        tau = float(brentq(off, 0, squared, xtol=1e-15 * squared))
        error = self._boundary(tau)
        return error * min(1.0, limit / measure(error)), tau

    def _hidden(self, error: Floats) -> float:
        """How much of Var W Y leaves unexplained though X explains it: b'E b."""
        return float(self.regression @ error @ self.regression)

    def _least_hidden(self, limit: float) -> float:
        """What of Var W must be hidden for a leakage in nats."""
        # Far from 0 what is left of Var W is little compared with it: e^-2R, less what is not of X.
        if limit > 0.5:
            return max(0.0, self.variance * float(np.exp(-2 * limit)) - self._noise)
        return self.explained + self.variance * float(np.expm1(-2 * limit))

    def _boundary(self, tau: float) -> Floats:
        root = root_of(self.covariance)
        along = root @ self.regression
        _, vectors = np.linalg.eigh(np.outer(along, along) - tau * self.covariance)
        first = root @ vectors[:, -1]
        return np.outer(first, first)


def root_of(matrix: Floats) -> Floats:
    """The symmetric square root of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def require_definite(covariance: Floats) -> None:
    """Require a symmetric matrix whose columns are not constant, nor linear in each other."""
    spread = np.diag(covariance)
    constant = np.flatnonzero(~(spread > 0))
    if len(constant):
        raise InputError(f"column {constant[0]} of X is constant; leave it out")
    if not np.allclose(covariance, covariance.T, rtol=1e-9, atol=0):
        raise InputError("covariance is not symmetric")
    scale = np.sqrt(spread)
    if np.linalg.eigvalsh(covariance / np.outer(scale, scale))[0] < SINGULAR:
        raise InputError("columns of X are linear in each other; leave out those that follow")
