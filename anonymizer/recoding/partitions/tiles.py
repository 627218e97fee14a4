"""All tiles of two attributes, a group of one by a group of the other, each judged."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.counts.counts import Codes, Counts, Floats, Ints, row_keys
from anonymizer.recoding.partitions.families import Intervals
from anonymizer.recoding.partitions.interval_dp import Chain
from anonymizer.recoding.partitions.segments import tie_breaker
from anonymizer.recoding.problem.class_scores import Judge, Tables, count_matrices, lots

__all__ = ["MOST_CLASSES", "Side", "Tiles"]

MOST_CLASSES = 16_000_000
"""Classes of all tiles beyond are not judged (some 10 s): the pair is left to ascent."""

MOST_ENTRIES = 64_000_000
"""Counts held at once beyond (half a gigabyte) are not either."""


@dataclass(frozen=True, eq=False)
class Side:
    """One of two attributes: its groups, and those of them that occur in allowed partitions."""

    family: Intervals
    chain: Chain


@dataclass(frozen=True, eq=False)
class Tiles:
    """What each tile of two attributes adds to the objective, the others as released.

    Parameters
    ----------
    rows, columns
        The groups of the two attributes.
    scores
        ``scores[s, q]``: what the classes of group s of the one and group q of the other add,
        -inf where one breaks a model; shape (rows + 1, columns + 1). The last row and the last
        column are the missing values, which belong to every partition.
    per_class
        What of a score is there for each class to break ties.
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
        others = [
            place
            for place, name in enumerate(counts.names)
            if name not in (rows.family.attribute, columns.family.attribute)
        ]
        combination = np.unique(row_keys(counts.cells[:, others]), return_inverse=True)[1]
        combinations = int(combination.max(initial=0)) + 1
        classes_of_rows = (len(rows.chain) + 1) * combinations
        values = max((joint.shape[1] for joint in counts.joint.values()), default=1)
        if (
            classes_of_rows * (len(columns.chain) + 1) > MOST_CLASSES
            or classes_of_rows * (columns.chain.blocks + 2) * values > MOST_ENTRIES
        ):
            return None
        tables = _tabulated(counts, rows, columns, combination)
        gains, classes = _judged(judge, counts, tables, rows.chain, columns.chain)
        per_class = tie_breaker(gains, len(counts))
        return cls(rows.chain, columns.chain, gains + per_class * classes, per_class)

    @property
    def slack(self) -> float:
        """Less than what one class counts for, more than sums of scores are off by rounding."""
        return self.per_class / 2

    def worth(self, path: Sequence[int]) -> Floats:
        """The sum of each row's tiles in some columns and the missing ones, shape (rows + 1,)."""
        worth: Floats = self.scores[:, [*path, -1]].sum(axis=1)
        return worth

    def reached(self, worths: Floats) -> Floats:
        """What the best rows make of n worths of the rows, shape (rows + 1, n) to shape (n,)."""
        reached: Floats = self.rows.total(worths[:-1]) + worths[-1]
        return reached


def _tabulated(counts: Counts, rows: Side, columns: Side, combination: Codes) -> Tables:
    """Records by block of either attribute, combination of the others and sensitive value.

    Shape (blocks + 1, blocks' + 1, combinations, values); missing values are the last block.
    """
    places = [
        side.chain.places(side.family.blocks_of(counts.cells[:, counts.names.index(name)]))
        for side in (rows, columns)
        for name in [side.family.attribute]
    ]
    shape = (rows.chain.blocks + 1, columns.chain.blocks + 1, int(combination.max(initial=0)) + 1)
    tables: Tables = {}
    for name, joint in count_matrices(counts).items():
        tables[name] = np.zeros((*shape, joint.shape[1]), np.int64)
        np.add.at(tables[name], (*places, combination), joint)
    return tables


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
    before = _before(table)
    return _before(np.moveaxis(before[ends] - before[starts], 1, 0))


def _before(table: Ints) -> Ints:
    """Sums over what lies before each place of the first axis, one place longer."""
    before = np.zeros((len(table) + 1, *table.shape[1:]), table.dtype)
    np.cumsum(table, axis=0, out=before[1:])
    return before
