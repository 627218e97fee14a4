"""Names of the arrays that counts, codes and measures come in."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Measures and weights: bits, probabilities, scores."""

Ints = NDArray[np.int64]
"""Counts of records."""

Codes = NDArray[np.intp]
"""Numbers of values, groups or classes, counted from 0."""

Mask = NDArray[np.bool_]
"""Which of some classes, cells or records are meant."""
