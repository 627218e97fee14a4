"""The best boxes for a problem: exactly where the grid is small enough, by beam search beyond."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from anonymizer.counts.counts import Codes, Counts
from anonymizer.counts.multidimensional import Regions, labels_of
from anonymizer.kernels import Columns
from anonymizer.kernels.single import Criteria, values
from anonymizer.objectives.candidate import columns_of
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding import Bounds, Problem, RangeOptions
from anonymizer.recoding.boxes.beam import WIDEST, grow
from anonymizer.recoding.boxes.exact import Grid
from anonymizer.recoding.boxes.grid import MOST_SET, Axis, axes_of, blocks_of
from anonymizer.recoding.boxes.prune import pruned
from anonymizer.recoding.boxes.shapes import Menu, boxes_of
from anonymizer.recoding.boxes.tree import Box, Tree
from anonymizer.recoding.partitions.bounded import at_most
from anonymizer.recoding.problem.criteria import criteria_of
from anonymizer.recoding.problem.problem import ALONE, Run

__all__ = ["Boxed", "best_boxes"]

ANYTHING, UNBOUNDED = RangeOptions(), Bounds()

QUICK = 1e7
"""Boxes of a grid that are looked at in a second, at least."""


@dataclass(frozen=True, eq=False)
class Boxed:
    """What a search for boxes found.

    Parameters
    ----------
    axes, boxes
        The boxes that have records, by their blocks on each axis.
    regions
        The same as classes.
    counts
        What they leave.
    strategy
        How they were found.
    lead
        How much more any other tree of boxes can be worth; infinite where that is not known.
    trees
        How many trees were looked for.
    """

    axes: Sequence[Axis]
    boxes: Sequence[Box]
    regions: Regions
    counts: Counts
    strategy: str
    lead: float
    trees: int


def best_boxes(
    problem: Problem,
    ranges: Collection[str],
    options: RangeOptions = ANYTHING,
    bounds: Bounds = UNBOUNDED,
    *,
    exact: bool = True,
    run: Run = ALONE,
) -> Boxed | None:
    """The boxes that keep most of the objective; None where not even a single one is acceptable.

    Parameters
    ----------
    ranges
        The attributes that get ranges; they are ordered.
    options, bounds
        What ranges and boxes are confined to; the least of records is up to the models.
    exact
        The best tree of all where the grid is small enough, a good one by beam search beyond;
        False for the greedy tree, to compare.

    Raises
    ------
    InputError
        When models or objective are not made for classes that are looked at one by one.
    """
    deadline = run.deadline()
    axes = axes_of(problem, ranges, options)
    blocks = blocks_of(axes, problem.counts.cells)
    rows = columns_of(problem.counts).astype(np.int64)  # see Room
    search = Plot(axes, blocks, rows, criteria_of(problem, "boxes"), run)
    if search.alone == -inf:
        return None
    grid = Grid.of(axes, blocks, search.rows) if exact and search.in_time else None
    strategy = "dynamic programming" if grid else "beam" if exact else "greedy"
    found = search.exact(grid, bounds) if grid else search.grown(bounds, WIDEST if exact else 1)
    if grid and search.narrow:
        other = replace(search, run=run.until(deadline)).grown(bounds, WIDEST)
        if other.value > found.value + TOLERANCE:
            strategy, found = "beam", other
    boxes, regions = _regions(problem, axes, found.tree, blocks)
    counts, lead = problem.counts.recode(regions), found.bound - found.value
    return Boxed(axes, boxes, regions, counts, strategy, lead, found.refinements)


@dataclass(frozen=True)
class Grown:
    """A tree at a price on each of its boxes.

    Parameters
    ----------
    tree
        The tree.
    value
        What its boxes are worth, less the price of those that have records.
    bound
        What no other tree is worth more than.
    classes
        How many of its boxes have records.
    refinements
        How many trees were looked for.
    proven
        Whether no other tree is worth more.
    """

    tree: Tree
    value: float
    bound: float
    classes: int
    refinements: int = 1
    proven: bool = False


@dataclass(frozen=True, eq=False)
class Plot:
    """Cells on axes, where trees are looked for.

    Parameters
    ----------
    axes
        The axes.
    blocks, rows
        The block of every cell on each of them, shape (cells, axes), and its histogram.
    asked
        What boxes must satisfy and what they are worth.
    run
        How the search may run.
    """

    axes: Sequence[Axis]
    blocks: Codes
    rows: Columns
    asked: Criteria
    run: Run

    @property
    def in_time(self) -> bool:
        """Whether all boxes can be looked at within the time limit."""
        boxes = boxes_of([Menu.of(axis) for axis in self.axes])
        return self.run.time_limit is None or boxes < QUICK * self.run.time_limit

    @property
    def alone(self) -> float:
        """What everything in one box is worth, -inf where that is not acceptable."""
        return float(values(self.rows.sum(axis=0, keepdims=True), self.asked)[0])

    def at(self, price: float) -> Criteria:
        """What is asked for with a price on each box."""
        return self.asked._replace(worth=self.asked.worth.costing(price))

    def exact(self, grid: Grid, bounds: Bounds) -> Grown:
        """The best tree, within the bounds."""

        def solve(price: float) -> Grown:
            value, tree = grid.best(self.at(price), self.run)
            return Grown(tree, value, value, self._classes(tree), proven=True)

        many = solve(bounds.min_gain)
        if bounds.max_classes is None or many.classes <= bounds.max_classes:
            return many
        few = Grown(grid.undivided, self.alone - bounds.min_gain, inf, 1)
        return at_most(
            int(bounds.max_classes), solve, many, few, bounds.min_gain, self.run.deadline()
        )

    def grown(self, bounds: Bounds, width: int) -> Grown:
        """A good tree, not proven to be the best."""
        asked = self.at(bounds.min_gain)
        value, tree = grow(self.axes, self.blocks, self.rows, asked, width, self.run)
        if bounds.max_classes is not None:
            tree = pruned(tree, self.blocks, self.rows, asked, int(bounds.max_classes))
            sums = np.zeros((len(tree.boxes), self.rows.shape[1]), np.int64)
            np.add.at(sums, tree.box_of(self.blocks), self.rows)
            value = float(values(sums, asked).sum())
        return Grown(tree, value, inf, self._classes(tree))

    @property
    def narrow(self) -> bool:
        """Whether there are values of which the beam tries more sets than all trees are made of."""
        return any(not axis.ordered and axis.blocks > MOST_SET for axis in self.axes)

    def _classes(self, tree: Tree) -> int:
        return len(np.unique(tree.box_of(self.blocks)))


@dataclass(frozen=True, eq=False)
class BoxMap:
    """Boxes as a map: what lies in none that has records is not covered.

    Parameters
    ----------
    axes, tree
        The boxes.
    number
        The class of each box of the tree, -1 for one without records.
    """

    axes: Sequence[Axis]
    tree: Tree
    number: Codes

    def __call__(self, cells: Codes) -> Codes:
        """The class of each row of value codes, shape (rows,)."""
        blocks = blocks_of(self.axes, cells)
        known = (blocks >= 0).all(axis=1)
        found = np.full(len(cells), -1, np.intp)
        found[known] = self.number[self.tree.box_of(blocks[known])]
        return found


def _regions(
    problem: Problem, axes: Sequence[Axis], tree: Tree, blocks: Codes
) -> tuple[list[Box], Regions]:
    """The boxes that have records, in the order of the tree, and the same as classes."""
    occupied = np.unique(tree.box_of(blocks))
    number = np.full(len(tree.boxes), -1, np.intp)
    number[occupied] = np.arange(len(occupied))
    boxes = [tree.boxes[box] for box in occupied]
    names = problem.counts.names
    shapes = {}
    for place, (name, axis) in enumerate(zip(names, axes, strict=True)):
        known = {shape: axis.covered(shape) for shape in {box[place] for box in boxes}}
        shapes[name] = [known[box[place]] for box in boxes]
    labels = {
        name: labels_of(axis.taxonomy, shapes[name], ranges=axis.ordered)
        for name, axis in zip(names, axes, strict=True)
    }
    return boxes, Regions(names, BoxMap(axes, tree, number), shapes, labels, numbered=False)
