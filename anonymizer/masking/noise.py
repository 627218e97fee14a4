"""Gaussian noise on numbers, rounded to a grid: how much of it a policy needs is tried in steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.channels import gaussian_channel, require_room
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats
from anonymizer.masking.part import (
    CandidateChannel,
    MaskedAttribute,
    Part,
    Piece,
    assembled,
    plain,
    without_rare,
)
from anonymizer.privacy import PrivacyModel

if TYPE_CHECKING:  # the options import what carries them out when a table is fitted
    from anonymizer.masking.options import Noise

STEPS = (
    *(0.0, 0.002, 0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.125, 0.15, 0.18, 0.22, 0.26),
    *(0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0),
)
"""Distortions that are tried, as shares of the variance: at 1 everybody gets the mean."""


FINEST = 2.0**40
"""Steps from 0: further out, floats would blur the points of a grid."""


def noise(
    part: Part, recoding: Noise, models: Sequence[PrivacyModel], least: float
) -> Iterator[CandidateChannel]:
    """Channels of the Gaussian rule of a table's attributes, with less and less information.

    Y = (1 - d) X + d mu + N(0, d (1 - d) sigma^2), rounded to multiples of the grid, which distorts
    least for what it discloses of a W that is Gaussian together with X (Rebollo-Monedero et al.
    2008, Eq. 5). Attributes get noise independently. The grid is a tenth of the standard deviation
    where the options have none. The policy is left to the drawn table, but that every symbol is
    expected for ``least`` records.
    """
    grids = recoding.grid or {}
    axes = [_Axis(part, attribute, grids.get(attribute.name)) for attribute in part.attributes]
    symbols = part.combinations({axis.name: axis.symbols for axis in axes})
    require_room("the channel of the noise", (len(part.contingency.values), len(symbols)))
    for d in STEPS:
        matrix = reduce(_both, (axis.channel(d)[axis.of_row] for axis in axes))
        pieces = [Piece(b, matrix[b.rows], b.with_kept(symbols)) for b in part.blocks]
        yield assembled(part, [without_rare(piece, least) for piece in pieces])


class _Axis:
    """One attribute's values and the grid they are rounded to."""

    def __init__(self, part: Part, attribute: MaskedAttribute, step: float | None) -> None:
        if not attribute.numeric:
            raise InputError(
                f"random recoding: noise is for numbers, and {attribute.name!r} is none at its "
                "level; draw other attributes, or choose 'pram'"
            )
        self.name = attribute.name
        values, self.of_row = part.values_of(self.name)
        self.values = attribute.numbers(values)
        sizes = part.contingency.sizes
        share = np.bincount(self.of_row, weights=sizes) / sizes.sum()
        self.mean = float(share @ self.values)
        self.variance = float(share @ (self.values - self.mean) ** 2)
        tenth = _round_step(self.variance**0.5 / 10)
        if np.ptp(self.values):
            self.grid = _grid(part, self.name, self.values, step or tenth)
        else:  # one number, which is released as it is
            self.variance, self.grid = 0.0, self.values[:1]

    @property
    def symbols(self) -> list[int | float]:
        """Points of the grid in their released form."""
        return list(map(plain, self.grid))

    def channel(self, d: float) -> Floats:
        """q(y|x) at a normalised distortion, shape (values, points)."""
        if not self.variance:
            return np.ones((len(self.values), 1))
        return gaussian_channel(self.values, self.grid, self.mean, self.variance, d)


def _both(one: Floats, other: Floats) -> Floats:
    return (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)


def _grid(part: Part, name: str, values: Floats, step: float) -> Floats:
    """The multiples of a step between the numbers of an attribute, shape (points,)."""
    ends = [float(end) / step for end in (values.min(), values.max())]
    if max(map(abs, ends)) > FINEST:
        raise InputError(
            f"random recoding: the grid of {name!r} is too fine for numbers as large as its; "
            "choose a wider one"
        )
    first, last = map(round, ends)
    part.require_few(last - first + 1)
    decimals = max(0, -floor(log10(step)) + 2)
    return np.asarray(np.round(np.arange(first, last + 1) * step, decimals))


def _round_step(width: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is at most a width; 1 for no width."""
    if not width > 0:
        return 1.0
    power = 10.0 ** floor(log10(width))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= width * (1 + 1e-9))
