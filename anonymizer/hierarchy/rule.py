"""A rule of generalization: what label a value has at each level."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence

from anonymizer.hierarchy.naming import named
from anonymizer.hierarchy.partition import ANY, Interval, Partition
from anonymizer.tables.values import is_missing, text_of

__all__ = ["NO_KEY", "Label", "Rule"]

Label = str | Interval


class NO_KEY:  # noqa: N801 (a constant: the key of no value)
    """The key of a value that a rule cannot take."""


class Rule(ABC):
    """What a steward states about the values of one attribute, before any table is seen."""

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
        """What was stated, as JSON has it: the rule's part of a study's fingerprint."""

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
        """What to tell about values of a column that the rule does not cover.

        ``strangers`` are the records that have each of them.
        """
        return (
            f"column {attribute!r} holds {named(strangers)} that {self.source} lacks; "
            f"add them to {self.source}, clean the column, or declare them as missing values"
        )
