"""Ranges of numbers, between cut points or of a width."""

import re
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import Self

from anonymizer.errors import InputError, shown
from anonymizer.hierarchy.hierarchy import NO_KEY, Hierarchy, LevelLabel
from anonymizer.hierarchy.naming import named
from anonymizer.hierarchy.partition import torn_levels
from anonymizer.hierarchy.scale import Interval
from anonymizer.tables.steps import Step
from anonymizer.tables.values import (
    exactly,
    floor_to,
    is_missing,
    number_of,
    number_text,
)

MOST_GROUND = 1024
"""Cut points that values may be counted between."""

MARKED = re.compile("[0-9],[0-9]")
"""A number whose comma is a mark."""


@dataclass(frozen=True, repr=False)
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
        for level, (fine_cuts, coarse_cuts) in enumerate(pairwise(map(frozenset, self.cuts)), 1):
            for cut in sorted(coarse_cuts):
                if cut not in fine_cuts:
                    self._refuse(level, cut)

    def _refuse(self, level: int, cut: Decimal) -> None:
        """A cut of the level above falls inside a range of this one."""
        torn = self._range(level, cut)
        below = cut - 1 if torn.low is None else torn.low
        values = [number_text(below), number_text(cut)]
        hint = "each width must be a multiple of" if self.widths else "take cut points of"
        raise InputError(f"{torn_levels(level, values, str(torn))}; {hint} the one before")

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

    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        number = key if isinstance(key, Decimal) else number_of(key)  # read once, not by level
        assert number is not None
        return self._range(level, number)

    def _range(self, level: int, number: Decimal) -> Interval:
        if self.widths:
            width = self.widths[level - 1]
            with exactly():
                low = floor_to(number - self.origin, width) + self.origin
                return Interval(low, low + width)
        points = self.cuts[level - 1]
        # A cut point belongs to the range that begins at it.
        place = bisect_right(points, number)
        return Interval(
            points[place - 1] if place else None, points[place] if place < len(points) else None
        )

    def with_ground(self, ground: object) -> tuple[Hierarchy, int]:
        """Add a level of cells of the width of the ground, or between its cut points."""
        if self.cuts:
            return self._between(ground)
        width = _number(ground)
        if width is None or width <= 0:
            raise InputError(
                f"ground = {shown(ground)} must be a width above 0, such as ground = "
                f"{number_text(self.widths[0])}"
            )
        finest = self.widths[0]
        if width == finest:
            return self, 1
        if width > finest or floor_to(finest, width) != finest:
            raise InputError(
                f"ground = {number_text(width)}: ranges of width {number_text(finest)} would "
                f"divide its cells; give a ground that {number_text(finest)} is a multiple of, "
                f"such as ground = {number_text(finest)}, or leave that width out"
            )
        return replace(self, widths=(width, *self.widths)), 1

    def _between(self, ground: object) -> tuple[Hierarchy, int]:
        """Add a level of cells between the cut points of the ground."""
        if isinstance(ground, Mapping):
            from anonymizer.hierarchy.authoring.quantiles import QuantileHierarchy

            return QuantileHierarchy.of_ground(self, ground), 1
        given = ground if isinstance(ground, Sequence) and not isinstance(ground, str) else ()
        points = [*map(_number, given)]
        known = sorted({each for each in points if each is not None})
        if not known or len(known) < len(points) or len(known) > MOST_GROUND:
            raise InputError(
                f"ground of cuts must list up to {MOST_GROUND:,} cut points, those of level 1 "
                "among them, such as cuts = [[20, 40], [40]], ground = [10, 20, 30, 40]"
            )
        lacking = {*self.cuts[0]} - {*known}
        if lacking:
            raise InputError(
                f"ground: the cut {number_text(min(lacking))} of level 1 would divide a cell; add "
                "it to ground, or leave it out"
            )
        cuts = self.cuts if known == [*self.cuts[0]] else (tuple(known), *self.cuts)
        return replace(self, cuts=cuts), 1

    def ground_at(self, level: int) -> object:
        if self.widths:
            return number_text(self.widths[level - 1])
        return [number_text(cut) for cut in self.cuts[level - 1]]

    @property
    def step(self) -> Step | None:
        level = self.limits.ground
        if level is None or not self.widths:
            return None
        return Step(width=self.widths[level - 1], origin=self.origin)

    def cell_of(self, key: Hashable) -> Hashable:
        assert self.limits.ground is not None
        assert isinstance(key, Decimal)
        found = self._range(self.limits.ground, key)
        if found.low is not None:
            return found.low
        assert found.high is not None
        return found.high - 1

    def rule(self) -> dict[str, object]:
        return {
            "widths": [number_text(width) for width in self.widths],
            "cuts": [[number_text(cut) for cut in level] for level in self.cuts],
            "origin": number_text(self.origin),
        }

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> InputError:
        found = f"column {attribute!r} holds {named(strangers)} where ranges need numbers"
        remedy = "clean the column or declare them as missing values"
        if not any(MARKED.search(text) for text in strangers):
            return InputError(found, remedy)
        # They may be numbers in another notation than that of the package.
        remedy = f"{remedy}; if commas are marks of numbers, set decimal or thousands in [data]"
        return InputError(found, remedy, section="data", key="decimal")


def _exact(value: object) -> Decimal:
    number = _number(value)
    if number is None:
        raise InputError(f"widths, cuts and origin must be numbers, not {shown(value)}")
    return number


def _number(value: object) -> Decimal | None:
    """Take a number exactly; None for anything else."""
    given = isinstance(value, Real | Decimal) and not isinstance(value, bool)
    return number_of(value) if given else None
