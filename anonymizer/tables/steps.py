"""What the values of a column are rounded down by where they lie, before they are counted."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Step:
    """A unit of the calendar, or a width of ranges that are counted from an origin."""

    unit: str = ""
    width: Decimal = Decimal(0)
    origin: Decimal = Decimal(0)
