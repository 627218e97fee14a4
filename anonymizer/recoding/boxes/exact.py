"""The best guillotine tree of a grid, by dynamic programming over all its boxes.

A tree that divides a box is a cut of it into two boxes and a tree for either; what classes add to
the objective adds up. So the best tree of a box is the box itself, or the best trees of two boxes
that make it up. Policies under which merging acceptable classes gives an acceptable one make it
quick: a box that breaks the policy has no tree at all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations, pairwise
from math import comb, inf, prod
from operator import add

import numpy as np

from anonymizer.kernels import Columns
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.kernels.guillotine import Shapes, best_trees, evaluate, spread
from anonymizer.kernels.single import Criteria, values
from anonymizer.recoding.boxes.grid import MOST_SET, Axis, Blocks, BoxTree, Node, divide
from anonymizer.recoding.problem import Run, as_done

MOST_BOXES = 50_000_000
"""Boxes of a grid beyond are not all looked at (some 5 s and 1 GiB)."""

QUICK = 1e7
"""Boxes of a grid that are looked at in a second, at least."""

MOST_SUMS = 100_000_000
"""Numbers that the sums over the first axis may take (400 MB)."""

LOTS = 64
"""Lots that boxes are judged in: what is reported of the progress, and what is done at once."""


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
        """List the shapes that boxes may have along an axis."""
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
        """The number of shapes that are runs."""
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
        """True for each shape that a class may have."""
        return [self.axis.allows(shape) for shape in self.shapes]

    @cached_property
    def _number(self) -> dict[tuple[int, ...], int]:
        return {shape: self.first_other + place for place, shape in enumerate(self.others)}


def _boxes_of(tables: Sequence[ShapeTable]) -> int:
    return prod(map(len, tables))


def _laid_out(tables: Sequence[ShapeTable]) -> Shapes:
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
        base=np.cumsum(numbers) - numbers,
        block=np.array([shape[0] if len(shape) == 1 else -1 for shape in shapes]),
        allowed=np.array([allowed for table in tables for allowed in table.allowed]),
        first=np.cumsum([0, *(len(some) for some in pairs)]),
        left=split[:, 0].copy(),
        right=split[:, 1].copy(),
        # Two shapes that make up one of several blocks, allowed or not; (0, 0) for a single one.
        summed=np.array([next(table.pairs(number), (0, 0)) for table, number in each], np.int64),
        runs=np.array([table.runs for table in tables], np.int64),
    )


@dataclass(frozen=True, eq=False)
class CountedGrid:
    """The records of a table by block of every axis, shape (blocks of each axis ..., columns).

    ``tables`` are the shapes along each axis, ``shapes`` the same as arrays; the axis with most of
    them is the last, where boxes stand next to each other in memory. ``order`` says which axis of
    the problem each of them is.
    """

    tables: tuple[ShapeTable, ...]
    order: tuple[int, ...]
    shapes: Shapes
    counts: Columns

    @classmethod
    def of(
        cls, axes: Sequence[Axis], blocks: Codes, rows: Columns, run: Run
    ) -> "CountedGrid | None":
        """The grid of some rows of counts, given their blocks; None where it has too many boxes.

        All of them have to be looked at within the time limit.
        """
        if any(axis.tree is not None for axis in axes):
            return None
        given = [ShapeTable.of(axis) for axis in axes]
        # Compiled code wants two axes at least: one of a single block does no harm.
        unit = Axis(axes[0].taxonomy, np.zeros(1, np.intp))
        given += [ShapeTable.of(unit)] * (len(axes) == 1)
        # The axis of most shapes comes last: boxes along it stand next to each other.
        first, *others = sorted(range(len(given)), key=lambda axis: -len(given[axis]))
        order = (*others, first)
        tables = tuple(given[axis] for axis in order)
        sizes = [table.axis.blocks for table in tables]
        sums = len(tables[0]) * prod(sizes[1:]) * rows.shape[1]
        # Boxes are judged in one go, which no clock can end.
        most = min(MOST_BOXES, QUICK * (run.time_limit or inf))
        if _boxes_of(tables) > most or sums > MOST_SUMS:
            return None
        counts = np.zeros((*sizes, rows.shape[1]), rows.dtype)
        places = np.column_stack([blocks, np.zeros(len(blocks), np.intp)])[:, order]
        np.add.at(counts, tuple(places.T), rows)
        return cls(tables, order, _laid_out(tables), counts)

    def best(self, criteria: Criteria, run: Run) -> tuple[float, BoxTree]:
        """Return the worth of the best tree's boxes, and the tree; the whole must be acceptable."""
        worths = self._worths(criteria, run)
        best_trees(worths, criteria.worth.limit, self._strides, self.shapes)
        return float(worths[-1]), self._tree(criteria, worths)

    @cached_property
    def _strides(self) -> list[int]:
        return [_boxes_of(self.tables[axis + 1 :]) for axis in range(len(self.tables))]

    @cached_property
    def _sums(self) -> Columns:
        return spread(self.counts, self.shapes)

    def _worths(self, criteria: Criteria, run: Run) -> Floats:
        """Return the worth of every box as a class."""
        worths = np.empty(_boxes_of(self.tables))
        first, stride = len(self.tables[0]), self._strides[0]
        ends = np.linspace(0, first, min(first, LOTS) + 1).astype(int).tolist()
        lots = list(pairwise(ends))
        given = self.counts.shape[-1], self.shapes, criteria, stride
        tasks = [(self._sums[begin:end], begin, *given) for begin, end in lots]
        # Put together here: jobs may be other processes, on other machines.
        for (begin, end), found in zip(lots, as_done(_judged, tasks, run.n_jobs), strict=True):
            worths[begin * stride : end * stride] = found
            run.watch("judging boxes", end * stride, len(worths))
        return worths

    def _tree(self, criteria: Criteria, worths: Floats) -> BoxTree:
        """Follow the best cuts from the whole grid down to the boxes."""
        nodes: list[Node] = [()]
        heap = [(0, tuple(len(table) - 1 for table in self.tables))]  # the last shapes hold all
        while heap:
            place, numbers = heap.pop()
            if (cut := self._cut(criteria, worths, numbers)) is None:
                shapes = self._shapes(numbers)
                nodes[place] = tuple(shapes[axis] for axis in np.argsort(self.order))
                continue
            axis, *parts = cut
            ends = divide(nodes, place, self.order[axis], self.tables[axis].shapes[parts[0]])
            for end, part in zip(ends, parts, strict=True):
                heap.append((end, (*numbers[:axis], part, *numbers[axis + 1 :])))
        return BoxTree(nodes)

    def _cut(
        self, criteria: Criteria, worths: Floats, numbers: tuple[int, ...]
    ) -> tuple[int, int, int] | None:
        """The axis and the parts of the best cut of a box; None where it is best left whole."""
        place = sum(number * stride for number, stride in zip(numbers, self._strides, strict=True))
        best = worths[place]
        if self._worth(criteria, numbers) == best:
            return None
        for axis, (table, stride) in enumerate(zip(self.tables, self._strides, strict=True)):
            rest = place - numbers[axis] * stride
            for one, other in table.pairs(numbers[axis]):
                # The same sum of the same floats that the compiled search took the maximum of.
                if worths[rest + one * stride] + worths[rest + other * stride] == best:
                    return axis, one, other
        raise AssertionError("the worth of a tree is that of a cut, to the last bit")

    def _worth(self, criteria: Criteria, numbers: tuple[int, ...]) -> float:
        """Return the worth of a box as a class, -inf where it may not be one."""
        if not all(table.allowed[n] for table, n in zip(self.tables, numbers, strict=True)):
            return -np.inf
        counts = self.counts[np.ix_(*self._shapes(numbers))].reshape(-1, self.counts.shape[-1])
        summed = counts.sum(axis=0, dtype=self.counts.dtype)
        return float(values(summed[None], criteria)[0])

    def _shapes(self, numbers: tuple[int, ...]) -> list[Blocks]:
        return [table.shapes[n] for table, n in zip(self.tables, numbers, strict=True)]


def _judged(
    sums: Columns, begin: int, columns: int, shapes: Shapes, criteria: Criteria, stride: int
) -> Floats:
    found = np.empty(len(sums) * stride)
    evaluate(sums, begin, columns, shapes, criteria, found)
    return found
