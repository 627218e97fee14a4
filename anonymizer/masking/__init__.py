"""Random recodings: values drawn from channels that a policy lets through; and shifted dates.

What goes in: a counted table and a policy, as for every recoding. What comes out: a plan of
channels and a drawn table. Dates are shifted by person in columns that no policy is about. The
options are light; what carries them out needs solvers that take a while to load, and is imported
when a table is fitted. May import recoding, channels and below.
"""

from anonymizer.masking.options import (
    DISTORTION,
    DISTORTIONS,
    Bottleneck,
    Noise,
    Pram,
    RandomRecoding,
)
from anonymizer.masking.shifting import Shift

__all__ = ["DISTORTION", "DISTORTIONS", "Bottleneck", "Noise", "Pram", "RandomRecoding", "Shift"]
