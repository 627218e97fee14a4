"""(k, e)-anonymity: how far apart the sensitive numbers of a class lie."""

from dataclasses import dataclass
from math import inf

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.errors import InputError, require_number, require_whole
from anonymizer.kernels.arrays import Floats
from anonymizer.privacy.base import SensitiveModel
from anonymizer.tables.values import number_of


@dataclass(frozen=True)
class KEAnonymity(SensitiveModel):
    """Every class holds at least k different sensitive numbers, which range over at least e.

    Measured as the range, minus infinity in a class of fewer than k numbers. Strongly monotone: a
    record more takes no number away. Zhang et al. (2007).
    """

    name = "k-e-anonymity"
    condition = "number of values w with n_gw > 0 is >= k, their max - min >= e"
    unit = "the attribute's"
    source = "Zhang et al. 2007"
    bounded_by = "e"
    absolute = True
    strongly_monotone = True
    at_least = True

    k: int
    e: float

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k)
        require_number(self.name, "e", self.e, least=0)

    def measure(self, classes: Classes) -> Floats:
        """The range of the numbers of each class."""
        found = [number_of(value) for value in classes.values]
        if None in found:
            raise InputError(f"{self.name} about {classes.attribute!r}: not all values are numbers")
        numbers = np.array(found, float)
        there = classes.joint > 0
        spread = np.where(there, numbers, -inf).max(axis=1) - np.where(there, numbers, inf).min(
            axis=1
        )
        return np.where(there.sum(axis=1) >= self.k, spread, -inf)
