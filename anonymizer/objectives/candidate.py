"""Candidates: what a node would release, as the arrays that policies and objectives look at."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from anonymizer.counts.counts import Classes, Counts, judged_by
from anonymizer.counts.pairs import tabulated
from anonymizer.counts.persons import Attribute, of_column
from anonymizer.information.matrices import CountMatrix
from anonymizer.kernels import FrequencySet, Histograms, Kernel
from anonymizer.kernels.arrays import Columns, Ints, Mask


class Budget(NamedTuple):
    """Records that may be suppressed, and facts about any class that is not.

    Attributes
    ----------
    records
        Of the whole table.
    most
        Records that may be suppressed.
    least
        Records that every class has which is not suppressed, at the least; 1 or more.
    by_size
        Whether it is for having fewer than these that records have to be suppressed, and for
        nothing else that generalization may not mend.
    """

    records: int
    most: int = 0
    least: int = 1
    by_size: bool = False

    @property
    def share(self) -> float:
        """The share of the records that may be suppressed, in [0, 1)."""
        return self.most / self.records


@dataclass(frozen=True, eq=False)
class Layout:
    """Meaning of the columns of a frequency set.

    ``places`` are the columns [start, stop) of each sensitive attribute and each target, and of
    what is counted of persons (see ``Counts``);
    ``margins`` (columns,) are the records of the whole table, the last one being all of them;
    ``values`` is what the columns of each attribute count. With a ``population`` the last column
    but one counts its records. ``gaps`` are as in ``Counts``.
    """

    places: Mapping[str, tuple[int, int]]
    margins: Ints
    values: Mapping[str, tuple[object, ...]]
    sensitive: tuple[str, ...]
    population: bool
    gaps: tuple[str, ...] = ()

    @classmethod
    def of(cls, counts: Counts) -> "Layout":
        """The layout of the frequency sets of some counts."""
        places, start = {}, 0
        for name, margin in counts.margins.items():
            places[name] = start, start + len(margin)
            start += len(margin)
        # The last columns are of no values: records of the population, if any, and all records.
        whole = [[] if counts.population is None else [counts.population.sum()], [counts.records]]
        margins = np.concatenate([*counts.margins.values(), *whole]).astype(np.int64)
        people = counts.population is not None
        return cls(places, margins, counts.values, counts.sensitive, people, counts.gaps)

    @property
    def records(self) -> int:
        """Records of the whole table."""
        return int(self.margins[-1])

    def place(self, attribute: str | None) -> tuple[int, int]:
        """The columns of an attribute; the one of all records for None."""
        if attribute is None:
            return len(self.margins) - 1, len(self.margins)
        return self.places[attribute]

    def judged(self, attribute: Attribute | None, unit: str | None) -> tuple[str | None, ...]:
        """Return the names of the counts that a model judges, of those that add up."""
        return judged_by(attribute, unit, self.places)

    def classes(
        self,
        attribute: str | None,
        counts: Columns | Histograms,
        margins: Ints,
        sparse: bool = False,
    ) -> Classes:
        """Return classes by the values of one attribute, against a table of these margins.

        ``sparse``: of very many values as pairs that occur, where the histograms are.
        """
        start, stop = self.place(attribute)
        of = Histograms.of(counts)
        joint: CountMatrix
        if attribute is not None and sparse and of.sparse:
            some = (of.places >= start) & (of.places < stop)
            codes, sizes = of.places[some].astype(np.intp), of.numbers[some].astype(np.int64)
            joint = tabulated(of.rows[some], codes - start, sizes, (len(of), stop - start))
        else:
            joint = of.sizes[:, None] if attribute is None else of.about(start, stop)
        return Classes(
            joint.astype(np.int64),
            margins[start:stop],
            self.values.get(attribute, ()) if attribute else (),
            of.counts[:, -2].astype(np.int64) if self.population else None,
            None if attribute is None else of_column(attribute),
            attribute in self.gaps,
        )

    def some_classes(
        self, attribute: str | None, counts: Columns | Histograms, margins: Ints
    ) -> Iterator[Classes]:
        """Yield the classes in parts: dense rows of sparse classes need not fit into memory."""
        start, stop = self.place(attribute)
        for _, block in Histograms.of(counts).blocks(stop - start):
            yield self.classes(attribute, block, margins)


MANY = 64
"""Values beyond which histograms may be sparse: fewer are read faster side by side.

Rolling up 20 000 classes and checking entropy takes sparse ones 1.5 times as long of 32 values, as
long of 64, 0.7 of the time of 128 and 0.45 of that of 512, one number in eight not being 0.
"""

SPARSE = 8
"""Histograms are sparse where one number in so many, or fewer, is not 0."""


def histograms_of(counts: Counts) -> Histograms:
    """The histograms of classes, dense or sparse, in the narrowest type that holds all records."""
    return listed_of(counts) if _worth_listing(counts) else Histograms.of(columns_of(counts))


def listed_of(counts: Counts) -> Histograms:
    """The values that occur in each class, in the narrowest type that holds all records."""
    parts, start = [_entries(np.zeros((len(counts), 0), np.int64))], 0
    for joint in counts.joint.values():
        rows, places, numbers = _entries(joint)
        parts.append((rows, places + start, numbers))
        start += joint.shape[1]
    rows, places, numbers = (np.concatenate(column) for column in zip(*parts, strict=True))
    # Kernels bisect the columns of a class: they must ascend over all attributes.
    if len(parts) > 1:
        order = np.lexsort([places, rows])
        rows, places, numbers = rows[order], places[order], numbers[order]
    kind = _kind(counts)
    starts = np.searchsorted(rows, np.arange(len(counts) + 1)).astype(np.int64)
    trailing = np.concatenate(_trailing(counts), axis=1).astype(kind)
    return Histograms(trailing, starts, places.astype(np.int32), numbers.astype(kind))


def columns_of(counts: Counts) -> Columns:
    """The histograms of classes side by side and their sizes last, shape (classes, columns).

    In the narrowest type that holds all records. Before the sizes stand the population's, where
    there is one. InputError where they are too many for an array.
    """
    joints = counts.dense.joint.values()
    return np.concatenate([*joints, *_trailing(counts)], axis=1).astype(_kind(counts))


def _worth_listing(counts: Counts) -> bool:
    """Return whether to list values that occur: where counts do, or few of many values occur."""
    joints = list(counts.joint.values())
    if any(not isinstance(joint, np.ndarray) for joint in joints):
        return True
    values = sum(joint.shape[1] for joint in joints)
    # Dense rows of few values are read faster; counting what occurs is not worth it.
    if values <= MANY:
        return False
    pairs = sum(int(np.count_nonzero(joint)) for joint in joints)
    return bool(pairs * SPARSE < len(counts) * values)


def _entries(joint: Any) -> tuple[Ints, Ints, Ints]:
    """Class, value and records wherever there are any, class by class; of a matrix of any kind."""
    if isinstance(joint, np.ndarray):
        rows, places = np.nonzero(joint)
        return rows, places, joint[rows, places]
    rows = np.repeat(np.arange(joint.shape[0]), np.diff(joint.indptr))
    return rows, joint.indices.astype(np.int64), joint.data


def _trailing(counts: Counts) -> list[Ints]:
    """The columns that are of no attribute's values, shape (classes, 1) each."""
    people = [] if counts.population is None else [counts.population[:, None]]
    return [*people, counts.sizes[:, None]]


def _kind(counts: Counts) -> type[np.signedinteger[Any]]:
    sums = [int(margin.sum()) for margin in counts.margins.values()]  # of persons there are parts
    people = 0 if counts.population is None else int(counts.population.sum())
    people = people if counts.least is None else people + counts.least.total
    return np.int32 if max(counts.records, people, *sums) < 2**31 else np.int64


@dataclass(frozen=True, eq=False)
class Candidate:
    """A node as it would be released: its classes, and which of them are suppressed.

    ``suppressed`` (classes,) marks those whose quasi-identifiers would be suppressed, None where
    none is; their records are left out where ``removed``, otherwise they form one class together.
    ``margins`` (columns,) are the records of the released table. ``sums`` over all classes are
    shared by the candidates of one node, so that each is made once.
    """

    node: tuple[int, ...]
    classes: FrequencySet
    suppressed: Mask | None
    removed: bool
    margins: Ints
    layout: Layout
    kernel: Kernel
    sums: dict[object, float] = field(default_factory=dict)

    @cached_property
    def hidden(self) -> Histograms:
        """The suppressed classes."""
        which = slice(0, 0) if self.suppressed is None else self.suppressed
        return self.classes.histograms.select(which)

    @cached_property
    def together(self) -> Ints:
        """The suppressed records by column, shape (columns,)."""
        return self.hidden.summed(len(self.layout.margins))

    @property
    def released(self) -> Histograms:
        """Classes of the table released: the suppressed ones as one, or left out."""
        if self.suppressed is None:
            return self.classes.histograms
        rest = self.classes.histograms.select(~self.suppressed)
        return rest if self.removed or not self.records_suppressed else rest.plus(self.together)

    @property
    def records_suppressed(self) -> int:
        """Number of suppressed records, removed or not."""
        return 0 if self.suppressed is None else int(self.together[-1])

    @property
    def groups(self) -> int:
        """Classes that are not suppressed, and one more when any is."""
        occupied = self._occupied(self.classes.sizes)
        if self.suppressed is None:
            return occupied
        hidden = self._occupied(self.hidden.sizes)
        return occupied - hidden + (hidden > 0)

    def _occupied(self, sizes: Columns) -> int:
        return int((sizes > 0).sum()) if self.layout.population else len(sizes)

    @property
    def released_classes(self) -> int:
        """Classes of the table released."""
        return self.groups - (self.removed and self.records_suppressed > 0)

    @property
    def squares(self) -> int:
        """Sum of n_g^2 over the classes that are not suppressed."""
        if "squares" not in self.sums:
            self.sums["squares"] = _squares(self.classes.sizes)
        hidden = 0 if self.suppressed is None else _squares(self.hidden.sizes)
        return int(self.sums["squares"]) - hidden

    def total(self, key: object, measure: Callable[[Columns], float]) -> float:
        """Sum a function of any classes' columns over the classes released.

        ``key`` identifies the sum. Many values are handed over for some classes at a time.
        """
        columns = len(self.layout.margins)

        def summed(of: Histograms) -> float:
            return sum(measure(block.dense(columns)) for _, block in of.blocks(columns))

        return self.summed(key, summed)

    def summed(self, key: object, measure: Callable[[Histograms], float]) -> float:
        """Sum a function of any classes' histograms over the classes released."""
        if key not in self.sums:
            self.sums[key] = measure(self.classes.histograms)
        total = self.sums[key]
        if self.suppressed is not None and len(self.hidden):
            total -= measure(self.hidden)
            if not self.removed:
                total += measure(Histograms.of(self.together[None]))
        return total

    def uncertainty(self, attribute: str) -> float:
        """Sum of n_g H(W|g) over the classes released, in bits."""
        start, stop = self.layout.place(attribute)
        return self.summed(attribute, lambda of: self.kernel.uncertainty(of, start, stop))

    def occurring(self, attribute: str) -> int:
        """Sum over the classes released of the number of values that occur in each."""
        start, stop = self.layout.place(attribute)
        key = "occurring", attribute
        return int(self.summed(key, lambda of: of.occurring(start, stop)))

    def entropy(self, attribute: str) -> float:
        """N H(W) of the table released, in bits."""
        start, stop = self.layout.place(attribute)
        return self.kernel.uncertainty(self.margins[None], start, stop)


def _squares(sizes: Columns) -> int:
    sizes = sizes.astype(np.int64)
    return int(sizes @ sizes)
