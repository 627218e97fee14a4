"""How much is tried: by ``make test`` what protects each promise, by ``make long`` all there is."""

import os
from collections.abc import Sequence
from itertools import product

from allpairspy import AllPairs

LONG = os.environ.get("ANONYMIZER_TESTS") == "long"
"""Whether everything is tried at full length, as ``make long`` does."""


def in_pairs(*axes: Sequence[object]) -> list[tuple[object, ...]]:
    """Cases of several parameters in which each pair of values occurs; all cases at full length.

    For laws that hold of each combination, and break, if they do, by two values that do not go
    together.
    """
    if LONG:
        return [*product(*axes)]
    return [tuple(case) for case in AllPairs([[*axis] for axis in axes])]


def at_length(short: int, long: int) -> int:
    """How many of something are tried."""
    return long if LONG else short


WITHIN = "ANONYMIZER_TESTS_WITHIN"
"""The variable with the seconds after which no further test begins; see ``quick``."""
