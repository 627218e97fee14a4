"""What merged classes are made of: the cells of a table, or boxes of them that are not just noise.

A cell of few records has a distribution of its own by chance, and merging by it learns the table by
heart. Where every class more has to gain something, cells are therefore put into boxes first: the
best boxes without any policy, each cut of which gains as much.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymizer.counts.counts import Codes, Ints
from anonymizer.counts.multidimensional import Regions, Shape, labels_of
from anonymizer.recoding import Bounds, Problem, RangeOptions, Run
from anonymizer.recoding.boxes import best_boxes
from anonymizer.recoding.boxes.grid import Axis, CellMap, axes_of, blocks_of

__all__ = ["Atoms"]


@dataclass(frozen=True, eq=False)
class Atoms:
    """Sets of cells that are merged as they are.

    Parameters
    ----------
    axes
        The axes that cells lie on.
    assign
        The atom of each row of value codes (rows, axes), -1 for none.
    blocks
        What atoms have of each axis: atoms and blocks, pair by pair; shape (2, pairs) each.
    """

    axes: Sequence[Axis]
    assign: Callable[[Codes], Codes]
    blocks: Sequence[Codes]

    @classmethod
    def cells(cls, problem: Problem, ranges: Collection[str], options: RangeOptions) -> "Atoms":
        """Every cell by itself; ranges that have to be wide are joined until they are."""
        axes = [axis.binned for axis in axes_of(problem, ranges, options)]
        known = np.unique(blocks_of(axes, problem.counts.cells), axis=0)
        number = np.arange(len(known))
        blocks = [np.stack([number, column]) for column in known.T]
        return cls(axes, CellMap(axes, known, number), blocks)

    @classmethod
    def boxes(
        cls,
        problem: Problem,
        ranges: Collection[str],
        options: RangeOptions,
        gain: float,
        run: Run,
    ) -> "Atoms":
        """The best boxes without a policy, each cut of which adds so much to the objective."""
        free = replace(problem, models=())
        found = best_boxes(free, ranges, options, Bounds(min_gain=gain), run=run)
        assert found is not None  # without a policy one box is acceptable
        blocks = []
        for place in range(len(found.axes)):
            pairs = [(atom, b) for atom, box in enumerate(found.boxes) for b in box[place]]
            blocks.append(np.array(pairs, np.intp).reshape(-1, 2).T)
        return cls(found.axes, found.regions.assign, blocks)

    def problem(self, problem: Problem) -> Problem:
        """The problem with atoms for cells; they go by their numbers."""
        cells = np.zeros_like(problem.counts.cells)
        cells[:, 0] = self.assign(problem.counts.cells)
        return replace(problem, counts=problem.counts.at(cells))

    def regions(self, problem: Problem, labels: Codes) -> Regions:
        """Classes of atoms, each known by what it covers of every attribute, and by its number.

        ``labels`` has the class of each atom, shape (atoms,).
        """
        names, counts = problem.counts.names, problem.counts
        sizes = np.bincount(labels[self.assign(counts.cells)], counts.sizes)
        least = int(sizes[sizes > 0].min())
        records = blocks_of(self.axes, counts.cells).T
        shapes = {
            name: _covers(axis, labels[atoms], blocks, _told(axis, block, counts.sizes, least))
            for name, axis, (atoms, blocks), block in zip(
                names, self.axes, self.blocks, records, strict=True
            )
        }
        texts = {
            name: labels_of(axis.taxonomy, shapes[name], ranges=axis.ordered)
            for name, axis in zip(names, self.axes, strict=True)
        }
        return Regions(names, AtomMap(self.assign, labels), shapes, texts, numbered=True)


@dataclass(frozen=True, eq=False)
class AtomMap:
    """Classes of atoms, as a map: what is in no atom is not covered."""

    assign: Callable[[Codes], Codes]
    labels: Codes

    def __call__(self, cells: Codes) -> Codes:
        """The class of each row of value codes, -1 for none, shape (rows,)."""
        atoms = self.assign(cells)
        return np.asarray(np.where(atoms < 0, -1, self.labels[atoms]))


def _told(axis: Axis, block: Codes, sizes: Ints, least: int) -> tuple[int, int]:
    """Which blocks of an axis may begin or end a range, given the block of each cell."""
    return axis.told(np.bincount(block, sizes, minlength=axis.blocks).astype(np.int64), least)


def _covers(axis: Axis, classes: Codes, blocks: Codes, told: tuple[int, int]) -> list[Shape]:
    """What each class covers of an axis, given the blocks that its atoms have."""
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.diff(classes[order], prepend=-1))
    return [axis.cover(part, told) for part in np.split(blocks[order], starts[1:])]
