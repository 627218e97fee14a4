"""Guillotine trees for tables whose grid has too many boxes to look at all of them.

A box is cut where its classes gain most, and again (LeFevre, DeWitt, Ramakrishnan 2006, call such
trees Mondrian); alone, that is short-sighted. So the best cuts of a box are each followed to the
end of such a greedy tree, and the one whose tree is worth most is taken: never worse than greedy,
since the greedy cut is among them (Bertsekas, Tsitsiklis, Wu 1997, call that a rollout). How many
cuts are followed is a matter of the work left: most in all boxes of small tables, few in the
largest boxes of large ones.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf, log2
from time import monotonic
from typing import NamedTuple

import numpy as np

from anonymizer.errors import Ended
from anonymizer.kernels import Columns
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.kernels.boxes.cutting import TIE, BoxCells
from anonymizer.kernels.boxes.mondrian import Ground
from anonymizer.kernels.single import Criteria
from anonymizer.recoding.boxes.grid import Axis, Blocks, Box, BoxTree, Node, divide
from anonymizer.recoding.problem import ALONE, Run, in_parallel, jobs_at_once

WIDEST = 64
"""Cuts of a box that are followed to the end at the most."""

KEPT = 16
"""Cuts along one axis that are among them."""

WORK = 8e8
"""Cells times axes times halvings that following cuts may take in all: 2 to 5 s."""

WORTH_JOBS = 1e7
"""Work from which on it is shared between jobs: 40 ms, where starting them takes some 10 ms."""

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
    return TreeGrower(axes, ground, width, run, run.deadline()).grown()


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
        while heap:
            opened = heapq.heappop(heap)
            parts = self._parts(opened)
            for part in parts:
                heapq.heappush(heap, part)
            settled += 0 if parts else -opened.size
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
        # By axis and place in a tie, so that the tree does not depend on the order of cells.
        cuts = sorted(self._found(own), key=lambda cut: (-cut.score, cut.axis, cut.at))
        if not cuts:
            self.total += own
            self.nodes[opened.place] = opened.box
            return []
        cut = self._chosen(opened, cuts)
        opened = self._without_gaps(opened, cut)
        halves = list(_halves(opened, cut, self.ground))
        places = divide(self.nodes, opened.place, cut.axis, halves[0].box[cut.axis])
        return [half._replace(place=place) for half, place in zip(halves, places, strict=True)]

    def _found(self, own: float) -> Iterator[BoxCut]:
        """The cuts that gain anything."""
        cuts = self.ground.cuts
        for axis, kept in zip(*np.nonzero(cuts.scores > own + TIE), strict=True):
            left = cuts.left[axis, kept].copy()
            at = int(cuts.at[axis, kept]) if self.axes[axis].runs else -1
            yield BoxCut(float(cuts.scores[axis, kept]), int(axis), left, at)

    def _chosen(self, opened: Open, cuts: Sequence[BoxCut]) -> BoxCut:
        """The cut whose greedy tree is worth most; the first of them in a tie.

        As many are followed as the time and the work left allow.
        """
        # A greedy tree looks at all cells along all axes at each of its levels.
        effort = len(self.axes) * -opened.size * log2(2 - opened.size)
        late = monotonic() > self.deadline
        width = 1 if late else int(min(self.width, max(1, self.work / SHARE / effort)))
        best, top = cuts[0], -inf
        if len(cuts := cuts[:width]) == 1:
            return best
        for cut, worth in zip(cuts, self._followed(opened, cuts, effort), strict=True):
            if worth > top + TIE:
                best, top = cut, worth
        self.work -= min(self.work, len(cuts) * effort)
        return best

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
    shapes = _shapes(opened.box[cut.axis], cut)
    for end, low, high in ((1, opened.low, middle), (0, middle, opened.high)):
        bounds = opened.bounds.copy()
        if cut.at >= 0:
            bounds[cut.axis, end] = cut.at
        box = (*opened.box[: cut.axis], shapes[1 - end], *opened.box[cut.axis + 1 :])
        yield Open(low - high, -1, low, high, bounds, box)


def _shapes(shape: Blocks, cut: BoxCut) -> tuple[Blocks, Blocks]:
    if isinstance(shape, range) and cut.at >= 0:
        return range(shape.start, cut.at), range(cut.at, shape.stop)
    left = tuple(block for block in shape if cut.left[block])
    return left, tuple(block for block in shape if not cut.left[block])
