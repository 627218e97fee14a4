"""The quality of a release: what it still says about the records it was made of.

Works on any release, whatever was searched for: the released table is held against the original
one, record by record, and only what is certainly a recoding of it is measured.
"""

from anonymizer.utility.deviation import TotalVariation
from anonymizer.utility.files import measure_file
from anonymizer.utility.information_loss import InformationLoss, pil
from anonymizer.utility.measures import Measure
from anonymizer.utility.prediction import Prediction
from anonymizer.utility.quality import Quality, measure_quality
from anonymizer.utility.validation import Score

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
