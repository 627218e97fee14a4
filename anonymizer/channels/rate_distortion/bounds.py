"""Numbers under squared error, in closed form: bounds, the rate of normal laws, their channel.

R(D) = min I(W;Y) with E (X - Y)^2 <= D, by d = D / Var X (Rebollo-Monedero, Forne and
Domingo-Ferrer, 2008, Eq. 3 and 4).
"""

import math
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from anonymizer.channels.validation import nats_per, number_of, require_room, vector_of
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats


def quadratic_gaussian_bound(
    distortion: ArrayLike,
    *,
    entropy: float,
    correlation: float,
    deviation: float,
    variance: float,
    linear: bool,
    unit: str = "bits",
) -> Floats:
    """QGLB: R(D) >= h(W) - 1/2 log(2 pi e (1 - (1 - d) rho^2) sigma_W^2), and R(D) >= 0.

    Holds for W with a density whose regression on X is linear, E[W|X] = a X + b. Proof: with
    N = W - a X - b then E[N|X,Y] = 0, hence E (W - a Y - b)^2 = E N^2 + a^2 E (X - Y)^2, which is
    sigma_W^2 (1 - rho^2 + rho^2 d) at the most; h(W|Y) is no more than that of a normal law of that
    variance. Without a linear regression it is no bound: X = A + B with A = 3 or -3, B uniform on
    (-1, 1) and W = B + noise tells nothing of W through Y = A, although d = 1/28 and the formula is
    positive for a noise of deviation 1. The paper has no such condition.

    Parameters
    ----------
    distortion, variance
        D, a number or several, in the square of the unit of X; and the variance of X.
    entropy, unit
        Differential entropy h(W), in ``"bits"`` or ``"nats"``.
    correlation, deviation
        Of W and X; standard deviation of W.
    linear
        True, to confirm that E[W|X] is linear in X, as it is for jointly normal W and X.

    Returns
    -------
    array of shape (points,)
        Infinite where W is a function of X and D is 0.

    Raises
    ------
    InputError
        When W has no density, its entropy exceeds that of a normal law, or the regression is not
        said to be linear.
    """
    nats = nats_per(unit)
    d = _normalized(distortion, variance)
    rho = number_of("correlation", correlation, least=-1.0, most=1.0)
    sigma = number_of("deviation", deviation, above=0)
    if isinstance(entropy, float) and entropy == -np.inf:
        raise InputError(
            "the quadratic-Gaussian bound is for a W with a density; h(W) of a discrete one is "
            "-infinite: bound I(W;Y) by solving for it instead"
        )
    h = number_of("entropy", entropy) * nats
    normal = 0.5 * np.log(2 * np.pi * math.e) + np.log(sigma)
    if h > normal + 1e-9 * max(1.0, abs(normal)):
        raise InputError(
            f"entropy = {h / nats:g} is more than {normal / nats:.9g}, that of a normal law of the "
            "same deviation: no W has it"
        )
    if linear is not True:
        raise InputError(
            "the quadratic-Gaussian bound does not hold unless E[W|X] is linear in X; state "
            "linear=True where it is"
        )
    with np.errstate(divide="ignore"):
        bound = h - normal - 0.5 * np.log(1 - (1 - d) * rho**2)
    return np.asarray(np.maximum(bound, 0.0) / nats)


def mutual_information_bound(
    distortion: ArrayLike, *, information: float, variance: float
) -> Floats:
    """MIUB: R(D) <= (1 - d) I(W;X), and R(D) = 0 from d = 1 on, in the unit of ``information``.

    Releasing X itself but for a share d of records, for which it is the mean, comes to no more,
    since I(W;Y) is convex in the channel. So X and its mean must be among what may be released.

    Parameters
    ----------
    distortion, information
        D, a number or several, in the square of the unit of X; and I(W;X).
    variance
        Of X: what releasing the mean for everybody distorts.
    """
    bits = number_of("information", information, least=0)
    return np.asarray((1 - _normalized(distortion, variance)) * bits)


def gaussian_rate(
    distortion: ArrayLike,
    variance: float,
    correlation: float = 1.0,
    unit: str = "bits",
    *,
    sees_sensitive: bool = False,
) -> Floats:
    """R(D) = -1/2 log(1 - (1 - d) rho^2) of scalars, d = D / Var X; 0 from d = 1 on.

    With correlation 1, W = X: the rate-distortion function 1/2 log(1 / d), infinite at 0. Of
    channels that see W, too (``sees_sensitive``), -log cos(asin |rho| - asin sqrt d), 0 from rho^2
    on: docs/theory/channels.md has the proof.
    """
    rho = number_of("correlation", correlation, least=-1.0, most=1.0)
    d = _normalized(distortion, variance)
    if sees_sensitive:
        angle = np.maximum(np.arcsin(abs(rho)) - np.arcsin(np.sqrt(d)), 0.0)
        # cos(pi / 2) is 6e-17: W = X at no distortion, of which the rate is infinite.
        cosine = np.where(angle < np.pi / 2, np.cos(angle), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.abs(-np.log(cosine)) / nats_per(unit))
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(-0.5 * np.log((1 - rho**2) + d * rho**2)) / nats_per(unit))


def gaussian_channel(
    values: ArrayLike, grid: ArrayLike, mean: float, variance: float, share: float
) -> Floats:
    """q(y|x): the chance that N((1 - d) x + d mean, d (1 - d) variance) is nearest to each y.

    Parameters
    ----------
    values, mean, variance
        True values x, shape (n,), and the moments of X.
    grid
        What may be released, shape (k,), no two the same; a cell reaches half way to its
        neighbours, and the extreme ones to infinity.
    share
        d, from 0, the nearest of the grid, to 1, the cell of the mean for everybody. Half way
        between two, the higher.

    Returns
    -------
    array of shape (n, k)
        Rows sum to 1.
    """
    x, points = vector_of("values", values), vector_of("grid", grid)
    center = number_of("mean", mean)
    d = number_of("share", share, least=0.0, most=1.0)
    deviation = float(np.sqrt(d * (1 - d) * number_of("variance", variance, above=0)))
    require_room("the channel", *[(len(x), len(points))] * 4)
    order = np.argsort(points)
    if (np.diff(points[order]) == 0).any():
        raise InputError("grid holds a value twice")
    edges = points[order][:-1] + np.diff(points[order]) / 2
    at = (1 - d) * x + d * center
    if deviation:
        cells = _cells((edges - at[:, None]) / deviation)
    else:
        cells = np.zeros((len(x), len(points)))
        cells[np.arange(len(x)), np.searchsorted(edges, at, side="right")] = 1.0
    return np.asarray(cells[:, np.argsort(order)])


def _cells(edges: Floats) -> Floats:
    """What a standard normal law has between edges, shape (n, k - 1), with both tails.

    Beyond 0 both ends are taken from the other tail, whose small numbers keep their digits.
    """
    wide = np.pad(edges, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    low, high = wide[:, :-1], wide[:, 1:]
    flipped = low > 0
    cells = ndtr(np.where(flipped, -low, high)) - ndtr(np.where(flipped, -high, low))
    cells = np.maximum(cells, 0.0)
    cells = cells / cells.sum(axis=1, keepdims=True)
    rows, largest = np.arange(len(cells)), cells.argmax(axis=1)
    cells[rows, largest] += 1 - cells.sum(axis=1)
    return np.asarray(cells)


def _normalized(distortion: ArrayLike, variance: float) -> Floats:
    """D = D / Var X, at most 1."""
    spread = number_of("variance", variance, above=0)
    if isinstance(distortion, Real):
        distortion = [number_of("distortion", distortion)]
    given = vector_of("distortion", distortion)
    if given.min() < 0:
        raise InputError("distortion holds negative numbers; all must be at least 0")
    with np.errstate(over="ignore"):
        return np.minimum(given / spread, 1.0)
