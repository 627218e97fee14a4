"""Cells, their groupings into acceptable classes, and the step that improves one."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import PolicyUnreachableError
from anonymizer.kernels.arrays import Floats, Ints, Mask
from anonymizer.kernels.merging import agglomerate, anneal, join_cheapest
from anonymizer.kernels.single import Criteria, values
from anonymizer.objectives.candidate import columns_of
from anonymizer.recoding import Problem
from anonymizer.recoding.problem.criteria import criteria_of

Random = NDArray[np.uint64]

LIKENESS = 8
"""Steps that shares are rounded to, so that cells of like distributions become neighbours."""

PORTIONS = 3200
"""What is agglomerated at once: the time goes with the square, a second at this."""

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
"""Up to so many cells this share of regroupings begins with a random grouping of them."""

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
        """A labelling of at most so many sets of like cells, of about as many records each."""
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

    ``labels`` (cells,) number the classes from 0, which together are worth ``worth``. Its random
    numbers follow from the number of its ``start``. So far ``tries`` regroupings were tried, the
    last ``failed`` of them in vain; ``work`` is about how many classes were looked at, which is
    what time is spent on.
    """

    labels: Ints
    worth: float
    start: int
    tries: int = 0
    failed: int = 0
    work: int = 0

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.labels.max()) + 1

    @property
    def settled(self) -> bool:
        """Whether so many regroupings were in vain that no other is tried."""
        return self.failed >= min(PATIENCE, 20 * len(self.labels))

    def among(self, which: Ints, labels: Ints, gained: float) -> "CellGrouping":
        """The same with some cells labelled anew, by labels of their own."""
        changed = self.labels.copy()
        changed[which] = labels + self.classes
        return replace(self, labels=_dense(changed), worth=self.worth + gained)


def improved(
    cells: Cells, grouping: CellGrouping, most: int | None, seed: int, work: int
) -> CellGrouping:
    """The grouping after regroupings of so much work, each kept when it loses nothing."""
    until = grouping.work + work
    while grouping.work < until and not grouping.settled:
        grouping = _tried(cells, grouping, most, seed)
    return grouping


def _tried(cells: Cells, grouping: CellGrouping, most: int | None, seed: int) -> CellGrouping:
    """The grouping after one regrouping of the cells of a few classes."""
    rng = np.random.default_rng([seed, grouping.start, grouping.tries])
    which = np.flatnonzero(_pool(cells, grouping, rng)[grouping.labels])
    some = cells.some(which)
    before = _dense(grouping.labels[which])
    allowed = len(which) if most is None else most - grouping.classes + int(before.max()) + 1
    # A search begins with noise on costs that breaks ties alone.
    noisy = grouping.tries > 0 and rng.random() < NOISY
    noise = float(10 ** rng.uniform(*NOISE)) if noisy else TIES
    labels, work = _regrouped(some, max(allowed, 1), rng, noise)
    gained = float(some.values(labels).sum() - some.values(before).sum())
    work += grouping.work + OVERHEAD + len(cells) // 2
    tried = replace(grouping, tries=grouping.tries + 1, work=work)
    if gained > 1e-12 * abs(grouping.worth):
        return replace(tried.among(which, labels, gained), failed=0)
    kept = tried if gained < 0 else tried.among(which, labels, gained)
    return replace(kept, failed=tried.failed + 1)


def _pool(cells: Cells, grouping: CellGrouping, rng: np.random.Generator) -> Mask:
    """Which classes are regrouped: two, or so many that there is something to regroup.

    One of them is of little worth for its records: where most is to be gained.
    """
    classes = grouping.classes
    usual = max(2.0, POOL * classes / len(cells) * rng.random())
    order = rng.permutation(classes)
    rivals = order[:RIVALS]
    each = cells.values(grouping.labels) / cells.classes(grouping.labels)[:, -1]
    lead = rivals[np.argmin(each[rivals])]
    chosen = np.zeros(classes, bool)
    chosen[order[order != lead][: round(usual * rng.uniform(0.75, 1.25)) - 1]] = True
    chosen[lead] = True
    return chosen


def _regrouped(cells: Cells, most: int, rng: np.random.Generator, noise: float) -> tuple[Ints, int]:
    """Cells grouped anew, and the work: portions are merged until acceptable, then annealing."""
    state = rng.integers(2**63, size=1).astype(np.uint64)
    portions = cells.portions(PORTIONS)
    if len(cells) <= FEW and rng.random() < AT_RANDOM:
        portions = _dense(rng.integers(len(cells), size=len(cells)))
    labels = _merged(cells.classes(portions), cells, most, state, noise)[portions]
    labels, steps = _annealed(cells, labels, state)
    return labels, (int(portions.max()) + 1) ** 2 // 2 + steps


def _merged(portions: Ints, cells: Cells, most: int, state: Random, noise: float) -> Ints:
    """The class of each portion after agglomeration to at most so many classes."""
    rows = np.concatenate([portions, np.zeros_like(portions[:1])])
    into = np.arange(len(portions))
    agglomerate(rows, into, cells.criteria, np.empty(rows.shape[1] + 1, np.int64), state, noise)
    join_cheapest(rows, into, cells.criteria, most)
    while (into[into] != into).any():
        into = into[into]
    return _dense(into)


def _annealed(cells: Cells, labels: Ints, state: Random) -> tuple[Ints, int]:
    """The labels after annealing, and its steps."""
    labels, classes, worths = labels.copy(), cells.classes(labels), cells.values(labels)
    if len(classes) < 2 or not np.isfinite(worths).all():
        return labels, 0
    steps = min(max(SWEEPS * len(cells), FEWEST), STEPS // len(COOLING))
    room = np.empty(classes.shape[1] + 1, np.int64)
    for temperature in COOLING * (abs(worths.sum()) / classes[:, -1].sum()):
        anneal(
            cells.counts, labels, classes, worths, cells.criteria, room, state, steps, temperature
        )
    return _dense(labels), steps * len(COOLING)


def _dense(labels: Ints) -> Ints:
    """Labels without gaps, in the same order."""
    return np.asarray(np.unique(labels, return_inverse=True)[1])


def _like(counts: Ints) -> Ints:
    """The place of each row in the order of its shares, those of frequent values first."""
    shares = np.rint(LIKENESS * counts[:, :-1] / counts[:, -1:])
    frequent = np.argsort(counts[:, :-1].sum(axis=0), kind="stable")
    order = np.lexsort(shares[:, frequent].T) if shares.shape[1] else np.arange(len(counts))
    place = np.empty(len(counts), np.int64)
    place[order] = np.arange(len(counts))
    return place
