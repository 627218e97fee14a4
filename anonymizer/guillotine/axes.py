"""The axes of a grid: the blocks of each quasi-identifier, and the shapes that boxes may have.

A number is divided into blocks by its possible cut points, and boxes have runs of them; any other
attribute has a block for each value that occurs, and boxes have any sets of them where they are
few, runs of siblings in the hierarchy where they are many.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np

from anonymizer.counts import Codes, Counts
from anonymizer.hierarchy import Interval, Taxonomy
from anonymizer.privacy import Mask
from anonymizer.regions import Shape
from anonymizer.search import RangeOptions
from anonymizer.search.segments import blocks_of, cut_points, occurring, wide_enough

__all__ = ["MOST_SET", "Axis", "Blocks", "axes_of"]

MOST_SET = 5
"""Values of which boxes may have any set: 31 sets; a value more doubles them."""

Blocks = tuple[int, ...]
"""A shape as the blocks it holds, in order."""


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

    @cached_property
    def whole(self) -> Blocks:
        """All blocks."""
        return tuple(range(self.blocks))

    def allows(self, shape: Blocks) -> bool:
        """Whether a class may have a shape."""
        if self.wide is None or shape == self.whole or shape[0] >= self.numbers:
            return True
        return bool(self.wide[shape[0], shape[-1] + 1])

    def covered(self, shape: Sequence[int]) -> Shape:
        """What a shape covers: a range of numbers, or the codes of values."""
        if len(shape) == self.blocks:
            return tuple(range(len(self.block)))
        if self.starts is None or shape[0] >= self.numbers:
            return tuple(np.flatnonzero(np.isin(self.block, shape)).tolist())
        ends = (*self.starts, None)
        low = self.starts[shape[0]] if shape[0] else None
        return Interval(low, ends[shape[-1] + 1])

    @cached_property
    def siblings(self) -> list[list[Blocks]]:
        """For each branching of the hierarchy the blocks of its branches, the topmost first."""
        values = np.full(self.blocks, -1, np.intp)
        values[self.block[self.block >= 0]] = np.flatnonzero(self.block >= 0)
        found, level = [], [self.whole]
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


def axes_of(
    counts: Counts, taxonomies: Mapping[str, Taxonomy], options: RangeOptions
) -> list[Axis]:
    """The axes of a table's quasi-identifiers, in their order."""
    return [
        _axis(taxonomies[name], np.unique(codes), options)
        for name, codes in zip(counts.names, counts.cells.T, strict=True)
    ]


def _axis(taxonomy: Taxonomy, codes: Codes, options: RangeOptions) -> Axis:
    values = len(taxonomy.codes)
    if not taxonomy.ordered:
        block = np.full(values, -1, np.intp)
        block[_depth_first(taxonomy, codes)] = np.arange(len(codes))
        return Axis(taxonomy.attribute, taxonomy, block, None, False, None)
    starts, end = cut_points(occurring(taxonomy, codes, taxonomy.attribute), options.grid)
    block = blocks_of(taxonomy, starts, np.arange(values))
    missing = bool((block[codes] < 0).any())
    numbers = taxonomy.numbers or ()
    block = np.where([number is None for number in numbers], len(starts), block)
    wide = wide_enough([*starts, end], options.min_width) if options.min_width else None
    return Axis(taxonomy.attribute, taxonomy, block, starts, missing, wide)


def _depth_first(taxonomy: Taxonomy, codes: Codes) -> Codes:
    """Values in an order in which every group of every level stands together."""
    groups = [level.first[level.groups[codes]] for level in taxonomy.levels]
    return codes[np.lexsort(groups)]
