"""Recodings compared: each fitted on a random half of a table and evaluated on the other half.

What goes in: an ``Anonymizer`` or a study, a table, names of recodings, a sweep of parameters. What
comes out: a ``Comparison``; nothing is released. It may import what ``utility`` may.
"""

from anonymizer.utility.comparison.comparison import (
    Comparison,
    SweptPoint,
    Unfit,
    compare,
    compare_study,
)
from anonymizer.utility.comparison.halves import Fit, Half
from anonymizer.utility.comparison.sweep import sweep_of

__all__ = [
    "Comparison",
    "Fit",
    "Half",
    "SweptPoint",
    "Unfit",
    "compare",
    "compare_study",
    "sweep_of",
]
