"""All tiles of two ordered attributes, a range of one by a range of the other, each judged."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from anonymizer.counts import Codes, Counts, Floats, Ints, row_keys
from anonymizer.privacy import TOLERANCE, Mask
from anonymizer.search.segments import Judge, Segments, blocks_of, count_matrices, judge_ranges

__all__ = ["MOST_CLASSES", "Chain", "Tiles"]

MOST_CLASSES = 16_000_000
"""Classes of all tiles beyond are not judged (some 10 s): the pair is left to ascent."""

BATCH = 100_000
"""Classes judged together: bounds what the judging takes to some tens of megabytes."""

PRECISION = 2.0**-40
"""What is told apart of an objective's magnitude, far above the rounding of its sums."""


@dataclass(frozen=True, eq=False)
class Chain:
    """The ranges of an ordered attribute that occur in some allowed partition.

    Parameters
    ----------
    starts, ends
        Range k holds the blocks starts[k], ..., ends[k] - 1; shape (ranges,) each, ordered by
        start, then by end.
    blocks
        How many blocks there are.
    most
        At most so many ranges make a partition; None where any number may.
    """

    starts: Codes
    ends: Codes
    blocks: int
    most: int | None

    @classmethod
    def of(cls, allowed: Mask, max_ranges: int | None = None) -> "Chain":
        """Keep of the allowed ranges [i, j), shape (v + 1, v + 1), those that lead 0 to v."""
        v = len(allowed) - 1
        bounded = max_ranges is not None and max_ranges < v
        starts, ends = np.nonzero(
            allowed & _reached(allowed)[:, None] & _reached(allowed[::-1, ::-1].T)[::-1]
        )
        return cls(starts, ends, v, max_ranges if bounded else None)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def with_missing(self) -> tuple[Codes, Codes]:
        """Starts and ends with the missing values as one more range, of a block at the end."""
        return np.append(self.starts, self.blocks), np.append(self.ends, self.blocks + 1)

    @cached_property
    def beginning(self) -> list[slice]:
        """The ranges that begin at each block, none at the end; length (blocks + 1)."""
        places = np.searchsorted(self.starts, np.arange(self.blocks + 2))
        return [slice(low, high) for low, high in pairwise(places.tolist())]

    def suffixes(self, values: Floats) -> Floats:
        """The best sum over the ranges of a partition of the blocks from i on, for every i.

        ``values`` (ranges, n) are n valuations of the ranges, -inf where one must not be used;
        the result has shape (most + 1, blocks + 1, n) and by its first axis at most so many
        ranges. Where any number may make a partition, that axis has the length 1.
        """
        return np.stack(list(self._rounds(values)))

    def total(self, values: Floats) -> Floats:
        """The best sum over the ranges of a partition, shape (n,)."""
        best: Floats = deque(self._rounds(values), maxlen=1).pop()[0]
        return best

    def left(self, used: int) -> int:
        """Where ``suffixes`` has what is reached by the ranges left when so many are used."""
        return 0 if self.most is None else self.most - used

    def best(self, values: Floats) -> list[int] | None:
        """The ranges of the best partition under one valuation, shape (ranges,); None: no one is.

        Ties: the earliest cuts, from the first on.
        """
        suffixes = self.suffixes(values[:, None])[:, :, 0]
        if suffixes[-1, 0] == -np.inf:
            return None
        path: list[int] = []
        block = 0
        while block < self.blocks:
            own = self.beginning[block]
            sums = values[own] + suffixes[self.left(len(path) + 1), self.ends[own]]
            path.append(own.start + int(sums.argmax()))
            block = int(self.ends[path[-1]])
        return path

    def _rounds(self, values: Floats) -> Iterator[Floats]:
        """The best sums of at most 0, 1, ..., most ranges; of any number, shape (blocks + 1, n)."""
        none = np.full((self.blocks + 1, values.shape[1]), -np.inf)
        none[self.blocks] = 0.0
        if self.most is None:
            yield self._prefixed(values, none, rest=none)
            return
        yield (best := none)
        for _ in range(self.most):
            best = self._prefixed(values, none.copy(), rest=best)
            yield best

    def _prefixed(self, values: Floats, best: Floats, rest: Floats) -> Floats:
        """Put the best range before the rest, from the last block to the first; fills ``best``."""
        for block in range(self.blocks - 1, -1, -1):
            own = self.beginning[block]
            if own.start < own.stop:
                best[block] = (values[own] + rest[self.ends[own]]).max(axis=0)
        return best

    def cuts(self, path: Sequence[int]) -> list[int]:
        """The blocks that the ranges of a partition begin at."""
        return [int(start) for start in self.starts[list(path)]]


@dataclass(frozen=True, eq=False)
class Tiles:
    """What each tile of two ordered attributes adds to the objective, the others as released.

    Parameters
    ----------
    rows, columns
        The ranges of the two attributes.
    scores
        ``scores[s, q]``: what the classes of range s of the one and range q of the other add,
        -inf where one breaks a model; shape (rows + 1, columns + 1). The last row and the last
        column are the missing values, which belong to every partition.
    per_class
        What of a score is there for each class to break ties: of equal values the one of more
        classes scores higher. All classes together count for less than ``TOLERANCE`` bits, or
        than what floats of the objective's magnitude can tell.
    """

    rows: Chain
    columns: Chain
    scores: Floats
    per_class: float

    @classmethod
    def of(
        cls, judge: Judge, counts: Counts, pair: tuple[Segments, Segments], most: int | None
    ) -> "Tiles | None":
        """Judge the tiles of two attributes that are raw in the counts; None when too many.

        Only ranges that are acceptable with the other attribute suppressed are looked at: the
        classes of a row of a partition merge into that one's, and models are monotone.
        """
        rows, columns = (Chain.of(segments.allowed, most) for segments in pair)
        tables = _tabulated(counts, pair)
        combinations = next(iter(tables.values())).shape[2]
        if (len(rows) + 1) * (len(columns) + 1) * combinations > MOST_CLASSES:
            return None
        gains, classes = _judged(judge, counts, tables, rows, columns)
        magnitude = np.abs(gains[np.isfinite(gains)]).max(initial=0.0)
        per_class = max(TOLERANCE, PRECISION * magnitude) / (len(counts) + 1)
        return cls(rows, columns, gains + per_class * classes, per_class)

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


def _reached(allowed: Mask) -> Mask:
    """Whether allowed ranges lead from block 0 to each block."""
    reached = np.zeros(len(allowed), bool)
    reached[0] = True
    for j in range(1, len(allowed)):
        reached[j] = (allowed[:, j] & reached).any()
    return reached


def _tabulated(counts: Counts, pair: tuple[Segments, Segments]) -> dict[str | None, Ints]:
    """Records by block of either attribute, combination of the others and sensitive value.

    Shape (v + 1, v' + 1, combinations, values); missing values are the last block.
    """
    names = [segments.attribute for segments in pair]
    others = [i for i, name in enumerate(counts.names) if name not in names]
    combination = np.unique(row_keys(counts.cells[:, others]), return_inverse=True)[1]
    codes = [counts.cells[:, counts.names.index(name)] for name in names]
    places = [blocks_of(s.taxonomy, s.starts, code) for s, code in zip(pair, codes, strict=True)]
    shape = (len(pair[0]) + 1, len(pair[1]) + 1, int(combination.max(initial=0)) + 1)
    tables: dict[str | None, Ints] = {}
    for name, joint in count_matrices(counts).items():
        tables[name] = np.zeros((*shape, joint.shape[1]), np.int64)
        np.add.at(tables[name], (*places, combination), joint)
    return tables


def _judged(
    judge: Judge, counts: Counts, tables: dict[str | None, Ints], rows: Chain, columns: Chain
) -> tuple[Floats, Ints]:
    """Objective (-inf where a class breaks a model) and classes of all tiles."""
    shape = (len(columns) + 1, len(rows) + 1)
    gains, classes = np.empty(shape), np.empty(shape, np.int64)
    strips = {name: _strips(table, rows) for name, table in tables.items()}
    combinations = next(iter(strips.values())).shape[2]
    starts, ends = columns.with_missing
    for lot in _lots(shape[0], max(1, BATCH // (shape[1] * combinations))):
        tiles = {name: strip[ends[lot]] - strip[starts[lot]] for name, strip in strips.items()}
        flat = {name: tile.reshape(-1, *tile.shape[2:]) for name, tile in tiles.items()}
        gain, count, broken = judge_ranges(judge, counts, flat)
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


def _lots(total: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most so many."""
    return (slice(low, min(low + size, total)) for low in range(0, total, size))
