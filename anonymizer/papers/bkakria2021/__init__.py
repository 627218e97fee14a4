"""Bkakria et al., "Information theoretic-based privacy risk evaluation for data anonymization".

Journal of Surveillance, Security and Safety 2 (2021): Tables 1 to 7, every equation, and
Figures 1 to 7, each number compared with the printed one. Figures 6 and 7 are times, of this
machine, as the text gives no number.
"""

from collections.abc import Sequence

from anonymizer.papers.bkakria2021.cases import patients
from anonymizer.papers.bkakria2021.definitions import equations
from anonymizer.papers.bkakria2021.figures import figures
from anonymizer.papers.bkakria2021.marks import marks
from anonymizer.papers.bkakria2021.pair import pair
from anonymizer.papers.bkakria2021.statements import statements
from anonymizer.papers.bkakria2021.times import timings
from anonymizer.papers.row import PublishedSection

TITLE = "Bkakria et al. (2021); informations in bits"


def sections() -> Sequence[PublishedSection]:
    """Compute all tables and figures, in the order of the paper."""
    return [*pair(), *patients(), *statements(), *equations(), *figures(), *timings(), marks()]
