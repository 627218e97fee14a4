"""Merged cells: classes that are any sets of combinations of values, by information bottleneck.

In go a problem, options and a seed; out comes a labelling of its cells by classes that satisfy the
policy. The agglomerative information bottleneck under constraints makes a grouping, local search
improves it.

What is merged are the cells of a table, or boxes of them that are not just noise. A cell of few
records has a distribution of its own by chance, and merging by it learns the table by heart. Where
every class more has to gain something, cells are therefore put into boxes first: the best boxes
without any policy, each cut of which gains as much.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.pairs import row_keys
from anonymizer.errors import Ended, InputError, PolicyUnreachableError
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.kernels.merging import agglomerate, anneal, join_cheapest
from anonymizer.kernels.single import Criteria, values
from anonymizer.objectives.candidate import columns_of
from anonymizer.recoding import Bounds, Problem, RangeOptions, Run
from anonymizer.recoding.boxes import best_boxes
from anonymizer.recoding.boxes.grid import Axis, axes_of, blocks_of, regions_of
from anonymizer.recoding.boxes.search import criteria_of
from anonymizer.recoding.problem import ALONE, in_parallel

Random = NDArray[np.uint64]

LIKENESS = 8
"""Steps that shares are rounded to, so that cells of like distributions become neighbours."""

PORTIONS = 3200
"""What is agglomerated at once: the time goes with the square, a second at this."""

MANY = 65
"""Columns beyond which classes take longer to look at, and fewer are agglomerated at once."""

POOL, RIVALS = 60, 12
"""Cells that are regrouped together, at least: two classes have as many in most tables. Random
classes of which the one of least worth for its records is regrouped with others."""

TIES, NOISE, NOISY = 1e-6, (-2.0, 0.0), 0.25
"""Relative noise on costs that breaks ties alone; the powers of ten of noise that changes what is
merged, and the share of regroupings with that."""

SWEEPS, FEWEST, STEPS = 4, 100, 1_000_000
"""Steps of annealing at each temperature: for every cell, at the least, and of all at the most."""

OVERHEAD = 2000
"""What else a regrouping costs, in classes looked at; every other cell counts as one more."""

PATIENCE = 400
"""Regroupings in vain after which a search ends; fewer where there are few cells."""

FEW, AT_RANDOM = 12, 0.5
"""Most cells of which some regroupings begin with a random grouping, and the share of these."""

COOLING = 0.02 * np.append(np.geomspace(1, 0.01, 10), 0.0)
"""Temperatures, as shares of what a record is worth."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct tuples of quasi-identifiers of a table, and what a class of them must satisfy.

    ``counts`` (cells, columns) has the records of each cell by value of each attribute, and in the
    last column all of them; ``like`` (cells,) the place of each cell in an order in which cells of
    like distributions are neighbours.
    """

    counts: Ints
    criteria: Criteria
    like: Ints

    @classmethod
    def of(cls, problem: Problem) -> "Cells":
        """The cells of a problem, refused as ``merge_cells`` says."""
        counts = columns_of(problem.counts).astype(np.int64)
        cells = cls(counts, criteria_of(problem, "merged-cells"), _like(counts))
        if not np.isfinite(cells.values(np.zeros(len(cells), np.int64))).all():
            names = ", ".join(model.name for model in problem.models)
            raise PolicyUnreachableError(
                f"not even all cells as one class satisfy all of {names}; relax one"
            )
        return cells

    def __len__(self) -> int:
        return len(self.counts)

    def classes(self, labels: Ints) -> Ints:
        """The counts of the classes of a labelling, shape (classes, columns)."""
        order = np.argsort(labels, kind="stable")
        starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
        return np.asarray(np.add.reduceat(self.counts[order], starts, axis=0))

    def values(self, labels: Ints) -> Floats:
        """The worth of each class of a labelling, -inf where it breaks the policy."""
        return values(self.classes(labels), self.criteria)

    def some(self, which: Ints) -> "Cells":
        """Some of the cells."""
        return Cells(self.counts[which], self.criteria, self.like[which])

    def portions(self, most: int) -> Ints:
        """Label sets of like cells, at most ``most`` of them, of about as many records each."""
        if len(self) <= most:
            return np.arange(len(self))
        order = np.argsort(self.like)
        before = np.cumsum(self.counts[order, -1]) - self.counts[order, -1]
        labels = np.empty(len(self), np.int64)
        labels[order] = before * most // self.counts[:, -1].sum()
        return np.asarray(np.unique(labels, return_inverse=True)[1])


@dataclass(frozen=True, eq=False)
class CellGrouping:
    """A labelling of cells by acceptable classes, and how it came about.

    ``labels`` (cells,) number the classes from 0, which together are worth ``worth``; ``each``
    (classes,) is what a class is worth by its records. Its random numbers follow from the number of
    its ``start``. So far ``tries`` regroupings were tried, the last ``failed`` of them in vain;
    ``work`` is about how many classes were looked at, which is what time is spent on.
    """

    labels: Ints
    worth: float
    each: Floats
    start: int
    tries: int = 0
    failed: int = 0
    work: int = 0

    @property
    def classes(self) -> int:
        """The number of classes."""
        return int(self.labels.max()) + 1

    @property
    def settled(self) -> bool:
        """True after enough regroupings in vain that no other is tried."""
        return self.failed >= min(PATIENCE, 20 * len(self.labels))

    def among(self, which: Ints, labels: Ints, each: Floats, gained: float) -> "CellGrouping":
        """Label all cells of some classes anew, by labels of their own, from 0 on."""
        changed = self.labels.copy()
        changed[which] = labels + self.classes
        # The classes of all other cells keep their order, and come first.
        others = np.delete(self.each, np.unique(self.labels[which]))
        each = np.concatenate([others, each])
        return replace(self, labels=_dense(changed), worth=self.worth + gained, each=each)


def improved(
    cells: Cells, grouping: CellGrouping, most: int | None, seed: int, work: int
) -> CellGrouping:
    """Regroup for an amount of work, keeping each regrouping that loses nothing."""
    until = grouping.work + work
    while grouping.work < until and not grouping.settled:
        grouping = _tried(cells, grouping, most, seed)
    return grouping


def _tried(cells: Cells, grouping: CellGrouping, most: int | None, seed: int) -> CellGrouping:
    """Regroup the cells of a few classes once."""
    # From the numbers of start and try alone: in whatever job, they are the same.
    rng = np.random.default_rng([seed, grouping.start, grouping.tries])
    which = np.flatnonzero(_pool(grouping, rng)[grouping.labels])
    some = cells.some(which)
    before = _dense(grouping.labels[which])
    allowed = len(which) if most is None else most - grouping.classes + int(before.max()) + 1
    # A search begins with noise on costs that breaks ties alone.
    noisy = grouping.tries > 0 and rng.random() < NOISY
    noise = float(10 ** rng.uniform(*NOISE)) if noisy else TIES
    labels, work = _regrouped(some, max(allowed, 1), rng, noise)
    worths = some.values(labels)
    gained = float(worths.sum() - some.values(before).sum())
    regrouped = which, labels, worths / some.classes(labels)[:, -1], gained
    work += grouping.work + OVERHEAD + len(cells) // 2
    tried = replace(grouping, tries=grouping.tries + 1, work=work)
    # Sums of the same classes in another order differ by rounding, which is no gain.
    if gained > 1e-12 * abs(grouping.worth):
        return replace(tried.among(*regrouped), failed=0)
    kept = tried if gained < 0 else tried.among(*regrouped)
    return replace(kept, failed=tried.failed + 1)


def _pool(grouping: CellGrouping, rng: np.random.Generator) -> Mask:
    """Choose the classes to regroup: two, or enough that there is something to regroup.

    One of them is of little worth for its records: where most is to be gained.
    """
    classes = grouping.classes
    usual = max(2.0, POOL * classes / len(grouping.labels) * rng.random())
    order = rng.permutation(classes)
    rivals = order[:RIVALS]
    lead = rivals[np.argmin(grouping.each[rivals])]
    chosen = np.zeros(classes, bool)
    chosen[order[order != lead][: round(usual * rng.uniform(0.75, 1.25)) - 1]] = True
    chosen[lead] = True
    return chosen


def _regrouped(cells: Cells, most: int, rng: np.random.Generator, noise: float) -> tuple[Ints, int]:
    """Group cells anew, with the work: portions are merged until acceptable, then annealed."""
    state = rng.integers(2**63, size=1).astype(np.uint64)
    wide = max(1.0, cells.counts.shape[1] / MANY)
    portions = cells.portions(int(PORTIONS / sqrt(wide)))
    if len(cells) <= FEW and rng.random() < AT_RANDOM:
        portions = _dense(rng.integers(len(cells), size=len(cells)))
    labels = _merged(cells.classes(portions), cells, most, state, noise)[portions]
    labels, steps = _annealed(cells, labels, state)
    return labels, int(wide * ((int(portions.max()) + 1) ** 2 // 2 + steps))


def _merged(portions: Ints, cells: Cells, most: int, state: Random, noise: float) -> Ints:
    """Return the class of each portion after agglomeration to at most ``most`` classes."""
    rows = np.concatenate([portions, np.zeros_like(portions[:1])])
    into = np.arange(len(portions))
    agglomerate(rows, into, cells.criteria, state, noise)
    join_cheapest(rows, into, cells.criteria, most)
    # A portion may have joined one that was joined to another later.
    while (into[into] != into).any():
        into = into[into]
    return _dense(into)


def _annealed(cells: Cells, labels: Ints, state: Random) -> tuple[Ints, int]:
    """The labels after annealing, and its steps."""
    labels, classes, worths = labels.copy(), cells.classes(labels), cells.values(labels)
    # Annealing keeps classes acceptable, and so must begin with such.
    if len(classes) < 2 or not np.isfinite(worths).all():
        return labels, 0
    steps = min(max(SWEEPS * len(cells), FEWEST), STEPS // len(COOLING))
    for temperature in COOLING * (abs(worths.sum()) / classes[:, -1].sum()):
        anneal(cells.counts, labels, classes, worths, cells.criteria, state, steps, temperature)
    return _dense(labels), steps * len(COOLING)


def _dense(labels: Ints) -> Ints:
    return np.asarray(np.unique(labels, return_inverse=True)[1])


def _like(counts: Ints) -> Ints:
    """The place of each row in the order of its shares, those of frequent values first."""
    shares = np.rint(LIKENESS * counts[:, :-1] / counts[:, -1:])
    frequent = np.argsort(counts[:, :-1].sum(axis=0), kind="stable")
    order = np.lexsort(shares[:, frequent].T) if shares.shape[1] else np.arange(len(counts))
    place = np.empty(len(counts), np.int64)
    place[order] = np.arange(len(counts))
    return place


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
        """Take every cell by itself; ranges that have to be wide are joined until they are."""
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
        """Find the best boxes without a policy, each cut of which adds at least ``gain``."""
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
        """Return the problem with initial cells for cells; they go by their numbers."""
        cells = np.zeros_like(problem.counts.cells)
        cells[:, 0] = self.assign(problem.counts.cells)
        return replace(problem, counts=problem.counts.at(cells))

    def regions(self, problem: Problem, labels: Codes) -> Regions:
        """Return classes of initial cells, by what they cover of every attribute and by number.

        ``labels`` has the class of each initial cell, shape (initial cells,).
        """
        counts = problem.counts
        # No end of a range may be shown beyond which fewer records lie than the smallest class has.
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
    return np.asarray(np.append(labels, -1)[assign(cells)])  # -1 takes what is last


@dataclass(frozen=True, eq=False)
class MergeResult:
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
) -> MergeResult:
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
        Largest number of classes; None: as many as there are cells.
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
            # A round at a time: in between the clock is read, and an interrupt loses one round.
            tasks = [(cells, each, most_classes, seed, ROUND) for each in left]
            found = {each.start: each for each in in_parallel(improved, tasks, run.n_jobs)}
            groupings = [found.get(each.start, each) for each in groupings]
    except Ended:
        raise
    except KeyboardInterrupt:
        pass
    return _best(problem, groupings)


def _started(cells: Cells, starts: Sequence[Ints]) -> list[CellGrouping]:
    """Check the labellings that searches start from."""
    found: list[CellGrouping] = []
    for given in starts:
        labels = np.unique(given, return_inverse=True)[1]
        if labels.shape != (len(cells),) or not np.isfinite(worths := cells.values(labels)).all():
            raise InputError("a start must label every cell, by classes that satisfy the policy")
        each = worths / cells.classes(labels)[:, -1]
        found.append(CellGrouping(labels, float(worths.sum()), each, len(found)))
    return found


def _best(problem: Problem, groupings: Sequence[CellGrouping]) -> MergeResult:
    # The earlier start in a tie, so that jobs do not decide.
    best = max(groupings, key=lambda each: (each.worth, -each.start))
    _, first, inverse = np.unique(best.labels, return_index=True, return_inverse=True)
    labels = np.argsort(np.argsort(first))[inverse]  # numbered by the first cell of each class
    objective = problem.objective.prepared(problem.counts, problem.taxonomies)
    value = objective(problem.counts.grouped(labels))
    return MergeResult(labels, value, len(groupings), sum(each.tries for each in groupings))
