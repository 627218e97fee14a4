"""Differential privacy by random sampling and k-anonymity, the way of SafePub.

Draw every record with probability beta, recode the sample by a recoding that does not depend on
the data, and drop every class with fewer than k records. The result is (epsilon, delta)-
differentially private for every epsilon >= -ln(1 - beta), with

    delta(k, beta, epsilon) = max over n >= ceil(k / gamma - 1) of P(Binomial(n, beta) > gamma n),
    gamma = (e^epsilon - 1 + beta) / e^epsilon

(Li, Qardaji and Su, "On sampling, anonymization, and differential privacy", ASIACCS 2012; Bild,
Kuhn and Prasser, "SafePub", PoPETs 2018). Why: of a class with n records, j are
drawn with probability P_n(j), and P_n(j) / P_(n-1)(j) = n (1 - beta) / (n - j) is at most
e^epsilon exactly while j <= gamma n; delta is the probability of the other outcomes.

Choosing the recoding by looking at the data costs privacy that is not accounted for here.
"""

import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import log, log1p
from typing import NamedTuple

import numpy as np

from anonymizer.errors import InputError, require_number, require_whole
from anonymizer.kernels.arrays import Floats

WHAT = "differential-privacy"
DIGITS = 60
ONE: int = 10**DIGITS
DOWN = Context(prec=DIGITS, rounding=ROUND_FLOOR)
UP = Context(prec=DIGITS, rounding=ROUND_CEILING)
# The incomplete beta function is wrong by rounding only: by 1e-13 at most where it was measured
# against exact fractions. Every result is raised by this much, relatively.
MARGIN = 1e-9
# Tails computed at once; it bounds time and memory where gamma is close to 1 (a large epsilon with
# beta = 1 - e^-epsilon needs classes of about e^epsilon ln(1 / delta) records).
MOST = 1_000_000


class _Tail(NamedTuple):
    """Probability of the mechanism: rate beta, gamma from below in units of 10^-DIGITS, exponent.

    ``exponent`` is the relative entropy D(gamma || beta) in nats from below: Chernoff's bound
    says P(Binomial(n, beta) > gamma n) <= exp(-n D).
    """

    beta: float
    gamma: int
    exponent: float

    def largest(self, j: int) -> int:
        """Largest n with gamma n < j: of all n that need j records, the likeliest to draw j."""
        return j * ONE // self.gamma

    def failures(self, first: int, last: int) -> Floats:
        """Probability of j or more of the n records that need j, j = first..last, from above."""
        from scipy.special import betainc

        if last - first >= MOST:
            raise InputError(
                f"{WHAT}: beta = {self.beta!r} with this epsilon needs classes of more than "
                f"{MOST} records; draw fewer records or lower epsilon"
            )
        drawn = np.arange(first, last + 1)
        n = np.array([self.largest(j) for j in drawn.tolist()], float)
        return np.asarray(betainc(drawn, n - drawn + 1, self.beta) * (1 + MARGIN))

    def reach(self, chance: float) -> int:
        """A number of records from which on no tail exceeds ``chance``, by Chernoff's bound."""
        return int(-log(chance) / self.exponent * (self.gamma / ONE)) + 2


def sampling_rate(epsilon: float) -> float:
    """Beta = 1 - e^-epsilon, the largest rate at which epsilon can be reached (SafePub's choice).

    Rounded down, so that epsilon >= -ln(1 - beta) holds of the number returned.

    Returns
    -------
    float
        A probability above 0.

    Raises
    ------
    InputError
        When epsilon, in nats, is not above 0, or so small that no record would be drawn.

    Examples
    --------
    >>> round(sampling_rate(1.0), 6)
    0.632121
    """
    rate = DOWN.subtract(Decimal(1), _decay(_epsilon(epsilon)))
    nearest = float(rate)
    below = nearest if Decimal(nearest) <= rate else float(np.nextafter(nearest, 0))
    if below <= 0:
        raise InputError(f"{WHAT}: epsilon = {epsilon!r} is so small that no record may be drawn")
    return below


def failure_probability(k: int, beta: float, epsilon: float) -> float:
    """delta(k, beta, epsilon), an upper bound tight to rounding (MARGIN, one part in 10^9).

    The maximum over infinitely many n is certified. All n with the same j = floor(gamma n) + 1
    need j of n records, which is likeliest at the largest such n; so one n per j >= k
    remains, and k itself belongs to n = ceil(k / gamma - 1). Chernoff's bound exp(-n D(gamma ||
    beta)) falls with n: beyond the j where it goes below the value at k no term can be larger.
    gamma is computed to 60 digits and rounded down, which can only raise it; as e^epsilon is
    irrational, j / gamma is never whole and the n found is the exact one. A result is never
    below the smallest normal float. It never rises with k.

    Parameters
    ----------
    k
        The least number of records of a class that is released.
    beta
        The probability that a record is drawn.
    epsilon
        In nats.

    Returns
    -------
    float
        A probability above 0.

    Raises
    ------
    InputError
        When k is no whole number of at least 1, beta not in (0, 1), or epsilon < -ln(1 - beta).

    Examples
    --------
    >>> failure_probability(20, sampling_rate(2.0), 2.0) <= 0.1
    True
    """
    require_whole(WHAT, "k", k)
    tail = _tail(beta, epsilon)
    at_k = max(float(tail.failures(k, k)[0]), sys.float_info.min)
    worst = float(tail.failures(k, max(k, tail.reach(at_k))).max())
    return min(max(worst, at_k), 1.0)


def smallest_class(epsilon: float, delta: float, beta: float | None = None) -> int:
    """Smallest k with failure_probability(k, beta, epsilon) <= delta.

    By Chernoff's bound no j from some point on fails with more than delta; k is one more than the
    last j that does.

    Parameters
    ----------
    epsilon, delta
        In nats, and a probability in (0, 1).
    beta
        The probability that a record is drawn; ``sampling_rate(epsilon)`` when left out.

    Returns
    -------
    int
        Records, at least 1.

    Raises
    ------
    InputError
        When delta is not in (0, 1), and as :func:`failure_probability`.

    Examples
    --------
    >>> smallest_class(1.0, 1e-6)
    74
    """
    require_number(WHAT, "delta", delta, sys.float_info.min, 1, below=True)
    tail = _tail(sampling_rate(epsilon) if beta is None else beta, epsilon)
    over = tail.failures(1, tail.reach(delta)) > delta
    return int(np.flatnonzero(over)[-1]) + 2 if over.any() else 1


def _tail(beta: float, epsilon: float) -> _Tail:
    """Check the parameters and derive gamma and D(gamma || beta)."""
    exact = _epsilon(epsilon)
    require_number(WHAT, "beta", beta, 0, 1, above=True, below=True)
    kept = UP.subtract(Decimal(1), Decimal(float(beta)))
    decay = _decay(exact)
    if kept < _decay(exact, DOWN):
        raise InputError(
            f"{WHAT}: epsilon = {epsilon!r} cannot be reached with beta = {beta!r}; "
            f"beta may be at most {sampling_rate(epsilon)!r}"
        )
    # gamma = 1 - (1 - beta) e^-epsilon, so (1 - gamma) / (1 - beta) = e^-epsilon exactly.
    lost = UP.multiply(kept, decay)
    gamma = DOWN.subtract(Decimal(1), lost)
    ratio = float(kept * DOWN.subtract(Decimal(1), decay)) / beta
    exponent = float(gamma) * log1p(ratio) - float(lost) * epsilon
    return _Tail(float(beta), int(gamma.scaleb(DIGITS)), exponent * (1 - MARGIN))


def _decay(epsilon: Decimal, context: Context = UP) -> Decimal:
    """e^-epsilon, rounded one way; exp itself rounds to nearest, hence the step."""
    nearest = context.exp(-epsilon)
    return nearest.next_plus(context) if context is UP else nearest.next_minus(context)


def _epsilon(epsilon: float) -> Decimal:
    require_number(WHAT, "epsilon", epsilon, 0, above=True)
    return Decimal(float(epsilon))
