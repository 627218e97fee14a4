"""Bkakria et al., "Information theoretic-based privacy risk evaluation for data anonymization".

Journal of Surveillance, Security and Safety 2 (2021): Tables 1 to 7 and Figures 1 to 5, each
number compared with the printed one. Figures 6 and 7 are times of a cluster; the text gives no
number.
"""

from collections.abc import Sequence

from anonymizer.papers.bkakria2021.cases import patients
from anonymizer.papers.bkakria2021.figures import figures
from anonymizer.papers.bkakria2021.marks import marks
from anonymizer.papers.bkakria2021.pair import pair
from anonymizer.papers.row import Section

TITLE = "Bkakria et al. (2021); informations in bits"


def sections() -> Sequence[Section]:
    """Compute all tables and figures, in the order of the paper."""
    return [*pair(), *patients(), *figures(), marks()]
