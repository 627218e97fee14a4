"""Lines: what the places of ordered values stand for, and ranges of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from anonymizer.tables.values import number_of, number_text

Points = tuple[tuple[Decimal, ...], Decimal]
"""Where ranges may begin, and where the last of them ends."""


@dataclass(frozen=True)
class Line:
    """A line of numbers: a value lies at the number that it writes out.

    Dates and ordered categories have lines of their own, whose places are seconds and ranks.
    """

    @property
    def unit(self) -> Decimal:
        """The unit of widths, in places."""
        return Decimal(1)

    def place(self, value: object) -> Decimal | None:
        """Where a value lies; None for one that is not on the line."""
        return number_of(value)

    def label(self, low: Decimal | None, high: Decimal | None) -> str:
        """What the half-open range [low, high) is released as; None is an open end."""
        start = "(-inf" if low is None else f"[{self.written(low)}"
        return f"{start}, {'inf' if high is None else self.written(high)})"

    def written(self, place: Decimal) -> str:
        """An end of a range as its label has it."""
        return number_text(place)

    def entry(self, low: Decimal | None, high: Decimal | None) -> dict[str, object]:
        """What a manifest says of a range."""
        return {"from": self.end(low), "to": self.end(high)}

    def end(self, place: Decimal | None) -> object:
        """An end of a range as JSON has it."""
        if place is None:
            return None
        return int(place) if place == place.to_integral_value() else float(place)

    def described(self) -> dict[str, object]:
        """What a manifest says of the line, with each of its groups."""
        return {}

    def spelled(self, values: Sequence[object]) -> str | None:
        """The label of the range that holds just these values; None where there is none."""
        return None

    def points(self, values: Sequence[Decimal], most: int) -> Points | None:
        """Where ranges may begin, at most so many places; None: at any of the sorted values."""
        return None


NUMBERS = Line()


@dataclass(frozen=True)
class Interval:
    """The half-open range [low, high) of a line; ``None`` is an open end.

    A unit of the calendar has a ``name``, and goes by that.

    >>> str(Interval(Decimal(25), Decimal(50))), str(Interval(Decimal(60), None))
    ('[25, 50)', '[60, inf)')
    """

    low: Decimal | None
    high: Decimal | None
    line: Line = field(default=NUMBERS, repr=False)
    name: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.name or self.line.label(self.low, self.high)

    def entry(self) -> dict[str, object]:
        """The range as a manifest has it."""
        return {**self.line.entry(self.low, self.high), **self.line.described()}

    def holds(self, place: Decimal) -> bool:
        """Whether a place lies in the range."""
        above = self.low is None or self.low <= place
        return above and (self.high is None or place < self.high)
