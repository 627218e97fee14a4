"""The best partitions of two attributes together, the others held fixed.

The objective is a sum over tiles: a group of one attribute, a row, by a group of the other, a
column. With the columns chosen, the rows are found by dynamic programming, each being worth the
sum of its tiles. So the columns are what is searched, by branch and bound over prefixes of their
partition, several prefixes at a time.

The bound of a prefix that ends at block e: a row s is worth its tiles in the prefix plus the best
that *any* partition of the blocks from e on makes of s alone; the dynamic program over the rows on
these worths. Every completion of the prefix cuts those blocks in one way for all rows, hence none
beats the bound, whatever the signs; with the prefix complete the bound is the value itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.recoding.partitions.families import (
    Chain,
    Intervals,
    Judge,
    Path,
    Tables,
    before,
    combinations_without,
    lots,
    tabulated,
    tie_breaker,
)

MOST_CLASSES = 16_000_000
"""Classes of all tiles beyond are not judged (some 10 s): the pair is left to ascent."""

MOST_ENTRIES = 64_000_000
"""Counts held at once beyond (half a gigabyte) are not either."""


MOST_PREFIXES = 200_000
"""Prefixes beyond are not looked at (some 5 s with 4,000 rows): the best found is not proven."""

TOGETHER = 16
"""Prefixes that are extended together, for NumPy's sake; more would do needless work."""

LARGEST = 1_000_000
"""Worths in memory beyond which fewer are extended together."""

NOTHING: tuple[float, Path] = (-inf, ())


@dataclass(frozen=True, eq=False)
class Tiles:
    """Worths of the tiles of two attributes, the others as released.

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
    def of(cls, judge: Judge, counts: Counts, *sides: tuple[Intervals, Chain]) -> "Tiles | None":
        """Judge the tiles of two attributes that are raw in the counts; None when too many.

        Only groups that are acceptable with the other attribute suppressed are looked at: the
        classes of a row of a partition merge into that one's, and models are monotone.
        """
        attributes, (rows, columns) = [each.attribute for each, _ in sides], [c for _, c in sides]
        combination, combinations = combinations_without(counts, attributes)
        classes_of_rows = (len(rows) + 1) * combinations
        values = max((joint.shape[1] for joint in counts.joint.values()), default=1)
        if (
            classes_of_rows * (len(columns) + 1) > MOST_CLASSES
            or classes_of_rows * (columns.blocks + 2) * values > MOST_ENTRIES
        ):
            return None
        blocks = [
            chain.places(family.blocks_of(counts.cells[:, counts.names.index(family.attribute)]))
            for family, chain in sides
        ]  # missing values, of block -1, are the last one
        shape = (rows.blocks + 1, columns.blocks + 1, combinations)
        tables = tabulated(counts, (*blocks, combination), shape)
        gains, classes = _judged(judge, counts, tables, rows, columns)
        per_class = tie_breaker(gains, len(counts))
        return cls(rows, columns, gains + per_class * classes, per_class)

    @property
    def slack(self) -> float:
        """Less than what one class counts for, more than sums of scores are off by rounding."""
        return self.per_class / 2

    def worth(self, path: Sequence[int]) -> Floats:
        """The sum of each row's tiles in some columns and the missing ones, shape (rows + 1,)."""
        return np.asarray(self.scores[:, [*path, -1]].sum(axis=1))

    def reached(self, worths: Floats) -> Floats:
        """Reduce n worths of the rows to those of the best rows, (rows + 1, n) to (n,)."""
        return np.asarray(self.rows.total(worths[:-1]) + worths[-1])


def _judged(
    judge: Judge, counts: Counts, tables: Tables, rows: Chain, columns: Chain
) -> tuple[Floats, Ints]:
    """Objective (-inf where a class breaks a model) and classes of all tiles."""
    shape = (len(columns) + 1, len(rows) + 1)
    gains, classes = np.empty(shape), np.empty(shape, np.int64)
    strips = {}
    first, last = rows.with_missing
    for name, table in tables.items():
        sums = before(table)
        # The records of each row before every block of the columns: a tile is one subtraction.
        strips[name] = before(np.moveaxis(sums[last] - sums[first], 1, 0))
    combinations = next(iter(strips.values())).shape[2]
    starts, ends = columns.with_missing
    for lot in lots(shape[0], shape[1] * combinations, tables):
        tiles = {name: strip[ends[lot]] - strip[starts[lot]] for name, strip in strips.items()}
        flat = {name: tile.reshape(-1, *tile.shape[2:]) for name, tile in tiles.items()}
        gain, count, broken = judge.tables(counts, flat)
        gains[lot] = np.where(broken, -np.inf, gain).reshape(-1, shape[1])
        classes[lot] = count.reshape(-1, shape[1])
    return gains.T.copy(), classes.T


class PairCuts(NamedTuple):
    """The groups of two attributes that make their partitions, and whether no others are better.

    ``proven`` holds, too, where no others exceed the floor that was given.
    """

    rows: Path
    columns: Path
    proven: bool


def best_pair(tiles: Tiles, floor: float = -inf) -> PairCuts | None:
    """The cuts of the highest objective; None where no partitions are allowed.

    What does not exceed ``floor`` is not searched for. Ties: more classes; then what the climbs
    find, or else what the walk comes by first; then the earliest cuts of the rows. The walk
    depends on the tiles alone.
    """
    if not (len(tiles.rows) and len(tiles.columns)):
        return None
    climbed = (_climbed(tiles, path) for path in _starts(tiles))
    best = max(climbed, key=lambda reached: reached[0], default=NOTHING)
    proven, path = _walked(tiles, best, floor)
    rows = tiles.rows.best(tiles.worth(path)[:-1]) if path else None
    if rows is None:
        return None
    return PairCuts(tiles.rows.given(rows), tiles.columns.given(path), proven)


def _starts(tiles: Tiles) -> Iterator[Path]:
    """Columns to climb from: a single one, and the best for the rows of the first bound.

    Models being monotone, the single column is allowed wherever any columns are.
    """
    columns = tiles.columns
    for whole in np.flatnonzero(columns.ends - columns.starts == columns.blocks):
        yield (int(whole),)
    free = columns.total(tiles.scores[:, :-1].T) + tiles.scores[:, -1]
    path = _columns_for(tiles, free)
    if path is not None:
        yield path


def _columns_for(tiles: Tiles, worth: Floats) -> Path | None:
    """Return the best columns for the rows that these worths make best; None without any."""
    rows = tiles.rows.best(worth[:-1])
    if rows is None:
        return None
    path = tiles.columns.best(tiles.scores[[*rows, -1], :-1].sum(axis=0))
    return None if path is None else tuple(path)


def _climbed(tiles: Tiles, start: Path) -> tuple[float, Path]:
    """Cut rows and columns in turn, each at its best for the other's cuts, until none gains."""
    best = NOTHING
    path: Path | None = start
    while path is not None:
        worth = tiles.worth(path)
        score = float(tiles.reached(worth[:, None])[0])
        if score <= best[0] + tiles.slack:
            break
        best = (score, path)
        path = _columns_for(tiles, worth)
    return best


def _walked(tiles: Tiles, best: tuple[float, Path], floor: float) -> tuple[bool, Path]:
    """Extend the prefixes of the highest bounds until none exceeds the best columns found."""
    columns = tiles.columns
    suffixes = columns.suffixes(tiles.scores[:, :-1].T)
    together = min(TOGETHER, 1 + LARGEST // tiles.scores.size)
    heap: list[tuple[float, Path]] = [(-inf, ())]
    limit = max(floor, best[0] + tiles.slack)
    seen = 0
    # Columns worth more than the limit, if there are any, continue a prefix on the heap.
    while seen < MOST_PREFIXES:
        batch = [heappop(heap) for _ in range(min(together, len(heap)))]
        prefixes = [path for bound, path in batch if -bound > limit]
        if not prefixes:
            return True, best[1]
        longer = [(i, last) for i, path in enumerate(prefixes) for last in columns.after(path)]
        bounds = _bounds(tiles, suffixes, prefixes, longer)
        seen += len(longer)
        for (i, last), bound in zip(longer, bounds, strict=True):
            if bound <= limit:
                continue
            # What alone can follow is in the bound already.
            path = columns.as_far((*prefixes[i], last))
            if columns.ends[path[-1]] == columns.blocks:
                best, limit = (bound, path), bound + tiles.slack
            else:
                heappush(heap, (-bound, path))
    return False, best[1]


def _bounds(
    tiles: Tiles, suffixes: Floats, prefixes: Sequence[Path], longer: Sequence[tuple[int, int]]
) -> list[float]:
    """The bounds of prefixes with a column more, each given by its prefix and that column."""
    base = np.stack([tiles.worth(path) for path in prefixes], axis=1)
    parent, last = np.array(longer).T
    left = [tiles.columns.left(len(prefixes[i]) + 1) for i in parent]
    worths = base[:, parent] + tiles.scores[:, last] + suffixes[left, tiles.columns.ends[last]].T
    return list(tiles.reached(worths).tolist())
