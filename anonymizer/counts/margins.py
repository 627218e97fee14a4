"""The fewest people that classes can have, where of a population only margins are known.

A margin is a published table of how many people have each combination of values of some
quasi-identifiers, such as age by sex. Many populations have the same margins. The people of a class
are bounded by what holds in all of them: no population that has the margins has fewer.

The bound. A class g admits some values of each attribute. Take one margin for the root C, and
others for its leaves D, so that each attribute by which g admits not everybody is in one of them. S
are the attributes that C and a leaf D have in common, U those that C has in common with any leaf.
Then

    P_g >= sum_u max(0, n_C(g, u) - sum_D (n_S(u) - n_D(g, u))),

u being the raw values of U that g admits; n_C(g, u) the people of the margin C who have these and
whom g admits by the other attributes of C; n_S(u) the people who have the values of u in S; and
n_D(g, u) those of them whom g admits by the other attributes of D. Whoever is counted in n_C(g, u)
and is not in g fails in some leaf D by an attribute outside of S. So he is one of the
n_S(u) - n_D(g, u) people of that leaf. All numbers are whole, and the sum is exact.

The bound is attained, so that some population has no more people in g,

- by a single margin that has all of the attributes;
- where the margins are two: within u the people whom C admits are put, as far as there are any,
  with those whom D does not (Frechet's bound, u by u);
- where they are more, and any two have the same attributes in common: the people whom one margin
  excludes are put apart from those whom another one does.

Otherwise it holds, and may be below what is attained: linear programs raise it there, as far as
they are small (``anonymizer.counts.margin_programs``). Of several choices of root and leaves the
best counts. For cells of decomposable tables see Dobra and Fienberg, "Bounds for cell entries in
contingency tables given marginal totals and decomposable graphs" (PNAS 97, 2000).

Monotone: let h have all people of g. With the same root and leaves n_C(h, u) >= n_C(g, u) and
n_D(h, u) >= n_D(g, u), and h admits every u that g does, so that no term falls and none is lost.
Where h needs fewer leaves, leaving one out does not lower the bound either: nothing is subtracted
for it any more, and the terms of several u are put together, max(0, x + y - d) >= max(0, x - d) +
max(0, y - d) for x, y, d >= 0. A single margin that has all attributes is exact, and so is at least
any other bound.

Labels of a level. A margin may count people by the groups of a level of a hierarchy, age groups in
place of ages. Choose a level t of each attribute, among those that margins have of it. The margins
that know it as finely are put together to the groups of t, and the others count without the
attribute. What is proven above of raw values then holds of these groups, for classes each of which
has whole ones. Others are bounded by 0, as somebody in a group may be in the class or not. The best
of all choices counts. Monotone: each choice is, and one that bounds a class by more than 0 is one
for whatever has all people of the class, since levels are nested.

The people of classes do not add up: those of a merged class are at least the sum of the bounds of
its parts, and mostly more.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import combinations, product
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from anonymizer.counts.columns import encoded
from anonymizer.counts.counts import Partitions
from anonymizer.counts.margin_programs import MarginPrograms, Totals
from anonymizer.counts.pairs import numbered, row_keys, runs
from anonymizer.errors import InputError
from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.tables.population import MOST_PEOPLE, CountedMargin

MOST_CELLS = 1 << 27
"""Bound on the numbers that a root or a leaf takes, a gigabyte: beyond a choice is left out."""

AT_ONCE = 1 << 21
"""Terms that are added up at a time."""


class LevelGroups(NamedTuple):
    """The ``level`` that a margin knows an attribute at, and the code that stands for each value.

    ``codes`` (values,): the smallest one of its group.
    """

    level: int
    codes: Codes


class KnownMargin(NamedTuple):
    """How many ``people`` have each combination of value codes of some attributes.

    ``cells`` (combinations, names) and ``people`` (combinations,); ``name`` is for messages.
    ``alike``: of attributes that it knows by the groups of a level.
    """

    name: str
    names: tuple[str, ...]
    cells: Codes
    people: Ints
    alike: Mapping[str, LevelGroups] = MappingProxyType({})

    def level(self, name: str) -> int:
        """The level that it knows an attribute at, 0 by its values."""
        return self.alike[name].level if name in self.alike else 0

    def placed(self, names: Sequence[str], cells: Codes) -> Codes:
        """The codes of the margin for some raw cells, by its attributes; (rows, names)."""
        columns = [cells[:, names.index(name)] for name in self.names]
        found = [
            self.alike[name].codes[column] if name in self.alike else column
            for name, column in zip(self.names, columns, strict=True)
        ]
        return np.column_stack(found)

    def at(self, levels: Mapping[str, LevelGroups]) -> "KnownMargin | None":
        """The same by the groups of some levels, without what it knows less; None: nothing."""
        names = [name for name in self.names if self.level(name) <= levels[name].level]
        if not names:
            return None
        cells = self.columns(names)
        for place, name in enumerate(names):
            if levels[name].level:
                cells[:, place] = levels[name].codes[cells[:, place]]
        return KnownMargin(self.name, tuple(names), cells, self.people)

    def columns(self, names: Sequence[str]) -> Codes:
        """The codes of some attributes, shape (combinations, names)."""
        return self.cells[:, [self.names.index(name) for name in names]]


@dataclass(frozen=True, eq=False)
class MarginsByLevel:
    """Margins by the groups of one level of each attribute, and these ``levels`` where above 0."""

    margins: tuple[KnownMargin, ...] = field(repr=False)
    levels: Mapping[str, LevelGroups] = field(repr=False)

    @cached_property
    def programs(self) -> MarginPrograms:
        """The linear programs that bound classes where the closed form is not attained."""
        return MarginPrograms.of([Totals.of(m.names, m.cells, m.people) for m in self.margins])

    def bounds(self, groups: Mapping[str, Codes | None]) -> bool:
        """Whether classes of some groups of values have whole groups of the levels."""
        for name, alike in self.levels.items():
            own = groups[name]
            if own is not None:
                known = own[: len(alike.codes)]
                if (known != known[alike.codes]).any():
                    return False
        return True


class Star(NamedTuple):
    """A root among the margins, and its leaves, by their places."""

    root: int
    leaves: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class LeastPeople:
    """The fewest people of classes in any population with some margins.

    ``groups`` (values,) has the group of each value code of an attribute: those of one group are
    alike. None where every value is like any other. ``views`` are the choices of levels that the
    margins know, one where all know values.
    """

    margins: tuple[KnownMargin, ...] = field(repr=False)
    groups: Mapping[str, Codes | None] = field(repr=False)
    views: tuple[MarginsByLevel, ...] = field(repr=False)

    @classmethod
    def by(
        cls, margins: Sequence[CountedMargin], taxonomies: Mapping[str, Taxonomy]
    ) -> "LeastPeople":
        """The same for classes of raw values, as taxonomies encode them.

        InputError where the margins contradict each other.
        """
        known = []
        for name, table, levels in margins:
            names = tuple(map(str, table.columns))
            columns = [encoded(table.combinations[each], taxonomies[each]) for each in names]
            alike = {
                each: LevelGroups(at, alike_at(taxonomies[each], at)) for each, at in levels.items()
            }
            if sum(table.sizes.tolist()) >= MOST_PEOPLE:
                raise InputError(
                    f"the population: the margin {name!r} has {MOST_PEOPLE:,} people or more in "
                    "all, which is more than can be counted; correct its numbers"
                )
            cells = np.column_stack(columns).astype(np.intp)
            own = KnownMargin(name, names, cells, table.sizes, alike)
            known.append(own._replace(cells=own.placed(names, cells)))
        views = views_of(known)
        for view in views:
            require_consistent(view.margins)
            require_possible(view)
        found = cls(tuple(known), {}, views)
        return found.recoded({name: each.levels[0] for name, each in taxonomies.items()})

    @property
    def total(self) -> int:
        """How many people there are in all."""
        return int(self.margins[0].people.sum())

    @property
    def covered(self) -> frozenset[str]:
        """The attributes of which any margin has the values."""
        return frozenset(name for margin in self.margins for name in margin.names)

    def values(self, name: str, marks: Mask) -> Mask:
        """Mark the values of an attribute that any margin has; shape as of other ``marks``.

        Values that stand for a label are none.
        """
        found = np.zeros_like(marks)
        for margin in self.margins:
            if name in margin.names and not margin.level(name):
                found[margin.columns([name])] = True
        return found

    def recoded(self, partitions: Partitions) -> "LeastPeople":
        """The same for classes of coarser values."""
        return replace(self, groups={**self.groups, **groups_of(partitions, self.covered)})

    def of(self, names: Sequence[str], cells: Codes) -> Ints:
        """Return the fewest people of classes, shape (classes,).

        ``cells`` (classes, names) are codes of any of their values; in other attributes all
        are alike.
        """
        telling = [name for name in names if self.groups[name] is not None]
        own = self._all_grouped(telling, cells[:, [names.index(name) for name in telling]])
        # Many classes of the table are alike by what margins tell.
        _, first, class_of = np.unique(row_keys(own), return_index=True, return_inverse=True)
        classes = dict(zip(telling, own[first].T, strict=True))
        least = np.zeros(len(first), np.int64)
        groups = {each: codes for each in telling if (codes := self.groups[each]) is not None}
        for view in self.views:
            if not view.bounds(self.groups):
                continue
            attributes = tuple(frozenset(each.names) for each in view.margins)
            for star in stars(frozenset(telling), attributes):
                least = np.maximum(least, self._by(view.margins, star, classes, len(first)))
            least = view.programs.raised(groups, classes, least)
        return least[class_of]

    def people(self, names: tuple[str, ...], cells: Codes, sizes: Ints) -> Ints:
        """Return the same of classes of so many records, each of which is of another of them."""
        return np.maximum(self.of(names, cells), sizes)

    def among(self, names: Sequence[str], cells: Codes, sizes: Ints) -> Ints:
        """Deal the fewest people of classes to rows of records, never fewer than these; (rows,).

        ``cells`` (rows, names), of which equal ones are one class, and ``sizes`` (rows,).
        InputError where a margin has fewer people than there are records.
        """
        require_everybody_in(self.margins, names, cells, sizes)
        _, first, class_of = np.unique(row_keys(cells), return_index=True, return_inverse=True)
        records = np.bincount(class_of, sizes).astype(np.int64)
        return dealt(class_of, sizes, np.maximum(self.of(names, cells[first]), records))

    def _all_grouped(self, names: Sequence[str], cells: Codes) -> Codes:
        """The groups of value codes, 0 where all are alike; shape (rows, names)."""
        found = np.zeros_like(cells)
        for column, name in enumerate(names):
            groups = self.groups[name]
            if groups is not None:
                found[:, column] = groups[cells[:, column]]
        return found

    def _by(
        self,
        margins: Sequence[KnownMargin],
        star: Star,
        classes: Mapping[str, Codes],
        number: int,
    ) -> Ints:
        """The bound by a root and its leaves, shape (classes,)."""
        root = margins[star.root]
        leaves = [margins[place] for place in star.leaves]
        shared = [name for name in root.names if any(name in leaf.names for leaf in leaves)]
        rows = root.columns(shared)
        _, first, unit_of = np.unique(row_keys(rows), return_index=True, return_inverse=True)
        units = rows[first]
        inside = self._inside(root, shared, unit_of, len(units), classes, number)
        if inside is None:
            return np.zeros(number, np.int64)
        tables, places = [inside[0]], [inside[1]]
        columns = [np.arange(len(units))]
        for leaf in leaves:
            common = [name for name in root.names if name in leaf.names]
            own, of_unit, kinds = numbered(
                leaf.columns(common), units[:, [shared.index(name) for name in common]]
            )
            found = self._inside(leaf, common, own, kinds + 1, classes, number)
            if found is None:
                return np.zeros(number, np.int64)
            outside = np.bincount(own, leaf.people, kinds + 1).astype(np.int64) - found[0]
            tables.append(-outside)
            places.append(found[1])
            columns.append(of_unit)
        units = self._all_grouped(shared, units)
        group_of, of_class, _ = numbered(units, columns_of(classes, shared, number))
        return summed(tables, places, columns, group_of, of_class)

    def _inside(
        self,
        margin: KnownMargin,
        apart: Sequence[str],
        unit_of: Codes,
        units: int,
        classes: Mapping[str, Codes],
        number: int,
    ) -> tuple[Ints, Codes] | None:
        """Count the people of a margin whom classes admit by attributes that are not ``apart``.

        Returned are their numbers by kind of class and unit, and the kind of each class; None where
        they are too many. ``unit_of`` is of each combination, shape (combinations,).
        """
        rest = [name for name in margin.names if name not in apart and name in classes]
        rows = self._all_grouped(rest, margin.columns(rest))
        own, of_class, kinds = numbered(rows, columns_of(classes, rest, number))
        if (kinds + 1) * units > MOST_CELLS:
            return None
        # Sums of whole numbers below 2^53 are exact as floats. The last kind has nobody.
        found = np.bincount(own * units + unit_of, margin.people, (kinds + 1) * units)
        return found.astype(np.int64).reshape(kinds + 1, units), of_class


def alike_at(taxonomy: Taxonomy, level: int) -> Codes:
    """Return for each value code the smallest one that has the same label at a level, (values,)."""
    if level <= taxonomy.height:
        return taxonomy.levels[level].representatives
    hierarchy, labels = taxonomy.hierarchy, list[Hashable]()
    assert hierarchy is not None  # by which the labels of the margin were placed
    for value in taxonomy.levels[0].labels:
        key = hierarchy.key(value)
        known = key is None or hierarchy.covers(key)
        # What it does not cover is in no group with others.
        labels.append((True, hierarchy.labels_of(key)[level - 1]) if known else (False, value))
    return Partition.of(labels).representatives


def views_of(margins: Sequence[KnownMargin]) -> tuple[MarginsByLevel, ...]:
    """Return the choices of levels that margins know; one where all know values."""
    known: dict[str, dict[int, LevelGroups]] = {}
    for margin in margins:
        for name in margin.names:
            alike = margin.alike.get(name, LevelGroups(0, np.zeros(0, np.intp)))
            known.setdefault(name, {})[alike.level] = alike
    found = []
    for chosen in product(*(levels.values() for levels in known.values())):
        levels = dict(zip(known, chosen, strict=True))
        own = [view for each in margins if (view := each.at(levels)) is not None]
        if own:
            above = {name: alike for name, alike in levels.items() if alike.level}
            found.append(MarginsByLevel(tuple(own), above))
    return tuple(found)


def columns_of(classes: Mapping[str, Codes], names: Sequence[str], number: int) -> Codes:
    """Return the groups of classes in some attributes, 0 where all are alike in one."""
    found = np.zeros((number, len(names)), np.intp)
    for column, name in enumerate(names):
        if name in classes:
            found[:, column] = classes[name]
    return found


def summed(
    tables: Sequence[Ints],
    places: Sequence[Codes],
    columns: Sequence[Codes],
    group_of: Codes,
    of_class: Codes,
) -> Ints:
    """Add up for each class, over the units of its group, what the tables come to if above 0.

    ``tables`` (kinds, units of their own), ``places`` the kind of each class in them (classes,),
    ``columns`` their unit for each unit of the root (units,), ``group_of`` the group of that, and
    ``of_class`` that of each class.
    """
    order = np.argsort(group_of, kind="stable")
    starts = np.searchsorted(group_of[order], of_class)
    lengths = np.searchsorted(group_of[order], of_class, side="right") - starts
    found = np.zeros(len(of_class), np.int64)
    for some in parts(lengths):
        times = lengths[some]
        row = np.repeat(np.arange(some.start, some.stop), times)
        unit = order[runs(starts[some], times)]
        terms = np.zeros(len(row), np.int64)
        for table, place, column in zip(tables, places, columns, strict=True):
            terms += table[place[row], column[unit]]
        added = np.bincount(row - some.start, np.maximum(terms, 0), len(times))
        found[some] = added.astype(np.int64)  # below 2^53, and so exact as floats
    return found


def parts(lengths: Ints) -> Iterator[slice]:
    """Yield runs of classes that have some ``AT_ONCE`` terms together."""
    done = np.cumsum(lengths)
    low = 0
    while low < len(lengths):
        before = done[low - 1] if low else 0
        high = max(int(np.searchsorted(done, before + AT_ONCE, side="right")), low + 1)
        yield slice(low, high)
        low = high


def groups_of(partitions: Partitions, covered: frozenset[str]) -> dict[str, Codes | None]:
    """Return the group of each value code by attribute; None where one group is of everybody.

    It is where a margin has all values of the population, or where the label is ``*``.
    """
    return {
        name: None
        if len(each) == 1 and (name in covered or bool(each.hidden.all()))
        else each.representatives
        for name, each in partitions.items()
    }


@cache
def stars(telling: frozenset[str], margins: tuple[frozenset[str], ...]) -> tuple[Star, ...]:
    """Return the choices of a root and leaves that have all attributes by which classes differ.

    No leaf can be left out. Of margins of which any two have the same attributes in common every
    root gives the same bound.
    """
    for place, names in enumerate(margins):
        if telling <= names:
            return (Star(place, ()),)
    found, alike = [], set()
    for root, names in enumerate(margins):
        for leaves in covers(telling - names, margins, root):
            used = frozenset((root, *leaves))
            common = {margins[one] & margins[other] for one, other in combinations(used, 2)}
            if len(common) > 1 or used not in alike:
                found.append(Star(root, leaves))
            if len(common) == 1:
                alike.add(used)
    return tuple(found)


def covers(
    needed: frozenset[str], margins: Sequence[frozenset[str]], root: int
) -> list[tuple[int, ...]]:
    """Return the margins but the root that have some attributes together, none of them in vain."""
    found: list[tuple[int, ...]] = []
    others = [place for place in range(len(margins)) if place != root]
    for number in range(1, len(others) + 1):
        for some in combinations(others, number):
            enough = needed <= frozenset().union(*(margins[place] for place in some))
            if enough and not any({*fewer} <= {*some} for fewer in found):
                found.append(some)
    return found


def dealt(class_of: Codes, sizes: Ints, people: Ints) -> Ints:
    """Deal the people of classes to rows of records, shape (rows,).

    Each row gets as many as it has records, and the first of its class the others.

    >>> dealt(np.array([0, 0, 1]), np.array([1, 2, 4]), np.array([9, 4])).tolist()
    [7, 2, 4]
    """
    found = sizes.astype(np.int64)
    classes, first = np.unique(class_of, return_index=True)
    records = np.bincount(class_of, sizes, len(people)).astype(np.int64)
    found[first] += (people - records)[classes]
    return found


def require_consistent(margins: Sequence[KnownMargin]) -> None:
    """Refuse margins that no population has: two of which count the same people differently."""
    for one, other in combinations(margins, 2):
        common = [name for name in one.names if name in other.names]
        own, others, kinds = numbered(one.columns(common), other.columns(common))
        here = np.bincount(own, one.people, kinds + 1)
        if not np.array_equal(here, np.bincount(others, other.people, kinds + 1)):
            what = f"people by {' and '.join(map(repr, common))}" if common else "people in all"
            raise InputError(
                f"the population: the margins {one.name!r} and {other.name!r} contradict each "
                f"other: they have different numbers of {what}, so that no population has both; "
                "give tables of the same people, with rounded or suppressed counts left out"
            )


def require_possible(view: MarginsByLevel) -> None:
    """Refuse margins that no population has though any two agree: see ``MarginPrograms``."""
    if view.programs.contradictory:
        listed = ", ".join(repr(each.name) for each in view.margins)
        raise InputError(
            f"the population: the margins {listed} contradict each other: any two of them agree, "
            "and no population has all of them; give tables of the same people, with rounded or "
            "perturbed counts left out"
        )


def require_everybody_in(
    margins: Sequence[KnownMargin], names: Sequence[str], cells: Codes, sizes: Ints
) -> None:
    """Require that every margin has as many people as the table has records, by its attributes."""
    for margin in margins:
        own, others, kinds = numbered(margin.cells, margin.placed(names, cells))
        people = np.bincount(own, margin.people, kinds + 1).astype(np.int64)
        short = np.bincount(others, sizes, kinds + 1).astype(np.int64) - people
        short[-1] = 0
        unknown = int(sizes[others == kinds].sum())
        number = int(np.maximum(short, 0).sum()) + unknown
        if number:
            listed = " and ".join(map(repr, margin.names))
            raise InputError(
                f"the population: by {listed} the margin {margin.name!r} has {number:,} people too "
                f"few for the records of the table, {unknown:,} of them as it does not have these "
                "values; it must hold everybody who is in the table, with values written as there"
            )
