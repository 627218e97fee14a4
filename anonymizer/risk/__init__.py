"""Risk: what an attacker learns from a table or a release, per record, per class, on the whole."""

from anonymizer.risk.assessment import Assessment, assess, assess_columns
from anonymizer.risk.measures import Measures
from anonymizer.risk.profile import Inference, Profile, Reidentification, measures
from anonymizer.risk.queries import QueryLoss, loss_of_sizes, query_loss, together
from anonymizer.risk.refinement import Columns, Refinement, refined_by

__all__ = [
    "Assessment",
    "Columns",
    "Inference",
    "Measures",
    "Profile",
    "QueryLoss",
    "Refinement",
    "Reidentification",
    "assess",
    "assess_columns",
    "loss_of_sizes",
    "measures",
    "query_loss",
    "refined_by",
    "together",
]
