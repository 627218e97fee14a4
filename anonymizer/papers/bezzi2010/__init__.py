"""Bezzi, "An information theoretic approach for privacy metrics" (2010).

Transactions on Data Privacy 3: Table 1, the example of Tables 2 and 3, and the Adult experiment.
"""

from collections.abc import Sequence

from anonymizer.papers.bezzi2010.adult import Experiment, attributes
from anonymizer.papers.bezzi2010.example import example, properties
from anonymizer.papers.bezzi2010.mechanism import mechanisms
from anonymizer.papers.bezzi2010.section2 import section2
from anonymizer.papers.bezzi2010.section3 import section3
from anonymizer.papers.bezzi2010.section4 import rows
from anonymizer.papers.row import PublishedSection
from anonymizer.tables.datasets import load_adult

TITLE = "Bezzi (2010); information in bits"


def sections() -> Sequence[PublishedSection]:
    """Compute all, section 4 on real UCI Adult, records with missing values left out."""
    table = load_adult()
    adult = Experiment.on(table.dropna())
    experiment = PublishedSection(
        "Section 4: UCI Adult", rows(adult), place="Section 4", where="anonymizer.Anonymizer"
    )
    theory = [*section2(), properties(), section3(), *example()]
    return [*theory, attributes(table), experiment, mechanisms()]
