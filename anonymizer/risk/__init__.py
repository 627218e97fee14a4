"""Risk: what an attacker learns from a table or a release, per record, per class, on the whole."""

from anonymizer.privacy.query_loss import QueryLoss, loss_of_sizes, query_loss, together
from anonymizer.risk.alone import Alone, alone
from anonymizer.risk.assessment import Assessment, assess, assess_columns
from anonymizer.risk.chain import Chain, Contribution, Link
from anonymizer.risk.class_warnings import class_warnings
from anonymizer.risk.column_warnings import Hidden, column_warnings, spelling_warnings
from anonymizer.risk.combined import itpr
from anonymizer.risk.detection import (
    DISTINCT,
    Detected,
    Distinguished,
    detect,
    distinction,
    separation,
    share_alone,
)
from anonymizer.risk.measures import Measures
from anonymizer.risk.order_warnings import order_warnings
from anonymizer.risk.profile import Inference, Profile, Reidentification, measures
from anonymizer.risk.ranking import METRICS, Ranked, Ranking, rank
from anonymizer.risk.refinement import Columns, Refinement, refined_by
from anonymizer.risk.subsets import MOST_SUBSETS, affordable
from anonymizer.risk.undeclared import Undeclared, UndeclaredAttribute, undeclared
from anonymizer.risk.warnings import WARNINGS, ReleaseWarning, warnings_markdown

__all__ = [
    "DISTINCT",
    "METRICS",
    "MOST_SUBSETS",
    "WARNINGS",
    "Alone",
    "Assessment",
    "Chain",
    "Columns",
    "Contribution",
    "Detected",
    "Distinguished",
    "Hidden",
    "Inference",
    "Link",
    "Measures",
    "Profile",
    "QueryLoss",
    "Ranked",
    "Ranking",
    "Refinement",
    "Reidentification",
    "ReleaseWarning",
    "Undeclared",
    "UndeclaredAttribute",
    "affordable",
    "alone",
    "assess",
    "assess_columns",
    "class_warnings",
    "column_warnings",
    "detect",
    "distinction",
    "itpr",
    "loss_of_sizes",
    "measures",
    "order_warnings",
    "query_loss",
    "rank",
    "refined_by",
    "separation",
    "share_alone",
    "spelling_warnings",
    "together",
    "undeclared",
    "warnings_markdown",
]
