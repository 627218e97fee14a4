"""Candidates: what a node would release, as the arrays that policies and objectives look at."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from anonymizer.counts.counts import Classes, Counts
from anonymizer.kernels import FrequencySet, Kernel
from anonymizer.kernels.arrays import Columns, Ints, Mask


@dataclass(frozen=True, eq=False)
class Layout:
    """What the columns of a frequency set are about.

    ``places`` are the columns [start, stop) of each sensitive attribute and each target;
    ``margins`` (columns,) are the records of the whole table, the last one being all of them;
    ``values`` is what the columns of each attribute count. With a ``population`` the last column
    but one counts its records.
    """

    places: Mapping[str, tuple[int, int]]
    margins: Ints
    values: Mapping[str, tuple[object, ...]]
    sensitive: tuple[str, ...]
    population: bool

    @classmethod
    def of(cls, counts: Counts) -> "Layout":
        """The layout of the frequency sets of some counts."""
        places, start = {}, 0
        for name, margin in counts.margins.items():
            places[name] = start, start + len(margin)
            start += len(margin)
        whole = [[] if counts.population is None else [counts.population.sum()], [counts.records]]
        margins = np.concatenate([*counts.margins.values(), *whole]).astype(np.int64)
        people = counts.population is not None
        return cls(places, margins, counts.values, counts.sensitive, people)

    @property
    def records(self) -> int:
        """Records of the whole table."""
        return int(self.margins[-1])

    def place(self, attribute: str | None) -> tuple[int, int]:
        """The columns of an attribute; the one of all records for None."""
        if attribute is None:
            return len(self.margins) - 1, len(self.margins)
        return self.places[attribute]

    def classes(self, attribute: str | None, counts: Columns, margins: Ints) -> Classes:
        """The classes by the values of one attribute, against a table of these margins."""
        start, stop = self.place(attribute)
        return Classes(
            counts[:, start:stop].astype(np.int64),
            margins[start:stop],
            self.values.get(attribute, ()) if attribute else (),
            counts[:, -2].astype(np.int64) if self.population else None,
            attribute,
        )


def columns_of(counts: Counts) -> Columns:
    """The histograms of classes side by side and their sizes last, shape (classes, columns).

    In the narrowest type that holds all records. Before the sizes stand the population's, where
    there is one.
    """
    people = [] if counts.population is None else [counts.population[:, None]]
    most = max(counts.records, int(people[0].sum()) if people else 0)
    columns = [*counts.dense.joint.values(), *people, counts.sizes[:, None]]
    return np.concatenate(columns, axis=1).astype(np.int32 if most < 2**31 else np.int64)


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
    def hidden(self) -> Columns:
        """The suppressed classes, shape (suppressed classes, columns)."""
        nothing = self.classes.counts[:0]
        return nothing if self.suppressed is None else self.classes.counts[self.suppressed]

    @cached_property
    def together(self) -> Ints:
        """The suppressed records by column, shape (columns,)."""
        return np.asarray(self.hidden.sum(axis=0, dtype=np.int64))

    @property
    def records_suppressed(self) -> int:
        """How many records are suppressed, removed or not."""
        return 0 if self.suppressed is None else int(self.together[-1])

    @property
    def groups(self) -> int:
        """Classes that are not suppressed, and one more when any is."""
        occupied = self._occupied(self.classes.counts)
        if self.suppressed is None:
            return occupied
        hidden = self._occupied(self.hidden)
        return occupied - hidden + (hidden > 0)

    def _occupied(self, counts: Columns) -> int:
        """How many of some classes the table has records of."""
        return int((counts[:, -1] > 0).sum()) if self.layout.population else len(counts)

    @property
    def released_classes(self) -> int:
        """Classes of the table released."""
        return self.groups - (self.removed and self.records_suppressed > 0)

    @property
    def squares(self) -> int:
        """Sum of n_g^2 over the classes that are not suppressed."""
        if "squares" not in self.sums:
            self.sums["squares"] = _squares(self.classes.counts)
        hidden = 0 if self.suppressed is None else _squares(self.hidden)
        return int(self.sums["squares"]) - hidden

    def total(self, key: object, measure: Callable[[Columns], float]) -> float:
        """A sum over the classes released, by a function of any classes' columns.

        ``key`` identifies the sum.
        """
        if key not in self.sums:
            self.sums[key] = measure(self.classes.counts)
        total = self.sums[key]
        if self.suppressed is not None and len(self.hidden):
            total -= measure(self.hidden)
            if not self.removed:
                total += measure(self.together[None])
        return total

    def uncertainty(self, attribute: str) -> float:
        """Sum of n_g H(W|g) over the classes released, in bits."""
        start, stop = self.layout.place(attribute)
        return self.total(attribute, lambda counts: self.kernel.uncertainty(counts, start, stop))

    def occurring(self, attribute: str) -> int:
        """Sum over the classes released of the number of values that occur in each."""
        start, stop = self.layout.place(attribute)
        key = "occurring", attribute
        return int(self.total(key, lambda counts: int((counts[:, start:stop] > 0).sum())))

    def entropy(self, attribute: str) -> float:
        """N H(W) of the table released, in bits."""
        start, stop = self.layout.place(attribute)
        return self.kernel.uncertainty(self.margins[None], start, stop)


def _squares(counts: Columns) -> int:
    sizes = counts[:, -1].astype(np.int64)
    return int(sizes @ sizes)


def merged(counts: Columns, marks: Mask) -> Ints:
    """Some classes as one, shape (columns,)."""
    return np.asarray(counts[marks].sum(axis=0, dtype=np.int64))
