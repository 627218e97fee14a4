"""The search of a release, simulated: run again on every table that it may have been run on.

A world is a way to deal the sensitive values of each released class to the records of that class: a
table that agrees with all that a release shows. It counts the records of each cell that have each
combination of values. Records are told apart, so that a world stands for

    prod over cells c of n_c! / prod_w n_cw!

ways. In a world the very same search is run, with the same options, and what it releases is held
against what was released.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import factorial, prod
from time import monotonic
from typing import cast

import numpy as np
import pandas as pd

from anonymizer.counts.columns import encoded, missing_last
from anonymizer.counts.counting import Counted
from anonymizer.counts.counts import Counts, Partitions
from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.pairs import row_keys
from anonymizer.counts.schema import ALIKE
from anonymizer.errors import InputError, PolicyBrokenError, PolicyUnreachableError
from anonymizer.hierarchy import ANY
from anonymizer.information.matrices import is_sparse
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.objectives import Objective
from anonymizer.objectives.attributes import AttributeWise
from anonymizer.objectives.classes import OfSizes
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding.apply import all_hidden, falls_in, published, suppressed_of
from anonymizer.recoding.best import Best
from anonymizer.recoding.generalization import Generalization, GeneralizationPlan
from anonymizer.recoding.levels import Fixed
from anonymizer.recoding.problem import Problem, Run
from anonymizer.recoding.recoding import Recoding, Task
from anonymizer.risk.worlds import Setting, enumerated
from anonymizer.tables import engine

Released = list[tuple[str, ...] | None]
"""What each cell is released as, after what a manifest reports of the search; None: left out."""


MOST_COUNTS = 1 << 22
"""Counts of a world that is held as an array."""


class TooManyValuesError(Exception):
    """There are too many cells and combinations of values to be counted in every world."""


@dataclass(frozen=True, eq=False)
class SimulatedSearch:
    """The search of a release, to be run on other worlds.

    ``task`` and ``problem`` are those of the table that was released. ``kinds``: the value of each
    attribute that each combination of values has, shape (kinds,); a world counts combinations,
    since a release shows which values are of one record. ``examples``: a row of the tally for each
    cell and for each combination.
    """

    recoding: Generalization | Best
    task: Task
    problem: Problem
    kinds: Mapping[str, Codes]
    examples: tuple[Codes, Codes] = field(repr=False)

    @classmethod
    def of(cls, recoding: Generalization | Best, task: Task) -> "tuple[SimulatedSearch, Ints]":
        """Return the search of a task, and the table of the task as a world.

        TooManyValuesError where a world is too large for an array.
        """
        counted = task.counted
        counts, tally = counted.counts, counted.tally
        posed = counts, counted.taxonomies, task.models, task.objective
        problem = Problem(*posed) if isinstance(recoding, Best) else recoding.problem(*posed)
        codes = [_codes(counts, name, tally[name]) for name in counts.attributes]
        rows = np.column_stack([*codes, np.zeros(len(tally.sizes), np.intp)])
        kinds, first, kind_of = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        sparse = any(map(is_sparse, counts.joint.values()))
        if sparse or len(counts) * len(kinds) > MOST_COUNTS:
            raise TooManyValuesError
        cell_of = cells_of(problem, tally)
        world = np.zeros((len(counts), len(kinds)), np.int64)
        np.add.at(world, (cell_of, kind_of.ravel()), tally.sizes)
        own = dict(zip(counts.attributes, kinds.T, strict=False))
        example = np.zeros(len(counts), np.intp)
        example[cell_of] = np.arange(len(cell_of))
        return cls(recoding, task, problem, own, (example, first)), world

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes."""
        return self.problem.counts.sensitive

    def counts(self, world: Ints) -> Counts:
        """Return the counts of a world, shape (cells, kinds); its margins are those of all."""
        counts = self.problem.counts
        joint = {}
        for name, kind in self.kinds.items():
            sums = np.zeros_like(counts.joint[name])
            np.add.at(sums.T, kind, world.T)
            joint[name] = sums
        return replace(counts, joint=joint)

    def released(self, world: Ints, run: Run) -> Released | None:
        """Return what a world would be released as; None where nothing would be."""
        problem = replace(self.problem, counts=self.counts(world))
        try:
            if isinstance(self.recoding, Best):
                task = replace(self.task, counted=self._counted(world), run=run)
                plan = cast(GeneralizationPlan, self.recoding.fit(task)[0])
                recoding, search = plan.recoding, plan.search
                problem = replace(problem, suppression=plan.suppression)
            else:
                recoding, search = self.recoding.choose(problem, self.task.seed, run)
        except (InputError, PolicyBrokenError, PolicyUnreachableError):
            return None
        # Several recodings may release one table, and the manifest reports which it was.
        reported = search.strategy, str(search.proven), type(recoding).__name__
        labels = _labels(problem, recoding)
        return labels and [label and (*reported, *label) for label in labels]

    def _counted(self, world: Ints) -> Counted:
        """Return a world as a counted table, of which halves can be drawn."""
        counted, tally = self.task.counted, self.task.counted.tally
        places, names = np.nonzero(world), [*self.kinds]
        rows = {
            name: tally[name].iloc[self.examples[name in names][places[int(name in names)]]]
            for name in tally.columns
        }
        columns = {name: column.reset_index(drop=True) for name, column in rows.items()}
        dealt = engine.Tally(pd.DataFrame(columns), world[places])
        return replace(counted, kept=dealt, tally=dealt)

    def setting(self, attribute: str) -> Setting:
        """Return what judges beliefs about an attribute: the models that judge class by class."""
        counts, models = self.problem.counts, self.problem.models
        about = [m for m in models if m.sensitive and m.attribute in (None, attribute)]
        own = [model for model in about if model.per_class]
        return Setting.of(counts, attribute, np.zeros(len(counts), np.intp), own)


def cells_of(problem: Problem, table: engine.Table) -> Codes:
    """Return the cell of each row of a table whose values a problem knows, shape (rows,)."""
    counts, taxonomies = problem.counts, problem.taxonomies
    columns = [encoded(table[name], taxonomies[name]) for name in counts.names]
    keys = row_keys(np.concatenate([counts.cells, np.column_stack(columns)]))
    known = keys[: len(counts)]
    order = np.argsort(known)
    return np.asarray(order[np.searchsorted(known[order], keys[len(counts) :])])


def sees_no_value(recoding: Recoding, objective: Objective, models: Sequence[PrivacyModel]) -> bool:
    """Return whether no sensitive value can change what a recoding releases.

    Searches see values through models and objectives alone. Levels that are given are released as
    they are where nothing is suppressed.
    """
    if isinstance(recoding, Fixed) and not recoding.suppression:
        return True
    by_size = isinstance(objective, AttributeWise | OfSizes)
    alone = isinstance(recoding, Generalization)  # what tries several takes halves of the records
    return alone and by_size and not any(model.sensitive for model in models)


def _codes(counts: Counts, name: str, column: pd.Series) -> Codes:
    """Return the column of ``counts`` that counts each value of an attribute."""
    codes, values = ALIKE(column)
    order = missing_last(values) if name in counts.gaps else None
    return codes if order is None else np.argsort(order)[codes]


def _labels(problem: Problem, recoding: Partitions | Regions) -> Released | None:
    """Return what each occupied cell is released as under a recoding, suppression included."""
    counts = problem.counts
    occupied = counts.sizes > 0
    if isinstance(recoding, Regions):
        class_of = recoding.class_of(counts.cells[occupied])
        columns = [_texts(recoding.labels[name], class_of) for name in recoding.names]
        numbers = [[str(number) for number in class_of]] if recoding.numbered else []
        return [*zip(*columns, *numbers, strict=True)]
    columns = [
        _texts(recoding[name].labels, recoding[name].groups[codes])
        for name, codes in zip(counts.names, counts.cells.T, strict=True)
    ]
    found: Released = [*zip(*columns, strict=True)]
    if problem.suppresses:
        recoded = counts.recode(recoding)
        hidden = all_hidden(recoded, recoding)
        suppressed = suppressed_of(recoded, problem.models, problem.suppression, hidden)
        if suppressed is None:
            return None
        gone = falls_in(counts, recoding, recoded.select(suppressed.marks))
        label = None if suppressed.removed else (ANY,) * len(counts.names)
        found = [label if out else each for each, out in zip(found, gone, strict=True)]
    return [each for each, there in zip(found, occupied, strict=True) if there]


def _texts(labels: Sequence[object], groups: Codes) -> list[str]:
    texts = {group: str(published(labels[group])) for group in np.unique(groups).tolist()}
    return [texts[group] for group in groups.tolist()]


@dataclass(frozen=True, eq=False)
class Dealing:
    """The records of classes whose values can be dealt in several ways, sorted by class.

    ``world`` (cells, kinds) is that of the table; ``cells`` are those of each such class.
    """

    world: Ints
    cells: Sequence[Codes]

    @classmethod
    def of(cls, world: Ints, ours: Released) -> "Dealing":
        """Take the occupied cells of a world by what they are released as."""
        occupied = np.flatnonzero(world.any(axis=1))
        classes: dict[object, list[int]] = {}
        for cell, label in zip(occupied.tolist(), ours, strict=True):
            classes.setdefault(label, []).append(cell)
        every = [np.array(cells, np.intp) for cells in classes.values()]
        free = [each for each in every if len(each) > 1 and (world[each].sum(axis=0) > 0).sum() > 1]
        return cls(world, free)

    def listed(self, most: int) -> "Listing | None":
        """List the worlds of every class; None if they are more than ``most`` together."""
        ways = []
        for cells in self.cells:
            own = self.world[cells]
            found = enumerated(own.sum(axis=1), own.sum(axis=0), most)
            if found is None:
                return None
            ways.append([(table, _multiplicity(table)) for table in found[0]])
            if prod(map(len, ways)) > most:
                return None
        return Listing(self, ways)

    @cached_property
    def cell_of(self) -> Codes:
        """The cell of each record, shape (records,)."""
        parts = [np.repeat(cells, self.world[cells].sum(axis=1)) for cells in self.cells]
        return np.concatenate(parts)

    @cached_property
    def values(self) -> Codes:
        """The combination of values of each record in the table, shape (records,)."""
        kinds = np.arange(self.world.shape[1])
        rows = np.concatenate(self.cells)
        return np.concatenate([np.repeat(kinds, self.world[cell]) for cell in rows])

    @cached_property
    def ends(self) -> Ints:
        """The records up to the end of each class, shape (classes,)."""
        return np.cumsum([self.world[cells].sum() for cells in self.cells])

    @cached_property
    def free(self) -> Mask:
        """The counts that may differ between worlds, shape (cells, kinds)."""
        found = np.zeros(self.world.shape, bool)
        for cells in self.cells:
            found[cells] = self.world[cells].any(axis=0)
        return found

    def dealt(self, values: Codes) -> Ints:
        """Return the world where the records have some values."""
        world, kinds = self.world.copy(), self.world.shape[1]
        world[np.concatenate(self.cells)] = 0
        return world + np.bincount(self.cell_of * kinds + values, minlength=world.size).reshape(
            world.shape
        )


def _multiplicity(table: Ints) -> int:
    """Return prod_c n_c! / prod_cw n_cw!, the ways to tell the records of a table apart."""
    ways = prod(factorial(size) for size in table.sum(axis=1).tolist())
    return ways // prod(factorial(count) for count in table.ravel().tolist())


@dataclass(frozen=True, eq=False)
class Listing:
    """All worlds: the tables of each class with their multiplicities."""

    dealing: Dealing
    ways: Sequence[Sequence[tuple[Ints, int]]]

    def __len__(self) -> int:
        return prod(map(len, self.ways))

    def __iter__(self) -> Iterator[tuple[Ints, int]]:
        for chosen in product(*self.ways):
            world = self.dealing.world.copy()
            for cells, (table, _) in zip(self.dealing.cells, chosen, strict=True):
                world[cells] = table
            yield world, prod(multiplicity for _, multiplicity in chosen)


class LateError(Exception):
    """Searches take longer than they may."""


MOST_BYTES = 1 << 26
"""Bytes of worlds whose searches are remembered."""


@dataclass(eq=False)
class Simulation:
    """The searches that were run, each once for a world, and what they may take.

    ``ours`` is what the table was released as; ``seconds`` are for all searches together.
    """

    search: SimulatedSearch
    ours: Released
    seconds: float
    searches: int = 0
    rejects: bool = False  # whether any world was released as something else
    spent: float = 0.0  # seconds
    known: dict[bytes, bool] = field(default_factory=dict, repr=False)

    def accepts(self, world: Ints) -> bool:
        """Return whether a world is released as the table was; LateError when time is up."""
        key = world.tobytes()
        found = self.known.get(key)
        if found is None:
            start = monotonic()
            run = limited(start + self.seconds - self.spent)
            found = self.search.released(world, run) == self.ours
            self.searches += 1
            self.spent += monotonic() - start
            self.rejects |= not found
            if len(self.known) * len(key) < MOST_BYTES:
                self.known[key] = found
        return found

    @property
    def pace(self) -> float:
        """Seconds that a search takes on average."""
        return self.spent / max(self.searches, 1)


def limited(deadline: float) -> Run:
    """Return a run that raises LateError after a deadline; it changes nothing that is found."""

    def watch(doing: str, done: int, of: int | None) -> None:
        if monotonic() > deadline:
            raise LateError

    return Run(1, None, watch)
