"""All shapes that boxes may have along an axis, and how each divides into two."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations
from math import comb, prod
from operator import add

import numpy as np

from anonymizer.kernels.arrays import Ints
from anonymizer.kernels.guillotine import Shapes
from anonymizer.recoding.boxes.grid import MOST_SET, Axis, Blocks


@dataclass(frozen=True, eq=False)
class ShapeTable:
    """The shapes of one axis, numbered so that the parts of each stand before it.

    All runs of the first ``runs`` blocks come first: by length, then by start. The others follow by
    their number of blocks; the last is the whole axis, if there are any.
    """

    axis: Axis
    runs: int
    others: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, axis: Axis) -> "ShapeTable":
        """What boxes may have of an axis."""
        if axis.ordered:
            gaps = [(axis.numbers,), tuple(axis.whole)] if axis.missing else []
            return cls(axis, axis.numbers, tuple(dict.fromkeys(gaps)))
        if axis.blocks <= MOST_SET:
            sets = [combinations(axis.whole, size) for size in range(1, axis.blocks + 1)]
            return cls(axis, 0, tuple(shape for some in sets for shape in some))
        joined = {
            shape
            for branches in axis.siblings
            for begin in range(len(branches))
            for shape in accumulate(branches[begin:], add)  # all runs of branches
        } | {(block,) for block in axis.whole}
        return cls(axis, 0, tuple(sorted(joined, key=lambda shape: (len(shape), shape))))

    def __len__(self) -> int:
        return self.first_other + len(self.others)

    @property
    def first_other(self) -> int:
        """How many shapes are runs."""
        return comb(self.runs + 1, 2)

    @cached_property
    def shapes(self) -> list[Blocks]:
        """The blocks of each shape."""
        runs = (
            range(start, start + length)
            for length in range(1, self.runs + 1)
            for start in range(self.runs - length + 1)
        )
        return [*runs, *self.others]

    def run(self, start: int, length: int) -> int:
        """The number of a run."""
        return (length - 1) * (2 * self.runs - length + 2) // 2 + start

    def pairs(self, number: int) -> Iterator[tuple[int, int]]:
        """The ways to divide a shape into two, by number."""
        shape = self.shapes[number]
        if isinstance(shape, range):
            for cut in range(1, len(shape)):
                yield self.run(shape.start, cut), self.run(shape.start + cut, len(shape) - cut)
        elif self.axis.ordered:
            if len(shape) > 1:  # all numbers, and missing values
                yield self.run(0, self.runs), self.first_other
        elif self.axis.blocks <= MOST_SET:
            for size in range(len(shape) - 1):
                for some in combinations(shape[1:], size):
                    rest = tuple(block for block in shape[1:] if block not in some)
                    yield self._number[shape[0], *some], self._number[rest]
        else:
            for cut in range(1, len(shape)):
                parts = shape[:cut], shape[cut:]
                if parts[0] in self._number and parts[1] in self._number:
                    yield self._number[parts[0]], self._number[parts[1]]

    @cached_property
    def allowed(self) -> list[bool]:
        """Whether a class may have each shape."""
        return [self.axis.allows(shape) for shape in self.shapes]

    @cached_property
    def _number(self) -> dict[tuple[int, ...], int]:
        """The numbers of the shapes that are no runs."""
        return {shape: self.first_other + place for place, shape in enumerate(self.others)}


def boxes_of(tables: Sequence[ShapeTable]) -> int:
    """How many boxes there are."""
    return prod(map(len, tables))


def laid_out(tables: Sequence[ShapeTable]) -> Shapes:
    """The shapes of all axes as arrays.

    Runs of the last axis are divided without a list of their parts, which would be long.
    """
    each = [(table, number) for table in tables for number in range(len(table))]
    pairs = [
        list(table.pairs(number)) if table is not tables[-1] or number >= table.first_other else []
        for table, number in each
    ]
    shapes = [shape for table in tables for shape in table.shapes]
    numbers = np.array([len(table) for table in tables], np.int64)
    split = np.array([pair for some in pairs for pair in some], np.int64).reshape(-1, 2)
    return Shapes(
        numbers=numbers,
        blocks=np.array([table.axis.blocks for table in tables], np.int64),
        base=_before(numbers),
        block=np.array([shape[0] if len(shape) == 1 else -1 for shape in shapes]),
        allowed=np.array([allowed for table in tables for allowed in table.allowed]),
        first=np.append(_before(np.array([len(some) for some in pairs])), len(split)),
        left=split[:, 0].copy(),
        right=split[:, 1].copy(),
        # Two shapes that make up one of several blocks, allowed or not; (0, 0) for a single one.
        summed=np.array([next(table.pairs(number), (0, 0)) for table, number in each], np.int64),
        runs=np.array([table.runs for table in tables], np.int64),
    )


def _before(numbers: Ints) -> Ints:
    """The sum of what stands before each number."""
    return (np.cumsum(numbers) - numbers).astype(np.int64)
