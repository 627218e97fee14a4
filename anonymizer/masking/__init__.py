"""Releases drawn at random: channels that a policy lets through, and tables drawn from them.

What carries a masking out needs solvers that take a while to load: it is imported from its own
modules, by whoever has a masking to carry out.
"""

from anonymizer.masking.alone import masked_from, require_alone
from anonymizer.masking.options import DISTORTION, DISTORTIONS, METHODS, Masking, masking_of

__all__ = [
    "DISTORTION",
    "DISTORTIONS",
    "METHODS",
    "Masking",
    "masked_from",
    "masking_of",
    "require_alone",
]
