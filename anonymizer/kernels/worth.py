"""What a class adds to an objective, in the form compiled searches need it: numbers, no objects."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Worth"]

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Worth(NamedTuple):
    """The worth of a class of n records, n_aw of them with value w of attribute a.

    sum_a weight_a (sum_w n_aw log n_aw - n log n) - sum_a per_value_a |{w: n_aw > 0}|
    + by_size_n + each. It differs from what the class adds to the objective by what is linear in
    its counts, which all recodings of a table add up to alike. A class without records is worth 0.

    Attributes
    ----------
    spans
        The columns [start, stop) of every attribute, shape (attributes, 2).
    weights
        Bits for every bit of n H(W|g), shape (attributes,).
    per_value
        The cost of a value that occurs, shape (attributes,).
    by_size
        What a class is worth by its size alone, shape (records + 1,); empty for nothing.
    each
        What every class is worth, whatever its records.
    """

    spans: Numbers
    weights: Floats
    per_value: Floats
    by_size: Floats
    each: float

    @property
    def limit(self) -> float:
        """What no class is worth more than; infinite where that is not obvious."""
        sizes = float(self.by_size.max(initial=0.0))
        return 0.0 if sizes + max(self.each, 0.0) <= 0 else np.inf

    def costing(self, bits: float) -> "Worth":
        """The same with a cost for every class."""
        return self._replace(each=self.each - bits)
