"""Hierarchies that list every value: ARX's format."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from anonymizer.errors import InputError
from anonymizer.hierarchy.partition import ANY, torn_levels
from anonymizer.hierarchy.rule import Label, Rule
from anonymizer.hierarchy.values import numbers_of, text_of

__all__ = ["Table"]


@dataclass(frozen=True)
class Table(Rule):
    """Every value listed with its label at each level (ARX's format).

    Parameters
    ----------
    rows
        The labels at levels 1, 2, ... of each value.
    source
        The file, for messages.
    """

    rows: dict[str, tuple[str, ...]] = field(repr=False)
    source: str = "its hierarchy"

    @classmethod
    def of(cls, rows: Sequence[Sequence[str]], source: str = "its hierarchy") -> "Table":
        """Check rows ``value, label at level 1, ...`` and take them over.

        Raises
        ------
        InputError
            When there are none, their lengths differ, a label is empty, a value stands twice with
            different labels, or levels are not nested.
        """
        if not rows or not rows[0]:
            raise InputError(
                f"{source}: a hierarchy needs at least one row, a value and its labels"
            )
        table: dict[str, tuple[str, ...]] = {}
        for number, row in enumerate(rows, 1):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"{source}: row {number} has {len(row)} columns, the first has {len(rows[0])}"
                )
            value, labels = text_of(row[0]), tuple(row[1:])
            if "" in labels:
                raise InputError(
                    f"{source}: row {number} has no label at level {labels.index('') + 1}; "
                    "an empty one would pass for a missing value"
                )
            if table.setdefault(value, labels) != labels:
                raise InputError(f"{source}: value {value!r} stands twice, with different labels")
        _require_nested(table, source)
        return cls(_topped(table), source)

    @cached_property
    def ordered(self) -> bool:
        """Whether every value is a number."""
        return numbers_of(self.rows) is not None

    @property
    def height(self) -> int:
        """The highest level."""
        return len(next(iter(self.rows.values())))

    def labels(self, key: Hashable) -> tuple[Label, ...]:
        """The labels of a value at levels 1, 2, ..., height."""
        return self.rows[str(key)]

    def describe(self) -> dict[str, object]:
        """What was stated, as JSON has it."""
        return {"rows": [[value, *labels] for value, labels in self.rows.items()]}

    @property
    def top(self) -> Label:
        """The label of the single group at the highest level."""
        return next(iter(self.rows.values()))[-1]

    @property
    def listed(self) -> Iterable[Hashable]:
        """The values."""
        return self.rows

    def covers(self, key: Hashable) -> bool:
        """Whether the value is listed."""
        return key in self.rows


def _require_nested(table: dict[str, tuple[str, ...]], source: str) -> None:
    height = len(next(iter(table.values())))
    for level in range(1, height):
        parent: dict[str, tuple[str, str]] = {}
        for value, labels in table.items():
            fine, coarse = labels[level - 1], labels[level]
            first, expected = parent.setdefault(fine, (value, coarse))
            if expected != coarse:
                raise InputError(f"{source}: {torn_levels(level, [first, value], fine)}")


def _topped(table: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Put ``*`` above a last column of more than one group."""
    if len({labels[-1:] or (value,) for value, labels in table.items()}) == 1:
        single = next(iter(table.values()))
        return table if single else dict.fromkeys(table, (ANY,))
    return {value: (*labels, ANY) for value, labels in table.items()}
