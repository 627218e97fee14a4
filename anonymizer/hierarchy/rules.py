"""Hierarchies that need no list of values: ranges of numbers, masked codes, suppression alone."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import Self

from anonymizer.errors import InputError, shown
from anonymizer.hierarchy.hierarchy import NO_KEY, Hierarchy, Label
from anonymizer.hierarchy.line import Interval
from anonymizer.hierarchy.naming import named
from anonymizer.hierarchy.partition import ANY, torn_levels
from anonymizer.tables.values import exactly, floor_to, is_missing, number_of, number_text

LONGEST_CODE = 1000
"""Characters of a code that may be kept: no code of anybody is longer."""


@dataclass(frozen=True)
class RangeHierarchy(Hierarchy):
    """Half-open ranges of numbers: of equal widths aligned at an origin, or between cut points."""

    widths: tuple[Decimal, ...] = ()
    cuts: tuple[tuple[Decimal, ...], ...] = ()
    origin: Decimal = Decimal(0)

    @classmethod
    def exact(
        cls, widths: Sequence[object], cuts: Sequence[Sequence[object]], origin: object
    ) -> Self:
        """Take over numbers exactly as they are written."""
        return cls(
            tuple(map(_exact, widths)),
            tuple(tuple(map(_exact, level)) for level in cuts),
            _exact(origin),
        )

    def __post_init__(self) -> None:
        if bool(self.widths) == bool(self.cuts):
            raise InputError("ranges need either widths or cuts, such as widths = [25, 50]")
        if any(width <= 0 for width in self.widths):
            raise InputError("widths of ranges must be above 0")
        for level, (fine, coarse) in enumerate(pairwise(self.widths), 1):
            if floor_to(coarse, fine) != coarse:
                self._refuse(level, self.origin + coarse)
        for level, points in enumerate(self.cuts, 1):
            if not points or list(points) != sorted(set(points)):
                raise InputError(f"cuts of level {level} must be increasing, at least one")
        for level, (points, coarser) in enumerate(pairwise(self.cuts), 1):
            for cut in coarser:
                if cut not in points:
                    self._refuse(level, cut)

    def _refuse(self, level: int, cut: Decimal) -> None:
        """A cut of the level above falls inside a range of this one."""
        torn = self._range(level, cut)
        below = cut - 1 if torn.low is None else torn.low
        values = [number_text(below), number_text(cut)]
        raise InputError(torn_levels(level, values, str(torn)))

    @property
    def ordered(self) -> bool:
        return True

    @property
    def height(self) -> int:
        return len(self.widths or self.cuts) + 1

    def key(self, value: object) -> Hashable:
        """The number itself; None for a missing value, ``NO_KEY`` for one that is no number."""
        if is_missing(value):
            return None
        number = number_of(value)
        return NO_KEY if number is None else number

    def labels_of(self, key: Hashable) -> tuple[Label, ...]:
        number = number_of(key)
        assert number is not None
        return (*(self._range(level, number) for level in range(1, self.height)), ANY)

    def _range(self, level: int, number: Decimal) -> Interval:
        if self.widths:
            width = self.widths[level - 1]
            with exactly():
                low = floor_to(number - self.origin, width) + self.origin
                return Interval(low, low + width)
        points = self.cuts[level - 1]
        below = [cut for cut in points if cut <= number]
        above = [cut for cut in points if cut > number]
        return Interval(below[-1] if below else None, above[0] if above else None)

    def rule(self) -> dict[str, object]:
        return {
            "widths": [number_text(width) for width in self.widths],
            "cuts": [[number_text(cut) for cut in level] for level in self.cuts],
            "origin": number_text(self.origin),
        }

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> str:
        return (
            f"column {attribute!r} holds {named(strangers)} where ranges need numbers; "
            "clean the column or declare them as missing values"
        )


def _exact(value: object) -> Decimal:
    """A number of a rule."""
    given = isinstance(value, Real | Decimal) and not isinstance(value, bool)
    number = number_of(value) if given else None
    if number is None:
        raise InputError(f"widths, cuts and origin must be numbers, not {shown(value)}")
    return number


@dataclass(frozen=True)
class PrefixHierarchy(Hierarchy):
    """Codes that keep their first characters, the others masked by ``*`` (zip codes)."""

    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        whole = all(type(length) is int and length >= 1 for length in self.lengths)
        falling = whole and all(fine > coarse for fine, coarse in pairwise(self.lengths))
        if not self.lengths or not falling or self.lengths[0] > LONGEST_CODE:
            raise InputError(
                "prefixes must be falling whole lengths of at least 1, such as [4, 3], and at most "
                f"{LONGEST_CODE:,}"
            )

    @property
    def height(self) -> int:
        return len(self.lengths) + 1

    def labels_of(self, key: Hashable) -> tuple[Label, ...]:
        code = str(key)
        return (*(code[:kept] + "*" * (len(code) - kept) for kept in self.lengths), ANY)

    def rule(self) -> dict[str, object]:
        return {"prefixes": list(self.lengths)}


@dataclass(frozen=True)
class SuppressionHierarchy(Hierarchy):
    """Every value kept (level 0) or none (level 1)."""

    @property
    def height(self) -> int:
        return 1

    def labels_of(self, key: Hashable) -> tuple[Label, ...]:
        return (ANY,)

    def rule(self) -> dict[str, object]:
        return {"suppress": True}
