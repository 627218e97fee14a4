"""The probability that each of several events happens in some class, given one class's pattern.

Classes are independent. The pattern of a class is the set of events that happen in it, as the bits
of a number. All events happen if the OR of all patterns has every bit. Probabilities are only added
and multiplied, so that nothing cancels however small they are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Codes, Floats


class Pattern(NamedTuple):
    """The patterns of one class."""

    bits: Codes  # shape (patterns,)
    weights: Floats  # their probabilities in several estimates, shape (estimates, patterns)


def conjunction(classes: Sequence[Pattern], events: int) -> tuple[Floats, list[Floats]]:
    """The probability that every event happens, and the same given the pattern of each class.

    Their shapes are (estimates,) and for each class (estimates, patterns).

    >>> fair = Pattern(np.array([0, 1]), np.array([[0.5, 0.5]]))
    >>> probability, given = conjunction([fair, fair], 1)
    >>> probability.tolist(), given[0].tolist()
    ([0.75], [[0.5, 1.0]])
    """
    nothing = np.zeros((len(classes[0].weights), 1 << events))
    nothing[:, 0] = 1  # the OR of no pattern has no bit
    before = [nothing]
    for pattern in classes:
        before.append(_joined(before[-1], pattern))
    after, given = nothing, []
    for place in reversed(range(len(classes))):
        given.append(_completed(before[place], after, classes[place].bits))
        after = _joined(after, classes[place])
    return before[-1][:, -1], given[::-1]


def _joined(before: Floats, pattern: Pattern) -> Floats:
    """The distribution of the OR with one class more, shape (estimates, 2^events)."""
    joined = np.zeros_like(before)
    reached = np.arange(before.shape[1])
    for bits, weight in zip(pattern.bits, pattern.weights.T, strict=True):
        np.add.at(joined.T, reached | bits, (before * weight[:, None]).T)
    return joined


def _completed(before: Floats, after: Floats, bits: Codes) -> Floats:
    """The probability that the others have the bits that each pattern lacks."""
    all_bits = before.shape[1] - 1
    reached = np.arange(before.shape[1])
    either = reached[:, None] | reached
    return np.stack(
        [((before @ ((either | own) == all_bits)) * after).sum(axis=1) for own in bits], axis=1
    )
