"""Calendars: dates and times generalize to months, quarters, years and other units.

A unit is a half-open span of the calendar's clock. Its label reads as no date, no number but a
year, and no other unit: ``2024-03-05 10h``, ``2024-W10``, ``2024-03``, ``2024-Q1``, ``2020s``.
"""

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import chain, pairwise

import numpy as np

from anonymizer.errors import InputError, did_you_mean, shown
from anonymizer.hierarchy.hierarchy import NO_KEY, Hierarchy, LevelLabel
from anonymizer.hierarchy.naming import named
from anonymizer.hierarchy.partition import ANY, Partition
from anonymizer.hierarchy.rules.dates import (
    DAY,
    FIRST,
    Clock,
    Moment,
    day_and_seconds,
    iso_of,
    place_of,
)
from anonymizer.hierarchy.scale import Blocks, Interval, Scale
from anonymizer.tables.steps import Step
from anonymizer.tables.values import floor_to, is_missing

CLOCKS = {"second": 1, "minute": 60, "hour": 3600}
"""Units shorter than a day, in seconds."""
SPANS = {"month": 1, "quarter": 3, "half-year": 6, "year": 12}
"""Units of whole months within a year."""
YEARS = {"year": 1, "5 years": 5, "decade": 10, "century": 100}
"""Units of whole years, which begin at multiples of their length."""
UNITS = tuple(dict.fromkeys([*CLOCKS, "day", "week", *SPANS, *YEARS]))
"""All units, each longer than the one before; weeks (ISO 8601) are in no month or longer unit."""

TIMES = (43_200, 21_600, 3600, 1800, 900, 300, 60, 30, 15, 5, 1)
"""Round times of the day are multiples of so many seconds, the roundest first."""
FINEST = Decimal("1e-9")
"""The finest part of a second that values write out."""

EXAMPLE = 'calendar = ["month", "quarter", "year"]'
MOST_DAYS = 2**16
"""Spans that are remembered: all days of 180 years."""

Named = tuple[Decimal, Decimal | None, str]
"""Where a unit begins and ends, None beyond the year 9999, and what it is called."""


def unit_at(unit: str, place: Decimal) -> Named:
    """The unit of the calendar that a place lies in.

    >>> unit_at("quarter", Decimal(0))
    (Decimal('0'), Decimal('7776000'), '1970-Q1')
    """
    if unit not in CLOCKS:
        return _of_day(unit, day_and_seconds(place)[0])
    days, seconds = day_and_seconds(place)
    start = int(seconds) // CLOCKS[unit] * CLOCKS[unit]
    low = Decimal(days * DAY + start)
    hour, minute, second = start // 3600, start // 60 % 60, start % 60
    parts = (f"{hour:02}h", f"{minute:02}m", f"{second:02}s")
    shown_parts = parts[: ("hour", "minute", "second").index(unit) + 1]
    day = date.fromordinal(FIRST + days).isoformat()
    return low, low + CLOCKS[unit], f"{day} {''.join(shown_parts)}"


@lru_cache(MOST_DAYS)
def _of_day(unit: str, days: int) -> Named:
    """The unit, of a day at least, that a day lies in."""
    day = date.fromordinal(FIRST + days)
    if unit == "day":
        return _named(day, day.toordinal() + 1, day.isoformat())
    if unit == "week":
        year, week, weekday = day.isocalendar()
        first = max(day.toordinal() - weekday + 1, 1)
        return _named(
            date.fromordinal(first), day.toordinal() - weekday + 8, f"{year:04}-W{week:02}"
        )
    if unit in YEARS:
        return _of_years(YEARS[unit], day.year)
    return _of_months(unit, day)


def _of_months(unit: str, day: date) -> Named:
    months = SPANS[unit]
    number = (day.month - 1) // months
    first, begin = number * months + 1, f"{day.year:04}-"
    sign = {"month": f"{first:02}", "quarter": f"Q{number + 1}", "half-year": f"H{number + 1}"}
    last = day.year * 12 + first - 1 + months
    return _named(
        date(day.year, first, 1), _first_of(last // 12, last % 12 + 1), begin + sign[unit]
    )


def _of_years(years: int, year: int) -> Named:
    first = year // years * years
    last = first + years
    names = {1: f"{first:04}", 10: f"{first:04}s"}
    name = names.get(years, f"{first:04}-{last - 1:04}")
    return _named(date(max(first, 1), 1, 1), _first_of(last, 1), name)


def _first_of(year: int, month: int) -> int:
    return date(year, month, 1).toordinal() if year <= date.max.year else date.max.toordinal() + 1


def _starts_between(unit: str, low: Decimal, high: Decimal) -> list[Decimal]:
    """Return the beginnings of units after one place and before another."""
    found, end = [], unit_at(unit, low)[1]
    while end is not None and end < high:
        found.append(end)
        end = unit_at(unit, end)[1]
    return found


def _times_between(time: int, low: Decimal, high: Decimal) -> list[Decimal]:
    first = int(floor_to(low, Decimal(time))) + time
    return [*map(Decimal, range(first, int(high.to_integral_value("ROUND_CEILING")), time))]


def _named(day: date, end: int, name: str) -> Named:
    later = end <= date.max.toordinal()
    return place_of(day), Decimal((end - FIRST) * DAY) if later else None, name


NAMES: Mapping[str, str] = {
    r"(\d{4})-(\d\d)-(\d\d) (\d\d)h": "hour",
    r"(\d{4})-(\d\d)-(\d\d) (\d\d)h(\d\d)m": "minute",
    r"(\d{4})-(\d\d)-(\d\d) (\d\d)h(\d\d)m(\d\d)s": "second",
    r"(\d{4})-(\d\d)-(\d\d)": "day",
    r"(\d{4})-W(\d\d)": "week",
    r"(\d{4})-(\d\d)": "month",
    r"(\d{4})-Q(\d)": "quarter",
    r"(\d{4})-H(\d)": "half-year",
    r"(\d{4})": "year",
    r"(\d{4})s": "decade",
    r"(\d{4})-\d{3}[49]": "5 years",
    r"(\d{4})-\d\d99": "century",
}
"""The unit that a label may be of by its form, and the numbers that say where it begins."""


def span_of(label: str) -> Named | None:
    """The unit of the calendar that goes by a label; None where none does.

    >>> span_of("1970-Q1")
    (Decimal('0'), Decimal('7776000'), '1970-Q1')
    """
    for form, unit in NAMES.items():
        found = re.fullmatch(form, label, re.ASCII)
        start = found and _start(unit, [int(part) for part in found.groups()])
        if start is not None and unit_at(unit, start)[2] == label:
            return unit_at(unit, start)
    return None


def _start(unit: str, numbers: Sequence[int]) -> Decimal | None:
    """A place in the unit that numbers give; None where there is no such day."""
    year, part, *rest = (*numbers, 1, 1)[: max(len(numbers), 3)]
    try:
        if unit == "week":
            # Thursday lies in the year of its week, whatever year Monday lies in.
            return place_of(date.fromisocalendar(year, part, 4))
        month = (part - 1) * SPANS.get(unit, 1) + 1 if unit in SPANS else part
        day = date(max(year, 1), month, rest[0])
    except ValueError:
        return None
    hour, minute, second = (*rest[1:], 0, 0, 0)[:3]
    return place_of(day) + hour * 3600 + minute * 60 + second


@dataclass(frozen=True)
class Dates(Scale):
    """The scale of a calendar; ranges begin at the boundaries of its units, the ``grid``."""

    clock: Clock = Clock()  # noqa: RUF009 (frozen)
    grid: tuple[str, ...] = ()

    @property
    def unit(self) -> Decimal:
        return Decimal(DAY)

    def place(self, value: object) -> Decimal | None:
        moment = self.clock.moment(value)
        return None if moment is None else moment.place

    def written(self, place: Decimal) -> str:
        return iso_of(place)

    def end(self, place: Decimal | None) -> object:
        return None if place is None else iso_of(place)

    def described(self) -> dict[str, object]:
        given = {"zone": self.clock.zone, "format": self.clock.format}
        return {"calendar": {name: value for name, value in given.items() if value is not None}}

    def step_of(self, values: Sequence[Decimal]) -> Decimal:
        """A day where no value has a time of day, else a second or the finest part of one."""
        steps = (Decimal(DAY), Decimal(1))
        return next((step for step in steps if all(not value % step for value in values)), FINEST)

    def border(self, low: Decimal, high: Decimal, step: Decimal) -> Decimal | None:
        """The roundest date or time between two: where the longest unit begins, then a round time.

        That is a century ..., a year, a quarter, a month, a Monday, a day; of dates without a time
        of day nothing finer. A second is divided as numbers are.
        """
        if high - low <= step:
            return high
        middle = (low + high) / 2
        units = (_starts_between(unit, low, high) for unit in reversed(UNITS) if unit not in CLOCKS)
        times = (_times_between(time, low, high) for time in TIMES if time >= step)
        found = next(filter(None, chain(units, times)), None)
        if found is not None:
            return min(found, key=lambda place: (abs(place - middle), place))
        second = floor_to(low, Decimal(1))
        part = super().border(low - second, high - second, step)
        return None if part is None else part + second

    def blocks(self, values: Sequence[Decimal], level: int) -> Blocks | None:
        """Boundaries of units: dates within one stay together.

        Of the unit of the level, the finest one of the grid at level 0, or of a coarser one where
        units of a day or less mostly begin where a value lies.
        """
        grid = self.grid[min(max(level, 1), len(self.grid)) - 1 :]
        coarser = UNITS[UNITS.index(grid[0]) + 1 :] if grid else UNITS
        for unit in dict.fromkeys([*grid, *coarser]):
            spans = list(dict.fromkeys(unit_at(unit, value)[:2] for value in values))
            starts = [low for low, _ in spans]
            own = 2 * len({*starts} & {*values}) > len(starts)
            if UNITS.index(unit) > UNITS.index("day") or not own:
                break
        last, end = spans[-1]
        return starts, last + DAY if end is None else end


@dataclass(frozen=True, repr=False)
class CalendarHierarchy(Hierarchy):
    """Dates and times by units of the calendar, one level per unit.

    Instants, values with an offset from UTC, are dates on the clock of ``zone``, or of UTC where
    none is given; any other value is the date that it writes. ``format`` is for texts that are not
    ISO 8601: nobody guesses whether the day or the month comes first.
    """

    units: tuple[str, ...]
    zone: str | None = None
    format: str | None = None

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
        _ = self.scale

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
        return NO_KEY if moment is None else moment

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
        return Interval(low, high, self.scale, name)

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
        assert found.low is not None
        return Moment(found.low, iso_of(found.low))

    def rule(self) -> dict[str, object]:
        given = {"zone": self.zone, "format": self.format}
        options = {name: value for name, value in given.items() if value is not None}
        return {"calendar": list(self.units), **options}

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> InputError:
        found = f"column {attribute!r} holds {named(strangers)} where a calendar needs dates"
        if self.format is not None:
            return InputError(
                f"{found} in the format {shown(self.format)}",
                "clean the column or declare them as missing values",
            )
        return InputError(
            f"{found} such as 2024-03-05 or 2024-03-05 10:00",
            "give another format with the "
            'calendar, such as format = "%d.%m.%Y" or format = "%m/%d/%Y", or declare them as '
            "missing values",
        )
