"""Rate-distortion: the least that a release Y of X tells of X itself, I(X;Y), by its distortion.

Problems 1 and 2 of Domingo-Ferrer and Rebollo-Monedero (2009). I(X;Y) stands for identity
disclosure; it is what the privacy-distortion function is where the sensitive attribute is X.
"""

from numpy.typing import ArrayLike

from anonymizer.channels.channel import OptimalChannel
from anonymizer.channels.rate_distortion.coding import RateTradeoff
from anonymizer.channels.threads import single_threaded
from anonymizer.channels.tradeoff.answers import at_distortion, at_leakage, at_slope
from anonymizer.channels.validation import nats_per, number_of, only_one

__all__ = ["rate_distortion"]


def rate_distortion(
    source: ArrayLike,
    distortion: ArrayLike,
    *,
    slope: float | None = None,
    distortion_limit: float | None = None,
    rate_limit: float | None = None,
    tolerance: float = 1e-9,
    unit: str = "bits",
) -> OptimalChannel:
    """Min I(X;Y) with E d(X,Y) <= D, min E d with I(X;Y) <= R, or min E d + slope I(X;Y).

    Parameters
    ----------
    source
        p(x), or counts, shape (n,).
    distortion
        d(x, y) >= 0, shape (n, k).
    slope, distortion_limit, rate_limit
        One of the three: distortion per unit of information, D, or R in ``unit``. A limit is met
        exactly and never exceeded, by mixing the channels of two slopes where that is needed.
    tolerance
        Gap that counts as certified, relative to what is minimised.
    unit
        ``"bits"`` or ``"nats"``.

    Returns
    -------
    OptimalChannel
        Its leakage is the rate I(X;Y).

    Raises
    ------
    InputError
        When an argument is none of these, or no channel distorts as little as the limit.

    Examples
    --------
    A fair coin of which a tenth may be wrong: 1 - h(0.1) bits.

    >>> found = rate_distortion([0.5, 0.5], [[0, 1], [1, 0]], distortion_limit=0.1)
    >>> round(found.leakage, 9), found.certified
    (0.531004406, True)

    References
    ----------
    Blahut (1972); Domingo-Ferrer and Rebollo-Monedero (2009), models 1 and 2.
    """
    nats = nats_per(unit)
    only_one(slope=slope, distortion_limit=distortion_limit, rate_limit=rate_limit)
    problem = RateTradeoff.of(source, distortion, number_of("tolerance", tolerance, above=0))
    with single_threaded():
        if slope is not None:
            return at_slope(problem, number_of("slope", slope, above=0), unit)
        if distortion_limit is not None:
            limit = number_of("distortion_limit", distortion_limit, least=0)
            return at_distortion(problem, limit, unit)
        return at_leakage(problem, number_of("rate_limit", rate_limit, least=0) * nats, unit)
