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


def counts_of(stated: ArrayLike, channel: Channel, other: Channel | None = None) -> Floats:
    """Check released counts against the channels, shape (k, m); m = 1 for those of a margin.

    Raises
    ------
    InputError
        When they are no whole numbers of records, of other labels, or of labels never released.
    """
    require_channel("channel", channel)
    if other is not None:
        require_channel("other", other)
    try:
        given = np.asarray(stated)
    except ValueError:  # rows of several lengths
        given = np.zeros(0)
    if given.dtype.kind not in "iuf" or given.ndim not in (1, 2) or not given.size:
        raise InputError("counts must be a list or a matrix of numbers of records")
    table = np.array(given, float).reshape(len(given), -1)
    whole = np.isfinite(table).all() and not (table != np.rint(table)).any()
    if np.ma.is_masked(stated) or not whole or (table < 0).any():
        raise InputError("counts must be numbers of records: whole, at least 0, no shares of them")
    if not (table.max() < LARGEST and 0 < table.sum() < LARGEST):
        raise InputError("counts must add up to a number of records above 0 (and below 2^53)")
    _require_labels("rows", len(table), channel)
    _require_released(table.sum(axis=1), channel)
    if other is not None:
        _require_labels("columns", table.shape[1], other)
        _require_released(table.sum(axis=0), other)
    columns = table.shape[1] if other is None else len(other.values)
    require_room("the estimate", *[(max(channel.matrix.shape), max(len(table), columns))] * 4)
    return table


def _require_labels(what: str, number: int, channel: Channel) -> None:
    if number != len(channel.labels):
        raise InputError(
            f"counts have {number} {what}, but the channel {len(channel.labels)} labels; give one "
            "for every label, 0 where no record has it"
        )


def _require_released(counts: Floats, channel: Channel) -> None:
    wrong = (counts > 0) & (channel.matrix.max(axis=0) == 0)
    if wrong.any():
        raise InputError(
            f"{int(counts[wrong].sum())} records have labels that the channel never releases: the "
            "counts are not of this channel"
        )
