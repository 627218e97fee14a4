"""What merged classes are made of: the cells of a table, or boxes of them that are not just noise.

A cell of few records has a distribution of its own by chance, and merging by it learns the table by
heart. Where every class more has to gain something, cells are therefore put into boxes first: the
best boxes without any policy, each cut of which gains as much.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from anonymizer.counts.counts import row_keys
from anonymizer.counts.multidimensional import Regions, Shape
from anonymizer.kernels.arrays import Codes
from anonymizer.recoding import Bounds, Problem, RangeOptions, Run
from anonymizer.recoding.boxes import best_boxes
from anonymizer.recoding.boxes.grid import Axis, axes_of, blocks_of, regions_of


@dataclass(frozen=True, eq=False)
class InitialCells:
    """Sets of cells that are merged as they are.

    ``assign`` gives the initial cell of each row of value codes (rows, axes), -1 for none.
    ``blocks`` has what initial cells have of each axis: their numbers and blocks, pair by pair;
    shape (2, pairs) each.
    """

    axes: Sequence[Axis]
    assign: Callable[[Codes], Codes]
    blocks: Sequence[Codes]

    @classmethod
    def cells(
        cls, problem: Problem, ranges: Collection[str], options: RangeOptions
    ) -> "InitialCells":
        """Every cell by itself; ranges that have to be wide are joined until they are."""
        axes = [axis.binned for axis in axes_of(problem, ranges, options)]
        known = np.unique(blocks_of(axes, problem.counts.cells), axis=0)
        blocks = [np.stack([np.arange(len(known)), column]) for column in known.T]
        return cls(axes, partial(_cell_of, axes, known), blocks)

    @classmethod
    def boxes(
        cls,
        problem: Problem,
        ranges: Collection[str],
        options: RangeOptions,
        gain: float,
        run: Run,
    ) -> "InitialCells":
        """The best boxes without a policy, each cut of which adds so much to the objective."""
        free = replace(problem, models=())
        found = best_boxes(free, ranges, options, Bounds(min_gain=gain), run=run)
        assert found is not None  # without a policy one box is acceptable
        blocks = []
        for place in range(len(found.axes)):
            pairs = [(number, b) for number, box in enumerate(found.boxes) for b in box[place]]
            blocks.append(np.array(pairs, np.intp).reshape(-1, 2).T)
        return cls(found.axes, found.regions.class_of, blocks)

    def problem(self, problem: Problem) -> Problem:
        """The problem with initial cells for cells; they go by their numbers."""
        cells = np.zeros_like(problem.counts.cells)
        cells[:, 0] = self.assign(problem.counts.cells)
        return replace(problem, counts=problem.counts.at(cells))

    def regions(self, problem: Problem, labels: Codes) -> Regions:
        """Classes of initial cells, by what they cover of every attribute, and by their numbers.

        ``labels`` has the class of each initial cell, shape (initial cells,).
        """
        counts = problem.counts
        sizes = np.bincount(labels[self.assign(counts.cells)], counts.sizes)
        least = int(sizes[sizes > 0].min())
        shapes = []
        for axis, (cells, blocks), block in zip(
            self.axes, self.blocks, blocks_of(self.axes, counts.cells).T, strict=True
        ):
            records = np.bincount(block, counts.sizes, minlength=axis.blocks).astype(np.int64)
            shapes.append(_covers(axis, labels[cells], blocks, axis.outermost(records, least)))
        assign = partial(_class_of, self.assign, labels)
        return regions_of(counts.names, self.axes, assign, shapes, numbered=True)


def _cell_of(axes: Sequence[Axis], known: Codes, cells: Codes) -> Codes:
    """The place among some known rows of blocks of each row of value codes, -1 for none."""
    both = np.concatenate([known, blocks_of(axes, cells)])
    keys = np.unique(row_keys(both + 1), return_inverse=True)[1]
    found = np.full(int(keys.max(initial=-1)) + 1, -1, np.intp)
    found[keys[: len(known)]] = np.arange(len(known))
    return np.asarray(found[keys[len(known) :]])


def _class_of(assign: Callable[[Codes], Codes], labels: Codes, cells: Codes) -> Codes:
    """The class of each row of value codes, -1 where it is in no initial cell."""
    return np.asarray(np.append(labels, -1)[assign(cells)])  # -1 takes what is last


def _covers(axis: Axis, classes: Codes, blocks: Codes, outermost: tuple[int, int]) -> list[Shape]:
    """What each class covers of an axis, given the blocks that its initial cells have."""
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.diff(classes[order], prepend=-1))
    return [axis.cover(part, outermost) for part in np.split(blocks[order], starts[1:])]
