"""Hierarchies of ordered categories, from one end to the other, and the scale that they lie on."""

import json
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Self

from anonymizer.errors import InputError, is_whole, shown
from anonymizer.hierarchy.hierarchy import Hierarchy
from anonymizer.hierarchy.naming import named
from anonymizer.hierarchy.partition import ANY, MOST_LISTED, torn_levels
from anonymizer.hierarchy.scale import Interval, Scale
from anonymizer.tables.values import is_missing, text_of

DASH = " - "
"""What stands between the first and the last value of a range of ordered ones."""

EXAMPLE = 'order = ["S", "M", "L", "XL"], widths = [2]'


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
