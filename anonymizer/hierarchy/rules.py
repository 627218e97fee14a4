"""Kinds of hierarchies that are no ranges: listed values, kept ones, none, dates.

A kind is a subclass of :class:`~anonymizer.hierarchy.Hierarchy` with its levels and labels. In goes
what a steward writes, checked; out come labels of values.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import ClassVar, Self, TypeVar

import numpy as np

from anonymizer.errors import InputError, did_you_mean, shown
from anonymizer.hierarchy.calendar import (
    UNITS,
    Clock,
    Dates,
    Moment,
    Named,
    iso_of,
    span_of,
    unit_at,
)
from anonymizer.hierarchy.hierarchy import NO_KEY, Hierarchy, LevelLabel
from anonymizer.hierarchy.label import Meaning, OthersLabel
from anonymizer.hierarchy.naming import as_missing, named
from anonymizer.hierarchy.partition import ANY, MOST_LISTED, Limits, Partition, torn_levels
from anonymizer.hierarchy.scale import Ends, Interval
from anonymizer.kernels.arrays import Codes
from anonymizer.tables.values import Step, is_missing, number_of, text_of

Texts = tuple[str, ...]
Value = TypeVar("Value", bound=Hashable)

OWN, OTHER = "own", "other"
"""Where a missing value is: in a group of its own, or one of the others."""

EXAMPLE = 'calendar = ["month", "quarter", "year"]'


@dataclass(frozen=True, repr=False)
class ListedHierarchy(Hierarchy):
    """Every value listed with its label at each level (ARX's format).

    Kept by column: a million rows would be a million things more for Python to look after.

    ``values`` appear once each, and ``levels`` are their labels at levels 1, 2, ....
    """

    values: Texts = field(repr=False)
    levels: tuple[Texts, ...] = field(repr=False)

    @classmethod
    def by_rows(cls, rows: Sequence[Sequence[str]], source: str = "its hierarchy") -> Self:
        """Check rows ``value, label at level 1, ...`` and take them over.

        Raises InputError when there are none, their lengths differ, a label is empty, a value
        appears twice with different labels, or levels are not nested.
        """
        if not rows or not rows[0]:
            raise InputError(
                f"{source}: a hierarchy needs at least one row, a value and its labels"
            )
        for number, row in enumerate(rows, 1):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"{source}: row {number} has {len(row)} columns, the first has {len(rows[0])}"
                )
        return cls.by_columns(list(zip(*rows, strict=True)), source)

    @classmethod
    def by_columns(cls, columns: Sequence[Sequence[str]], source: str = "its hierarchy") -> Self:
        """Check columns, values first; they are equally long, and not empty."""
        for level, labels in enumerate(columns[1:], 1):
            if "" in labels:
                raise InputError(
                    f"{source}: row {labels.index('') + 1} has no label at level {level}; "
                    "an empty one would pass for a missing value"
                )
        values, levels = _each_once(tuple(map(text_of, columns[0])), columns[1:], source)
        # ``*`` goes above a last column of more than one group.
        one = len(set(levels[-1] if levels else values)) == 1
        levels = levels if levels and one else (*levels, (ANY,) * len(values))
        table = cls(values, levels, source=source)
        for level, (fine, coarse) in enumerate(pairwise(table._partitions), 1):
            pair = fine.split_by(coarse)
            if pair:
                label = fine.labels[fine.groups[pair[0]]]
                torn = torn_levels(level, [values[row] for row in pair], label)
                raise InputError(f"{source}: {torn}")
        return table

    @cached_property
    def ordered(self) -> bool:
        # Labels of a ground are texts: nobody knows where ranges of them would end.
        known = self.limits.ground is None
        return known and all(number_of(value) is not None for value in self.values)

    @property
    def height(self) -> int:
        return len(self.levels)

    @cached_property
    def _row(self) -> Mapping[Hashable, int]:
        return {value: row for row, value in enumerate(self.values)}

    @cached_property
    def _partitions(self) -> tuple[Partition, ...]:
        return tuple(Partition(*_appearing(labels)) for labels in self.levels)

    def partitions(self, keys: Sequence[Hashable]) -> tuple[Partition, ...]:
        """Levels 1, 2, ..., height of some keys; no label is looked at twice."""
        gaps = [key for key in keys[-1:] if key is None]
        known = keys[: len(keys) - len(gaps)]
        rows = np.fromiter(map(self._row.__getitem__, known), np.intp, len(known))
        return tuple(
            _some(partition, rows, [label] * len(gaps))
            for partition, label in zip(self._partitions, self.labels_of(None), strict=True)
        )

    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        return self.levels[level - 1][self._row[str(key)]]

    def rule(self) -> dict[str, object]:
        return {"rows": list(zip(self.values, *self.levels, strict=True))}

    def cell_of(self, key: Hashable) -> Hashable:
        assert self.limits.ground is not None
        level = self.limits.ground
        partition, row = self._partitions[level - 1], self._row[str(key)]
        return self.values[int(partition.first[partition.groups[row]])]

    @property
    def top(self) -> LevelLabel:
        return self.levels[-1][0]

    @property
    def listed(self) -> Sequence[Hashable]:
        return self.values

    def covers(self, key: Hashable) -> bool:
        return key in self._row


def _each_once(
    values: Texts, levels: Sequence[Sequence[str]], source: str
) -> tuple[Texts, tuple[Texts, ...]]:
    """Drop repeated rows, keeping the first."""
    if len(set(values)) == len(values):
        return values, tuple(map(tuple, levels))
    last = {value: row for row, value in enumerate(values)}
    for labels in levels:
        for row, value in enumerate(values):
            if labels[row] != labels[last[value]]:
                raise InputError(f"{source}: value {value!r} stands twice, with different labels")
    # Equal values have equal labels: the first place of each, and its last labels.
    return tuple(last), tuple(tuple(labels[row] for row in last.values()) for labels in levels)


def _appearing(values: Sequence[Value]) -> tuple[Codes, tuple[Value, ...]]:
    """Number values in the order in which they appear first: codes, shape (values,), and these."""
    place = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return np.fromiter(map(place.__getitem__, values), np.intp, len(values)), tuple(place)


def _some(partition: Partition, rows: Codes, gaps: Sequence[LevelLabel | None]) -> Partition:
    """The partition of some rows, and of a missing value after them where ``gaps`` labels one."""
    groups, numbers = _appearing(partition.groups[rows].tolist())
    labels = [partition.labels[number] for number in numbers]
    labels = [*dict.fromkeys([*labels, *gaps])]
    groups = np.append(groups, [*map(labels.index, gaps)])
    return Partition(groups.astype(np.intp, copy=False), tuple(labels))


@dataclass(frozen=True, repr=False)
class KeepHierarchy(Hierarchy):
    """The values that stay what they are at each level; all others are ``other``.

    ``values`` are those of levels 1, 2, ..., each list being part of the one before. Any value
    that is not listed is one of the others, whether or not it was ever seen. A missing one is
    a group of its ``"own"``, or one of the ``"other"`` ones, by ``missing``.
    """

    values: tuple[tuple[str, ...], ...] = field(repr=False)
    other: str = "other"
    missing: str = OWN

    @classmethod
    def of_values(
        cls, keep: Sequence[Sequence[object]], other: object, missing: object = OWN
    ) -> Self:
        """Take over values in their written form: texts, or numbers."""
        for level, values in enumerate(keep, 1):
            listed = isinstance(values, Sequence) and not isinstance(values, str)
            if not listed or not values or not all(map(_is_plain, values)):
                raise InputError(
                    f"keep of level {level} must list values, texts in quotes or numbers, such as "
                    'keep = [["France", "Spain"], ["France"]]'
                )
        levels = tuple(tuple(dict.fromkeys(map(text_of, values))) for values in keep)
        if missing not in (OWN, OTHER):
            raise InputError(
                f'missing = {shown(missing)} of keep must be "{OWN}", a group of its own, or '
                f'"{OTHER}", one of the others'
            )
        return cls(levels, text_of(other) if _is_plain(other) else "", str(missing))

    def __post_init__(self) -> None:
        if not self.values:
            raise InputError('keep must list values, such as keep = ["France", "Spain"]')
        if not self.other or self.other == ANY:
            raise InputError(f'other must be a label, and not {ANY!r}, such as other = "other"')
        if self.other in self.values[0]:
            raise InputError(
                f"other = {shown(self.other)} is one of the values to keep; give the group of all "
                'others another label, such as other = "all others"'
            )
        if len(self.values[0]) > MOST_LISTED:
            raise InputError(f"keep may list at most {MOST_LISTED:,} values; write a CSV table")
        for level, (fine, coarse) in enumerate(pairwise(self.values), 2):
            more = set(coarse) - set(fine)
            if more:
                raise InputError(
                    f"level {level} keeps {shown(min(more))}, which level {level - 1} does not; "
                    "each list of keep must be part of the one before"
                )

    @property
    def height(self) -> int:
        return len(self.values) + 1

    @cached_property
    def _kept(self) -> Sequence[tuple[frozenset[str], Meaning]]:
        return [
            (
                frozenset(values),
                Meaning(self.other, OthersLabel(tuple(values), self.missing == OTHER)),
            )
            for values in self.values
        ]

    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        kept, other = self._kept[level - 1]
        return text if (text := str(key)) in kept else other

    @property
    def listed(self) -> Sequence[Hashable]:
        return self.values[0]

    def rule(self) -> dict[str, object]:
        missing = {} if self.missing == OWN else {"missing": self.missing}
        return {"keep": [list(values) for values in self.values], "other": self.other, **missing}

    def labels_of(self, key: Hashable) -> tuple[LevelLabel | None, ...]:
        if key is None and self.missing == OTHER:
            return (*(other for _, other in self._kept), self.top)
        return super().labels_of(key)


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


@dataclass(frozen=True, repr=False)
class SuppressionHierarchy(Hierarchy):
    """Every value kept (level 0) or none (level 1)."""

    _kind: ClassVar[str] = "suppression"

    @property
    def height(self) -> int:
        return 1

    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        return ANY  # never called: there is no level below the highest

    def rule(self) -> dict[str, object]:
        return {"suppress": True}


def _unit_called(name: str) -> Named:
    """Return the unit of the calendar of a name; InputError where there is none."""
    found = span_of(name)
    if found is None:
        raise InputError(
            "bottom and top of a calendar are a day, a month or a year, such as bottom = 1936 or "
            f'top = "2015-06", not {shown(name)}'
        )
    return found


@dataclass(frozen=True, repr=False)
class CalendarHierarchy(Hierarchy):
    """Dates and times by units of the calendar, one level per unit.

    Instants, values with an offset from UTC, are dates on the clock of ``zone``, or of UTC where
    none is given; any other value is the date that it writes. ``format`` is for texts that are not
    ISO 8601: nobody guesses whether the day or the month comes first. What is not later than the
    unit ``bottom``, and not earlier than ``top``, is one group each at every level but that of the
    values, which is closed.
    """

    _kind: ClassVar[str] = "calendar"

    units: tuple[str, ...]
    zone: str | None = None
    format: str | None = None
    bottom: str | None = None
    top_unit: str | None = None

    @classmethod
    def of_units(
        cls,
        units: Sequence[str],
        zone: str | None = None,
        format: str | None = None,
        bottom: object = None,
        top: object = None,
    ) -> Self:
        """Take over units, and the ends as the calendar calls them, such as 1936 or 1936-05."""
        ends = (None if end is None else text_of(end) for end in (bottom, top))
        closed = bottom is not None or top is not None
        return cls(tuple(units), zone, format, *ends, limits=Limits().upon(1 if closed else None))

    def __post_init__(self) -> None:
        for unit in self.units:
            if unit not in UNITS:
                hint = did_you_mean(str(unit), UNITS) or f"; known are {', '.join(UNITS)}"
                raise InputError(f"calendar has no unit {shown(unit)}{hint}")
        if not self.units:
            raise InputError(f"calendar must list at least one unit, such as {EXAMPLE}")
        for fine, coarse in pairwise(self.units):
            if UNITS.index(fine) >= UNITS.index(coarse):
                raise InputError(
                    f"calendar: {fine} is not finer than {coarse}; the finest unit comes first, "
                    f"such as {EXAMPLE}"
                )
            if fine == "week":
                raise InputError(
                    f"calendar: a week may be in two units of a {coarse}; leave one of them out, "
                    'such as calendar = ["day", "week"]'
                )
        _ = self.scale, self._ends

    @cached_property
    def _ends(self) -> Ends:
        bottom, top = (
            None if end is None else _unit_called(end) for end in (self.bottom, self.top_unit)
        )
        return Ends(bottom and bottom[1], top and top[0])

    def _examples(self) -> list[object]:
        return ["2024-01-15", "2024-02-29", "2024-12-31", "2025-06-30"]

    @cached_property
    def scale(self) -> Dates:
        """The scale that values lie on."""
        return Dates(Clock(self.zone, self.format), self.units)

    @property
    def ordered(self) -> bool:
        return True

    @property
    def height(self) -> int:
        return len(self.units) + 1

    def key(self, value: object) -> Hashable:
        """The moment; None for a missing value, ``NO_KEY`` for one that is no date."""
        if is_missing(value):
            return None
        moment = self.scale.clock.moment(value)
        if moment is None and self.limits.ground is not None:
            moment = self._partial(text_of(value))
        return NO_KEY if moment is None else moment

    def _partial(self, text: str) -> Moment | None:
        """Return the first day of a date without a day, where a group of the ground holds it."""
        unit = self.scale.clock.partial(text)
        if unit is None:
            return None
        cell = self._unit(self.units[(self.limits.ground or 1) - 1], unit[0])
        ends = cell.high is None or (unit[1] is not None and unit[1] <= cell.high)
        return Moment(unit[0], iso_of(unit[0])) if ends else None

    def ranked(
        self, keys: Collection[Hashable]
    ) -> tuple[list[Hashable], tuple[Decimal | None, ...]]:
        missing = [None] * (None in keys)
        known = sorted(
            (key for key in keys if isinstance(key, Moment)), key=lambda key: (key.place, key.text)
        )
        return [*known, *missing], (*(key.place for key in known), *missing)

    def label_at(self, level: int, key: Hashable) -> Interval:
        return self._unit(self.units[level - 1], key.place)  # type: ignore[attr-defined]

    def partitions(self, keys: Sequence[Hashable]) -> tuple[Partition, ...]:
        """Levels 1, 2, ..., height; keys come in order, so that units are runs of them."""
        places = [key.place if isinstance(key, Moment) else None for key in keys]
        units = tuple(self._partition(unit, places) for unit in self.units)
        return *units, Partition.of([ANY] * len(keys))

    def _partition(self, unit: str, places: Sequence[Decimal | None]) -> Partition:
        groups, codes = np.empty(len(places), np.intp), dict[LevelLabel | None, int]()
        label: Interval | None = None
        own = 0
        for number, place in enumerate(places):
            if place is None:
                label, own = None, codes.setdefault(None, len(codes))
            elif label is None or not label.holds(place):
                label = self._unit(unit, place)
                own = codes.setdefault(label, len(codes))
            groups[number] = own
        return Partition(groups, tuple(codes))

    def _unit(self, unit: str, place: Decimal) -> Interval:
        low, high, name = unit_at(unit, place)
        return self._ends.cut(place, Interval(low, high, self.scale, name))

    def cut_point(self, given: object) -> Decimal:
        place = self.scale.place(given)
        if place is None:
            raise InputError(
                f"cut points of grid must be dates, such as grid = [2000-01-01], not {shown(given)}"
            )
        return place

    def with_ground(self, ground: object) -> tuple[Hierarchy, int]:
        """Add a level of the unit that dates are counted by."""
        if ground not in UNITS:
            hint = did_you_mean(str(ground), UNITS) or f"; known are {', '.join(UNITS)}"
            raise InputError(f"ground = {shown(ground)} is no unit of a calendar{hint}")
        unit, finest = str(ground), self.units[0]
        if unit == finest:
            return self, 1
        if UNITS.index(unit) > UNITS.index(finest):
            raise InputError(
                f"ground = {shown(unit)}: a {finest} is finer; give ground = {shown(finest)}, or "
                f"leave {finest} out of calendar"
            )
        return replace(self, units=(unit, *self.units)), 1

    def ground_at(self, level: int) -> object:
        return self.units[level - 1]

    @property
    def step(self) -> Step | None:
        level = self.limits.ground
        return None if level is None else Step(unit=self.units[level - 1])

    def cell_of(self, key: Hashable) -> Hashable:
        found = self._at_ground(key)
        assert isinstance(found, Interval)
        if found.low is None:  # before all of the calendar: the last second of the range
            assert found.high is not None
            return Moment(found.high - 1, iso_of(found.high - 1))
        return Moment(found.low, iso_of(found.low))

    def rule(self) -> dict[str, object]:
        given = {"zone": self.zone, "format": self.format}
        given |= {"bottom": self.bottom, "top": self.top_unit}
        options = {name: value for name, value in given.items() if value is not None}
        return {"calendar": list(self.units), **options}

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> InputError:
        found = f"column {attribute!r} holds {named(strangers)} where a calendar needs dates"
        if all(map(self.scale.clock.partial, strangers)):
            remedy = 'count dates by a unit that they have, such as ground = "month" or "year"'
            return InputError(f"{found} such as 2024-03-05", remedy)
        if self.format is not None:
            return InputError(
                f"{found} in the format {shown(self.format)}",
                f"clean the column or {as_missing(strangers)}",
            )
        return InputError(
            f"{found} such as 2024-03-05 or 2024-03-05 10:00",
            "give another format with the "
            'calendar, such as format = "%d.%m.%Y" or format = "%m/%d/%Y", or '
            f"{as_missing(strangers)}",
        )
