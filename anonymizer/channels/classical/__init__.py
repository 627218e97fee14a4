"""The masking methods that sdcMicro and mu-Argus made customary, on columns of a DataFrame.

Their parameters are chosen by hand, and none but microaggregation promises anything about every
record: what an attacker learns from the result has to be measured. Recodings that are searched for
under a policy are elsewhere in this package, and so are random recodings with guarantees.
"""

from anonymizer.channels.classical.groups import Microaggregated, microaggregation
from anonymizer.channels.classical.numbers import (
    additive_noise,
    correlated_noise,
    random_rounding,
    rank_swapping,
    rounding,
    top_bottom_coding,
)
from anonymizer.channels.classical.randomization import (
    Randomized,
    invariant_channel,
    pram,
    random_channel,
)

__all__ = [
    "Microaggregated",
    "Randomized",
    "additive_noise",
    "correlated_noise",
    "invariant_channel",
    "microaggregation",
    "pram",
    "random_channel",
    "random_rounding",
    "rank_swapping",
    "rounding",
    "top_bottom_coding",
]
