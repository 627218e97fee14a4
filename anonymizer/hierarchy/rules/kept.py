"""Some values are kept and all others put together; or none is kept."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Self

from anonymizer.errors import InputError, shown
from anonymizer.hierarchy.hierarchy import Hierarchy, LevelLabel
from anonymizer.hierarchy.label import Meaning, OthersLabel
from anonymizer.hierarchy.partition import ANY, MOST_LISTED
from anonymizer.tables.values import text_of


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
        """Take over values in their written form: texts, or numbers."""
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
        return [
            (frozenset(values), Meaning(self.other, OthersLabel(tuple(values))))
            for values in self.values
        ]

    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        kept, other = self._kept[level - 1]
        return text if (text := str(key)) in kept else other

    @property
    def listed(self) -> Sequence[Hashable]:
        return self.values[0]

    def rule(self) -> dict[str, object]:
        return {"keep": [list(values) for values in self.values], "other": self.other}


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


@dataclass(frozen=True, repr=False)
class SuppressionHierarchy(Hierarchy):
    """Every value kept (level 0) or none (level 1)."""

    @property
    def height(self) -> int:
        return 1

    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        return ANY  # never called: there is no level below the highest

    def rule(self) -> dict[str, object]:
        return {"suppress": True}
