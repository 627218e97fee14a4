"""Merging cells: the agglomerative information bottleneck under constraints, then local search."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np

from anonymizer.errors import Ended, InputError
from anonymizer.kernels.arrays import Ints
from anonymizer.recoding import Problem, Run
from anonymizer.recoding.merged_cells.grouping import Cells, Grouping, improved
from anonymizer.recoding.problem.parallel import in_parallel
from anonymizer.recoding.problem.problem import ALONE

ROUND = 1_000_000
"""Work between two looks at the clock, a third of a second or so."""


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


def _started(cells: Cells, starts: Sequence[Ints]) -> list[Grouping]:
    """The labellings that searches start from, checked."""
    found: list[Grouping] = []
    for given in starts:
        labels = np.unique(given, return_inverse=True)[1]
        if labels.shape != (len(cells),) or not np.isfinite(worths := cells.values(labels)).all():
            raise InputError("a start must label every cell, by classes that satisfy the policy")
        found.append(Grouping(labels, float(worths.sum()), len(found)))
    return found


def _best(problem: Problem, groupings: Sequence[Grouping]) -> Merged:
    best = max(groupings, key=lambda each: (each.worth, -each.start))
    _, first, inverse = np.unique(best.labels, return_index=True, return_inverse=True)
    labels = np.argsort(np.argsort(first))[inverse]  # numbered by the first cell of each class
    objective = problem.objective.prepared(problem.counts, problem.taxonomies)
    value = objective(problem.counts.grouped(labels))
    return Merged(labels, value, len(groupings), sum(each.tries for each in groupings))
