"""Attacks, run on the counts of a release: what an attacker who tries succeeds in."""

from anonymizer.risk.attacks.inference import Guesses, guessed_right, guesses
from anonymizer.risk.attacks.intersection import (
    candidates,
    crossed,
    failing,
    intersect,
    membership_bounds,
)
from anonymizer.risk.attacks.linkage import Linkage, Success, linkage
from anonymizer.risk.attacks.minimality import DRAWS, Minimality, minimality, obstacle
from anonymizer.risk.attacks.similarity import Similar, similarity

__all__ = [
    "DRAWS",
    "Guesses",
    "Linkage",
    "Minimality",
    "Similar",
    "Success",
    "candidates",
    "crossed",
    "failing",
    "guessed_right",
    "guesses",
    "intersect",
    "linkage",
    "membership_bounds",
    "minimality",
    "obstacle",
    "similarity",
]
