"""Rebollo-Monedero, Forné, Domingo-Ferrer, "From t-closeness to PRAM and noise addition" (2008).

Privacy in Statistical Databases: the statements of section 4, and Figures 6 and 7.
"""

from collections.abc import Sequence

from anonymizer.papers.rebollo2008.definitions import definitions
from anonymizer.papers.rebollo2008.figures import channels_that_see, figure_6, figure_7
from anonymizer.papers.rebollo2008.theory import statements
from anonymizer.papers.row import PublishedSection

TITLE = "Rebollo-Monedero et al. (2008); information in nats"


def sections() -> Sequence[PublishedSection]:
    """Compute all."""
    return [*definitions(), channels_that_see(), statements(), figure_6(), figure_7()]
