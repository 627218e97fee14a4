"""Attacks on the counts of releases: how far an attacker who tries succeeds.

Linkage, inference (with similarity), intersection and minimality each take counts (class sizes,
count matrices, classes of people) and return a frozen result. No attack reads a file:
``risk.audit`` does, and calls them. They may import from ``risk`` and the floors below it.
"""

from anonymizer.risk.attacks.disclosure import (
    Guesses,
    Linkage,
    Similar,
    guessed_right,
    guesses,
    linkage,
    similarity,
)
from anonymizer.risk.attacks.intersection import candidates, failing, intersect, membership_bounds
from anonymizer.risk.attacks.minimality import DRAWS, Minimality, minimality

__all__ = [
    "DRAWS",
    "Guesses",
    "Linkage",
    "Minimality",
    "Similar",
    "candidates",
    "failing",
    "guessed_right",
    "guesses",
    "intersect",
    "linkage",
    "membership_bounds",
    "minimality",
    "similarity",
]
