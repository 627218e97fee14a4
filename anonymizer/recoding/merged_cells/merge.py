"""Merging cells: the agglomerative information bottleneck under constraints, then local search.

What is merged are the cells of a table, or boxes of them that are not just noise. A cell of few
records has a distribution of its own by chance, and merging by it learns the table by heart. Where
every class more has to gain something, cells are therefore put into boxes first: the best boxes
without any policy, each cut of which gains as much.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic

import numpy as np

from anonymizer.counts.counts import row_keys
from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import Ended, InputError
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.recoding import Bounds, Problem, RangeOptions, Run
from anonymizer.recoding.boxes import best_boxes
from anonymizer.recoding.boxes.grid import Axis, axes_of, blocks_of, regions_of
from anonymizer.recoding.merged_cells.grouping import CellGrouping, Cells, improved
from anonymizer.recoding.problem.parallel import in_parallel
from anonymizer.recoding.problem.problem import ALONE

ROUND = 1_000_000
"""Work between two looks at the clock, a third of a second or so."""


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
            standing = found.axes[place].standing
            pairs = [(n, b) for n, box in enumerate(found.boxes) for b in standing(box[place])]
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
            outermost, classes = axis.outermost(records, least), labels[cells]
            order = np.argsort(classes, kind="stable")
            parts = np.split(blocks[order], np.flatnonzero(np.diff(classes[order])) + 1)
            shapes.append([axis.cover(part, outermost) for part in parts])
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


@dataclass(frozen=True, eq=False)
class Merged:
    """Cells merged into classes that satisfy the policy, and the objective of their counts.

    ``labels`` (cells,) is the class of each row of the problem's counts; classes are numbered by
    their first cells. ``starts`` searches made ``regroupings`` of some classes in all.
    """

    labels: Ints
    value: float
    starts: int
    regroupings: int


def merge_cells(
    problem: Problem,
    most_classes: int | None = None,
    seed: int = 0,
    run: Run = ALONE,
    *,
    starts: Sequence[Ints] = (),
    searches: int = 2,
    work: int = 16,
) -> Merged:
    """Find the best classes: sets of cells that satisfy the policy and maximise the objective.

    Local search over all partitions of the cells. It starts from one class of all cells, and from
    ``starts``, labellings of the cells by acceptable classes; no result is worse than any of them.
    What is repeated is one step: the cells of a few classes (at first of the one) are grouped
    anew, by agglomeration of the classes that are furthest beyond their bounds (Slonim, Tishby,
    "Agglomerative information bottleneck", 1999) and by annealing within them, and that is kept
    where it loses nothing.

    A time limit or an interrupt ends it with the best so far; else the result depends on seed and
    options alone.

    Parameters
    ----------
    most_classes
        At most so many classes; None: as many as there are cells.
    searches
        From different random numbers, of which the best is kept.
    work
        Millions of classes that each of them looks at, about four for a second.

    Raises
    ------
    InputError
        When a model or the objective is not one of classes, or a start not one of such classes.
    PolicyUnreachableError
        When not even all cells as one class satisfy the policy.
    """
    cells = Cells.of(problem)
    groupings = _started(cells, [*[np.zeros(len(cells), np.int64)] * searches, *starts])
    deadline = run.deadline()
    goal = work * 1_000_000
    try:
        while monotonic() < deadline:
            left = [each for each in groupings if each.work < goal and not each.settled]
            if not left:
                break
            run.watch("merging cells", min(each.work for each in left), goal)
            tasks = [(cells, each, most_classes, seed, ROUND) for each in left]
            found = {each.start: each for each in in_parallel(improved, tasks, run.n_jobs)}
            groupings = [found.get(each.start, each) for each in groupings]
    except Ended:
        raise
    except KeyboardInterrupt:
        pass
    return _best(problem, groupings)


def _started(cells: Cells, starts: Sequence[Ints]) -> list[CellGrouping]:
    """The labellings that searches start from, checked."""
    found: list[CellGrouping] = []
    for given in starts:
        labels = np.unique(given, return_inverse=True)[1]
        if labels.shape != (len(cells),) or not np.isfinite(worths := cells.values(labels)).all():
            raise InputError("a start must label every cell, by classes that satisfy the policy")
        found.append(CellGrouping(labels, float(worths.sum()), len(found)))
    return found


def _best(problem: Problem, groupings: Sequence[CellGrouping]) -> Merged:
    best = max(groupings, key=lambda each: (each.worth, -each.start))
    _, first, inverse = np.unique(best.labels, return_index=True, return_inverse=True)
    labels = np.argsort(np.argsort(first))[inverse]  # numbered by the first cell of each class
    objective = problem.objective.prepared(problem.counts, problem.taxonomies)
    value = objective(problem.counts.grouped(labels))
    return Merged(labels, value, len(groupings), sum(each.tries for each in groupings))
