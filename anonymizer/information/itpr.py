"""ITPR: how much the class that comes off worst tells, for its size and the number of classes.

Bkakria et al., "Information theoretic-based privacy risk evaluation for data anonymization",
Journal of Surveillance, Security and Safety 2 (2021), Definitions 1 and 2. Classes y have n_y of N
records and leave H(X|y) of the H(X) bits open. Shapes are (classes,), informations in bits.
"""

import numpy as np

from anonymizer.kernels.arrays import Floats, Ints


def itpr_terms(sizes: Ints, uncertainties: Floats, uncertainty: float) -> Floats:
    """1 - T p(y) H(X|y) / H(X) of each of the T classes, in [1 - T, 1]; 0 where H(X) is.

    >>> itpr_terms(np.array([4, 12]), np.array([2.0, np.log2(12)]), 4.0).round(6).tolist()
    [0.75, -0.344361]
    """
    if not uncertainty or len(sizes) == 1:
        return np.zeros(len(sizes))
    weighted = sizes * uncertainties / sizes.sum()
    return np.asarray(1 - len(sizes) * weighted / uncertainty)


def itpr(sizes: Ints, uncertainties: Floats, uncertainty: float) -> float:
    """ITPR, the largest of the terms, in [DR, 1]; rounding must not bring it out of these bounds.

    At least DR = 1 - H(X|Y) / H(X): the largest of T numbers is not below their mean.

    >>> itpr(np.array([4, 12]), np.array([2.0, np.log2(12)]), 4.0)
    0.75
    """
    rate = discrimination_rate(sizes, uncertainties, uncertainty)
    return float(np.clip(itpr_terms(sizes, uncertainties, uncertainty).max(), rate, 1.0))


def discrimination_rate(sizes: Ints, uncertainties: Floats, uncertainty: float) -> float:
    """DR = 1 - H(X|Y) / H(X), in [0, 1] (Eq. 5); 0 where H(X) is."""
    if not uncertainty or len(sizes) == 1:
        return 0.0
    # H(X|Y) <= H(X); rounding must not make the rate negative.
    within = min(float((sizes * uncertainties / sizes.sum()).sum()), uncertainty)
    return (uncertainty - within) / uncertainty


def least_itpr(sizes: Ints, uncertainties: Floats, uncertainty: float) -> float:
    """Lower bound of ITPR in this table and in any whose classes these are merged from.

    ITPR itself may: splitting a class can lower it. But DR never falls when classes are split, and
    ITPR is not below it. Where a class leaves nothing open, one of its parts does, and ITPR is 1.

    >>> least_itpr(np.array([4, 12]), np.array([2.0, np.log2(12)]), 4.0)  # DR; ITPR is .75
    0.20281953111478...
    """
    if uncertainty and len(sizes) > 1 and not uncertainties.all():
        return 1.0
    return discrimination_rate(sizes, uncertainties, uncertainty)
