"""The quality of a release: what it still says about the records it was made of.

Works on any release, whatever was searched for: the released table is held against the original
one, record by record, and only what is certainly a recoding of it is measured.
"""

from anonymizer.quality.deviation import TotalVariation
from anonymizer.quality.files import measure_file
from anonymizer.quality.information_loss import InformationLoss, pil
from anonymizer.quality.measures import Measure
from anonymizer.quality.prediction import Prediction
from anonymizer.quality.quality import Quality, measure_quality
from anonymizer.quality.validation import Score

__all__ = [
    "InformationLoss",
    "Measure",
    "Prediction",
    "Quality",
    "Score",
    "TotalVariation",
    "measure_file",
    "measure_quality",
    "pil",
]
