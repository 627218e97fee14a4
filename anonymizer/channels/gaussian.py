"""Numbers of normal law in closed form: optimal noise, mutual information, the bottleneck.

The privacy-distortion function of scalars is as in Rebollo-Monedero, Forne and Domingo-Ferrer
(2008), Eq. 5. For a vector X ~ N(mu, S), sensitive W = b'X + noise and distortion |X - Y|^2 the
same argument gives

    R(D) = -1/2 ln(1 - (b'S b - g(D)) / Var W),    g(D) = max { b'E b : 0 <= E <= S, tr E <= D },

E being the covariance of the error X - Y, and Y = mu + K (X - mu) + N(0, K E), K = (S - E) S^-1
the mechanism that has it: Cov(Y, X - Y) = 0, so that Y is the estimate of X, and of W, given Y.

The bottleneck: models 3 and 4 of Domingo-Ferrer and Rebollo-Monedero (2009). A normal X' is optimal
(Globerson and Tishby 2004), and each canonical variable is masked by itself (Chechik, Globerson,
Tishby and Weiss 2005). Of correlation r, with a share d of its variance lost, it has the rate -1/2
ln d and the relevance -1/2 ln(1 - (1 - d) r^2). Setting the derivative of rate - beta relevance to
0 gives

    d = (1 - r^2) / (r^2 (beta - 1)), at most 1,    1 - (1 - d) r^2 = (1 - r^2) beta / (beta - 1),

so that a limit on the sum of either gives beta in closed form, for the variables with d < 1: those
of r^2 > 1 / beta.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from anonymizer.channels.validation import (
    nats_per,
    number_of,
    numbers_of,
    only_one,
    require_generator,
    sample_of,
    vector_of,
    whole_of,
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
    def of_scalar(cls, mean: float, variance: float, correlation: float) -> GaussianModel:
        """A single X, and a W of variance 1 that it is correlated with."""
        spread = number_of("variance", variance, above=0)
        b = number_of("correlation", correlation, least=-1.0, most=1.0) / np.sqrt(spread)
        return cls(np.array([number_of("mean", mean)]), np.diag([spread]), np.array([b]), 1.0)

    @classmethod
    def fit(cls, x: ArrayLike, w: ArrayLike) -> GaussianModel:
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
        """Part of Var W that Y leaves unexplained though X explains it: b'E b."""
        return float(self.regression @ error @ self.regression)

    def _least_hidden(self, limit: float) -> float:
        """Part of Var W that must be hidden for a leakage in nats."""
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


ROUNDING = 1e-9
"""Canonical correlations may exceed 1 by so much, and count as 1."""


def gaussian_information(correlation: ArrayLike, unit: str = "bits") -> float:
    """I(U;V) = -1/2 log det(I - P P') of jointly normal U and V; -log sqrt(1 - rho^2) of scalars.

    Domingo-Ferrer and Rebollo-Monedero (2009), section 2.

    Parameters
    ----------
    correlation
        P = S_U^-1/2 S_UV S_V^-1/2, shape (n, m), or rho, a number; see
        :func:`gaussian_correlation`.
    unit
        ``"bits"`` or ``"nats"``.

    Returns
    -------
    float
        Infinite where a combination of U is a linear function of V.

    Raises
    ------
    InputError
        When P is no matrix of numbers, or has a singular value above 1: no vectors have it.

    >>> gaussian_information(0.6) == gaussian_information([[0.0, 0.6], [0.0, 0.0]])
    True
    """
    nats, squares = nats_per(unit), canonical_correlations(correlation) ** 2
    with np.errstate(divide="ignore"):
        return float(0.5 * np.abs(np.log1p(-squares)).sum() / nats)


def canonical_correlations(correlation: ArrayLike) -> Floats:
    """The singular values of P, at most 1, the largest first; shape (min(n, m),)."""
    given = numbers_of("correlation", correlation)
    matrix = given.reshape(1, 1) if given.ndim == 0 else given
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(
            f"correlation must be a number or a matrix (n, m), not an array of {given.shape}"
        )
    found = np.linalg.svd(matrix, compute_uv=False)
    if found[0] > 1 + ROUNDING:
        raise InputError(
            f"correlation has a singular value of {found[0]:.6g}, more than 1: no vectors have it; "
            "give S_U^-1/2 S_UV S_V^-1/2 (gaussian_correlation), not covariances"
        )
    return np.asarray(np.minimum(found, 1.0))


def gaussian_correlation(covariance: ArrayLike, first: int) -> Floats:
    """P = S_U^-1/2 S_UV S_V^-1/2, by symmetric roots, shape (first, others).

    Parameters
    ----------
    covariance
        Of (U, V), shape (n, n): that of U, and that of V, is positive definite.
    first
        How many variables U has, from 1 to n - 1.

    Raises
    ------
    InputError
        When the covariance is none, or variables of one vector are linear in each other.
    """
    s = square_of(covariance)
    n = whole_of("first", first, 1, len(s) - 1)
    for block in (s[:n, :n], s[n:, n:]):
        require_definite(block)
    left, right = (np.linalg.inv(root_of(block)) for block in (s[:n, :n], s[n:, n:]))
    return np.asarray(left @ s[:n, n:] @ right)


def square_of(covariance: ArrayLike) -> Floats:
    """A symmetric matrix of two variables or more."""
    s = sample_of("covariance", covariance)
    if s.shape[0] != s.shape[1]:
        raise InputError(f"covariance must be a square matrix, not one of {s.shape}")
    scale = np.abs(np.diag(s)).max()
    if not np.allclose(s, s.T, rtol=1e-9, atol=1e-12 * scale):
        raise InputError("covariance is not symmetric")
    return s


@dataclass(frozen=True, eq=False)
class GaussianBottleneck:
    """X' of least rate I(X';X) for its relevance I(X';Y), X and Y jointly normal: an optimum.

    Parameters
    ----------
    mechanism
        X' = mean + K (X - mean) + noise; its ``distortion`` is E |X - X'|^2, its ``leakage``
        I(X';Y).
    shares
        d of each canonical variable, the most correlated first, shape (n,); at 1 nothing of it is
        released.
    correlations
        r, the canonical correlations, shape (n,).
    rate, relevance, information
        I(X';X), I(X';Y) and I(X;Y) in ``unit``; the rate is infinite where X' = X.
    beta
        What one unit of relevance is worth in rate there; infinite where X' = X.
    unit
        ``"bits"`` or ``"nats"``.
    """

    mechanism: GaussianMechanism
    shares: Floats
    correlations: Floats
    rate: float
    relevance: float
    information: float
    beta: float
    unit: str

    @property
    def loss(self) -> float:
        """I(X;Y) - I(X';Y), never negative."""
        return max(0.0, self.information - self.relevance)

    def apply(self, x: ArrayLike, rng: np.random.Generator) -> Floats:
        """Synthetic X' for records X of the shape (records,) or (records, n), in their unit."""
        return self.mechanism.apply(x, rng)


def gaussian_bottleneck(
    covariance: ArrayLike,
    first: int,
    *,
    rate_limit: float | None = None,
    relevance_loss_limit: float | None = None,
    mean: ArrayLike | None = None,
    unit: str = "bits",
) -> GaussianBottleneck:
    """Models 3 and 4 of jointly normal X and Y: the most relevance of a rate, or the reverse.

    Parameters
    ----------
    covariance
        Of (X, Y), shape (n + m, n + m), positive definite.
    first
        n, how many variables X has.
    rate_limit, relevance_loss_limit
        At most this I(X';X), model 4; or at most this I(X;Y) - I(X';Y), model 3, in ``unit``. One
        is given. A loss of 0 takes an infinite rate where a variable of X is correlated with Y.
    mean
        Of X, shape (n,); 0 by default.
    unit
        ``"bits"`` or ``"nats"``.

    Returns
    -------
    GaussianBottleneck
        The mechanism X', with rate and relevance in ``unit``.

    Raises
    ------
    InputError
        When the covariance is none, or Y determines a combination of X, so that I(X;Y) is infinite.
    """
    nats, s = nats_per(unit), square_of(covariance)
    given, value = only_one(rate_limit=rate_limit, relevance_loss_limit=relevance_loss_limit)
    limit = number_of(given, value, least=0) * nats
    p = gaussian_correlation(s, first)
    known, turn = canonical_correlations(p), np.linalg.svd(p)[0]
    r = np.zeros(first)
    r[: len(known)] = known
    if r[0] > 1 - ROUNDING:
        raise InputError("X and Y are linear in each other: I(X;Y) is infinite, without a loss")
    information = gaussian_information(np.diag(r), "nats")
    least = information - limit
    beta = _beta_of_rate(r**2, limit) if given == "rate_limit" else _beta_of_loss(r**2, least)
    shares = _shares(r**2, beta)
    relevance = float(0.5 * np.abs(np.log1p(-(1 - shares) * r**2)).sum())
    center = np.zeros(first) if mean is None else vector_of("mean", mean)
    if len(center) != first:
        raise InputError(f"mean has {len(center)} numbers, but X has {first} variables")
    with np.errstate(divide="ignore"):
        rate = float(0.5 * np.abs(np.log(shares)).sum())
    mechanism = _mechanism(s[:first, :first], turn, shares, center, relevance / nats, unit)
    return GaussianBottleneck(
        mechanism, shares, r, rate / nats, relevance / nats, information / nats, beta, unit
    )


def _beta_of_rate(squares: Floats, limit: float) -> float:
    """Beta at which the rate is the limit, nats: sum_k 1/2 ln(r^2 (beta - 1) / (1 - r^2)).

    The k most correlated variables are released, k the largest at which all of them have d < 1.
    """
    odds = np.log1p(-squares[squares > 0]) - np.log(squares[squares > 0])
    for k in range(len(odds), 0, -1):
        log = (2 * limit + odds[:k].sum()) / k
        if log > odds[k - 1]:
            return float(1 + np.exp(min(log, 700.0)))
    return 1 / float(squares[0]) if len(odds) else np.inf


def _beta_of_loss(squares: Floats, least: float) -> float:
    """Beta at which the relevance is ``least``, nats: -sum_k 1/2 ln((1 - r^2) beta / (beta - 1)).

    A beta at which k variables are released has r^2 > 1 / beta for each of them.
    """
    some = squares[squares > 0]
    if least <= 0 or not len(some):
        return 1 / float(squares[0]) if len(some) else np.inf
    for k in range(len(some), 0, -1):
        log = (-2 * least - np.log1p(-some[:k]).sum()) / k  # ln(beta / (beta - 1))
        if log <= 0:
            return np.inf
        if -np.expm1(-log) < some[k - 1]:
            return float(-1 / np.expm1(-log))
    raise AssertionError("k = 1 has a beta wherever least is above 0")


def _shares(squares: Floats, beta: float) -> Floats:
    """Share d of each variable's variance that is lost; variables without r are left out."""
    shares = np.ones(len(squares))
    some = squares > 0
    if beta > 1:
        shares[some] = np.minimum((1 - squares[some]) / (squares[some] * (beta - 1)), 1.0)
    return shares


def _mechanism(
    s: Floats, turn: Floats, shares: Floats, mean: Floats, relevance: float, unit: str
) -> GaussianMechanism:
    """Lose the shares of canonical variables turn' S^-1/2 X: E = S^1/2 turn d turn' S^1/2."""
    root = root_of(s)
    across = root @ turn
    error = (across * shares) @ across.T
    gain = (across * (1 - shares)) @ turn.T @ np.linalg.inv(root)
    noise = (across * (shares * (1 - shares))) @ across.T
    return GaussianMechanism(
        mean=mean,
        gain=gain,
        noise=(noise + noise.T) / 2,
        error=error,
        distortion=float(np.trace(error)),
        leakage=relevance,
        slope=None,
        unit=unit,
    )
