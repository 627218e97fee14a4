"""Risk: what an attacker learns from a table or a release.

This room holds the metrics of re-identification and inference per record, per class and on the
whole, the search for identifying columns (detection, ranking, undeclared attributes), the check of
a table against a policy, the attacks on a release (``attacks``, ``minimality``) and audits of
release directories (``audit``). In go tables, counts, studies and releases on disk; out come frozen
results with ``to_dict`` for JSON. It may import every room but ``report``, ``papers`` and ``cli``.
"""

from anonymizer.profiling.columns import distinction, separation, share_alone
from anonymizer.risk.assessment import Assessment, assess, attribute_risks, itpr
from anonymizer.risk.detection import (
    DISTINCT,
    Detected,
    Undeclared,
    detect,
    undeclared,
)
from anonymizer.risk.profile import Inference, Measures, Profile, Reidentification, measures
from anonymizer.risk.ranking import METRICS, InformationChain, RankedSubset, Ranking, rank
from anonymizer.risk.refinement import MOST_SUBSETS, Refinement, refined_by
from anonymizer.risk.special_uniques import SpecialUniques, special_uniques

__all__ = [
    "DISTINCT",
    "METRICS",
    "MOST_SUBSETS",
    "Assessment",
    "Detected",
    "Inference",
    "InformationChain",
    "Measures",
    "Profile",
    "RankedSubset",
    "Ranking",
    "Refinement",
    "Reidentification",
    "SpecialUniques",
    "Undeclared",
    "assess",
    "attribute_risks",
    "detect",
    "distinction",
    "itpr",
    "measures",
    "rank",
    "refined_by",
    "separation",
    "share_alone",
    "special_uniques",
    "undeclared",
]
