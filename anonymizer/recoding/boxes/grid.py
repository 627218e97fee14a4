"""The axes of a grid: the blocks of each quasi-identifier, and the shapes that boxes may have.

A number is divided into blocks by its possible cut points, and boxes have runs of them; any other
attribute has a block for each value that occurs, and boxes have any sets of them where they are
few, runs of siblings in the hierarchy where they are many.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

import numpy as np

from anonymizer.counts.counts import Codes, Ints, row_keys
from anonymizer.counts.multidimensional import Shape
from anonymizer.errors import InputError
from anonymizer.hierarchy import Interval, Taxonomy
from anonymizer.privacy import Mask
from anonymizer.recoding import Problem, RangeOptions
from anonymizer.recoding.partitions.cuts import Cuts
from anonymizer.recoding.partitions.intervals import Line

__all__ = ["MOST_SET", "Axis", "Blocks", "CellMap", "axes_of", "blocks_of"]

MOST_SET = 5
"""Values of which boxes may have any set: 31 sets; a value more doubles them."""

MOST_LISTED = 100
"""Values of an attribute without ranges beyond are refused: labels would list most of them."""

Blocks = tuple[int, ...] | range
"""Some blocks of an axis, in order."""


@dataclass(frozen=True, eq=False)
class Axis:
    """One quasi-identifier of a grid.

    Parameters
    ----------
    attribute, taxonomy
        The quasi-identifier.
    block
        The block of each value code, -1 for one that does not occur, shape (values,).
    starts
        Where the blocks of an ordered attribute begin; None for any other.
    missing
        Whether the last block holds missing values, which no range does.
    wide
        Which runs of numbers are wide enough to be released, by first block and end, shape
        (blocks + 1, blocks + 1).
    """

    attribute: str
    taxonomy: Taxonomy
    block: Codes
    starts: tuple[Decimal, ...] | None
    missing: bool
    wide: Mask | None

    @cached_property
    def blocks(self) -> int:
        """How many blocks there are."""
        return int(self.block.max(initial=-1)) + 1

    @property
    def ordered(self) -> bool:
        """Whether boxes have ranges of the attribute."""
        return self.starts is not None

    @cached_property
    def numbers(self) -> int:
        """How many blocks hold numbers, those of an ordered attribute."""
        return self.blocks - self.missing

    @property
    def whole(self) -> range:
        """All blocks."""
        return range(self.blocks)

    def allows(self, shape: Blocks) -> bool:
        """Whether a class may have a shape."""
        if self.wide is None or len(shape) == self.blocks or shape[0] >= self.numbers:
            return True
        return bool(self.wide[shape[0], shape[-1] + 1])

    def covered(self, shape: Sequence[int]) -> Shape:
        """What a shape covers: a range of numbers, or the codes of values."""
        if len(shape) == self.blocks:  # also where no number is missing: "*", not (-inf, inf)
            return tuple(range(len(self.block)))
        if self.starts is None or shape[0] >= self.numbers:
            return tuple(np.flatnonzero(np.isin(self.block, shape)).tolist())
        ends = (*self.starts, None)
        low = self.starts[shape[0]] if shape[0] else None
        return Interval(low, ends[shape[-1] + 1])

    def told(self, records: Ints, least: int) -> tuple[int, int]:
        """The first and the last block of numbers whose start may be an end of a range.

        Classes overlap, so that a range may end where nobody's begins: its end would be a value of
        the few, or of the one, beyond it. ``records`` (blocks,) are those of each block, ``least``
        how many have to lie beyond an end, as they do beyond the ends of ranges that divide a line.
        """
        before = np.append(0, np.cumsum(records[: self.numbers]))
        enough = np.flatnonzero((before >= least) & (before[-1] - before >= least))
        # Where no end may be told, none is: every range is open on both sides.
        return (int(enough[0]), int(enough[-1])) if len(enough) else (self.numbers, 0)

    def cover(self, blocks: Codes, told: tuple[int, int]) -> Shape:
        """The least that covers some blocks: a range of numbers, or the values themselves.

        ``told``: the first and last block whose start may be an end; ranges beyond are open.
        """
        some = np.unique(blocks)
        if not self.ordered or some[0] >= self.numbers:
            return self.covered(some.tolist())
        if some[-1] >= self.numbers:  # missing values are in no range
            return self.covered(self.whole)
        begin, end = int(some[0]), int(some[-1]) + 1
        return self.covered(
            range(
                begin if begin >= told[0] else 0,
                end if end <= told[1] else self.numbers,
            )
        )

    @cached_property
    def binned(self) -> "Axis":
        """The axis with blocks of numbers joined until each is wide enough by itself."""
        if self.wide is None or not self.starts:
            return self
        cuts = [0]
        while (reach := np.flatnonzero(self.wide[cuts[-1]])).size and reach[0] < self.numbers:
            cuts.append(int(reach[0]))
        if len(cuts) > 1 and not self.wide[cuts[-1], self.numbers]:
            cuts.pop()
        bins = np.searchsorted(cuts, np.arange(self.blocks), side="right") - 1
        bins[self.numbers :] = len(cuts)
        block = np.where(self.block < 0, -1, bins[self.block])
        return replace(self, block=block, starts=tuple(self.starts[cut] for cut in cuts), wide=None)

    @cached_property
    def siblings(self) -> list[list[tuple[int, ...]]]:
        """For each branching of the hierarchy the blocks of its branches, the topmost first."""
        values = np.full(self.blocks, -1, np.intp)
        values[self.block[self.block >= 0]] = np.flatnonzero(self.block >= 0)
        found, level = [], [tuple(self.whole)]
        for partition in reversed(self.taxonomy.levels[:-1]):
            below = []
            for node in level:
                groups = partition.groups[values[list(node)]]
                branches = [
                    tuple(b for b, group in zip(node, groups, strict=True) if group == g)
                    for g in dict.fromkeys(groups.tolist())
                ]
                if len(branches) > 1:
                    found.append(branches)
                below += branches
            level = below
        return found


def blocks_of(axes: Sequence[Axis], cells: Codes) -> Codes:
    """The block on every axis of each row of value codes, -1 for none, shape (rows, axes)."""
    columns = zip(axes, cells.T, strict=True)
    return np.column_stack([axis.block[codes] for axis, codes in columns])


@dataclass(frozen=True, eq=False)
class CellMap:
    """Classes that are lists of cells, as a map: what is on none of them is not covered.

    Parameters
    ----------
    axes
        What makes value codes blocks.
    known
        The cells as rows of blocks, shape (cells, axes), no two alike.
    number
        The class of each, shape (cells,).
    """

    axes: Sequence[Axis]
    known: Codes
    number: Codes

    def __call__(self, cells: Codes) -> Codes:
        """The class of each row of value codes, -1 for none, shape (rows,)."""
        both = np.concatenate([self.known, blocks_of(self.axes, cells)])
        keys = np.unique(row_keys(both + 1), return_inverse=True)[1]
        class_of = np.full(int(keys.max(initial=-1)) + 1, -1, np.intp)
        class_of[keys[: len(self.known)]] = self.number
        found: Codes = class_of[keys[len(self.known) :]]
        return found


def axes_of(problem: Problem, ranges: Collection[str], options: RangeOptions) -> list[Axis]:
    """The axes of a problem's quasi-identifiers, in their order; some of them get ranges.

    Raises
    ------
    InputError
        When an attribute has too many cut points, or too many values that are no ranges.
    """
    counts = problem.counts
    return [
        (_line if name in ranges else _branches)(problem.taxonomies[name], codes, options)
        for name, codes in zip(counts.names, counts.cells.T, strict=True)
    ]


def _line(taxonomy: Taxonomy, codes: Codes, options: RangeOptions) -> Axis:
    """Numbers between possible cut points, missing values after them."""
    line = Line.of(taxonomy.attribute, taxonomy, codes, options)
    block = line.blocks_of(np.arange(len(taxonomy.codes)))
    block[block < 0] = line.blocks if line.gaps else -1
    wide = np.zeros((line.blocks + 1, line.blocks + 1), bool)
    wide[line.starts, line.ends] = True
    return Axis(
        taxonomy.attribute,
        taxonomy,
        block,
        line.points,
        line.gaps,
        wide if options.min_width is not None else None,
    )


def _branches(taxonomy: Taxonomy, codes: Codes, options: RangeOptions) -> Axis:
    """The values that occur, depth-first along the hierarchy."""
    order = Cuts.of(taxonomy.attribute, taxonomy, codes).order
    if len(order) > MOST_LISTED:
        raise InputError(
            f"column {taxonomy.attribute!r} has {len(order):,} values, too many to be listed in "
            f"the labels of boxes and classes (the most is {MOST_LISTED}); make it coarser in the "
            'table, or choose recoding = "cut"'
        )
    block = np.full(len(taxonomy.codes), -1, np.intp)
    block[order] = np.arange(len(order))
    return Axis(taxonomy.attribute, taxonomy, block, None, False, None)
