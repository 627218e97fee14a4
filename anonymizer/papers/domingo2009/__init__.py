"""Domingo-Ferrer, Rebollo-Monedero, "Measuring risk and utility using information theory" (2009).

Its definitions and statements by number, the four models of section 5, synthetic data, and
probabilistic information loss.
"""

from collections.abc import Sequence

from anonymizer.papers.domingo2009.definitions import definitions
from anonymizer.papers.domingo2009.discrepancy import information_loss
from anonymizer.papers.domingo2009.lemmas import covariance_lemma, measures
from anonymizer.papers.domingo2009.models import four_models
from anonymizer.papers.domingo2009.normal import normal_models
from anonymizer.papers.row import PublishedSection

TITLE = "Domingo-Ferrer and Rebollo-Monedero (2009); information in bits"


def sections() -> Sequence[PublishedSection]:
    """Compute all."""
    return [
        information_loss(),
        definitions(),
        measures(),
        four_models(),
        normal_models(),
        covariance_lemma(),
    ]
