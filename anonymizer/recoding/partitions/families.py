"""The groups of values that partitions are made of, whatever their kind, judged and counted.

Groups that are intervals of an order make partitions by leading from its begin to its end, which
a ``Chain`` finds the best of by dynamic programming.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from math import prod
from typing import ClassVar, NamedTuple

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.pairs import row_keys
from anonymizer.counts.persons import HOUSEHOLD, PERSON, of_column, too_many
from anonymizer.errors import InputError
from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.information.matrices import MOST_BYTES
from anonymizer.kernels import NATIVE, Worth
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.kernels.ranges import ANY, Steps, suffixes
from anonymizer.kernels.single import Criteria
from anonymizer.objectives import Objective
from anonymizer.objectives.candidate import Candidate, Layout
from anonymizer.privacy import TOLERANCE, PrivacyModel, acceptable
from anonymizer.recoding.policy import Policy

BATCH = 100_000
"""Classes judged together: bounds what the judging takes to some tens of megabytes."""

ENTRIES = 8_000_000
"""Counts judged together, where classes have so many values that these are fewer classes."""

Tables = dict[str | None, Ints]
"""Records by sensitive attribute, the last axis being its values; under None in all."""


class GroupScores(NamedTuple):
    """Sums over groups of classes: what they add to the objective, and what is inside them.

    Each of shape (groups,): the objective, how many classes there are, and how many of them break a
    model.
    """

    gains: Floats
    classes: Ints
    violations: Ints

    @classmethod
    def joined(cls, parts: "Sequence[GroupScores]") -> "GroupScores":
        """Some groups after others."""
        nothing = cls(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
        return cls(*(np.concatenate(each) for each in zip(nothing, *parts, strict=True)))


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges classes: what each adds to the objective, and whether it breaks a model."""

    models: Sequence[PrivacyModel]
    objective: Objective

    def criteria(self, counts: Counts) -> Criteria | None:
        """Return what kernels judge classes by; None where a model or the objective has nothing.

        Nor have the people of a population, or persons of several records, whose numbers in classes
        do not add up.
        """
        if counts.population is not None or PERSON in counts.joint or HOUSEHOLD in counts.joint:
            return None
        layout = Layout.of(counts)
        policy = Policy(self.models, layout, NATIVE).against(layout.margins)
        if policy.measured or policy.judges_all:
            return None
        try:
            return Criteria.of(policy.rules, self.objective.worth(layout))
        except InputError:
            return None

    def __call__(self, counts: Counts) -> tuple[Floats, Mask]:
        """Judge classes; shape (classes,) each."""
        return self.objective.per_class(counts), ~acceptable(counts, self.models)

    def grouped(self, counts: Counts, group: Codes, groups: int) -> GroupScores:
        """Judge classes that are each in one of some groups."""
        gain, broken = self(counts)
        return GroupScores(
            np.bincount(group, gain, minlength=groups).astype(float),
            np.bincount(group, minlength=groups).astype(np.int64),
            np.bincount(group[broken], minlength=groups).astype(np.int64),
        )

    def tables(self, counts: Counts, tables: Tables) -> GroupScores:
        """Judge groups by the records of their classes, shape (groups, classes, values)."""
        some = tables[None]
        # A class without records is none: it would add to no objective, and break no model.
        occupied = some.any(axis=2)
        group = np.nonzero(occupied)[0]
        cells = np.empty((len(group), 0), np.intp)
        sizes = some[occupied][:, 0]
        joint = {name: table[occupied] for name, table in tables.items() if name is not None}
        classes = replace(counts, names=(), cells=cells, sizes=sizes, joint=joint)
        return self.grouped(classes, group, len(some))


def lots(groups: int, classes: int, tables: Tables) -> Iterator[slice]:
    """Yield consecutive slices of groups of classes, few enough to be judged together.

    The last axis of the tables are the values of each class.
    """
    values = max(table.shape[-1] for table in tables.values())
    size = max(1, min(BATCH, ENTRIES // values) // classes)
    return (slice(low, min(low + size, groups)) for low in range(0, groups, size))


@dataclass(frozen=True)
class PricedObjective(Objective):
    """An objective less a cost per class: no class more is worth it that adds less than that.

    Adds up over classes as the objective does, so that whatever maximises the one maximises the
    other; but it may rise when classes merge.

    Parameters
    ----------
    plain
        The objective.
    cost
        Of each class that has records, in the objective's unit.
    """

    falls: ClassVar[bool] = False

    plain: Objective
    cost: float

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the objective that the price is on."""
        return self.plain.name

    def prepared(self, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> "PricedObjective":
        """The objective prepared, at the same price."""
        return PricedObjective(self.plain.prepared(counts, taxonomies), self.cost)

    def score(self, candidate: Candidate) -> float:
        """The score less what the classes released cost."""
        return self.plain.score(candidate) - self.cost * candidate.released_classes

    def per_class(self, counts: Counts) -> Floats:
        """Return what each class adds, less its cost, shape (classes,)."""
        return np.asarray(self.plain.per_class(counts) - self.cost * (counts.sizes > 0))

    def worth(self, layout: Layout) -> Worth:
        """Return the worth of a class under the objective, less its cost."""
        return self.plain.worth(layout).costing(self.cost)


NEVER = np.iinfo(np.int64).max // 2


@dataclass(frozen=True, eq=False)
class Chain:
    """The intervals of an order that occur in some allowed partition.

    Interval k holds the blocks starts[k], ..., ends[k] - 1; shape (intervals,) each, ordered by
    start, then by end. Blocks that no interval separates count as one: ``begins`` (blocks + 1,) has
    the given block at which each begins, and where the last one ends. ``groups`` (intervals,) says
    which of the given intervals each one is. At most ``most`` intervals make a partition; None
    where any number may.
    """

    groups: Codes
    starts: Codes
    ends: Codes
    begins: Codes
    most: int | None

    @classmethod
    def of(
        cls, starts: Codes, ends: Codes, blocks: int, allowed: Mask, most: int | None = None
    ) -> "Chain":
        """Keep of the allowed intervals [start, end) those that lead from 0 to ``blocks``.

        They come ordered by start, then by end.
        """
        kept = np.flatnonzero(allowed)
        left = _left(starts[kept], ends[kept], blocks)
        # What leads from 0 to an interval leads to the end in the mirrored order.
        mirrored = kept[np.argsort(-ends[kept], kind="stable")]
        before = _left(blocks - ends[mirrored], blocks - starts[mirrored], blocks)[::-1]
        kept = kept[(before[starts[kept]] < NEVER) & (left[ends[kept]] < NEVER)]
        begins = np.unique([starts[kept], ends[kept]]) if len(kept) else np.array([0, blocks])
        first, last = (np.searchsorted(begins, each[kept]) for each in (starts, ends))
        # A partition has no more intervals than there are blocks: the limit may bound nothing.
        bounded = most is not None and most < len(begins) - 1
        return cls(kept, first, last, begins, most if bounded else None)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return len(self.begins) - 1

    def places(self, blocks: Codes) -> Codes:
        """The block that holds each block that was given; -1, of none, stays."""
        return np.searchsorted(self.begins, blocks, side="right") - 1

    @property
    def with_missing(self) -> tuple[Codes, Codes]:
        """Starts and ends with the missing values as one more interval, of a block at the end."""
        return np.append(self.starts, self.blocks), np.append(self.ends, self.blocks + 1)

    @cached_property
    def beginning(self) -> list[slice]:
        """The intervals that begin at each block, none at the end; length (blocks + 1)."""
        return _beginning_at(self.starts, self.blocks)

    @cached_property
    def steps(self) -> Steps:
        """The intervals as kernels read them."""
        first = np.searchsorted(self.starts, np.arange(self.blocks + 1)).astype(np.int64)
        most = ANY if self.most is None else self.most
        return Steps(first, np.ascontiguousarray(self.ends, np.int64), most)

    def total(self, values: Floats) -> Floats:
        """The best sum over the intervals of a partition, shape (n,)."""
        return np.asarray(suffixes(self.steps, values)[-1, 0])

    def left(self, used: int) -> int:
        """Return the index into ``suffixes`` of the intervals left when some are used."""
        return 0 if self.most is None else self.most - used

    def best(self, values: Floats) -> list[int] | None:
        """The intervals of the best partition under one valuation; None where there is none.

        ``values`` (intervals,). Ties: the earliest cuts, from the first on.
        """
        sums = suffixes(self.steps, values[:, None])[:, :, 0]
        # With as many intervals as are allowed no partition has a finite worth.
        if sums[-1, 0] == -np.inf:
            return None
        path: list[int] = []
        block = 0
        while block < self.blocks:
            own = self.beginning[block]
            rest = sums[self.left(len(path) + 1), self.ends[own]]
            path.append(own.start + int((values[own] + rest).argmax()))
            block = int(self.ends[path[-1]])
        return path

    def paths(self) -> Iterator[tuple[int, ...]]:
        """The intervals of every partition, the earliest cuts first."""
        left = _left(self.starts, self.ends, self.blocks)
        most = self.blocks if self.most is None else self.most
        path: list[int] = []
        choices = [iter(self.after(path))] if left[0] <= most else []
        while choices:
            last = next(choices[-1], None)
            if last is None:
                choices.pop()
                path = path[:-1]
            elif self.ends[last] == self.blocks:
                yield (*path, last)
            elif len(path) + 1 + left[self.ends[last]] <= most:
                path.append(last)
                choices.append(iter(self.after(path)))

    def after(self, path: Sequence[int]) -> range:
        """The intervals that may follow others."""
        own = self.beginning[int(self.ends[path[-1]]) if path else 0]
        return range(own.start, own.stop)

    def given(self, path: Sequence[int]) -> tuple[int, ...]:
        """Return which of the given intervals those of a partition are."""
        return tuple(self.groups[list(path)].tolist())


def _beginning_at(starts: Codes, blocks: int) -> list[slice]:
    places = np.searchsorted(starts, np.arange(blocks + 2))
    return [slice(low, high) for low, high in pairwise(places.tolist())]


def _left(starts: Codes, ends: Codes, blocks: int) -> Ints:
    """The fewest intervals that lead from each block to the end, shape (blocks + 1,)."""
    left = np.full(blocks + 1, NEVER, np.int64)
    left[blocks] = 0
    for block, own in reversed(list(enumerate(_beginning_at(starts, blocks)))):
        if own.start < own.stop:
            left[block] = min(NEVER, int(left[ends[own]].min()) + 1)
    return left


Path = tuple[int, ...]
"""The groups that make a partition."""

PRECISION = 2.0**-40
"""Differences below this share of an objective's magnitude may be rounding of its sums."""


@dataclass(frozen=True, eq=False)
class Family(ABC):
    """The groups that the values of one attribute may form, and which of them make a partition."""

    attribute: str
    taxonomy: Taxonomy

    @abstractmethod
    def judged(self, judge: Judge, counts: Counts) -> GroupScores:
        """Judge every group of an attribute that is raw in the counts, the others as released."""

    @abstractmethod
    def paths(self, allowed: Mask) -> Iterator[Path]:
        """Every partition into allowed groups."""

    @abstractmethod
    def partition(self, path: Path) -> Partition:
        """The partition of all values of the taxonomy that some groups make."""

    def best(self, allowed: Mask, worth: Floats) -> Path | None:
        """Return the allowed partition of most worth, the first in a tie; None without one."""
        paths = self.paths(allowed)
        return max(paths, key=lambda path: float(worth[list(path)].sum()), default=None)

    def ungrouped(self, judge: Judge, counts: Counts) -> float | None:
        """Return what the classes that no group holds add; None where they are unacceptable."""
        return 0.0

    @property
    def confined(self) -> bool:
        """True where levels of the taxonomy may not be among its partitions."""
        return False

    @property
    def suppression(self) -> tuple[Partition, ...]:
        """The partition into one group, unless the levels that may be used have none."""
        return () if self.taxonomy.bounded else self.taxonomy.levels[-1:]

    @property
    def without_path(self) -> tuple[Partition, ...]:
        """Partitions that no path makes: suppression, where no group holds all values."""
        return ()


@dataclass(frozen=True, eq=False)
class Intervals(Family):
    """Groups that are intervals of an order of the values.

    Group k holds the blocks of values starts[k], ..., ends[k] - 1; shape (groups,) each, ordered by
    start, then by end. At most ``most`` groups make a partition; None where any number may.
    """

    starts: Codes
    ends: Codes
    blocks: int
    most: int | None

    @abstractmethod
    def blocks_of(self, codes: Codes) -> Codes:
        """The block of each value code, -1 for one that no group holds, shape (codes,)."""

    def path(self, starts: Sequence[int] | Codes) -> Path:
        """The groups of a partition, given by the blocks they begin at, 0 first."""
        keys = self.starts * (self.blocks + 1) + self.ends
        # Groups are ordered by start and end, so that their keys rise.
        wanted = np.asarray(starts) * (self.blocks + 1) + np.append(starts[1:], self.blocks)
        return tuple(np.searchsorted(keys, wanted).tolist())

    def chain(self, allowed: Mask) -> Chain:
        """The allowed groups that lead from the first block to the last."""
        return Chain.of(self.starts, self.ends, self.blocks, allowed, self.most)

    def best(self, allowed: Mask, worth: Floats) -> Path | None:
        """Find the best partition by dynamic programming; ties: the earliest cuts."""
        chain = self.chain(allowed)
        path = chain.best(worth[chain.groups])
        return None if path is None else chain.given(path)

    def paths(self, allowed: Mask) -> Iterator[Path]:
        """Yield every partition into allowed groups, the earliest cuts first."""
        chain = self.chain(allowed)
        return map(chain.given, chain.paths())


@dataclass(frozen=True, eq=False)
class Segments:
    """Candidate groups of one attribute, and what each comes to.

    Each group adds ``gains`` to the objective, has ``classes`` inside it, and ``violations`` of
    these break a model; shape (groups,) each. ``ungrouped`` is what the classes add that no group
    holds, None where they are unacceptable, so that nothing but suppression is left. ``per_class``
    is what of a worth there is for each class to break ties.
    """

    family: Family
    gains: Floats
    classes: Ints
    violations: Ints
    ungrouped: float | None
    per_class: float

    @classmethod
    def of(cls, judge: Judge, counts: Counts, family: Family) -> "Segments":
        """Judge the groups of an attribute that is raw in the counts, the others as released."""
        judged = family.judged(judge, counts)
        tie = tie_breaker(judged.gains, len(counts))
        return cls(family, *judged, ungrouped=family.ungrouped(judge, counts), per_class=tie)

    @property
    def allowed(self) -> Mask:
        """Mark the groups inside which no class breaks a model, shape (groups,)."""
        return np.asarray(self.violations == 0) & (self.ungrouped is not None)

    @property
    def worth(self) -> Floats:
        """The gains, those of more classes being worth more where they are equal."""
        return self.gains + self.per_class * self.classes

    def best(self) -> Path | None:
        """The best allowed partition; None where there is none. Ties: more classes."""
        return self.family.best(self.allowed, self.worth)

    def count(self, most: int) -> int:
        """Count the allowed partitions, up to one more than ``most``."""
        paths = self.family.paths(self.allowed)
        return sum(1 for _ in islice(paths, most + 1)) + len(self.family.without_path)

    def partitions(self) -> Iterator[Partition]:
        """All allowed partitions; suppression where there is no other."""
        paths = list(self.family.paths(self.allowed))
        yield from map(self.family.partition, paths)
        yield from self.family.without_path or (() if paths else self.family.suppression)


def tie_breaker(gains: Floats, classes: int) -> float:
    """Return the bonus of each of at most ``classes`` classes: of equal sums that of more wins.

    All classes together count for less than ``TOLERANCE`` bits, or than what floats of the
    objective's magnitude can tell.
    """
    # Groups that break a model have infinite gains, which say nothing of rounding.
    magnitude = float(np.abs(gains[np.isfinite(gains)]).max(initial=0.0))
    return max(TOLERANCE, PRECISION * magnitude) / (classes + 1)


def combinations_without(counts: Counts, names: Collection[str]) -> tuple[Codes, int]:
    """Number the combinations of the other attributes: that of each class, and how many."""
    others = [place for place, name in enumerate(counts.names) if name not in names]
    found = np.unique(row_keys(counts.cells[:, others]), return_inverse=True)[1]
    return found, int(found.max(initial=0)) + 1


def tabulated(counts: Counts, places: Sequence[Codes], shape: tuple[int, ...]) -> Tables:
    """Records by place and sensitive value, shape (..., values); ``places`` (classes,) each.

    InputError where they are too many for arrays.
    """
    matrices: Tables = {None: counts.sizes[:, None]}
    matrices.update(counts.dense.joint)
    tables: Tables = {}
    for name, joint in matrices.items():
        _require_room(prod(shape), joint.shape[1], name)
        tables[name] = np.zeros((*shape, joint.shape[1]), np.int64)
        np.add.at(tables[name], tuple(places), joint)
    return tables


def _require_room(places: int, values: int, name: str | None) -> None:
    """Refuse a table of places and values that is too large to be made."""
    if places * values * 8 > MOST_BYTES:
        if name in (PERSON, HOUSEHOLD):
            raise too_many(values, places, name)
        column = None if name is None else of_column(name)
        raise InputError(
            f"column {column!r} has {values:,} distinct values, too many to weigh ranges of "
            f"{places:,} combinations by; put its values into groups, choose coarser "
            "quasi-identifiers, or full-domain recoding"
        )


def before(table: Ints) -> Ints:
    """Sums over what lies before each place of the first axis, one place longer.

    With them the counts of every interval are one subtraction.
    """
    sums = np.zeros((len(table) + 1, *table.shape[1:]), table.dtype)
    np.cumsum(table, axis=0, out=sums[1:])
    return sums
