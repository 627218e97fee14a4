"""The fewest people of classes by linear programs, where a closed form does not attain them.

The program. Let x >= 0 be how many people each raw cell has, and A x = n its margins. Of all such x
the fewest people of a class g are the least sum of x over the cells of g. No population has fewer,
as its numbers are such an x. They are whole, so that the minimum rounded up holds, too.

The proof. Each number n of a margin has a multiplier y. Where A'y <= 1 in the cells of g, and
A'y <= 0 in all others, n'y <= sum of x over the cells of g, whatever x is (weak duality). The
solver gives such y as floats. They are rounded to whole parts, and what they are too large by in
some cell is taken from the multipliers of one margin. All of that is in whole numbers. So the bound
holds whatever the solver did, and one that fails gives a lower bound.

Contradiction. Where A'y <= 0 in every cell and n'y > 0, no x has the margins (Farkas). The y are
those of the program of the fewest people whom the margins lack in cells.

Fewer cells. Of an attribute that one margin alone has, two kinds of values matter to a class: its
own and others. An x by kind is one by raw values: the people of a cell are split among the values
in the proportions of that margin, and no other margin sees it. A margin whose attributes another
one has tells nothing more than that one.

Monotone. The cells of g are some of those of a class h that has all people of g. So the minimum of
h is at least that of g, also rounded up. What is proven is that minimum rounded up, unless the
multipliers are so far off that to repair them takes as much as there is to the next whole number.
Then a merged class could have a lower bound than a part of it. What is released is proven by its
own bounds all the same. That no other recoding is better would then not be.

Cost. Beyond ``MOST_CELLS`` cells, or ``MOST_WORK`` cells of all classes together, the closed form
stands. Both count by the margins, and the classes that there could be, not those of the table. So
they are the same for a table and its release, and classes are within them where finer ones are.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from anonymizer.counts.pairs import numbered, row_keys, runs
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask

MOST_CELLS = 1 << 12
"""Cells of a program; 2,800 took 18 ms, and 5,600 a third of a second."""

MOST_WORK = 1 << 17
"""Cells of the programs of all classes that a recoding could have: some seconds."""

MOST_JOINED = 1 << 20
"""Cells that are made on the way to those that all margins allow."""

SCALES = (1, 2, 6, 60, 10**6)
"""Whole parts that multipliers are rounded to: mostly they are whole numbers or halves."""


class Totals(NamedTuple):
    """How many ``people``, above 0, have each row of value codes of some attributes.

    ``cells`` (rows, names), no two alike, and ``people`` (rows,).
    """

    names: tuple[str, ...]
    cells: Codes
    people: Ints

    @classmethod
    def of(cls, names: Sequence[str], cells: Codes, people: Ints) -> "Totals":
        """Add up the people of rows that are alike."""
        _, first, row_of = np.unique(row_keys(cells), return_index=True, return_inverse=True)
        found = np.bincount(row_of, people, len(first)).astype(np.int64)
        return cls(tuple(names), cells[first][found > 0], found[found > 0])

    def column(self, name: str) -> Codes:
        """The codes of an attribute, shape (rows,)."""
        return self.cells[:, self.names.index(name)]

    def reduced(self, shared: frozenset[str], inside: Mapping[str, Mask]) -> "Totals":
        """The people by ``shared`` attributes, and by whether values of others are ``inside``."""
        names = [name for name in self.names if name in shared or name in inside]
        columns = [
            self.column(name) if name in shared else inside[name][self.column(name)]
            for name in names
        ]
        cells = np.zeros((len(self.people), len(names)), np.intp)
        for place, column in enumerate(columns):
            cells[:, place] = column
        return Totals.of(names, cells, self.people)


@dataclass(frozen=True, eq=False)
class MarginPrograms:
    """Linear programs of some ``margins``, none of which has all attributes of another.

    ``solved`` are the bounds of classes that were computed, by the values that they admit.
    """

    margins: tuple[Totals, ...] = field(repr=False)
    solved: dict[bytes, int] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, margins: Sequence[Totals]) -> "MarginPrograms":
        """The programs of margins, which have the same people."""
        sets = [frozenset(each.names) for each in margins]
        kept = [
            each
            for place, each in enumerate(margins)
            if not any(
                sets[place] < other or (sets[place] == other and before < place)
                for before, other in enumerate(sets)
            )
        ]
        return cls(tuple(kept))

    @cached_property
    def shared(self) -> frozenset[str]:
        """The attributes that several margins have."""
        counts = Counter(name for each in self.margins for name in each.names)
        return frozenset(name for name, number in counts.items() if number > 1)

    @cached_property
    def needed(self) -> bool:
        """Whether a closed form may be too low: some margins share other attributes than others."""
        sets = [frozenset(each.names) for each in self.margins]
        return len({one & other for one, other in combinations(sets, 2)}) > 1

    @cached_property
    def cells(self) -> int:
        """The cells of the shared attributes that all margins allow; beyond the bound if more."""
        found = joined([each.reduced(self.shared, {}) for each in self.margins], MOST_JOINED)
        return MOST_CELLS + 1 if found is None else len(found[0])

    @property
    def contradictory(self) -> bool:
        """Whether it is proven that no people have all of the margins."""
        if not self.needed or self.cells > MOST_CELLS:
            return False
        known = [each.reduced(self.shared, {}) for each in self.margins]
        rows, cells = placed_in(known)
        nobody = np.zeros(cells, np.int64)
        found = multipliers(rows, known, nobody, lacking=True)
        return bool(proven(found, rows, known, nobody) > 0)

    def raised(
        self, groups: Mapping[str, Codes], classes: Mapping[str, Codes], least: Ints
    ) -> Ints:
        """Raise bounds of classes to what programs prove, shape (classes,).

        ``groups`` (values,) of the value codes of each attribute by which classes differ, and
        ``classes`` (classes,) the group of each.
        """
        if not self._within(groups):
            return least
        found = least.copy()
        for place in range(len(least)):
            inside = {name: groups[name] == own[place] for name, own in classes.items()}
            if self._most(inside) > least[place]:
                found[place] = max(least[place], self._fewest(inside))
        return found

    def _within(self, groups: Mapping[str, Codes]) -> bool:
        """Whether classes of some groups need programs, and these are no larger than the bounds."""
        sets = [frozenset(each.names) for each in self.margins]
        telling = frozenset(groups)
        if not self.needed or any(telling <= names for names in sets):
            return False
        if not telling <= frozenset().union(*sets):
            return False
        cells = self.cells << len(telling - self.shared)
        classes = 1
        for name in telling:
            codes = np.concatenate([m.column(name) for m in self.margins if name in m.names])
            classes *= len(np.unique(groups[name][codes]))
        return cells <= MOST_CELLS and cells * classes <= MOST_WORK

    def _most(self, inside: Mapping[str, Mask]) -> int:
        """The people of the margin that admits fewest to a class: it has no more."""
        return min(int(each.people[admitted(each, inside)].sum()) for each in self.margins)

    def _fewest(self, inside: Mapping[str, Mask]) -> int:
        """The people that a class has for sure, by its program."""
        key = b"|".join(np.packbits(inside[name]).tobytes() for name in sorted(inside))
        if key not in self.solved:
            own = {name: mask for name, mask in inside.items() if name not in self.shared}
            known = [each.reduced(self.shared, own) for each in self.margins]
            rows, cells = placed_in(known)
            values = {name: np.arange(2) == 1 for name in own} | {
                name: inside[name] for name in inside if name in self.shared
            }
            mask = np.ones(cells, bool)
            for each, row in zip(known, rows, strict=True):
                mask &= admitted(each, values)[row]
            cost = mask.astype(np.int64)
            self.solved[key] = proven(multipliers(rows, known, cost), rows, known, cost)
        return self.solved[key]


def admitted(margin: Totals, inside: Mapping[str, Mask]) -> Mask:
    """Mark the rows of a margin whose values are inside of a class, shape (rows,)."""
    found = np.ones(len(margin.people), bool)
    for name in margin.names:
        if name in inside:
            found &= inside[name][margin.column(name)]
    return found


def joined(margins: Sequence[Totals], most: int) -> tuple[Codes, tuple[str, ...]] | None:
    """Return the cells that all margins allow, (cells, names), and these names; None: too many."""
    names, cells = margins[0].names, margins[0].cells
    for other in connected(margins):
        common = [name for name in other.names if name in names]
        own, others, _ = numbered(
            cells[:, [names.index(name) for name in common]],
            other.cells[:, [other.names.index(name) for name in common]],
        )
        order = np.argsort(others, kind="stable")
        starts = np.searchsorted(others[order], own)
        lengths = np.searchsorted(others[order], own, side="right") - starts
        if lengths.sum() > most:
            return None
        added = [name for name in other.names if name not in names]
        rows = order[runs(starts, lengths)]
        columns = other.cells[rows][:, [other.names.index(name) for name in added]]
        cells = np.column_stack([np.repeat(cells, lengths, axis=0), columns])
        names = (*names, *added)
    return cells, names


def connected(margins: Sequence[Totals]) -> Iterator[Totals]:
    """Yield all margins but the first, each with the most attributes that came before it."""
    names, left = {*margins[0].names}, list(margins[1:])
    while left:
        best = max(left, key=lambda each: len(names & {*each.names}))
        left = [each for each in left if each is not best]
        names |= {*best.names}
        yield best


def placed_in(margins: Sequence[Totals]) -> tuple[list[Codes], int]:
    """Return the row of each margin that each cell is in, (cells,), and the number of cells."""
    found = joined(margins, np.iinfo(np.int64).max)
    assert found is not None  # which is None for too many only
    cells, names = found
    rows = []
    for each in margins:
        number, at, _ = numbered(each.cells, cells[:, [names.index(name) for name in each.names]])
        rows.append(np.argsort(number)[at])
    return rows, len(cells)


def multipliers(
    rows: Sequence[Codes], margins: Sequence[Totals], cost: Ints, lacking: bool = False
) -> list[Floats]:
    """Return multipliers of the numbers of each margin, near to the best; 0 where there are none.

    ``lacking``: for the fewest people whom margins lack in cells, not for those of a class.
    """
    from scipy.optimize import linprog  # slow to load
    from scipy.sparse import csr_array

    people = np.concatenate([each.people for each in margins])
    starts = np.cumsum([0, *(len(each.people) for each in margins)])
    places = np.concatenate([row + start for row, start in zip(rows, starts, strict=False)])
    columns = np.tile(np.arange(len(cost)), len(rows))
    if lacking:
        every = np.arange(len(people))
        places, columns = np.append(places, every), np.append(columns, len(cost) + every)
        cost = np.append(cost, np.ones(len(people), np.int64))
    shape = len(people), len(cost)
    matrix = csr_array((np.ones(len(places)), (places, columns)), shape=shape)
    found = linprog(cost, A_eq=matrix, b_eq=people, bounds=(0, None), method="highs")
    known = found.eqlin.marginals if found.status == 0 else np.zeros(len(people))
    return np.split(known, starts[1:-1])


def proven(
    multipliers: Sequence[Floats], rows: Sequence[Codes], margins: Sequence[Totals], cost: Ints
) -> int:
    """Return what multipliers prove of the people whom cells of a ``cost`` have, rounded up."""
    best = 0
    for scale in SCALES:
        whole = [np.rint(scale * each).astype(np.int64) for each in multipliers]
        over = sum(each[row] for each, row in zip(whole, rows, strict=True)) - scale * cost
        too_large = [
            largest_by(row, over, len(each)) for row, each in zip(rows, whole, strict=True)
        ]
        lost = [paid(each, m.people) for each, m in zip(too_large, margins, strict=True)]
        found = sum(paid(each, m.people) for each, m in zip(whole, margins, strict=True))
        best = max(best, -((min(lost) - found) // scale))
    return best


def largest_by(row: Codes, over: Ints, number: int) -> Ints:
    """The most that a cell of each row of a margin is over by, 0 if none is, shape (rows,)."""
    found = np.zeros(number, np.int64)
    np.maximum.at(found, row, over)
    return found


def paid(multipliers: Ints, people: Ints) -> int:
    """The sum of people times their multipliers, of any size."""
    return sum(map(int.__mul__, multipliers.tolist(), people.tolist()))
