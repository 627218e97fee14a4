"""Hierarchies of ranges: of numbers, and of cells between quantiles of a table."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import ClassVar, Self

from anonymizer.errors import InputError, is_whole, shown
from anonymizer.hierarchy.building import LEAST, cuts_of
from anonymizer.hierarchy.hierarchy import MOST_VALUES, NO_KEY, Hierarchy, LevelLabel
from anonymizer.hierarchy.naming import as_missing, named
from anonymizer.hierarchy.partition import Limits, Taxonomy, torn_levels
from anonymizer.hierarchy.scale import NUMBERS, Ends, Interval, MeasuredNumbers, Scale
from anonymizer.tables.values import (
    Step,
    exactly,
    floor_to,
    is_missing,
    number_of,
    number_text,
    range_in,
)

MOST_GROUND = 1024
"""Cut points that values may be counted between."""

MARKED = re.compile("[0-9],[0-9]")
"""A number whose comma is a mark."""

QUANTILES = "quantiles"
"""Key of a ground that says how many cut points there are, at most."""


LONGEST_UNIT, NO_UNIT = 20, frozenset("0123456789[](){},.;+-*\"'\\")
"""Characters of a unit at the most, and those that it cannot have."""


@dataclass(frozen=True, repr=False)
class RangeHierarchy(Hierarchy):
    """Half-open ranges of numbers: of equal widths aligned at an origin, or between cut points.

    With ``ends`` numbers below the first and from the second on are a range each, at every level
    but that of the values, which is closed. ``whole``: level 1 has whole numbers as they are.
    With a ``measure`` numbers are written with that unit, and released in ranges alone.
    """

    _kind: ClassVar[str] = "ranges"

    widths: tuple[Decimal, ...] = ()
    cuts: tuple[tuple[Decimal, ...], ...] = ()
    origin: Decimal = Decimal(0)
    ends: Ends = field(default=Ends())
    whole: bool = False
    measure: str = ""
    decimal: str = "."

    @classmethod
    def exact(
        cls,
        widths: Sequence[object],
        cuts: Sequence[Sequence[object]],
        origin: object = 0,
        bottom: object = None,
        top: object = None,
        whole: object = False,
        unit: object = None,
        decimal: object = ".",
    ) -> Self:
        """Take over numbers exactly as they are written."""
        ends = Ends(*(None if end is None else _exact(end) for end in (bottom, top)))
        given, start = tuple(map(_exact, widths)), _exact(origin)
        if unit is not None:
            _require_unit(unit, whole)
        if decimal not in (".", ",") or (decimal == "," and unit is None):
            raise InputError(
                f"decimal = {shown(decimal)} must be the decimal mark of numbers with a unit, "
                'such as unit = "kg", decimal = ","'
            )
        if whole is not False:
            _require_exact(whole, given, start, ends)
            given = given if given[0] == 1 else (Decimal(1), *given)
        return cls(
            given,
            tuple(tuple(map(_exact, level)) for level in cuts),
            start,
            ends,
            bool(whole),
            str(unit or ""),
            str(decimal),
            limits=Limits().upon(1 if ends or unit else None),
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
        """Refuse a cut of the level above that falls inside a range of this one."""
        torn = self._range(level, cut)
        below = cut - 1 if torn.low is None else torn.low
        values = [number_text(below), number_text(cut)]
        hint = "each width must be a multiple of" if self.widths else "take cut points of"
        raise InputError(f"{torn_levels(level, values, str(torn))}; {hint} the one before")

    def _examples(self) -> list[object]:
        if self.widths:
            numbers = [self.origin + place * self.widths[0] for place in range(MOST_VALUES)]
        else:
            numbers = [self.cuts[0][0] - 1, *self.cuts[0][: MOST_VALUES - 1]]
        return [self.scale.written(each) if self.measure else each for each in numbers]

    @property
    def scale(self) -> Scale:
        """The scale that values lie on."""
        return MeasuredNumbers(self.measure, self.decimal) if self.measure else NUMBERS

    @property
    def ordered(self) -> bool:
        return True

    @property
    def height(self) -> int:
        return len(self.widths or self.cuts) + 1

    def key(self, value: object) -> Hashable:
        """The number itself; None for a missing value, ``NO_KEY`` for one that is no number.

        A range that is written as a text is its place, where a group of the ground holds all of it.
        """
        if is_missing(value):
            return None
        number = self.scale.place(value) if self.measure else number_of(value)
        if number is None and self.limits.ground is not None and not self.measure:
            number = self._place_of(str(value))
        torn = self.whole and number is not None and self._torn(number)
        return NO_KEY if number is None or torn else number

    def _torn(self, number: Decimal) -> bool:
        """Whether a number between the ends is none of the whole ones that level 1 shows."""
        between = self._range(1, number)
        inside = between.low is not None and between.high is not None
        return inside and number != number.to_integral_value()

    def _place_of(self, text: str) -> Decimal | None:
        """Locate a range that a text writes; None where the ground does not hold it whole."""
        place, span = self.scale.place(text), range_in(text)
        if place is None or span is None or self.limits.ground is None:
            return None
        cell, (low, high) = self._range(self.limits.ground, place), span
        begins = cell.low is None or (low is not None and cell.low <= low)
        ends = cell.high is None or (high is not None and high <= cell.high)
        return place if begins and ends else None

    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        number = key if isinstance(key, Decimal) else number_of(key)  # read once, not by level
        assert number is not None
        return self._range(level, number)

    def _range(self, level: int, number: Decimal) -> Interval:
        found = self._between_cuts(level, number)
        return self.ends.cut(number, found) if self.ends else found

    def _between_cuts(self, level: int, number: Decimal) -> Interval:
        if self.widths:
            width = self.widths[level - 1]
            with exactly():
                low = floor_to(number - self.origin, width) + self.origin
                alone = number_text(low) if self.whole and level == 1 else None
                return Interval(low, low + width, self.scale, alone)
        points = self.cuts[level - 1]
        # A cut point belongs to the range that begins at it.
        place = bisect_right(points, number)
        return Interval(
            points[place - 1] if place else None,
            points[place] if place < len(points) else None,
            self.scale,
        )

    def with_ground(self, ground: object) -> tuple[Hierarchy, int]:
        """Add a level of cells of the width of the ground, or between its cut points."""
        if self.cuts:
            return self._with_cuts(ground)
        width = _number(ground)
        if self.whole and width != 1:
            raise InputError("exact shows whole numbers, which a ground hides; leave one out")
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

    def _with_cuts(self, ground: object) -> tuple[Hierarchy, int]:
        """Add a level of cells between the cut points of the ground."""
        if isinstance(ground, Mapping):
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
        # What is to be whole is not rounded, and what has a unit is a text.
        if level is None or not self.widths or self.whole or self.measure:
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
            **{name: number_text(end) for name, end in self._ends.items()},
            **({"exact": True} if self.whole else {}),
            **(self.scale.described()),
        }

    @property
    def _ends(self) -> Mapping[str, Decimal]:
        given = {"bottom": self.ends.bottom, "top": self.ends.top}
        return {name: end for name, end in given.items() if end is not None}

    @property
    def _marks(self) -> str:
        """What a comma is among numbers with a unit, and how to say that it is another mark."""
        if self.decimal == ",":
            return "a comma is the decimal mark there, and a point marks thousands"
        return 'a comma is a mark of thousands there, unless decimal = "," is added to the unit'

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> InputError:
        found = f"column {attribute!r} holds {named(strangers)} where ranges need numbers"
        remedy = f"clean the column or {as_missing(strangers)}"
        if self.measure:
            such = f"with the unit {self.measure!r}, such as {self.scale.written(Decimal(1200))}"
            return InputError(f"{found} {such}", f"{remedy}; {self._marks}")
        if self.whole and all(number_of(text) is not None for text in strangers):
            found = found.replace("ranges need numbers", "exact = true needs whole numbers")
            return InputError(found, f"{remedy}, or leave exact out")
        if all(range_in(text) for text in strangers):
            ends = "bottom and top, such as top = 90, where 90+ and numbers from 90 on are one"
            return InputError(f"{found}", f"give a group of its own to each open end by {ends}")
        if not any(MARKED.search(text) for text in strangers):
            return InputError(found, remedy)
        # They may be numbers in another notation than that of the package.
        remedy = f"{remedy}; if commas are marks of numbers, set decimal or thousands in [data]"
        return InputError(found, remedy, section="data", key="decimal")


def _require_unit(unit: object, exact: object) -> None:
    """Require a unit that no number, and no end of a range, can be taken for."""
    known = isinstance(unit, str) and bool(unit) and unit == " ".join(unit.split())
    if not known or len(str(unit)) > LONGEST_UNIT or not NO_UNIT.isdisjoint(str(unit)):
        raise InputError(
            f"unit = {shown(unit)} must be what stands next to each number, without digits and "
            'brackets, such as unit = "cm"'
        )
    if exact is not False:
        raise InputError("exact and unit do not go together; leave exact out")


def _require_exact(given: object, widths: Sequence[Decimal], origin: Decimal, ends: Ends) -> None:
    """Require ``exact = true`` of widths of whole numbers that end somewhere."""
    if given is not True:
        raise InputError(f"exact = {shown(given)} can only be true")
    if not ends or not widths:
        raise InputError(
            "exact goes with widths and top or bottom, such as widths = [5, 10], top = 90, exact = "
            "true; without an end level 0 has the numbers as they are"
        )
    numbers = (*widths, origin, ends.bottom, ends.top)
    if any(number is not None and number != number.to_integral_value() for number in numbers):
        raise InputError(
            "exact is of whole numbers; give whole widths, origin, bottom and top, such as "
            "widths = [5, 10], top = 90, exact = true"
        )


def _exact(value: object) -> Decimal:
    number = _number(value)
    if number is None:
        raise InputError(
            f"widths, cuts, origin, bottom and top must be numbers, not {shown(value)}"
        )
    return number


def _number(value: object) -> Decimal | None:
    """Take a number exactly; None for anything else."""
    given = isinstance(value, Real | Decimal) and not isinstance(value, bool)
    return number_of(value) if given else None


@dataclass(frozen=True, repr=False)
class QuantileHierarchy(Hierarchy):
    """Ranges between cut points, above cells of about equally many records of a table.

    ``coarser`` are the ranges, whose cut points no cell contains. There are at most ``quantiles``
    others, moved to round numbers, and so few that cells have 20 records on average. Until a table
    is known level 1 is that of the values.
    """

    coarser: RangeHierarchy = field()
    quantiles: int = field()

    @classmethod
    def of_ground(cls, coarser: RangeHierarchy, ground: Mapping[str, object]) -> "Hierarchy":
        """The hierarchy above the ground ``{quantiles = 256}``; InputError where it is another."""
        most = MOST_GROUND - len(coarser.cuts[0])
        number = ground.get(QUANTILES)
        if {*ground} != {QUANTILES} or not is_whole(number, least=1) or number > most:  # type: ignore[operator]
            raise InputError(
                f"ground = {shown(dict(ground))} must say how many quantiles there are, up to "
                f"{most:,}, such as ground = {{ {QUANTILES} = {min(256, most)} }}"
            )
        return cls(coarser, int(number), limits=coarser.limits)  # type: ignore[call-overload]

    @property
    def follows_table(self) -> bool:
        return True

    @property
    def ordered(self) -> bool:
        return True

    @property
    def height(self) -> int:
        return self.coarser.height + 1

    @property
    def scale(self) -> Scale:
        """The scale of the ranges."""
        return self.coarser.scale

    def key(self, value: object) -> Hashable:
        return self.coarser.key(value)

    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        return str(key) if level == 1 else self.coarser.label_at(level - 1, key)

    def ground_at(self, level: int) -> object:
        return {QUANTILES: self.quantiles}

    def rule(self) -> dict[str, object]:
        return self.coarser.rule()

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> InputError:
        return self.coarser.refusal(attribute, strangers)

    def settled(self, values: Iterable[object], sizes: Iterable[int]) -> Hierarchy:
        """The hierarchy over the cells that the values of a column have, and their records."""
        records: Counter[str] = Counter()
        for value, size in zip(values, sizes, strict=True):
            key = self.key(value)
            if isinstance(key, Decimal):
                records[number_text(key)] += int(size)
        numbers, own = sorted(map(Decimal, records)), self.coarser.cuts[0]
        taken = {bisect_left(numbers, cut) for cut in own}  # a cut there divides the same values
        found = _points(records, self.quantiles)
        points = {*own, *(cut for cut in found if bisect_left(numbers, cut) not in taken)}
        return replace(self.coarser.grounded(sorted(points)), limits=self.limits)

    def over(
        self, attribute: str, values: Iterable[object], sizes: Iterable[int] | None = None
    ) -> Taxonomy:
        values = list(values)
        sizes = [1] * len(values) if sizes is None else list(sizes)
        return self.settled(values, sizes).over(attribute, values, sizes)


def _points(records: Mapping[str, int], quantiles: int) -> list[Decimal]:
    """Quantiles of a column at round numbers; none where too few records, or values, are there."""
    ranges = min(quantiles + 1, sum(records.values()) // LEAST)
    if ranges < 2 or len(records) < 2:
        return []
    try:
        return cuts_of(records, [ranges])["cuts"][0]  # type: ignore[index, no-any-return]
    except InputError:  # nearly all records have one value
        return []
