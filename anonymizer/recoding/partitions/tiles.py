"""All tiles of two attributes, a group of one by a group of the other, each judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.recoding.partitions.families import (
    Intervals,
    before,
    combinations_without,
    tabulated,
)
from anonymizer.recoding.partitions.interval_dp import Chain
from anonymizer.recoding.partitions.segments import tie_breaker
from anonymizer.recoding.problem.class_scores import Judge, Tables, lots

MOST_CLASSES = 16_000_000
"""Classes of all tiles beyond are not judged (some 10 s): the pair is left to ascent."""

MOST_ENTRIES = 64_000_000
"""Counts held at once beyond (half a gigabyte) are not either."""


class Side(NamedTuple):
    """One of two attributes: its groups, and those of them that occur in allowed partitions."""

    family: Intervals
    chain: Chain


@dataclass(frozen=True, eq=False)
class Tiles:
    """What each tile of two attributes adds to the objective, the others as released.

    ``scores[s, q]``: what the classes of group s of the rows and group q of the columns add, -inf
    where one breaks a model; shape (rows + 1, columns + 1). The last row and the last column are
    the missing values, which belong to every partition. ``per_class`` is what of a score is there
    for each class to break ties.
    """

    rows: Chain
    columns: Chain
    scores: Floats
    per_class: float

    @classmethod
    def of(cls, judge: Judge, counts: Counts, rows: Side, columns: Side) -> "Tiles | None":
        """Judge the tiles of two attributes that are raw in the counts; None when too many.

        Only groups that are acceptable with the other attribute suppressed are looked at: the
        classes of a row of a partition merge into that one's, and models are monotone.
        """
        attributes = [side.family.attribute for side in (rows, columns)]
        combination, combinations = combinations_without(counts, attributes)
        classes_of_rows = (len(rows.chain) + 1) * combinations
        values = max((joint.shape[1] for joint in counts.joint.values()), default=1)
        if (
            classes_of_rows * (len(columns.chain) + 1) > MOST_CLASSES
            or classes_of_rows * (columns.chain.blocks + 2) * values > MOST_ENTRIES
        ):
            return None
        blocks = [
            side.chain.places(side.family.blocks_of(counts.cells[:, counts.names.index(name)]))
            for side, name in zip((rows, columns), attributes, strict=True)
        ]  # missing values, of block -1, are the last one
        shape = (rows.chain.blocks + 1, columns.chain.blocks + 1, combinations)
        tables = tabulated(counts, (*blocks, combination), shape)
        gains, classes = _judged(judge, counts, tables, rows.chain, columns.chain)
        per_class = tie_breaker(gains, len(counts))
        return cls(rows.chain, columns.chain, gains + per_class * classes, per_class)

    @property
    def slack(self) -> float:
        """Less than what one class counts for, more than sums of scores are off by rounding."""
        return self.per_class / 2

    def worth(self, path: Sequence[int]) -> Floats:
        """The sum of each row's tiles in some columns and the missing ones, shape (rows + 1,)."""
        return np.asarray(self.scores[:, [*path, -1]].sum(axis=1))

    def reached(self, worths: Floats) -> Floats:
        """What the best rows make of n worths of the rows, shape (rows + 1, n) to shape (n,)."""
        return np.asarray(self.rows.total(worths[:-1]) + worths[-1])


def _judged(
    judge: Judge, counts: Counts, tables: Tables, rows: Chain, columns: Chain
) -> tuple[Floats, Ints]:
    """Objective (-inf where a class breaks a model) and classes of all tiles."""
    shape = (len(columns) + 1, len(rows) + 1)
    gains, classes = np.empty(shape), np.empty(shape, np.int64)
    strips = {name: _strips(table, rows) for name, table in tables.items()}
    combinations = next(iter(strips.values())).shape[2]
    starts, ends = columns.with_missing
    for lot in lots(shape[0], shape[1] * combinations):
        tiles = {name: strip[ends[lot]] - strip[starts[lot]] for name, strip in strips.items()}
        flat = {name: tile.reshape(-1, *tile.shape[2:]) for name, tile in tiles.items()}
        gain, count, broken = judge.tables(counts, flat)
        gains[lot] = np.where(broken, -np.inf, gain).reshape(-1, shape[1])
        classes[lot] = count.reshape(-1, shape[1])
    return gains.T.copy(), classes.T


def _strips(table: Ints, rows: Chain) -> Ints:
    """Records of each row before each block of the columns, shape (v' + 2, rows + 1, ...)."""
    starts, ends = rows.with_missing
    sums = before(table)
    return before(np.moveaxis(sums[ends] - sums[starts], 1, 0))
