"""Channels that leave the margin alone, p Q = p: what was released is the estimate itself."""

import numpy as np

from anonymizer.channels.channel import Channel
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats

__all__ = ["released_margin"]

UNLIKELY = 20.0
"""What an invariant channel releases with a chance of e^-20 or less was not released by one."""


def released_margin(channel: Channel, counts: Floats) -> tuple[Floats, Floats]:
    """The released shares t in the order of the values, (n,), and their covariance, (n, n).

    E t = p Q = p, and Cov t = (diag p - Q' diag(p) Q) / N with t for p. That the channel leaves the
    true margin alone cannot be proven by a release, but it can be refuted: (Q' - 1) t, of mean 0,
    is held against Bernstein's inequality.

    Raises
    ------
    InputError
        When the labels are not the values, or the released margin is none that the channel left
        alone.
    """
    place = {label: code for code, label in enumerate(channel.labels)}
    if set(place) != set(channel.values):
        raise InputError("an invariant channel has the same labels as values; this one has not")
    order = [place[value] for value in channel.values]
    matrix, released = channel.matrix[:, order], counts[order]
    covariance = np.diag(matrix.T @ released) - (matrix.T * released) @ matrix
    change = matrix - np.eye(len(matrix))
    noise = np.sqrt(np.maximum(np.einsum("yx,yz,zx->x", change, covariance, change), 0.0))
    # A record changes each of these sums by 2 at the most.
    if (np.abs(change.T @ released) > np.sqrt(2 * UNLIKELY) * noise + 4 / 3 * UNLIKELY).any():
        raise InputError(
            "the channel is not invariant for this release: it would have changed the margin that "
            "was released; take method = 'unbiased' or 'maximum-likelihood'"
        )
    records = counts.sum()
    return released / records, covariance / records**2
