"""Dates and times: which moment a value writes out, and how moments are written.

Places are seconds since the beginning of 1970 on the clock of a calendar: that of a time zone for
instants, values with an offset from UTC, and the clock as it is written for all others.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import cached_property
from zoneinfo import ZoneInfo

from anonymizer.errors import InputError, shown
from anonymizer.tables.values import is_missing, text_of

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
    "m": r"\d{1,2}",
    "d": r"\d{1,2}",
    "H": r"\d{1,2}",
    "M": r"\d{1,2}",
    "S": r"\d{1,2}",
    "f": r"\d{1,9}",
    "z": OFFSET,
}
"""The parts of a format, which has a ``%`` before each; names are those of ``strftime``."""

TWO_DIGITS = re.compile(r"%([mdHMS])(?=%[YmdHMSf])|(?<=%[YmdHMS])%([mdHMS])")
"""Parts with no mark between them and the next or the last: their digits are two."""


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
        return None if self.format is None else pattern_of(self.format)

    def moment(self, value: object) -> Moment | None:
        """The moment that a value writes out; None where it is no date, or missing."""
        if is_missing(value):
            return None
        text = text_of(value)
        found = (self._pattern.fullmatch(text) if self._pattern else None) or ISO.fullmatch(text)
        try:
            return self._of(found.groupdict()) if found else None
        except (ValueError, OverflowError):  # no such day, or one before the year 1
            return None

    def _of(self, parts: Mapping[str, str | None]) -> Moment:
        day = date(int(parts["Y"] or 0), int(parts["m"] or 0), int(parts["d"] or 0))
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
    """Compile a format; InputError where it gives no day, or more than one."""
    text = given if isinstance(given, str) else ""
    parts = re.findall("%(.)", text.replace("%%", ""))
    if "y" in parts:
        raise InputError(
            "format: %y leaves open which century a year is of; write years of four digits, with %Y"
        )
    if not {*"Ymd"} <= {*parts} or not {*parts} <= {*PARTS} or len({*parts}) < len(parts):
        raise InputError(
            f'format must have %Y, %m and %d, such as format = "%d.%m.%Y", and any of %H, %M, %S, '
            f"%f and %z once at most, not {shown(given)}"
        )
    narrow = {match[1] or match[2] for match in TWO_DIGITS.finditer(text)}
    pattern = re.escape(text).replace("%%", "%")
    for part in parts:
        digits = r"\d\d" if part in narrow else PARTS[part]
        pattern = pattern.replace(f"%{part}", f"(?P<{part}>{digits})", 1)
    found = re.compile(pattern, re.ASCII)
    swapped = found.fullmatch("2001-02-03")
    if swapped and swapped["m"] != "02":
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
    return f"{day} {minutes // 60:02}:{minutes % 60:02}:{rest:02}{_digits(seconds % 1)}"


def day_and_seconds(place: Decimal) -> tuple[int, Decimal]:
    """The days since the first of 1970, and the seconds of the day."""
    whole = int(place.to_integral_value("ROUND_FLOOR"))
    days = whole // DAY
    return days, place - days * DAY


def place_of(day: date) -> Decimal:
    """Return the beginning of a day."""
    return Decimal((day.toordinal() - FIRST) * DAY)


def _digits(fraction: Decimal) -> str:
    return f"{fraction.normalize():f}"[1:] if fraction else ""


def _offset(text: str) -> tzinfo:
    """The zone of an offset from UTC."""
    if text == "Z":
        return UTC
    digits = text[1:].replace(":", "")
    hours, minutes, seconds = (int(digits[at : at + 2] or 0) for at in (0, 2, 4))
    gap = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return timezone(-gap if text[0] == "-" else gap)
