"""Scales: what the places of ordered values stand for, and ranges of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from anonymizer.errors import InputError
from anonymizer.tables.values import exactly, floor_to, measure_in, number_of, number_text, range_in

FINEST, AROUND = 20, 10
"""Digits beyond the first that a round number may have; multiples on either side that are tried."""

CURRENCIES = frozenset("$\u20ac\u00a3\u00a5\u20b9")
"""Signs that are written in front of a number."""

Blocks = tuple[Sequence[Decimal], Decimal]
"""Where blocks of values begin, sorted, and where the last of them ends."""


@dataclass(frozen=True)
class Scale:
    """A scale of numbers: a value lies at the number that it writes out.

    Dates and ordered categories have scales of their own, whose places are seconds and ranks.
    """

    @property
    def unit(self) -> Decimal:
        """The unit of widths, in places."""
        return Decimal(1)

    @property
    def numeric(self) -> bool:
        """Whether places are the numbers themselves: not of dates, or ranks."""
        return type(self) in (Scale, MeasuredNumbers)

    def place(self, value: object) -> Decimal | None:
        """Locate a value; None for one that is not on the scale.

        A range that is written as a text, such as 90+, lies where it begins, or before it ends: it
        is released in ranges that hold all of it.
        """
        number = number_of(value)
        span = range_in(str(value)) if number is None else None
        if span is None:
            return number
        low, high = span
        return high - 1 if low is None and high is not None else low

    def label(self, low: Decimal | None, high: Decimal | None) -> str:
        """Label the half-open range [low, high); None is an open end."""
        start = "(-inf" if low is None else f"[{self.written(low)}"
        return f"{start}, {'inf' if high is None else self.written(high)})"

    def written(self, place: Decimal) -> str:
        """An end of a range as its label has it."""
        return number_text(place)

    def entry(self, low: Decimal | None, high: Decimal | None) -> dict[str, object]:
        """Return the entry of a manifest about a range."""
        return {"from": self.end(low), "to": self.end(high)}

    def end(self, place: Decimal | None) -> object:
        """An end of a range as JSON has it."""
        if place is None:
            return None
        return int(place) if place == place.to_integral_value() else float(place)

    def described(self) -> dict[str, object]:
        """Return the entry of a manifest about the scale, with each of its groups."""
        return {}

    def step_of(self, values: Sequence[Decimal]) -> Decimal:
        """The least step between numbers of the kind that some values are; 0 where there is none.

        It is 1 where all of them are whole.
        """
        return Decimal(all(value == value.to_integral_value() for value in values))

    def border(self, low: Decimal, high: Decimal, step: Decimal) -> Decimal | None:
        """The roundest number that divides two neighbouring values, as an end of ranges.

        Whatever divides them makes the same classes, and a label shows it. So it lies above
        ``low`` and below ``high``: at ``high`` it would give away a value that may be one person's.
        It follows from the two alone, so that no record beyond them moves it. Of equally round ones
        it is the nearest to the middle, then the lower one. Only where the gap holds no other
        number of the values' kind, whose ``step`` is given, it is ``high``: of whole numbers a and
        a + 1 any border is a value, and says no more than that both occur. None where no number
        that JSON and floats hold divides them.
        """
        with exactly():
            if high - low <= step:
                return high
            middle = (low + high) / 2
        found = round_number(
            low, high, middle, lambda number: number == high or bool(step and number % step)
        )
        return high if found is None and is_exact(high) else found

    def spelled(self, values: Sequence[object]) -> str | None:
        """The label of the range that holds just these values; None where there is none."""
        return None

    def blocks(self, values: Sequence[Decimal], level: int) -> Blocks | None:
        """Return where ranges of sorted values may begin, no finer than a level; None: anywhere."""
        return None


NUMBERS = Scale()


@dataclass(frozen=True)
class MeasuredNumbers(Scale):
    """The scale of numbers that are written with one unit: 165 cm, $1,200, or 12,5 %."""

    named: str
    decimal: str = "."

    def place(self, value: object) -> Decimal | None:
        return measure_in(str(value), self.named, self.decimal)

    def written(self, place: Decimal) -> str:
        """A number with its unit, currencies in front."""
        number = number_text(place).replace(".", self.decimal)
        if self.named in CURRENCIES:
            return f"-{self.named}{number[1:]}" if place < 0 else f"{self.named}{number}"
        return f"{number} {self.named}"

    def described(self) -> dict[str, object]:
        return {"unit": self.named, **({} if self.decimal == "." else {"decimal": self.decimal})}


@dataclass(frozen=True)
class Interval:
    """The half-open range [low, high) of a scale; ``None`` is an open end.

    A unit of the calendar has a ``name``, and goes by that.

    >>> str(Interval(Decimal(25), Decimal(50))), str(Interval(Decimal(60), None))
    ('[25, 50)', '[60, inf)')
    """

    low: Decimal | None
    high: Decimal | None
    scale: Scale = field(default=NUMBERS, repr=False)
    name: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.name or self.scale.label(self.low, self.high)

    def entry(self) -> dict[str, object]:
        """The range as a manifest has it."""
        return {**self.scale.entry(self.low, self.high), **self.scale.described()}

    def holds(self, place: Decimal) -> bool:
        """Tell whether a place lies in the range."""
        above = self.low is None or self.low <= place
        return above and (self.high is None or place < self.high)

    def meets(self, other: "Interval") -> bool:
        """Whether two ranges have a place in common."""
        before = self.high is not None and other.low is not None and self.high <= other.low
        after = other.high is not None and self.low is not None and other.high <= self.low
        return not before and not after


@dataclass(frozen=True)
class Ends:
    """Places that ranges of every level end at: below ``bottom``, and from ``top`` on, is one each.

    Raises InputError when they are not increasing.
    """

    bottom: Decimal | None = None
    top: Decimal | None = None

    def __post_init__(self) -> None:
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise InputError("bottom must be below top, such as bottom = 18, top = 90")

    def __bool__(self) -> bool:
        return self.bottom is not None or self.top is not None

    def cut(self, place: Decimal, found: Interval) -> Interval:
        """Return the range of a place where ``found`` is the one that it has without ends."""
        if self.top is not None and place >= self.top:
            return Interval(self.top, None, found.scale)
        if self.bottom is not None and place < self.bottom:
            return Interval(None, self.bottom, found.scale)
        lows = [each for each in (found.low, self.bottom) if each is not None]
        highs = [each for each in (found.high, self.top) if each is not None]
        low, high = max(lows, default=None), min(highs, default=None)
        if (low, high) == (found.low, found.high):
            return found
        return Interval(low, high, found.scale)


def round_number(
    low: Decimal, high: Decimal, near: Decimal, avoided: Callable[[Decimal], bool] | None = None
) -> Decimal | None:
    """The roundest number above ``low`` and up to ``high``, of several the one ``near`` a number.

    That is the multiple of the largest of ..., 10, 5, 2, 1, 0.5, ... None where there is none that
    JSON and floats hold exactly; ``avoided`` says of a number whether it must not be used.

    >>> round_number(Decimal("12.31"), Decimal("12.84"), Decimal("12.6"))
    Decimal('12.5')
    """
    with exactly():
        for step in _steps(high - low):
            if floor_to(high, step) <= low:
                continue
            # Multiples on both sides of the middle: rounding down may leave the nearest one above.
            middle = floor_to(min(max(near, low), high), step)
            multiples = (middle + step * place for place in range(-AROUND, AROUND + 1))
            found = [
                multiple
                for multiple in multiples
                if low < multiple <= high
                and is_exact(multiple)
                and not (avoided and avoided(multiple))
            ]
            if found:
                return min(found, key=lambda number: (abs(number - near), number))
    return None


def _steps(span: Decimal) -> Iterator[Decimal]:
    top = span.adjusted() + 1
    for exponent in range(top, top - FINEST - 1, -1):
        for digit in (5, 2, 1):
            yield Decimal((0, (digit,), exponent))


def is_exact(number: Decimal) -> bool:
    """Tell whether a manifest holds a number as it is: whole, or as a float writes it."""
    return number == number.to_integral_value() or Decimal(str(float(number))) == number
