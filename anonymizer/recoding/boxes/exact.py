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

from anonymizer.counts.counts import Codes, Floats
from anonymizer.kernels import Columns
from anonymizer.kernels.guillotine import Shapes, best_trees, evaluate, spread
from anonymizer.kernels.single import Criteria, values
from anonymizer.recoding.boxes.grid import Axis
from anonymizer.recoding.boxes.shapes import Menu, boxes_of, laid_out
from anonymizer.recoding.boxes.tree import Box, Branching, Tree, Twig
from anonymizer.recoding.problem.parallel import in_parallel
from anonymizer.recoding.problem.problem import Run

__all__ = ["MOST_BOXES", "Grid"]

MOST_BOXES = 50_000_000
"""Boxes of a grid beyond are not all looked at (some 5 s and 1 GiB)."""

MOST_SUMS = 100_000_000
"""Numbers that the sums over the first axis may take (400 MB)."""

LOTS = 64
"""Lots that boxes are judged in: what is told of the progress, and what is done at once."""


@dataclass(frozen=True, eq=False)
class Grid:
    """The records of a table by block of every axis.

    Parameters
    ----------
    menus
        The shapes along each axis; the axis with most of them last, where boxes stand side by side
        in memory.
    order
        Which axis of the table each of them is.
    shapes
        The shapes as arrays.
    table
        Shape (blocks of each axis ..., columns).
    """

    menus: tuple[Menu, ...]
    order: tuple[int, ...]
    shapes: Shapes
    table: Columns

    @classmethod
    def of(cls, axes: Sequence[Axis], blocks: Codes, rows: Columns) -> "Grid | None":
        """The grid of some rows of counts, given their blocks; None where it has too many boxes."""
        menus = [Menu.of(axis) for axis in axes]
        # Compiled code wants two axes at least: one of a single block does no harm.
        menus += [Menu.of(_unit(axes[0]))] * (len(axes) == 1)
        order = sorted(range(len(menus)), key=lambda axis: -len(menus[axis]))
        order = [*order[1:], order[0]]
        chosen = [menus[axis] for axis in order]
        sizes = [menu.axis.blocks for menu in chosen]
        sums = len(chosen[0]) * prod(sizes[1:]) * rows.shape[1]
        if boxes_of(menus) > MOST_BOXES or sums > MOST_SUMS:
            return None
        table = np.zeros((*sizes, rows.shape[1]), rows.dtype)
        places = np.column_stack([blocks, np.zeros(len(blocks), np.intp)])[:, order]
        np.add.at(table, tuple(places.T), rows)
        return cls(tuple(chosen), tuple(order), laid_out(chosen), table)

    def best(self, asked: Criteria, run: Run) -> tuple[float, Tree]:
        """What the boxes of the best tree are worth, and the tree; the whole must be acceptable."""
        worths = self._worths(asked, run)
        best_trees(worths, asked.worth.limit, self._strides, self.shapes)
        return float(worths[-1]), self._tree(asked, worths)

    @property
    def undivided(self) -> Tree:
        """The tree of a single box."""
        return Tree([self._box(tuple(len(menu) - 1 for menu in self.menus))])

    @cached_property
    def _strides(self) -> list[int]:
        """How far apart boxes are whose shapes differ by one along each axis."""
        sizes = [len(menu) for menu in self.menus]
        return [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]

    @cached_property
    def _sums(self) -> Columns:
        """The table summed over the shapes of the first axis."""
        return spread(self.table, self.shapes)

    def _worths(self, asked: Criteria, run: Run) -> Floats:
        """What every box is worth as a class."""
        worths = np.empty(boxes_of(self.menus))
        first, columns = len(self.menus[0]), self.table.shape[-1]
        lots = np.array_split(np.arange(first), min(first, LOTS))
        done = 0

        def judge(lot: Codes) -> None:
            nonlocal done
            begin, end = int(lot[0]), int(lot[-1]) + 1
            stride = self._strides[0]
            found = worths[begin * stride : end * stride]
            evaluate(self._sums[begin:end], begin, columns, self.shapes, asked, found)
            done += len(found)
            run.watch("judging boxes", done, len(worths))

        in_parallel(judge, [(lot,) for lot in lots], run.n_jobs)
        return worths

    def _tree(self, asked: Criteria, worths: Floats) -> Tree:
        """Follow the best cuts from the whole grid down to the boxes."""
        nodes: list[Twig] = [()]
        heap = [(0, tuple(len(menu) - 1 for menu in self.menus))]
        while heap:
            place, numbers = heap.pop()
            cut = self._cut(asked, worths, numbers)
            if cut is None:
                nodes[place] = self._box(numbers)
                continue
            axis, *parts = cut
            ends = (len(nodes), len(nodes) + 1)
            left = self.menus[axis].shape(parts[0])
            nodes[place] = Branching(self.order[axis], left, ends)
            nodes += [(), ()]
            heap += [
                (end, (*numbers[:axis], part, *numbers[axis + 1 :]))
                for end, part in zip(ends, parts, strict=True)
            ]
        return Tree(nodes)

    def _cut(
        self, asked: Criteria, worths: Floats, numbers: tuple[int, ...]
    ) -> tuple[int, int, int] | None:
        """The axis and the parts of the best cut of a box; None where it is best left whole."""
        place = sum(number * stride for number, stride in zip(numbers, self._strides, strict=True))
        best = worths[place]
        if self._worth(asked, numbers) == best:
            return None
        for axis, (menu, stride) in enumerate(zip(self.menus, self._strides, strict=True)):
            rest = place - numbers[axis] * stride
            for one, other in menu.pairs(numbers[axis]):
                if worths[rest + one * stride] + worths[rest + other * stride] == best:
                    return axis, one, other
        raise AssertionError("the worth of a tree is that of a cut, to the last bit")

    def _worth(self, asked: Criteria, numbers: tuple[int, ...]) -> float:
        """What a box is worth as a class."""
        if not all(menu.allowed[n] for menu, n in zip(self.menus, numbers, strict=True)):
            return -np.inf
        shapes = [menu.shape(n) for menu, n in zip(self.menus, numbers, strict=True)]
        counts = self.table[np.ix_(*shapes)].reshape(-1, self.table.shape[-1])
        summed = counts.sum(axis=0, dtype=self.table.dtype)
        return float(values(summed[None], asked)[0])

    def _box(self, numbers: tuple[int, ...]) -> Box:
        """The shapes of a box, in the order of the table's axes."""
        shapes = [menu.shape(n) for menu, n in zip(self.menus, numbers, strict=True)]
        return tuple(shapes[place] for place in np.argsort(self.order))


def _unit(axis: Axis) -> Axis:
    """An axis of a single block."""
    return Axis("", axis.taxonomy, np.zeros(1, np.intp), None, False, None)
