"""Hierarchies that need no list of values: masked codes, and suppression alone."""

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise

from anonymizer.errors import InputError
from anonymizer.hierarchy.partition import ANY
from anonymizer.hierarchy.rule import Label, Rule

__all__ = ["Prefixes", "Suppression"]

LONGEST = 1000
"""Characters of a code that may be kept: no code of anybody is longer."""


@dataclass(frozen=True)
class Prefixes(Rule):
    """Codes that keep their first characters, the others masked by ``*`` (zip codes)."""

    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        whole = all(type(length) is int and length >= 1 for length in self.lengths)
        falling = whole and all(fine > coarse for fine, coarse in pairwise(self.lengths))
        if not self.lengths or not falling or self.lengths[0] > LONGEST:
            raise InputError(
                "prefixes must be falling whole lengths of at least 1, such as [4, 3], and at most "
                f"{LONGEST:,}"
            )

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.lengths) + 1

    def labels(self, key: Hashable) -> tuple[Label, ...]:
        """The masked codes at levels 1, 2, ..., then ``*``."""
        code = str(key)
        return (*(code[:kept] + "*" * (len(code) - kept) for kept in self.lengths), ANY)

    def describe(self) -> dict[str, object]:
        """What was stated, as JSON has it."""
        return {"prefixes": list(self.lengths)}


@dataclass(frozen=True)
class Suppression(Rule):
    """Every value kept (level 0) or none (level 1)."""

    @property
    def height(self) -> int:
        """The highest level."""
        return 1

    def labels(self, key: Hashable) -> tuple[Label, ...]:
        """``*``, whatever the value."""
        return (ANY,)

    def describe(self) -> dict[str, object]:
        """What was stated, as JSON has it."""
        return {"suppress": True}
