"""Hierarchies of ranges: of numbers, of cells between quantiles of a table, of ordered values."""

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import ClassVar, Self

from anonymizer.errors import InputError, is_whole, shown
from anonymizer.hierarchy.building import LEAST, cuts_of
from anonymizer.hierarchy.hierarchy import MOST_VALUES, NO_KEY, Hierarchy, LevelLabel
from anonymizer.hierarchy.naming import named
from anonymizer.hierarchy.partition import ANY, MOST_LISTED, Limits, Taxonomy, torn_levels
from anonymizer.hierarchy.scale import Ends, Interval, Scale
from anonymizer.tables.values import (
    Step,
    exactly,
    floor_to,
    is_missing,
    number_of,
    number_text,
    range_in,
    text_of,
)

MOST_GROUND = 1024
"""Cut points that values may be counted between."""

MARKED = re.compile("[0-9],[0-9]")
"""A number whose comma is a mark."""

QUANTILES = "quantiles"
"""Key of a ground that says how many cut points there are, at most."""

DASH = " - "
"""What stands between the first and the last value of a range of ordered ones."""

EXAMPLE = 'order = ["S", "M", "L", "XL"], widths = [2]'


@dataclass(frozen=True, repr=False)
class RangeHierarchy(Hierarchy):
    """Half-open ranges of numbers: of equal widths aligned at an origin, or between cut points.

    With ``ends`` numbers below the first and from the second on are a range each, at every level
    but that of the values, which is closed. ``whole``: level 1 has whole numbers as they are.
    """

    _kind: ClassVar[str] = "ranges"

    widths: tuple[Decimal, ...] = ()
    cuts: tuple[tuple[Decimal, ...], ...] = ()
    origin: Decimal = Decimal(0)
    ends: Ends = field(default=Ends())
    whole: bool = False

    @classmethod
    def exact(
        cls,
        widths: Sequence[object],
        cuts: Sequence[Sequence[object]],
        origin: object = 0,
        bottom: object = None,
        top: object = None,
        whole: object = False,
    ) -> Self:
        """Take over numbers exactly as they are written."""
        ends = Ends(*(None if end is None else _exact(end) for end in (bottom, top)))
        given, start = tuple(map(_exact, widths)), _exact(origin)
        if whole is not False:
            _require_exact(whole, given, start, ends)
            given = given if given[0] == 1 else (Decimal(1), *given)
        return cls(
            given,
            tuple(tuple(map(_exact, level)) for level in cuts),
            start,
            ends,
            bool(whole),
            limits=Limits().upon(1 if ends else None),
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
            return [self.origin + place * self.widths[0] for place in range(MOST_VALUES)]
        return [self.cuts[0][0] - 1, *self.cuts[0][: MOST_VALUES - 1]]

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
        number = number_of(value)
        if number is None and self.limits.ground is not None:
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
                return Interval(low, low + width, name=alone)
        points = self.cuts[level - 1]
        # A cut point belongs to the range that begins at it.
        place = bisect_right(points, number)
        return Interval(
            points[place - 1] if place else None, points[place] if place < len(points) else None
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
        if level is None or not self.widths or self.whole:  # nothing is rounded to a whole number
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
        }

    @property
    def _ends(self) -> Mapping[str, Decimal]:
        given = {"bottom": self.ends.bottom, "top": self.ends.top}
        return {name: end for name, end in given.items() if end is not None}

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> InputError:
        found = f"column {attribute!r} holds {named(strangers)} where ranges need numbers"
        remedy = "clean the column or declare them as missing values"
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


@dataclass(frozen=True)
class Ranks(Scale):
    """The scale of ordered categories, whose places are 0, 1, ...; all of them are ``values``."""

    values: tuple[str, ...] = field(repr=False)

    @cached_property
    def rank(self) -> Mapping[str, int]:
        """Place of each value."""
        return {value: rank for rank, value in enumerate(self.values)}

    def place(self, value: object) -> Decimal | None:
        rank = None if is_missing(value) else self.rank.get(text_of(value))
        return None if rank is None else Decimal(rank)

    def label(self, low: Decimal | None, high: Decimal | None) -> str:
        inside = self._inside(low, high)
        if len(inside) == 1:
            return alone(inside[0])
        return f"{_end(inside[0])}{DASH}{_end(inside[-1])}"

    def entry(self, low: Decimal | None, high: Decimal | None) -> dict[str, object]:
        return {"values": list(self._inside(low, high))}

    def border(self, low: Decimal, high: Decimal, step: Decimal) -> Decimal:
        # The middle: labels name the last value before it and the first one from it on.
        return (low + high) // 2 + 1

    def range_of(self, values: Sequence[object]) -> Interval | None:
        """The range that holds just these values, in any order; None where there is none."""
        places = sorted(place for value in values if (place := self.place(value)) is not None)
        # Some value is on no scale or twice, or the range would hold others, too.
        if len({*places}) < len(values) or not places or places[-1] - places[0] >= len(places):
            return None
        return Interval(places[0], places[-1] + 1, self)

    def spelled(self, values: Sequence[object]) -> str | None:
        found = self.range_of(values)
        return None if found is None else str(found)

    def _inside(self, low: Decimal | None, high: Decimal | None) -> tuple[str, ...]:
        return self.values[slice(*(None if end is None else int(end) for end in (low, high)))]


def alone(value: str) -> str:
    """The label of a single value: in quotes where it reads as a range, a quoted text or ``*``."""
    plain = DASH not in value and not value.startswith('"') and value != ANY
    return value if plain else json.dumps(value, ensure_ascii=False)


def _end(value: str) -> str:
    """A value as the label of a range has it: in quotes where the mark could be elsewhere."""
    plain = alone(value) == value and not value.startswith("- ") and not value.endswith(" -")
    return value if plain else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, repr=False)
class OrderHierarchy(Hierarchy):
    """Categories from one end to the other, grouped by width, or between cuts.

    ``values`` are all that may occur. ``widths`` are how many consecutive ones a group has, from
    the first on; ``cuts`` are the values that groups begin at, by level. Without either there are
    two levels, the values and ``*``, and ranges of any length where a recoding refines them.
    """

    _kind: ClassVar[str] = "ordered values"

    values: tuple[str, ...] = field(repr=False)
    widths: tuple[int, ...] = ()
    cuts: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of_values(
        cls, values: Iterable[object], widths: Sequence[object], cuts: Sequence[Iterable[object]]
    ) -> Self:
        """Take over what is given, values by their texts."""
        for given in (values, *cuts):
            if not isinstance(given, Iterable) or isinstance(given, str):
                raise InputError(
                    "order must list values, and cuts some of them for each level, such as "
                    'order = ["S", "M", "L"], cuts = [["M", "L"], ["L"]]'
                )
        texts = tuple(map(text_of, values))
        levels = tuple(tuple(map(text_of, level)) for level in cuts)
        return cls(texts, tuple(widths), levels)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        if len(self.values) < 2 or len(set(self.values)) < len(self.values) or "" in self.values:
            raise InputError(
                f"order must list two or more values, each once, none of them empty, such as "
                f"{EXAMPLE}"
            )
        if len(self.values) > MOST_LISTED:
            raise InputError(
                f"order lists {len(self.values):,} values, the most is {MOST_LISTED:,}; write "
                "numbers or dates as such, with widths or calendar"
            )
        if self.widths and self.cuts:
            raise InputError(f"order goes with widths or with cuts, not both, such as {EXAMPLE}")
        for width in self.widths:
            if not is_whole(width, least=1):
                raise InputError(
                    f"widths of an order are whole numbers of values, such as {EXAMPLE}, not "
                    f"{shown(width)}"
                )
        for level, (fine, coarse) in enumerate(pairwise(self.widths), 1):
            if coarse % fine or coarse == fine:
                raise InputError(
                    f"widths of an order: {coarse} at level {level + 1} is no multiple of {fine}, "
                    f"so that groups of level {level} would be torn; write a multiple, such as "
                    f"widths = [{fine}, {2 * fine}]"
                )
        for level in range(1, len(self.cuts) + 1):
            self._require_cuts(level)

    def _require_cuts(self, level: int) -> None:
        cuts = self.cuts[level - 1]
        ranks = [self._place(cut) for cut in cuts]
        if not ranks or any(fine >= coarse for fine, coarse in pairwise(ranks)):
            raise InputError(
                f"cuts of level {level} must be values in the order given, each once, at least one"
            )
        if level > 1 and not {*cuts} <= {*self.cuts[level - 2]}:
            cut = next(cut for cut in cuts if cut not in self.cuts[level - 2])
            rank = self._place(cut)
            torn = [self.values[rank - 1], cut] if rank else [cut, cut]
            raise InputError(torn_levels(level - 1, torn, str(self.label_at(level - 1, cut))))

    def _place(self, value: str) -> int:
        if value not in self.scale.rank:
            raise InputError(f"cuts has {shown(value)}, which is not in order; add it there")
        return self.scale.rank[value]

    @cached_property
    def scale(self) -> Ranks:
        """The scale that values lie on."""
        return Ranks(self.values)

    @property
    def ordered(self) -> bool:
        return True

    @property
    def listed(self) -> Sequence[Hashable]:
        return self.values

    @property
    def height(self) -> int:
        return len(self.widths or self.cuts) + 1

    def covers(self, key: Hashable) -> bool:
        return key in self.scale.rank

    def ranked(
        self, keys: Collection[Hashable]
    ) -> tuple[list[Hashable], tuple[Decimal | None, ...]]:
        missing = [None] * (None in keys)
        ranks = sorted(self.scale.rank[str(key)] for key in keys if key is not None)
        known = [self.values[rank] for rank in ranks]
        return [*known, *missing], (*map(Decimal, ranks), *missing)

    def label_at(self, level: int, key: Hashable) -> Interval:
        rank = self.scale.rank[str(key)]
        if self.widths:
            low = rank // self.widths[level - 1] * self.widths[level - 1]
            high = min(low + self.widths[level - 1], len(self.values))
        else:
            begins = [0, *(self.scale.rank[cut] for cut in self.cuts[level - 1]), len(self.values)]
            low = max(begin for begin in begins if begin <= rank)
            high = min(begin for begin in begins if begin > rank)
        return Interval(Decimal(low), Decimal(high), self.scale)

    def cut_point(self, given: object) -> Decimal:
        place = self.scale.place(given)
        if place is None:
            raise InputError(f"grid has {shown(given)}, which is not in order; add it there")
        return place

    def with_ground(self, ground: object) -> tuple[Hierarchy, int]:
        """Add a level of groups of as many consecutive values as the ground says."""
        finest = self.widths[0] if self.widths else None
        if self.cuts or not is_whole(ground, least=1 if ground == finest else 2):
            return super().with_ground(ground)
        width = int(ground)  # type: ignore[call-overload]
        if width == finest:
            return self, 1
        return replace(self, widths=(width, *self.widths)), 1

    def ground_at(self, level: int) -> object:
        return self.widths[level - 1] if self.widths else level

    def cell_of(self, key: Hashable) -> Hashable:
        found = self._at_ground(key)
        assert isinstance(found, Interval)
        assert found.low is not None
        return self.values[int(found.low)]

    def rule(self) -> dict[str, object]:
        levels = {"widths": list(self.widths), "cuts": [list(level) for level in self.cuts]}
        given = {name: value for name, value in levels.items() if value}
        return {"order": list(self.values), **given}

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> InputError:
        remedy = (
            "add them to order where they belong, clean the column, or declare them as missing "
            "values"
        )
        if self._in_other_forms(strangers):
            remedy = "accents in order are encoded otherwise (NFC, NFD): write both alike"
        return InputError(f"column {attribute!r} holds {named(strangers)} that order lacks", remedy)
