"""The best boxes for a problem: exactly where the grid is small enough, by beam search beyond.

Beyond, trees of boxes are grown. A box is cut where its classes gain most, and again (LeFevre,
DeWitt, Ramakrishnan 2006, call such trees Mondrian); alone, that is short-sighted. So the best cuts
of a box are each followed to the end of such a greedy tree, and the one whose tree is worth most is
taken: never worse than greedy, since the greedy cut is among them (Bertsekas, Tsitsiklis, Wu 1997,
call that a rollout). How many cuts are followed is a matter of the work left: most in all boxes of
small tables, few in the largest boxes of large ones.
"""

import heapq
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf, log2
from time import monotonic
from typing import NamedTuple

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import Ended, InputError
from anonymizer.kernels import NATIVE, Columns
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.kernels.boxes import MANY, TIE, BoxCells, Ground
from anonymizer.kernels.single import Criteria, values
from anonymizer.objectives.candidate import Layout, columns_of
from anonymizer.privacy import TOLERANCE, require_class_by_class, require_monotone
from anonymizer.recoding.boxes.exact import CountedGrid
from anonymizer.recoding.boxes.grid import (
    MOST_SET,
    Axis,
    Blocks,
    Box,
    BoxTree,
    Node,
    axes_of,
    blocks_of,
    divide,
    pruned,
    regions_of,
)
from anonymizer.recoding.partitions.joint import best_within
from anonymizer.recoding.partitions.refine import Solution
from anonymizer.recoding.policy import Policy
from anonymizer.recoding.problem import (
    ALONE,
    Bounds,
    Problem,
    RangeOptions,
    Run,
    in_parallel,
    jobs_at_once,
)

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
        return replace(self.criteria, worth=self.criteria.worth.costing(price))

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
        if bounds.max_classes is not None or self.run.late:
            value = float(values(tree.sums(self.blocks, self.rows), criteria).sum())
        return self._solution(value, tree)

    def _solution(self, value: float, tree: BoxTree) -> TreeSolution:
        return TreeSolution(
            value=value, tree=tree, classes=len(np.unique(tree.box_of(self.blocks)))
        )


def criteria_of(problem: Problem, who: str) -> Criteria:
    """Return the conditions and the worth of a class as such searches read them.

    Raises
    ------
    InputError
        When a model or the objective is not made for such a search.
    """
    require_class_by_class(problem.models, f"{who} recoding")
    require_monotone(problem.models, f"{who} recoding")
    objective = problem.objective.prepared(problem.counts, problem.taxonomies)
    layout = Layout.of(problem.counts)
    bound_policy = Policy(problem.models, layout, NATIVE).against(layout.margins)
    for model, _ in bound_policy.measured:
        raise InputError(
            f"{who} recoding checks classes by bounds, and {model.name} states none; give it "
            "bounds(), or choose full-domain recoding"
        )
    return Criteria.of(bound_policy.rules, objective.worth(layout))


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


WIDEST = 64
"""Cuts of a box that are followed to the end at the most."""


KEPT = 16
"""Cuts along one axis that are among them."""


WORK = 8e8
"""Cells times axes times halvings that following cuts may take in all: 2 to 5 s."""


WORTH_JOBS = 1e7
"""Work from which on it is shared between jobs: 40 ms, where starting them takes some 10 ms."""


AT_ONCE = 8
"""Of very many values so many are the work of a few: a tree of 500 takes 60 times as long."""


SHARE = 8
"""Parts of the work that is left, one of which may be spent on following the cuts of one box."""


class Open(NamedTuple):
    """A box that is still to be cut; ``size`` is minus its cells, so that the largest is cut first.

    Its ``place`` among the nodes of the tree; ``low`` and ``high`` of its slice of the order of
    cells; the first block and end on every ordered axis as ``bounds`` (axes, 2); its blocks on
    every axis as ``box``.
    """

    size: int
    place: int
    low: int
    high: int
    bounds: Codes
    box: Box


class BoxCut(NamedTuple):
    """One way to cut a box: the score of its parts, the axis, and the blocks of the first part.

    ``at`` is the block that ranges are cut at, -1 where the axis is not ordered.
    """

    score: float
    axis: int
    left: Mask
    at: int


def grow(
    axes: Sequence[Axis],
    blocks: Codes,
    rows: Columns,
    criteria: Criteria,
    width: int = WIDEST,
    run: Run = ALONE,
) -> tuple[float, BoxTree]:
    """Grow a good tree, and return what its boxes are worth with it.

    Cells are given by their ``blocks`` (cells, axes) and their histograms, ``rows``. At most
    ``width`` cuts of a box are followed to the end; 1 makes the greedy tree.
    """
    most = max(axis.blocks for axis in axes)
    runs = np.array([axis.runs for axis in axes], np.int64)
    cells = BoxCells.of(blocks, rows, runs, _wide(axes), *_trees(axes))
    ground = Ground.of(cells, criteria, most, rows.shape[1], KEPT)
    return TreeGrower(axes, ground, width, run, run.shared(2).deadline()).grown()


def _wide(axes: Sequence[Axis]) -> Mask:
    """Mark the ranges that are wide enough, by axis; no axes where all are."""
    most = max((len(axis.wide) for axis in axes if axis.wide is not None), default=0)
    if not most:
        return np.zeros((0, 1, 1), bool)
    wide = np.ones((len(axes), most, most), bool)
    for axis, own in zip(axes, wide, strict=True):
        if axis.wide is not None:
            own[: len(axis.wide), : len(axis.wide)] = axis.wide
    return wide


def _trees(axes: Sequence[Axis]) -> tuple[Ints, Ints]:
    """The levels of each axis that has groups of a hierarchy, and their trees, side by side."""
    trees = [np.zeros((0, 0), np.intp) if axis.tree is None else axis.tree for axis in axes]
    levels, blocks = np.max([tree.shape for tree in trees], axis=0)
    found = np.zeros((len(axes), levels, blocks), np.int64)
    for own, tree in zip(found, trees, strict=True):
        own[: len(tree), : tree.shape[1]] = tree
    return np.array([len(tree) for tree in trees], np.int64), found


@dataclass(eq=False)
class TreeGrower:
    """The growth of one tree."""

    axes: Sequence[Axis]
    ground: Ground
    width: int
    run: Run
    deadline: float
    work: float = WORK
    total: float = 0.0
    nodes: list[Node] = field(default_factory=lambda: [()])

    def grown(self) -> tuple[float, BoxTree]:
        """Cut boxes until none gains by it."""
        bounds = np.array([[0, axis.blocks] for axis in self.axes], np.int64)
        cells = len(self.ground.order)
        heap = [Open(-cells, 0, 0, cells, bounds, tuple(axis.whole for axis in self.axes))]
        settled = 0
        # The boxes on the heap and those that are settled divide the grid, at any moment.
        while heap:
            opened = heapq.heappop(heap)
            # Nobody waits for more: the boxes that are left stay whole.
            parts = [] if self.run.late else self._parts(opened)
            for part in parts:
                heapq.heappush(heap, part)
            if not parts:
                self.nodes[opened.place] = opened.box
                settled -= opened.size
            self._report(settled)
        return self.total, BoxTree(self.nodes)

    def _report(self, settled: int) -> None:
        """Report the progress; where that is interrupted, no more cuts are followed."""
        try:
            self.run.watch("cutting boxes", settled, len(self.ground.order))
        except Ended:
            raise
        except KeyboardInterrupt:
            if not self.work:
                raise
            self.work = 0.0

    def _parts(self, opened: Open) -> list[Open]:
        """Cut a box in two; none where it is best left whole."""
        own = self.ground.best_cuts(opened.low, opened.high, opened.bounds)
        cuts = self._found(own)
        if not cuts:
            self.total += own
            return []
        cut = self._chosen(opened, cuts)
        opened = self._without_gaps(opened, cut)
        halves = list(_halves(opened, cut, self.ground))
        places = divide(self.nodes, opened.place, cut.axis, halves[0].box[cut.axis])
        return [half._replace(place=place) for half, place in zip(halves, places, strict=True)]

    def _found(self, own: float) -> list[tuple[float, int, int, int]]:
        """Minus the scores of the cuts that gain anything, the axis, the end and the place of each.

        By axis and end in a tie, so that the tree does not depend on the order of cells.
        """
        scores = self.ground.cuts.scores
        axes, places = np.nonzero(scores > own + TIE)
        ends = np.where(self._runs[axes], self.ground.cuts.at[axes, places], -1)
        found = ((-scores[axes, places]).tolist(), axes.tolist(), ends.tolist(), places.tolist())
        return sorted(zip(*found, strict=True))

    @cached_property
    def _runs(self) -> Mask:
        """Mark the axes of which boxes have runs."""
        return np.array([axis.runs > 0 for axis in self.axes])

    def _chosen(self, opened: Open, found: Sequence[tuple[float, int, int, int]]) -> BoxCut:
        """The cut whose greedy tree is worth most; the first of them in a tie.

        As many are followed as the time and the work left allow.
        """
        # A greedy tree looks at all cells along all axes at each of its levels.
        effort = len(self.axes) * -opened.size * log2(2 - opened.size) * self._columns
        late = monotonic() > self.deadline
        width = 1 if late else int(min(self.width, max(1, self.work / SHARE / effort)))
        left = self.ground.cuts.left
        cuts = [
            BoxCut(-score, axis, left[axis, place].copy(), at)
            for score, axis, at, place in found[:width]
        ]
        best, top = cuts[0], -inf
        if len(cuts) == 1:
            return best
        for cut, worth in zip(cuts, self._followed(opened, cuts, effort), strict=True):
            if worth > top + TIE:
                best, top = cut, worth
        self.work -= min(self.work, len(cuts) * effort)
        return best

    @property
    def _columns(self) -> float:
        """How many times as much work very many sensitive values are."""
        columns = len(self.ground.cuts.whole)
        return 1.0 if columns <= MANY else columns / AT_ONCE

    def _followed(self, opened: Open, cuts: Sequence[BoxCut], effort: float) -> Floats:
        """Return the worth of each cut's greedy tree; in jobs where the work outweighs their start.

        A tree depends on which cells a box has, not on their order, so that every job may have
        an order of its own.
        """
        worth = effort * len(cuts) > WORTH_JOBS
        jobs = min(jobs_at_once(self.run.n_jobs), len(cuts)) if worth else 1
        if jobs == 1:
            return _worths(self.ground, opened, cuts)
        # A job gets a copy of the slice, whose places begin at 0.
        own = opened._replace(low=0, high=opened.high - opened.low)
        tasks = [
            (self.ground.of_slice(opened.low, opened.high), own, cuts[job::jobs])
            for job in range(jobs)
        ]
        found = np.empty(len(cuts))
        for job, worths in enumerate(in_parallel(_worths, tasks, self.run.n_jobs)):
            found[job::jobs] = worths
        return found

    def _without_gaps(self, opened: Open, cut: BoxCut) -> Open:
        """A box whose numbers are cut, missing values cut off before: no record of it has one."""
        numbers, shape = self.axes[cut.axis].numbers, opened.box[cut.axis]
        if not shape[0] < cut.at < numbers <= shape[-1]:
            return opened
        box, gaps = list(opened.box), list(opened.box)
        box[cut.axis], gaps[cut.axis] = range(shape[0], numbers), range(numbers, numbers + 1)
        place, other = divide(self.nodes, opened.place, cut.axis, box[cut.axis])
        self.nodes[other] = tuple(gaps)
        return opened._replace(place=place, box=tuple(box))


def _worths(ground: Ground, opened: Open, cuts: Sequence[BoxCut]) -> Floats:
    axes = np.array([cut.axis for cut in cuts], np.int64)
    left, at = np.array([cut.left for cut in cuts]), np.array([cut.at for cut in cuts], np.int64)
    return ground.followed(opened.low, opened.high, opened.bounds, axes, left, at)


def _halves(opened: Open, cut: BoxCut, ground: Ground) -> Iterator[Open]:
    """Both parts of a cut; the slice is sorted into them."""
    middle = ground.divide(opened.low, opened.high, cut.axis, cut.left)
    shape = opened.box[cut.axis]
    shapes: tuple[Blocks, Blocks]
    if isinstance(shape, range) and cut.at >= 0:
        shapes = range(shape.start, cut.at), range(cut.at, shape.stop)
    else:
        left = tuple(block for block in shape if cut.left[block])
        shapes = left, tuple(block for block in shape if not cut.left[block])
    for end, low, high in ((1, opened.low, middle), (0, middle, opened.high)):
        bounds = opened.bounds.copy()
        if cut.at >= 0:
            bounds[cut.axis, end] = cut.at
        box = (*opened.box[: cut.axis], shapes[1 - end], *opened.box[cut.axis + 1 :])
        yield Open(low - high, -1, low, high, bounds, box)
