"""Released counts, checked against the channels that they were drawn by."""

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.channel import Channel, require_channel
from anonymizer.channels.validation import require_room
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats

__all__ = ["between", "counts_of"]

LARGEST = 2.0**53
"""Whole numbers beyond are not all told apart."""


def between(left: Floats, table: Floats, right: Floats | None) -> Floats:
    """Left' table right, shape (a, b); a right of None stands for the identity."""
    found = left.T @ table
    return np.asarray(found if right is None else found @ right)


def counts_of(given: ArrayLike, channel: Channel, other: Channel | None = None) -> Floats:
    """Check released counts against the channels, shape (k, m); m = 1 for those of a margin."""
    require_channel("channel", channel)
    if other is not None:
        require_channel("other", other)
    try:
        array = np.asarray(given)
    except ValueError:  # rows of several lengths
        array = np.zeros(0)
    if array.dtype.kind not in "iuf" or array.ndim not in (1, 2) or not array.size:
        raise InputError("counts must be a list or a matrix of numbers of records")
    table = np.array(array, float).reshape(len(array), -1)
    whole = np.isfinite(table).all() and not (table != np.rint(table)).any()
    if np.ma.is_masked(given) or not whole or (table < 0).any():
        raise InputError("counts must be numbers of records: whole, at least 0, no shares of them")
    if not (table.max() < LARGEST and 0 < table.sum() < LARGEST):
        raise InputError("counts must add up to a number of records above 0 (and below 2^53)")
    sides = [("rows", channel, table.sum(axis=1))]
    if other is not None:
        sides.append(("columns", other, table.sum(axis=0)))
    for what, masked, counts in sides:
        _require_released(what, masked, counts)
    columns = table.shape[1] if other is None else len(other.values)
    require_room("the estimate", *[(max(channel.matrix.shape), max(len(table), columns))] * 4)
    return table


def _require_released(what: str, channel: Channel, counts: Floats) -> None:
    """Require one count for every label, and none of a label that is never released."""
    if len(counts) != len(channel.labels):
        raise InputError(
            f"counts have {len(counts)} {what}, but the channel {len(channel.labels)} labels; give "
            "one for every label, 0 where no record has it"
        )
    wrong = (counts > 0) & (channel.matrix.max(axis=0) == 0)
    if wrong.any():
        raise InputError(
            f"{int(counts[wrong].sum())} records have labels that the channel never releases: the "
            "counts are not of this channel"
        )
