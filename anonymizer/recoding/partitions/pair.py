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
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Floats
from anonymizer.recoding.partitions.families import Path
from anonymizer.recoding.partitions.tiles import Tiles

MOST_PREFIXES = 200_000
"""Prefixes beyond are not looked at (some 5 s with 4,000 rows): the best found is not proven."""

TOGETHER = 16
"""Prefixes that are extended together, for NumPy's sake; more would do needless work."""

LARGEST = 1_000_000
"""Worths in memory beyond which fewer are extended together."""

NOTHING: tuple[float, Path] = (-inf, ())


class PairCuts(NamedTuple):
    """Which groups of two attributes make their partitions, and whether no others are better.

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
    """The best columns for the rows that are best when worth so much; None where none are."""
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
