"""Risk: what an attacker learns from a table or a release, per record, per class, on the whole."""

from anonymizer.risk.measures import Measures
from anonymizer.risk.profile import Inference, Profile, Reidentification, measures
from anonymizer.risk.queries import QueryLoss, loss_of_sizes, query_loss, together

__all__ = [
    "Inference",
    "Measures",
    "Profile",
    "QueryLoss",
    "Reidentification",
    "loss_of_sizes",
    "measures",
    "query_loss",
    "together",
]
