"""Channels p(released | true): what is done to a value, and what that makes of a table."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.source import Floats, matrix_of
from anonymizer.errors import InputError, shown
from anonymizer.hierarchy import Partition

__all__ = ["STOCHASTIC", "Channel", "require_channel", "require_stochastic"]

STOCHASTIC = 1e-9
"""How far the sum of a row may be from 1: rounding, and no more."""


@dataclass(frozen=True, eq=False)
class Channel:
    """A random recoding of one attribute, or of several together; a Partition is a 0/1 channel.

    Parameters
    ----------
    matrix
        q(y|x), shape (n, k): the chance of every released symbol given every true value.
    values
        The true values, one per row.
    labels
        What is released, one per column.
    """

    matrix: Floats
    values: tuple[Hashable, ...]
    labels: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", require_stochastic(self.matrix))
        for name in ("values", "labels"):
            stated = getattr(self, name)
            if not isinstance(stated, tuple | list):
                raise InputError(f"{name} of a channel must be a tuple, not {shown(stated)}")
            object.__setattr__(self, name, tuple(stated))
        if self.matrix.shape != (len(self.values), len(self.labels)):
            raise InputError(
                f"channel has shape {self.matrix.shape}, but there are {len(self.values)} values "
                f"and {len(self.labels)} labels"
            )

    @classmethod
    def of_partition(cls, partition: Partition, values: tuple[Hashable, ...]) -> "Channel":
        """The channel that a generalization is: every value goes to its group for certain."""
        matrix = np.zeros((len(values), len(partition)))
        matrix[np.arange(len(values)), partition.groups] = 1.0
        return cls(matrix, values, partition.labels)

    @cached_property
    def epsilon(self) -> float:
        """Local differential privacy, in nats: max over y, x, x' of ln q(y|x) / q(y|x').

        Infinite where a released symbol rules a value out. Symbols that are never released do not
        count.
        """
        released = self.matrix[:, self.matrix.max(axis=0) > 0]
        least, most = released.min(axis=0), released.max(axis=0)
        if (least == 0).any():
            return float("inf")
        return float(np.log(most / least).max())

    @property
    def rank(self) -> int:
        """Numerical rank; below the number of values, margins of X cannot be estimated unbiasedly.

        As :func:`numpy.linalg.matrix_rank` counts it.
        """
        return int(np.linalg.matrix_rank(self.matrix))


def require_channel(what: str, stated: object) -> None:
    """Require a Channel, which knows what its rows and columns stand for.

    Raises
    ------
    InputError
        When it is none, such as a matrix alone.
    """
    if not isinstance(stated, Channel):
        raise InputError(f"{what} must be a Channel(matrix, values, labels), not {shown(stated)}")


def require_stochastic(matrix: ArrayLike) -> Floats:
    """A matrix whose rows are distributions; sums are made 1, those that are but for rounding stay.

    So a channel that was written down reads back as it was.

    Raises
    ------
    InputError
        When a row is not a distribution; the message numbers it from 0.
    """
    found = matrix_of("channel", matrix)
    sums = found.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > STOCHASTIC)
    if len(off):
        raise InputError(
            f"channel is not stochastic: row {off[0]} sums to {sums[off[0]]:.9g}; every row must "
            "sum to 1"
        )
    rounding = max(found.shape[1], 4) * np.finfo(float).eps
    return np.asarray(found / np.where(np.abs(sums - 1) > rounding, sums, 1.0)[:, None])
