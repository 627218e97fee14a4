"""The groups of values that partitions are made of, whatever their kind, and counts of them."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod

import numpy as np

from anonymizer.counts.counts import Counts, row_keys
from anonymizer.errors import InputError
from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.information.matrices import MOST_BYTES
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.partitions.interval_dp import Chain
from anonymizer.recoding.problem.class_scores import Judge, Judged, Tables, count_matrices

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
    def judged(self, judge: Judge, counts: Counts) -> Judged:
        """Judge every group of an attribute that is raw in the counts, the others as released."""

    @abstractmethod
    def paths(self, allowed: Mask) -> Iterator[Path]:
        """Every partition into allowed groups."""

    @abstractmethod
    def partition(self, path: Path) -> Partition:
        """The partition of all values of the taxonomy that some groups make."""

    def best(self, allowed: Mask, worth: Floats) -> Path | None:
        """The allowed partition whose worth adds up to most, the first in a tie; None: no such."""
        paths = self.paths(allowed)
        return max(paths, key=lambda path: float(worth[list(path)].sum()), default=None)

    def ungrouped(self, judge: Judge, counts: Counts) -> float | None:
        """What the classes add that no group holds; None where they are unacceptable."""
        return 0.0

    @property
    def confined(self) -> bool:
        """Whether levels of the taxonomy may not be among its partitions."""
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
        wanted = np.asarray(starts) * (self.blocks + 1) + np.append(starts[1:], self.blocks)
        return tuple(np.searchsorted(keys, wanted).tolist())

    def chain(self, allowed: Mask) -> Chain:
        """The allowed groups that lead from the first block to the last."""
        return Chain.of(self.starts, self.ends, self.blocks, allowed, self.most)

    def best(self, allowed: Mask, worth: Floats) -> Path | None:
        """By dynamic programming over the blocks. Ties: the earliest cuts, from the first on."""
        chain = self.chain(allowed)
        path = chain.best(worth[chain.groups])
        return None if path is None else chain.given(path)

    def paths(self, allowed: Mask) -> Iterator[Path]:
        """The earliest cuts first."""
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
        """Which groups no class inside breaks a model of, shape (groups,)."""
        return np.asarray(self.violations == 0) & (self.ungrouped is not None)

    @property
    def worth(self) -> Floats:
        """The gains, those of more classes being worth more where they are equal."""
        return self.gains + self.per_class * self.classes

    def best(self) -> Path | None:
        """The best allowed partition; None where there is none. Ties: more classes."""
        return self.family.best(self.allowed, self.worth)

    def count(self, most: int) -> int:
        """How many allowed partitions there are; so many and one where there are more."""
        paths = self.family.paths(self.allowed)
        return sum(1 for _ in islice(paths, most + 1)) + len(self.family.without_path)

    def partitions(self) -> Iterator[Partition]:
        """All allowed partitions; suppression where there is no other."""
        paths = list(self.family.paths(self.allowed))
        yield from map(self.family.partition, paths)
        yield from self.family.without_path or (() if paths else self.family.suppression)


def tie_breaker(gains: Floats, classes: int) -> float:
    """What each of at most so many classes is worth, that of equal sums the one of more wins.

    All classes together count for less than ``TOLERANCE`` bits, or than what floats of the
    objective's magnitude can tell.
    """
    magnitude = float(np.abs(gains[np.isfinite(gains)]).max(initial=0.0))
    return max(TOLERANCE, PRECISION * magnitude) / (classes + 1)


def combinations_without(counts: Counts, names: Collection[str]) -> tuple[Codes, int]:
    """The combination of the other attributes that each class has, by number, and how many."""
    others = [place for place, name in enumerate(counts.names) if name not in names]
    found = np.unique(row_keys(counts.cells[:, others]), return_inverse=True)[1]
    return found, int(found.max(initial=0)) + 1


def tabulated(counts: Counts, places: Sequence[Codes], shape: tuple[int, ...]) -> Tables:
    """Records by place and sensitive value, shape (..., values); ``places`` (classes,) each."""
    tables: Tables = {}
    for name, joint in count_matrices(counts).items():
        _require_room(prod(shape), joint.shape[1], name)
        tables[name] = np.zeros((*shape, joint.shape[1]), np.int64)
        np.add.at(tables[name], tuple(places), joint)
    return tables


def _require_room(places: int, values: int, name: str | None) -> None:
    """Refuse a table of so many places and values that is too large to be made."""
    if places * values * 8 > MOST_BYTES:
        raise InputError(
            f"column {name!r} has {values:,} distinct values, too many to weigh ranges of "
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
