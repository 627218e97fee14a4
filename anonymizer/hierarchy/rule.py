"""Rules of generalization: the label of a value at each level; masked codes, and suppression."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from anonymizer.errors import InputError
from anonymizer.hierarchy.naming import named
from anonymizer.hierarchy.partition import ANY, Interval, Partition
from anonymizer.tables.values import is_missing, text_of

Label = str | Interval

LONGEST_CODE = 1000
"""Characters of a code that may be kept: no code of anybody is longer."""


class NO_KEY:  # noqa: N801 (a constant: the key of no value)
    """The key of a value that a rule cannot take."""


class Rule(ABC):
    """A hierarchy as a data steward writes it, before any table is seen."""

    source: str = "its hierarchy"

    @property
    @abstractmethod
    def height(self) -> int:
        """The highest level, where all values are one group."""

    @abstractmethod
    def labels(self, key: Hashable) -> tuple[Label, ...]:
        """The labels of a value at levels 1, 2, ..., height."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """The rule as JSON has it: its part of a study's fingerprint."""

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers that were meant as such, so that ranges may be refined."""
        return False

    @property
    def top(self) -> Label:
        """The label of the single group at the highest level."""
        return ANY

    @property
    def listed(self) -> Iterable[Hashable]:
        """The values the steward listed."""
        return ()

    def key(self, value: object) -> Hashable:
        """What identifies a raw value: its text, blanks around it stripped.

        None for a missing value, ``NO_KEY`` for one that is not of the kind that generalizes.
        """
        return None if is_missing(value) else text_of(value)

    def row(self, key: Hashable) -> tuple[Label, ...]:
        """The labels of a key at levels 1, 2, ..., height; a missing one is ``*`` below the top."""
        return (*(ANY,) * (self.height - 1), self.top) if key is None else self.labels(key)

    def partitions(self, keys: Sequence[Hashable]) -> tuple[Partition, ...]:
        """Levels 1, 2, ..., height of some keys, a missing one being the last."""
        rows = [self.row(key) for key in keys]
        return tuple(Partition.of([row[level] for row in rows]) for level in range(self.height))

    def covers(self, key: Hashable) -> bool:
        """Whether the rule has labels for a value."""
        return key is not NO_KEY

    def refusal(self, attribute: str, strangers: Mapping[str, int]) -> str:
        """The message about values that the rule does not cover, with the records of each."""
        return (
            f"column {attribute!r} holds {named(strangers)} that {self.source} lacks; "
            f"add them to {self.source}, clean the column, or declare them as missing values"
        )


@dataclass(frozen=True)
class Prefixes(Rule):
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
        """The highest level."""
        return len(self.lengths) + 1

    def labels(self, key: Hashable) -> tuple[Label, ...]:
        """The masked codes at levels 1, 2, ..., then ``*``."""
        code = str(key)
        return (*(code[:kept] + "*" * (len(code) - kept) for kept in self.lengths), ANY)

    def describe(self) -> dict[str, object]:
        """The rule as JSON has it."""
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
        """The rule as JSON has it."""
        return {"suppress": True}
