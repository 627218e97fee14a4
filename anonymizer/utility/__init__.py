"""The utility of a release: how much it still reports about the records it was made of.

What goes in: an original table, a released one, and the plan or manifest that links them; or a
masked release alone, for estimates. What comes out: a ``Quality`` (measures, tables of counts,
statistics, classifiers), a ``FileEstimate``, a ``Comparison`` of recodings, ``Figures`` of
one. Tables are compared record by record, and only what is certainly a recoding of the original is
measured. The room may
import every room of lower floors, but not ``risk``, its neighbour.
"""

from anonymizer.utility.prediction import Prediction, Score
from anonymizer.utility.quality import Quality, measure_file, measure_quality

__all__ = ["Prediction", "Quality", "Score", "measure_file", "measure_quality"]
