"""Hierarchies that need no list of all values: ranges, masked codes, kept values, suppression."""

import re
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Literal, Self

from anonymizer.errors import InputError, is_whole, shown
from anonymizer.hierarchy.hierarchy import NO_KEY, Hierarchy, Label
from anonymizer.hierarchy.labels import Meaning
from anonymizer.hierarchy.naming import named
from anonymizer.hierarchy.partition import ANY, MOST_LISTED, torn_levels
from anonymizer.hierarchy.scale import Interval
from anonymizer.tables.steps import Step
from anonymizer.tables.values import (
    exactly,
    floor_to,
    is_missing,
    number_of,
    number_text,
    text_of,
)

Side = Literal["left", "right"]

LONGEST_CODE = 1000
"""Characters of a code that may be kept: no code of anybody is longer."""

MOST_GROUND = 1024
"""Cut points that values may be counted between."""

MARKED = re.compile("[0-9],[0-9]")
"""A number whose comma is a mark."""

MASKS = "*#?~xX\u2022\u2588"
"""What may stand for a masked character: nothing that makes a number, a formula or a gap of it."""


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

    def labels_of(self, key: Hashable) -> tuple[Label, ...]:
        number = number_of(key)
        assert number is not None
        return (*(self._range(level, number) for level in range(1, self.height)), ANY)

    def label_at(self, level: int, key: Hashable) -> Label:
        number = number_of(key)
        assert number is not None
        return ANY if level == self.height else self._range(level, number)

    def _range(self, level: int, number: Decimal) -> Interval:
        if self.widths:
            width = self.widths[level - 1]
            with exactly():
                low = floor_to(number - self.origin, width) + self.origin
                return Interval(low, low + width)
        points = self.cuts[level - 1]
        place = bisect_right(points, number)
        return Interval(
            points[place - 1] if place else None, points[place] if place < len(points) else None
        )

    def with_ground(self, ground: object) -> tuple[Hierarchy, int]:
        """The ranges above cells of a width, or between cut points that have all of theirs."""
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
        """The same between cut points."""
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

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> str:
        return (
            f"column {attribute!r} holds {named(strangers)} where ranges need numbers; "
            f"clean the column or declare them as missing values{_marked(strangers)}"
        )


def _marked(strangers: Mapping[str, int]) -> str:
    """What is said where values may be numbers in another notation than that of the package."""
    if any(MARKED.search(text) for text in strangers):
        return "; if commas are marks of numbers, set decimal or thousands in [data]"
    return ""


def _exact(value: object) -> Decimal:
    """A number of a rule."""
    number = _number(value)
    if number is None:
        raise InputError(f"widths, cuts and origin must be numbers, not {shown(value)}")
    return number


def _number(value: object) -> Decimal | None:
    """What is given as a number, exactly; None for anything else."""
    given = isinstance(value, Real | Decimal) and not isinstance(value, bool)
    return number_of(value) if given else None


@dataclass(frozen=True, repr=False)
class MaskHierarchy(Hierarchy):
    """Codes of which some characters are masked: zip codes, telephone numbers.

    ``lengths`` are of each level, the finest first: how many characters are kept at the ``side``
    that is kept, falling, or how many are masked at the other side, rising (``masks``). A code that
    is shorter is kept, or masked, as a whole. ``mask`` stands for each masked character, so that
    the length of a code is kept.
    """

    lengths: tuple[int, ...]
    side: Side = "left"
    masks: bool = False
    mask: str = "*"

    def __post_init__(self) -> None:
        name = self.name
        whole = all(type(length) is int and length >= 1 for length in self.lengths)
        steps = pairwise(self.lengths[::-1] if self.masks else self.lengths)
        if not self.lengths or not whole or not all(fine > coarse for fine, coarse in steps):
            order, such = ("rising", "[1, 2]") if self.masks else ("falling", "[4, 3]")
            raise InputError(
                f"{name} must be {order} whole lengths of at least 1, such as {name} = {such}"
            )
        if max(self.lengths) > LONGEST_CODE:
            raise InputError(f"{name} must be lengths of at most {LONGEST_CODE:,}")
        if not isinstance(self.mask, str) or len(self.mask) != 1 or self.mask not in MASKS:
            raise InputError(f"mask = {shown(self.mask)} must be one of {' '.join(MASKS)}")

    @property
    def name(self) -> str:
        """What the rule is called."""
        return "redact" if self.masks else {"left": "prefixes", "right": "suffixes"}[self.side]

    @property
    def height(self) -> int:
        return len(self.lengths) + 1

    def labels_of(self, key: Hashable) -> tuple[Label, ...]:
        code = str(key)
        return (*(self._masked(code, length) for length in self.lengths), ANY)

    def label_at(self, level: int, key: Hashable) -> Label:
        return ANY if level == self.height else self._masked(str(key), self.lengths[level - 1])

    def _masked(self, code: str, length: int) -> str:
        """A code at the level of a length; what it is as it stands, where nothing is masked."""
        kept = max(len(code) - length, 0) if self.masks else min(length, len(code))
        hidden = len(code) - kept
        if not hidden:
            return code
        if self.side == "left":
            return Meaning(code[:kept] + self.mask * hidden, {"masked": [kept, len(code)]})
        return Meaning(self.mask * hidden + code[hidden:], {"masked": [0, hidden]})

    def with_ground(self, ground: object) -> tuple[Hierarchy, int]:
        """The masked codes above those of a length."""
        finest = self.lengths[0]
        if not is_whole(ground, least=1):
            raise InputError(
                f"ground = {shown(ground)} must be a length, such as ground = {finest}"
            )
        length = int(ground)  # type: ignore[call-overload]
        if length == finest:
            return self, 1
        if (length > finest) if self.masks else (length < finest):
            raise InputError(
                f"ground = {length}: {self.name} of length {finest} would divide its codes; give "
                f"ground = {finest}, or leave that length out"
            )
        return replace(self, lengths=(length, *self.lengths)), 1

    def ground_at(self, level: int) -> object:
        return self.lengths[level - 1]

    def rule(self) -> dict[str, object]:
        side = {"side": "left" if self.side == "right" else "right"} if self.masks else {}
        mask = {} if self.mask == ANY else {"mask": self.mask}
        return {self.name: list(self.lengths), **side, **mask}


@dataclass(frozen=True, repr=False)
class KeepHierarchy(Hierarchy):
    """The values that stay what they are at each level; all others are ``other``.

    ``values`` are those of levels 1, 2, ..., each list being part of the one before. Any value
    that is not listed is one of the others, whether or not it was ever seen.
    """

    values: tuple[tuple[str, ...], ...] = field(repr=False)
    other: str = "other"

    @classmethod
    def of_values(cls, keep: Sequence[Sequence[object]], other: object) -> Self:
        """Take over values as they are written: texts, or numbers."""
        for level, values in enumerate(keep, 1):
            listed = isinstance(values, Sequence) and not isinstance(values, str)
            if not listed or not values or not all(map(_is_plain, values)):
                raise InputError(
                    f"keep of level {level} must list values, texts in quotes or numbers, such as "
                    'keep = [["France", "Spain"], ["France"]]'
                )
        levels = tuple(tuple(dict.fromkeys(map(text_of, values))) for values in keep)
        return cls(levels, text_of(other) if _is_plain(other) else "")

    def __post_init__(self) -> None:
        if not self.values:
            raise InputError('keep must list values, such as keep = ["France", "Spain"]')
        if not self.other or self.other == ANY:
            raise InputError(f'other must be a label, and not {ANY!r}, such as other = "other"')
        if self.other in self.values[0]:
            raise InputError(
                f"other = {shown(self.other)} is one of the values to keep; give the group of all "
                'others another label, such as other = "all others"'
            )
        if len(self.values[0]) > MOST_LISTED:
            raise InputError(f"keep may list at most {MOST_LISTED:,} values; write a CSV table")
        for level, (fine, coarse) in enumerate(pairwise(self.values), 2):
            more = set(coarse) - set(fine)
            if more:
                raise InputError(
                    f"level {level} keeps {shown(min(more))}, which level {level - 1} does not; "
                    "each list of keep must be part of the one before"
                )

    @property
    def height(self) -> int:
        return len(self.values) + 1

    @cached_property
    def _kept(self) -> Sequence[tuple[frozenset[str], Meaning]]:
        """The values of each level, and the label of all others."""
        return [
            (frozenset(values), Meaning(self.other, {"except": list(values)}))
            for values in self.values
        ]

    def labels_of(self, key: Hashable) -> tuple[Label, ...]:
        text = str(key)
        return (*(text if text in kept else other for kept, other in self._kept), ANY)

    @property
    def listed(self) -> Sequence[Hashable]:
        return self.values[0]

    def rule(self) -> dict[str, object]:
        return {"keep": [list(values) for values in self.values], "other": self.other}


def _is_plain(value: object) -> bool:
    """Whether a value of a rule is a text that says something, or a number."""
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


@dataclass(frozen=True, repr=False)
class SuppressionHierarchy(Hierarchy):
    """Every value kept (level 0) or none (level 1)."""

    @property
    def height(self) -> int:
        return 1

    def labels_of(self, key: Hashable) -> tuple[Label, ...]:
        return (ANY,)

    def rule(self) -> dict[str, object]:
        return {"suppress": True}
