"""The best boxes for a problem: exactly where the grid is small enough, by beam search beyond."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import InputError
from anonymizer.kernels import NUMPY, Columns
from anonymizer.kernels.arrays import Codes
from anonymizer.kernels.single import Criteria, criteria, values
from anonymizer.objectives.candidate import Layout, columns_of
from anonymizer.privacy import TOLERANCE, require_class_by_class, require_monotone
from anonymizer.recoding.boxes.beam import WIDEST, grow
from anonymizer.recoding.boxes.exact import CountedGrid
from anonymizer.recoding.boxes.grid import (
    MOST_SET,
    Axis,
    Box,
    BoxTree,
    axes_of,
    blocks_of,
    pruned,
    regions_of,
)
from anonymizer.recoding.partitions.joint import best_within
from anonymizer.recoding.partitions.refine import Solution
from anonymizer.recoding.policy import Policy
from anonymizer.recoding.problem import ALONE, Bounds, Problem, RangeOptions, Run

# Apart from class_scores, which every search imports: kernels.single loads numba.


def criteria_of(problem: Problem, who: str) -> Criteria:
    """Return the conditions and the worth of a class as compiled searches read them.

    Raises
    ------
    InputError
        When a model or the objective is not made for such a search.
    """
    require_class_by_class(problem.models, f"{who} recoding")
    require_monotone(problem.models, f"{who} recoding")
    objective = problem.objective.prepared(problem.counts, problem.taxonomies)
    layout = Layout.of(problem.counts)
    bound_policy = Policy(problem.models, layout, NUMPY).against(layout.margins)
    for model, _ in bound_policy.measured:
        raise InputError(
            f"{who} recoding checks classes by bounds, and {model.name} states none; give it "
            "bounds(), or choose full-domain recoding"
        )
    return criteria(bound_policy.rules, objective.worth(layout))


ANYTHING, UNBOUNDED = RangeOptions(), Bounds()

EXPLAINED = {
    "dynamic programming": "Every box of the grid was judged",
    "beam": "Boxes were cut where following the cut to its end was best",
    "greedy": "Boxes were cut where a cut gained most",
}
"""What each strategy does."""


@dataclass(frozen=True, eq=False)
class BoxSearchResult:
    """The boxes that have records, by their blocks on each axis, and as classes with their counts.

    ``strategy`` is how they were found and ``trees`` how many trees were searched for. ``lead``:
    how much more any other tree of boxes can be worth, infinite where that is not known.
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
) -> BoxSearchResult | None:
    """Find the boxes that keep most of the objective; None where not even one is acceptable.

    The attributes of ``ranges`` are ordered. The least of records is up to the models, which are
    about single classes like the objective (InputError otherwise). ``exact``: the best tree of all
    where the grid is small enough, a good one by beam search beyond; False for the greedy tree, for
    comparison.
    """
    deadline = run.deadline()
    axes = axes_of(problem, ranges, options)
    blocks = blocks_of(axes, problem.counts.cells)
    rows = columns_of(problem.counts).astype(np.int64)  # see Room
    search = BoxProblem(axes, blocks, rows, criteria_of(problem, "boxes"), run)
    if search.whole == -inf:
        return None
    grid = CountedGrid.of(axes, blocks, rows, run) if exact else None
    strategy = "dynamic programming" if grid else "beam" if exact else "greedy"
    found = search.exact(grid, bounds) if grid else search.grown(bounds, WIDEST if exact else 1)
    # The beam tries any sets of values, where trees of the grid are made of runs of siblings.
    if grid and any(not axis.ordered and axis.blocks > MOST_SET for axis in axes):
        other = replace(search, run=run.until(deadline)).grown(bounds, WIDEST)
        if other.value > found.value + TOLERANCE:
            strategy, found = "beam", other
    boxes, regions = _regions(problem, axes, found.tree, blocks)
    counts, lead = problem.counts.recode(regions), found.bound - found.value
    return BoxSearchResult(axes, boxes, regions, counts, strategy, lead, found.refinements)


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeSolution(Solution):
    """A tree at a price on each of its boxes that have records."""

    tree: BoxTree


@dataclass(frozen=True, eq=False)
class BoxProblem:
    """Cells on axes, which trees divide into boxes that satisfy ``criteria``.

    The block of every cell on each axis is in ``blocks`` (cells, axes), its histogram in ``rows``.
    """

    axes: Sequence[Axis]
    blocks: Codes
    rows: Columns
    criteria: Criteria
    run: Run

    @property
    def whole(self) -> float:
        """The worth of everything in one box, -inf where that is not acceptable."""
        return float(values(self.rows.sum(axis=0, keepdims=True), self.criteria)[0])

    def at(self, price: float) -> Criteria:
        """The criteria with a price on each box."""
        return self.criteria._replace(worth=self.criteria.worth.costing(price))

    def exact(self, grid: CountedGrid, bounds: Bounds) -> TreeSolution:
        """Find the best tree within the bounds."""

        def solve(price: float) -> TreeSolution:
            value, tree = grid.best(self.at(price), self.run)
            return replace(self._solution(value, tree), bound=value, proven=True)

        def single() -> TreeSolution:
            # The solution of fewest classes, which prices begin with.
            undivided = BoxTree([tuple(axis.whole for axis in self.axes)])
            return self._solution(self.whole - bounds.min_gain, undivided)

        return best_within(bounds, solve, single, self.run.deadline())

    def grown(self, bounds: Bounds, width: int) -> TreeSolution:
        """Find a good tree, not proven to be the best."""
        criteria = self.at(bounds.min_gain)
        value, tree = grow(self.axes, self.blocks, self.rows, criteria, width, self.run)
        if bounds.max_classes is not None:
            tree = pruned(tree, self.blocks, self.rows, criteria, int(bounds.max_classes))
            value = float(values(tree.sums(self.blocks, self.rows), criteria).sum())
        return self._solution(value, tree)

    def _solution(self, value: float, tree: BoxTree) -> TreeSolution:
        return TreeSolution(
            value=value, tree=tree, classes=len(np.unique(tree.box_of(self.blocks)))
        )


def _regions(
    problem: Problem, axes: Sequence[Axis], tree: BoxTree, blocks: Codes
) -> tuple[list[Box], Regions]:
    """The boxes that have records, in the order of the tree, and the same as classes."""
    occupied = np.unique(tree.box_of(blocks))
    number = np.full(len(tree.places), -1, np.intp)
    number[occupied] = np.arange(len(occupied))
    boxes: list[Box] = [tree.nodes[tree.places[box]] for box in occupied]
    shapes = []
    for axis, some in zip(axes, zip(*boxes, strict=True), strict=False):  # a grid has two at least
        known = {shape: axis.covered(shape) for shape in set(some)}
        shapes.append([known[shape] for shape in some])
    assign = partial(_class_of, axes, tree, number)
    return boxes, regions_of(problem.counts.names, axes, assign, shapes, numbered=False)


def _class_of(axes: Sequence[Axis], tree: BoxTree, number: Codes, cells: Codes) -> Codes:
    """Return the class of each row of value codes, -1 where it lies in no box with records."""
    blocks = blocks_of(axes, cells)
    # Values that did not occur have no block, and stand in no box.
    known = (blocks >= 0).all(axis=1)
    found = np.full(len(cells), -1, np.intp)
    found[known] = number[tree.box_of(blocks[known])]
    return found
