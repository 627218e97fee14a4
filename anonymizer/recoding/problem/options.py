"""What recodings beyond levels are confined to."""

from dataclasses import dataclass
from decimal import Decimal
from math import inf
from numbers import Real

from anonymizer.errors import InputError, is_whole
from anonymizer.tables.values import number_of

SHOWN = 20
"""Characters of a number that a message shows at the most."""


@dataclass(frozen=True)
class RangeOptions:
    """Limits of the ranges of a refined attribute.

    Parameters
    ----------
    max_ranges
        Largest number of ranges.
    min_width
        Least width of a range; between whole numbers, 86 to 90 spans 5. It is in days for dates,
        and in values for ordered categories.
    grid
        Number that ranges begin at multiples of.
    """

    max_ranges: int | None = None
    min_width: float | None = None
    grid: float | None = None

    def __post_init__(self) -> None:
        _require_whole("max-ranges", self.max_ranges)
        for name, value in (("min-width", self.min_width), ("grid", self.grid)):
            given = isinstance(value, Real | Decimal) and not isinstance(value, bool)
            number = number_of(value) if given else None
            if value is not None and (number is None or number <= 0):
                raise InputError(f"{name} = {str(value)[:SHOWN]} must be a number above 0")


@dataclass(frozen=True)
class Bounds:
    """Limits of the classes of a recoding, whatever kind it is of.

    Parameters
    ----------
    max_classes
        Largest number of classes.
    min_records
        Fewest records of a class. The search alone keeps to it: the policy, and what is verified,
        stay what they are.
    min_gain
        Least gain in the objective by each further class, in its unit (bits).
    """

    max_classes: int | None = None
    min_records: int | None = None
    min_gain: float = 0.0

    def __post_init__(self) -> None:
        _require_whole("max-classes", self.max_classes)
        _require_whole("min-records", self.min_records)
        gain = self.min_gain
        number = isinstance(gain, Real) and not isinstance(gain, bool)
        if not number or not 0 <= gain < inf:
            raise InputError(f"min-gain = {str(gain)[:SHOWN]} must be a number of at least 0")

    @property
    def requested(self) -> dict[str, object]:
        """The limits that confine anything, by the name that a study has for them."""
        known = {
            "max-classes": self.max_classes,
            "min-records": self.min_records,
            "min-gain": self.min_gain or None,
        }
        return {name: value for name, value in known.items() if value is not None}

    @property
    def suffix(self) -> str:
        """The limits in words, to be added to a message."""
        listed = ", ".join(f"{name} = {value}" for name, value in self.requested.items())
        return f" with {listed}" if listed else ""


def _require_whole(name: str, value: object) -> None:
    if value is not None and not is_whole(value, least=1):
        shown = repr(value)[:SHOWN]
        raise InputError(f"{name} = {shown} must be a whole number of at least 1")
