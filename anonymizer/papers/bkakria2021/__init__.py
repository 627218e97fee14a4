"""Bkakria et al., "Information theoretic-based privacy risk evaluation for data anonymization".

Journal of Surveillance, Security and Safety 2 (2021): Tables 1 to 7 and Figures 1 to 5, each
number beside the printed one. Figures 6 and 7 are times of a cluster, without a number in the text.
"""

from collections.abc import Sequence

from anonymizer.papers.bkakria2021.cases import cases, combined, inference_cells, record_cells
from anonymizer.papers.bkakria2021.figures import figures
from anonymizer.papers.bkakria2021.formulas import formulas, statements
from anonymizer.papers.bkakria2021.marks import marks
from anonymizer.papers.bkakria2021.pair import pair
from anonymizer.papers.row import Section

__all__ = ["TITLE", "sections"]

TITLE = "Bkakria et al. (2021); informations in bits"


def sections() -> Sequence[Section]:
    """Compute all tables and figures, in the order of the paper."""
    return [
        *pair(),
        cases(),
        record_cells(),
        inference_cells(),
        formulas(),
        statements(),
        combined(),
        *figures(),
        marks(),
    ]
