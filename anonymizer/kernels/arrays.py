"""Names of the arrays that counts, codes and measures come in."""

from typing import Any

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

Columns = NDArray[np.signedinteger[Any]]
"""Histograms of classes, shape (classes, columns), in the narrowest type that holds all records."""

Keys = NDArray[np.uint64]
"""What tells classes apart, shape (classes, words)."""

Marks = NDArray[np.uint64]
"""Random numbers that stand for cells, shape (cells,); their sum stands for a box."""

Places = NDArray[np.int32]
"""Rows, slots and starts, of arrays that are gone through often."""
