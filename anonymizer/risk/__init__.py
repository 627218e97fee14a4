"""Risk: what an attacker learns from a table or a release, per record, per class, on the whole."""

from anonymizer.risk.alone import Alone, alone
from anonymizer.risk.assessment import Assessment, assess, assess_columns
from anonymizer.risk.chain import Chain, Contribution, Link
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
from anonymizer.risk.profile import Inference, Profile, Reidentification, measures
from anonymizer.risk.ranking import METRICS, Ranked, Ranking, rank
from anonymizer.risk.refinement import Columns, Refinement, refined_by
from anonymizer.risk.subsets import MOST_SUBSETS, affordable
from anonymizer.risk.undeclared import Undeclared, UndeclaredAttribute, undeclared

__all__ = [
    "DISTINCT",
    "METRICS",
    "MOST_SUBSETS",
    "Alone",
    "Assessment",
    "Chain",
    "Columns",
    "Contribution",
    "Detected",
    "Distinguished",
    "Inference",
    "Link",
    "Measures",
    "Profile",
    "Ranked",
    "Ranking",
    "Refinement",
    "Reidentification",
    "Undeclared",
    "UndeclaredAttribute",
    "affordable",
    "alone",
    "assess",
    "assess_columns",
    "detect",
    "distinction",
    "itpr",
    "measures",
    "rank",
    "refined_by",
    "separation",
    "share_alone",
    "undeclared",
]
