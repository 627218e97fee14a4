"""Releases held against their manifests: everything that the released table itself can show."""

from anonymizer.release.verification.check import (
    CONSISTENT,
    RECOMPUTED,
    STUDY,
    TOLERANCE,
    UNCHECKED,
    Check,
)
from anonymizer.release.verification.fields import FIELDS, Treatment, leaves, treatment_of
from anonymizer.release.verification.people import recoded_people
from anonymizer.release.verification.verification import Verification, verify_release

__all__ = [
    "CONSISTENT",
    "FIELDS",
    "RECOMPUTED",
    "STUDY",
    "TOLERANCE",
    "UNCHECKED",
    "Check",
    "Treatment",
    "Verification",
    "leaves",
    "recoded_people",
    "treatment_of",
    "verify_release",
]
