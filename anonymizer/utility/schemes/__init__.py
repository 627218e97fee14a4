"""Recodings carried out on a whole table: what each keeps, and what each of its classes tells.

What goes in: an ``Anonymizer`` or a study, a table, recodings or files of schemes. What comes out:
``Figures``, or several as a ``SchemeComparison``; nothing is released. It may import what
``utility`` may.
"""

from anonymizer.utility.schemes.comparison import (
    SchemeComparison,
    Unreachable,
    compare_schemes,
    compare_schemes_study,
    figures,
    figures_study,
)
from anonymizer.utility.schemes.contribution import Contribution, Limit, bounds_of
from anonymizer.utility.schemes.evaluation import Attribute, Failure, Figures

__all__ = [
    "Attribute",
    "Contribution",
    "Failure",
    "Figures",
    "Limit",
    "SchemeComparison",
    "Unreachable",
    "bounds_of",
    "compare_schemes",
    "compare_schemes_study",
    "figures",
    "figures_study",
]
