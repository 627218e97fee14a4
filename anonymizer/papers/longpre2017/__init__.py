"""Longpré, Kreinovich, Dumrongpokaphan, "Entropy as a measure of average loss of privacy" (2017).

The celebrity's house of section 1, one of 2000, what its questions cost, and every equation.
"""

from collections.abc import Sequence

from anonymizer.papers.longpre2017.equations import equations, risk
from anonymizer.papers.longpre2017.figures import drawn
from anonymizer.papers.longpre2017.house import celebrity, questions, weighted
from anonymizer.papers.row import PublishedSection

TITLE = "Longpré et al. (2017); losses of privacy in bits"


def sections() -> Sequence[PublishedSection]:
    """Compute all."""
    return [celebrity(), questions(), weighted(), equations(), risk(), drawn()]
