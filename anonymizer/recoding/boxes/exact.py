"""The best guillotine tree of a grid, by dynamic programming over all its boxes.

A tree that divides a box is a cut of it into two boxes and a tree for either; what classes add to
the objective adds up. So the best tree of a box is the box itself, or the best trees of two boxes
that make it up. Policies under which merging acceptable classes gives an acceptable one make it
quick: a box that breaks the policy has no tree at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from anonymizer.kernels import Columns
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.kernels.guillotine import Shapes, best_trees, evaluate, spread
from anonymizer.kernels.single import Criteria, values
from anonymizer.recoding.boxes.cuts import Box, Node, Tree, divide
from anonymizer.recoding.boxes.grid import Axis
from anonymizer.recoding.boxes.shapes import ShapeTable, boxes_of, laid_out
from anonymizer.recoding.problem.parallel import in_parallel
from anonymizer.recoding.problem.problem import Run

MOST_BOXES = 50_000_000
"""Boxes of a grid beyond are not all looked at (some 5 s and 1 GiB)."""

MOST_SUMS = 100_000_000
"""Numbers that the sums over the first axis may take (400 MB)."""

LOTS = 64
"""Lots that boxes are judged in: what is reported of the progress, and what is done at once."""


@dataclass(frozen=True, eq=False)
class Grid:
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
    def of(cls, axes: Sequence[Axis], blocks: Codes, rows: Columns) -> "Grid | None":
        """The grid of some rows of counts, given their blocks; None where it has too many boxes."""
        given = [ShapeTable.of(axis) for axis in axes]
        # Compiled code wants two axes at least: one of a single block does no harm.
        unit = Axis(axes[0].taxonomy, np.zeros(1, np.intp))
        given += [ShapeTable.of(unit)] * (len(axes) == 1)
        first, *others = sorted(range(len(given)), key=lambda axis: -len(given[axis]))
        order = (*others, first)
        tables = tuple(given[axis] for axis in order)
        sizes = [table.axis.blocks for table in tables]
        sums = len(tables[0]) * prod(sizes[1:]) * rows.shape[1]
        if boxes_of(tables) > MOST_BOXES or sums > MOST_SUMS:
            return None
        counts = np.zeros((*sizes, rows.shape[1]), rows.dtype)
        places = np.column_stack([blocks, np.zeros(len(blocks), np.intp)])[:, order]
        np.add.at(counts, tuple(places.T), rows)
        return cls(tables, order, laid_out(tables), counts)

    def best(self, criteria: Criteria, run: Run) -> tuple[float, Tree]:
        """What the boxes of the best tree are worth, and the tree; the whole must be acceptable."""
        worths = self._worths(criteria, run)
        best_trees(worths, criteria.worth.limit, self._strides, self.shapes)
        return float(worths[-1]), self._tree(criteria, worths)

    @property
    def undivided(self) -> Tree:
        """The tree of a single box."""
        return Tree([self._box(self._whole)])

    @property
    def _whole(self) -> tuple[int, ...]:
        """The shapes of the box that holds everything, by number: the last of each axis."""
        return tuple(len(table) - 1 for table in self.tables)

    @cached_property
    def _strides(self) -> list[int]:
        """How far apart boxes are whose shapes differ by one along each axis."""
        return [boxes_of(self.tables[axis + 1 :]) for axis in range(len(self.tables))]

    @cached_property
    def _sums(self) -> Columns:
        """The table summed over the shapes of the first axis."""
        return spread(self.counts, self.shapes)

    def _worths(self, criteria: Criteria, run: Run) -> Floats:
        """What every box is worth as a class."""
        worths = np.empty(boxes_of(self.tables))
        first, columns = len(self.tables[0]), self.counts.shape[-1]
        lots = np.array_split(np.arange(first), min(first, LOTS))
        done = 0

        def judge(lot: Codes) -> None:
            nonlocal done
            begin, end = int(lot[0]), int(lot[-1]) + 1
            stride = self._strides[0]
            found = worths[begin * stride : end * stride]
            evaluate(self._sums[begin:end], begin, columns, self.shapes, criteria, found)
            done += len(found)
            run.watch("judging boxes", done, len(worths))

        in_parallel(judge, [(lot,) for lot in lots], run.n_jobs)
        return worths

    def _tree(self, criteria: Criteria, worths: Floats) -> Tree:
        """Follow the best cuts from the whole grid down to the boxes."""
        nodes: list[Node] = [()]
        heap = [(0, self._whole)]
        while heap:
            place, numbers = heap.pop()
            cut = self._cut(criteria, worths, numbers)
            if cut is None:
                nodes[place] = self._box(numbers)
                continue
            axis, *parts = cut
            left = self.tables[axis].shapes[parts[0]]
            ends = divide(nodes, place, self.order[axis], left)
            heap += [
                (end, (*numbers[:axis], part, *numbers[axis + 1 :]))
                for end, part in zip(ends, parts, strict=True)
            ]
        return Tree(nodes)

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
                if worths[rest + one * stride] + worths[rest + other * stride] == best:
                    return axis, one, other
        raise AssertionError("the worth of a tree is that of a cut, to the last bit")

    def _worth(self, criteria: Criteria, numbers: tuple[int, ...]) -> float:
        """What a box is worth as a class."""
        if not all(table.allowed[n] for table, n in zip(self.tables, numbers, strict=True)):
            return -np.inf
        shapes = [table.shapes[n] for table, n in zip(self.tables, numbers, strict=True)]
        counts = self.counts[np.ix_(*shapes)].reshape(-1, self.counts.shape[-1])
        summed = counts.sum(axis=0, dtype=self.counts.dtype)
        return float(values(summed[None], criteria)[0])

    def _box(self, numbers: tuple[int, ...]) -> Box:
        """The shapes of a box, in the order of the problem's axes."""
        shapes = [table.shapes[n] for table, n in zip(self.tables, numbers, strict=True)]
        return tuple(shapes[place] for place in np.argsort(self.order))
