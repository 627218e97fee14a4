"""Dates and times: the moments that values write out, and the units of the calendar around them.

Places are seconds since the beginning of 1970 on the clock of a calendar: that of a time zone for
instants, values with an offset from UTC, and the clock as it is written for all others. A unit is a
half-open span of that clock. Its label reads as no date, no number but a year, and no other unit:
``2024-03-05 10h``, ``2024-W10``, ``2024-03``, ``2024-Q1``, ``2020s``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import chain
from zoneinfo import ZoneInfo

from anonymizer.errors import InputError, shown
from anonymizer.hierarchy.scale import Blocks, Scale
from anonymizer.tables.values import floor_to, is_missing, number_of, text_of

DAY = 86_400

FIRST = date(1970, 1, 1).toordinal()
"""The day from which places count."""

OFFSET = r"Z|[+-]\d\d(?::?\d\d(?::\d\d)?)?"

CLOCK = r"(?P<H>\d\d):(?P<M>\d\d)(?::(?P<S>\d\d)(?:[.](?P<f>\d{1,9}))?)?"

ISO = re.compile(
    rf"(?P<Y>\d{{4}})-(?P<m>\d\d)-(?P<d>\d\d)(?:[T ]{CLOCK} ?(?P<z>{OFFSET})?)?", re.ASCII
)
"""A date, or a date and a time of day, as ISO 8601 writes them."""

PARTS = {
    "Y": r"\d{4}",
    "y": r"\d\d",
    "m": r"\d{1,2}",
    "b": "[A-Za-z\u00c0-\u017f]{3,10}[.]?",
    "d": r"\d{1,2}",
    "H": r"\d{1,2}",
    "M": r"\d{1,2}",
    "S": r"\d{1,2}",
    "f": r"\d{1,9}",
    "z": OFFSET,
}
"""The parts of a format, which has a ``%`` before each; names are those of ``strftime``."""

FIRST_YEAR = re.compile(r"%y\{(\d{4})\}")
"""Two digits of a year, and the first of the hundred years that they may be of."""

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january januar j\u00e4n j\u00e4nner janv janvier ene enero gen gennaio januari",
            "feb february februar f\u00e9v f\u00e9vr f\u00e9vrier febrero febbraio februari",
            "mar march m\u00e4r m\u00e4rz mrz mars marzo maart",
            "apr april avr avril abr abril aprile",
            "may mai mayo mag maggio mei",
            "jun june juni juin junio giu giugno",
            "jul july juli juil juillet julio lug luglio",
            "aug august ao\u00fbt ago agosto augustus",
            "sep sept september septembre septiembre set settembre",
            "oct october okt oktober octobre octubre ott ottobre",
            "nov november novembre noviembre",
            "dec december dez dezember d\u00e9c d\u00e9cembre dic diciembre dicembre",
        ),
        1,
    )
    for name in names.split()
}
"""Months by their names, whole or short, in several languages."""

SERIALS = {
    "excel": (Decimal(DAY), date(1899, 12, 30).toordinal() - FIRST),
    "epoch": (Decimal(1), 0),
    "epoch-ms": (Decimal("0.001"), 0),
}
"""Formats that are numbers: the seconds of each unit, and the day from which they count."""

PARTIAL = re.compile(r"(?!0000)(\d{4}(?:-(?!00)\d\d)?)(?:-00){0,2}", re.ASCII)
"""A date without a day, or without a month; 00 may stand for what is not known."""

WITHOUT_DAY = [
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        r"(?P<m>\d{1,2})[./-](?P<Y>\d{4})",
        rf"(?P<b>{PARTS['b']})[ ,./-]{{0,2}}(?P<Y>\d{{4}})",
        r"(?P<Y>\d{4})[ -]?(?P<part>[qh]\d)",
        r"(?P<part>[qh]\d)[ /-]?(?P<Y>\d{4})",
    )
]
"""Months, quarters and halves of a year that can be read in one way: 08/1949, Aug 1949, 1949 Q3."""

TWO_DIGITS = re.compile(r"%([ymdHMS])(?=%[YymdHMSf])|(?<=%[YymdHMS])%([ymdHMS])")
"""Parts with no mark between them and the next or the last: their digits are two."""

CLOCKS = {"second": 1, "minute": 60, "hour": 3600}
"""Units shorter than a day, in seconds."""

SPANS = {"month": 1, "quarter": 3, "half-year": 6, "year": 12}
"""Units of whole months within a year."""

YEARS = {"year": 1, "5 years": 5, "decade": 10, "century": 100}
"""Units of whole years, which begin at multiples of their length."""

UNITS = tuple(dict.fromkeys([*CLOCKS, "day", "week", *SPANS, *YEARS]))
"""All units, each longer than the one before; weeks (ISO 8601) are in no month or longer unit."""

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

TIMES = (43_200, 21_600, 3600, 1800, 900, 300, 60, 30, 15, 5, 1)
"""Round times of the day are multiples of so many seconds, the roundest first."""

FINEST = Decimal("1e-9")
"""The finest part of a second that values write out."""

MOST_DAYS = 2**16
"""Spans that are remembered: all days of 180 years."""

Named = tuple[Decimal, Decimal | None, str]
"""Where a unit begins and ends, None beyond the year 9999, and what it is called."""


@dataclass(frozen=True)
class Moment:
    """Identity of a date or a time: its place, and its text, however values write it."""

    place: Decimal
    text: str

    def __str__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return hash(self.text)  # half of the time of both


@dataclass(frozen=True)
class Clock:
    """Reader of texts as moments.

    Parameters
    ----------
    zone
        The time zone whose calendar instants are taken to, UTC where none is given.
    format
        How texts write dates that are not as ISO 8601 has them, such as ``%d.%m.%Y``.

    Raises InputError when there is no such zone, or the format gives no day.
    """

    zone: str | None = None
    format: str | None = None

    def __post_init__(self) -> None:
        _ = self._zone, self._pattern

    @cached_property
    def _zone(self) -> tzinfo:
        if self.zone is None:
            return UTC
        try:
            return ZoneInfo(self.zone)
        except (KeyError, ValueError, OSError, TypeError, AttributeError):
            raise InputError(
                'zone must be the name of a time zone, such as zone = "Europe/Paris", not '
                f"{shown(self.zone)}"
            ) from None

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        plain = self.format is None or self.format in SERIALS
        return None if plain else pattern_of(self.format)

    @cached_property
    def _first_year(self) -> int:
        found = FIRST_YEAR.search(self.format or "")
        return int(found[1]) if found else 0

    def moment(self, value: object) -> Moment | None:
        """The moment that a value writes out; None where it is no date, or missing."""
        return None if is_missing(value) else _moment_of(self, text_of(value))

    def read(self, text: str) -> Moment | None:
        """The moment that a text writes out; None where it is no date."""
        if self.format in SERIALS and (number := number_of(text)) is not None:
            return self._of_serial(number)
        found = (self._pattern.fullmatch(text) if self._pattern else None) or ISO.fullmatch(text)
        try:
            return self._of(found.groupdict()) if found else None
        except (ValueError, OverflowError):  # no such day, or one before the year 1
            return None

    def _of_serial(self, number: Decimal) -> Moment | None:
        """The moment of a number of days or seconds; None beyond the calendar."""
        seconds, first = SERIALS[str(self.format)]
        place = (number * seconds + first * DAY).quantize(FINEST).normalize()
        days = day_and_seconds(place)[0] + FIRST
        if not 1 <= days <= date.max.toordinal():
            return None
        return Moment(Decimal(int(place)) if place == int(place) else place, iso_of(place))

    def partial(self, text: str) -> Named | None:
        """The unit of a date without a day: that of the format, or as ``partial_unit`` reads it."""
        found = self._pattern.fullmatch(text.strip()) if self._pattern else None
        if found is None:
            return partial_unit(text)
        parts = found.groupdict()
        year, month = self._year(parts), _month(parts)
        unknown = not month and (parts.get("b") or not int(parts.get("y") or 1))
        if int(parts.get("d") or 0) or unknown:
            return None
        return span_of(f"{year:04}-{month:02}" if month else f"{year:04}")

    def _year(self, parts: Mapping[str, str | None]) -> int:
        """The year of a date; of two digits the one of the hundred years of the format."""
        digits = parts.get("y")
        if digits is None:
            return int(parts["Y"] or 0)
        return self._first_year + (int(digits) - self._first_year) % 100

    def _of(self, parts: Mapping[str, str | None]) -> Moment:
        day = date(self._year(parts), _month(parts), int(parts.get("d") or 0))
        hour, minute, second = (int(parts.get(name) or 0) for name in "HMS")
        digits = (parts.get("f") or "").rstrip("0")
        zone = parts.get("z")
        if zone is None:
            clock = time(hour, minute, second)  # ValueError where there is none
            return _moment(day, clock, digits)
        whole = datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=_offset(zone))
        instant = whole.astimezone(UTC)
        local = instant.astimezone(self._zone)
        place = _moment(local.date(), local.time(), digits).place
        return Moment(place, f"{instant.date()} {instant:%H:%M:%S}{_point(digits)}+00:00")


@lru_cache(maxsize=65_536)
def _moment_of(clock: Clock, text: str) -> Moment | None:
    # A date is read for its hierarchy, its count and its label: 5 us each time, 1 us from here.
    return clock.read(text)


def _month(parts: Mapping[str, str | None]) -> int:
    """The month of a date, by its number or its name; 0 where there is none of that name."""
    name = parts.get("b")
    if name is None:
        return int(parts["m"] or 0)
    return MONTHS.get(name.casefold().rstrip("."), 0)


def partial_unit(text: str) -> Named | None:
    """The month, quarter or year of a date whose day is not known; None for any other text.

    >>> partial_unit("1949-08"), partial_unit("1949-08-00")[2], partial_unit("1949-00-00")[2]
    ((Decimal('-644371200'), Decimal('-641692800'), '1949-08'), '1949-08', '1949')
    >>> [partial_unit(text)[2] for text in ("08/1949", "Aug 1949", "1949 Q3", "H2/1949")]
    ['1949-08', '1949-08', '1949-Q3', '1949-H2']
    >>> partial_unit("0000-00-00"), partial_unit("1949-08-01"), partial_unit("2009/10")
    (None, None, None)
    """
    found = PARTIAL.fullmatch(text.strip())
    if found is not None:
        return span_of(found[1])
    read = next(filter(None, (form.fullmatch(text.strip()) for form in WITHOUT_DAY)), None)
    if read is None:
        return None
    parts = read.groupdict()
    part = parts["part"].upper() if "part" in parts else f"{_month(parts):02}"
    return span_of(f"{parts['Y']}-{part}")


def _moment(day: date, clock: time, digits: str) -> Moment:
    """Make a moment of a day, a time and the ``digits`` of the second."""
    seconds = clock.hour * 3600 + clock.minute * 60 + clock.second
    place = Decimal((day.toordinal() - FIRST) * DAY + seconds)
    if not seconds and not digits:
        return Moment(place, str(day))
    place = place + Decimal(f"0.{digits}") if digits else place
    return Moment(place, f"{day} {clock}{_point(digits)}")


def _point(digits: str) -> str:
    return f".{digits}" if digits else ""


def pattern_of(given: object) -> re.Pattern[str]:
    """Compile a format; InputError where it gives no month, or more than one."""
    text = FIRST_YEAR.sub("%y", given) if isinstance(given, str) else ""
    parts = re.findall("%(.)", text.replace("%%", ""))
    if "y" in parts and text == given:
        raise InputError(
            "format: %y leaves open which century a year is of; write the first of its hundred "
            "years, such as %y{1930} for 1930 to 2029"
        )
    one_each = len({*parts} & {*"Yy"}) == len({*parts} & {*"mb"}) == 1
    one_each = one_each and ("d" in parts or {*parts} <= {*"Yymb"})
    if not one_each or not {*parts} <= {*PARTS} or len({*parts}) < len(parts):
        raise InputError(
            f'format must have %Y, %m and %d, such as format = "%d.%m.%Y", and any of %H, %M, %S, '
            "%f and %z once at most, or %Y and %m alone, with %y{1930} for years of two digits and "
            f"%b for names of months, or be one of {', '.join(SERIALS)}, not {shown(given)}"
        )
    narrow = {match[1] or match[2] for match in TWO_DIGITS.finditer(text)}
    pattern = re.escape(text).replace("%%", "%")
    for part in parts:
        digits = r"\d\d" if part in narrow else PARTS[part]
        pattern = pattern.replace(f"%{part}", f"(?P<{part}>{digits})", 1)
    found = re.compile(pattern, re.ASCII)
    swapped = found.fullmatch("2001-02-03")
    if swapped and [*map(swapped.groupdict().get, "md")] != ["02", "03"]:
        raise InputError(
            f"format = {shown(given)} reads ISO dates with day and month exchanged; write the "
            "column with the month before the day, or with another mark between them"
        )
    return found


def iso_of(place: Decimal) -> str:
    """The date at a place, with the time of day where that is not midnight.

    >>> iso_of(Decimal(0)), iso_of(Decimal(90)), iso_of(Decimal("-0.5"))
    ('1970-01-01', '1970-01-01 00:01:30', '1969-12-31 23:59:59.5')
    """
    days, seconds = day_and_seconds(place)
    day = date.fromordinal(FIRST + days).isoformat()
    if not seconds:
        return day
    minutes, rest = divmod(int(seconds), 60)
    digits = f"{(seconds % 1).normalize():f}"[1:]  # the point comes along; none of a whole second
    return f"{day} {minutes // 60:02}:{minutes % 60:02}:{rest:02}{digits}"


def day_and_seconds(place: Decimal) -> tuple[int, Decimal]:
    """The days since the first of 1970, and the seconds of the day."""
    whole = int(place.to_integral_value("ROUND_FLOOR"))
    days = whole // DAY
    return days, place - days * DAY


def place_of(day: date) -> Decimal:
    """Return the beginning of a day."""
    return Decimal((day.toordinal() - FIRST) * DAY)


def _offset(text: str) -> tzinfo:
    """The zone of an offset from UTC."""
    if text == "Z":
        return UTC
    digits = text[1:].replace(":", "")
    hours, minutes, seconds = (int(digits[at : at + 2] or 0) for at in (0, 2, 4))
    gap = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return timezone(-gap if text[0] == "-" else gap)


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
    # The day after the last one that Python has stands for all beyond.
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

    clock: Clock = Clock()
    grid: tuple[str, ...] = ()

    @property
    def unit(self) -> Decimal:
        return Decimal(DAY)

    def place(self, value: object) -> Decimal | None:
        moment = self.clock.moment(value)
        if moment is None:  # a date without a day lies where its month begins
            unit = None if is_missing(value) else self.clock.partial(text_of(value))
            return None if unit is None else unit[0]
        return moment.place

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
