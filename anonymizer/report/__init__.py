"""What a person reads: results as lines, tables of text and pictures on standard output.

What goes in: a release, a verification, an assessment, a comparison, with their figures computed.
What comes out: text for a terminal or a pipe, JSON, a picture. Every table is built by
``console.table_of``; nothing is computed here and no sensitive value is shown. The room may import
every room but ``papers`` and ``cli``, which import it.
"""

from anonymizer.report.attributes import print_detected, print_ranking, print_undeclared
from anonymizer.report.audit import print_audit
from anonymizer.report.comparison import print_comparison
from anonymizer.report.estimates import print_estimates
from anonymizer.report.lattice import lattice_dict, print_lattice
from anonymizer.report.picture import picture_at
from anonymizer.report.progress import progress
from anonymizer.report.quality import print_quality
from anonymizer.report.release import print_ladder, print_release
from anonymizer.report.risk import print_risk
from anonymizer.report.verdicts import print_check, print_verification

__all__ = [
    "lattice_dict",
    "picture_at",
    "print_audit",
    "print_check",
    "print_comparison",
    "print_detected",
    "print_estimates",
    "print_ladder",
    "print_lattice",
    "print_quality",
    "print_ranking",
    "print_release",
    "print_risk",
    "print_undeclared",
    "print_verification",
    "progress",
]
