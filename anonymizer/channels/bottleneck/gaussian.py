"""The information bottleneck of jointly normal X and Y in closed form.

Models 3 and 4 of Domingo-Ferrer and Rebollo-Monedero (2009). A normal X' is optimal (Globerson and
Tishby 2004), and each canonical variable is masked by itself (Chechik, Globerson, Tishby and Weiss
2005). Of correlation r, with a share d of its variance lost, it has the rate -1/2 ln d and the
relevance -1/2 ln(1 - (1 - d) r^2). Setting the derivative of rate - beta relevance to 0 gives

    d = (1 - r^2) / (r^2 (beta - 1)), at most 1,    1 - (1 - d) r^2 = (1 - r^2) beta / (beta - 1),

so that a limit on the sum of either gives beta in closed form, for the variables with d < 1: those
of r^2 > 1 / beta.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.rate_distortion.gaussian import GaussianMechanism, root_of
from anonymizer.channels.rate_distortion.vectors import (
    ROUNDING,
    canonical_correlations,
    gaussian_correlation,
    gaussian_information,
    square_of,
)
from anonymizer.channels.validation import nats_per, number_of, only_one, vector_of
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats


@dataclass(frozen=True, eq=False)
class GaussianBottleneck:
    """X' of least rate I(X';X) for its relevance I(X';Y), X and Y jointly normal: an optimum.

    Parameters
    ----------
    mechanism
        X' = mean + K (X - mean) + noise; its ``distortion`` is E |X - X'|^2, its ``leakage``
        I(X';Y).
    shares
        d of each canonical variable, the most correlated first, shape (n,): 1 is not told at all.
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
    relevance = _relevance(r**2, shares)
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

    The k most correlated variables are told of, k the largest at which all of them have d < 1.
    """
    odds = np.log1p(-squares[squares > 0]) - np.log(squares[squares > 0])
    for k in range(len(odds), 0, -1):
        log = (2 * limit + odds[:k].sum()) / k
        if log > odds[k - 1]:
            return float(1 + np.exp(min(log, 700.0)))
    return 1 / float(squares[0]) if len(odds) else np.inf


def _beta_of_loss(squares: Floats, least: float) -> float:
    """Beta at which the relevance is ``least``, nats: -sum_k 1/2 ln((1 - r^2) beta / (beta - 1)).

    A beta that tells of k variables has r^2 > 1 / beta for each of them.
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
    """The share d of each variable's variance that is lost; those without r are not told of."""
    shares = np.ones(len(squares))
    some = squares > 0
    if beta > 1:
        shares[some] = np.minimum((1 - squares[some]) / (squares[some] * (beta - 1)), 1.0)
    return shares


def _relevance(squares: Floats, shares: Floats) -> float:
    return float(0.5 * np.abs(np.log1p(-(1 - shares) * squares)).sum())


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
