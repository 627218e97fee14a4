"""What the labels of a released column stand for: one class for each kind of label.

A label is held against values in memory, in a database, or line by line before a person's eyes.
Whoever adds a kind of label writes one class, here, and has the manifest say how it is given.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

from anonymizer.hierarchy.columns import (
    ColumnSql,
    HierarchyNode,
    PlacedColumn,
    any_of,
    listed,
    literal,
)
from anonymizer.hierarchy.rules.dates import Clock
from anonymizer.hierarchy.scale import Interval
from anonymizer.tables.values import text_of

EVERYTHING = "1 = 1"
"""The condition of ``*``, which has what no other label of its column has."""


class LabelLine(NamedTuple):
    """A line of a table that says which values have a label.

    ``rule`` is ``value`` (that value), ``range`` (from ``begin``, included, to ``end``, not
    included; an empty one is open), ``mask`` (texts as long as ``value`` that differ from it only
    in the characters ``begin`` to ``end``, the first being 1), ``all others`` (all values but
    those of the lines ``except``), ``everything`` or ``missing``.
    """

    rule: str
    value: str | None = ""
    begin: str = ""
    end: str = ""


@dataclass(frozen=True)
class Label(ABC):
    """What a released value stands for.

    ``nodes`` are the groups of the hierarchy that it is made of, where it is; a column over a
    hierarchy knows their values, seen or not, better than what a manifest lists.
    """

    nodes: tuple[HierarchyNode, ...] = field(default=(), kw_only=True)

    def codes(self, column: PlacedColumn) -> list[int]:
        """The codes of the values of a column that it stands for."""
        if not self.nodes or column.nodes is None:
            return self.codes_in(column)
        return [code for node in self.nodes for code in column.nodes.get(node, ())]

    @abstractmethod
    def codes_in(self, column: PlacedColumn) -> list[int]:
        """Those codes by the texts of the values alone."""

    @abstractmethod
    def condition(self, column: ColumnSql) -> str:
        """The condition of standard SQL that it stands for a value; InputError without one."""

    @abstractmethod
    def lines(self) -> list[LabelLine]:
        """The values that it stands for, as a person reads them."""

    def entry(self) -> dict[str, object]:
        """What a manifest says of it with its text, where no list or range does."""
        return {}

    @property
    def is_rest(self) -> bool:
        """Whether it gives way to all other labels of its column, as ``*`` does."""
        return False

    def meets(self, other: "Label") -> bool:
        """Whether the two may have a value in common."""
        return True


@dataclass(frozen=True)
class RangeLabel(Label):
    """A half-open range of numbers, or of dates, which are read by a ``clock``."""

    interval: Interval
    clock: Clock | None = None

    def codes_in(self, column: PlacedColumn) -> list[int]:
        return column.between(self.interval)

    def condition(self, column: ColumnSql) -> str:
        return column.between(self.interval, self.clock)

    def lines(self) -> list[LabelLine]:
        ends = (self.interval.low, self.interval.high)
        begin, end = ("" if each is None else self.interval.scale.written(each) for each in ends)
        return [LabelLine("range", begin=begin, end=end)]

    def meets(self, other: Label) -> bool:
        return not isinstance(other, RangeLabel) or self.interval.meets(other.interval)


@dataclass(frozen=True)
class ListLabel(Label):
    """Values that are listed, dates read by a ``clock``; and missing ones, where it has these."""

    values: tuple[str | None, ...]
    missing: bool = False
    clock: Clock | None = None
    is_rest: bool = False

    def codes_in(self, column: PlacedColumn) -> list[int]:
        found = [code for text in self._texts for code in column.equal(text, self.clock)]
        return [*found, *column.missing] if self.missing else found

    def condition(self, column: ColumnSql) -> str:
        parts = [column.missing] if self.missing else []
        if self._texts:
            parts.append(column.equal(self._texts, self.clock))
        return any_of(parts) if parts else "1 = 0"

    def lines(self) -> list[LabelLine]:
        rows = [LabelLine("value", value) for value in self.values if value is not None]
        return [*rows, LabelLine("missing")] if self.missing else rows

    def meets(self, other: Label) -> bool:
        return not isinstance(other, ListLabel) or not {*self.values}.isdisjoint(other.values)

    @property
    def _texts(self) -> list[str]:
        return [text_of(value) for value in self.values if value is not None]


@dataclass(frozen=True)
class TextLabel(Label):
    """A value that goes by its own text."""

    text: str

    def codes_in(self, column: PlacedColumn) -> list[int]:
        return column.written.get(self.text, [])

    def condition(self, column: ColumnSql) -> str:
        return f"{column.text} = {literal(self.text)}"

    def lines(self) -> list[LabelLine]:
        return [LabelLine("value", self.text)]


@dataclass(frozen=True)
class OthersLabel(Label):
    """All values but some, none of them missing."""

    excluded: tuple[str, ...]

    def codes_in(self, column: PlacedColumn) -> list[int]:
        excluded = {*self.excluded}
        return [code for text, code in column.by_text if text not in excluded]

    def condition(self, column: ColumnSql) -> str:
        some = f" AND {column.text} NOT IN {listed(self.excluded)}" if self.excluded else ""
        return f"{column.text} IS NOT NULL{some}"

    def lines(self) -> list[LabelLine]:
        return [LabelLine("all others"), *(LabelLine("except", each) for each in self.excluded)]

    def entry(self) -> dict[str, object]:
        return {"except": [*self.excluded]}


@dataclass(frozen=True)
class CodeLabel(Label):
    """Codes as long as a ``text``, which differ from it only where its characters are masked."""

    text: str
    begin: int
    end: int

    def codes_in(self, column: PlacedColumn) -> list[int]:
        stem, tail = self.text[: self.begin], self.text[self.end :]
        return [
            code
            for text, code in column.beginning(stem)
            if len(text) == len(self.text) and text.endswith(tail)
        ]

    def condition(self, column: ColumnSql) -> str:
        text, stem, tail = column.text, self.text[: self.begin], self.text[self.end :]
        parts = [f"CHARACTER_LENGTH({text}) = {len(self.text)}"]
        if stem:
            parts.append(f"SUBSTRING({text} FROM 1 FOR {self.begin}) = {literal(stem)}")
        if tail:
            parts.append(f"SUBSTRING({text} FROM {self.end + 1}) = {literal(tail)}")
        return " AND ".join(parts)

    def lines(self) -> list[LabelLine]:
        return [LabelLine("mask", self.text, str(self.begin + 1), str(self.end))]

    def entry(self) -> dict[str, object]:
        return {"masked": [self.begin, self.end]}


@dataclass(frozen=True)
class StarLabel(Label):
    """``*``, which has what no other label of its column has."""

    def codes_in(self, column: PlacedColumn) -> list[int]:
        return [*range(len(column.texts))]

    def condition(self, column: ColumnSql) -> str:
        return EVERYTHING

    def lines(self) -> list[LabelLine]:
        return [LabelLine("everything")]

    @property
    def is_rest(self) -> bool:
        return True


@dataclass(frozen=True)
class BoxLabel(Label):
    """Groups of a hierarchy that a box joins."""

    members: tuple[Label, ...]

    def codes_in(self, column: PlacedColumn) -> list[int]:
        return [code for each in self.members for code in each.codes(column)]

    def condition(self, column: ColumnSql) -> str:
        return any_of(each.condition(column) for each in self.members)

    def lines(self) -> list[LabelLine]:
        return [line for each in self.members for line in each.lines()]


class Meaning(str):
    """Label with the meaning that a manifest gives it.

    It is a text to everybody who compares or releases it. ``stands_for`` says which values it has.
    A marked label is next to another one that reads alike, and ``own`` is what it is without its
    mark.

    >>> label = Meaning("***06", CodeLabel("***06", 0, 3))
    >>> label == "***06", label.stands_for.entry(), label.marked(" (level 1)").own
    (True, {'masked': [0, 3]}, '***06')
    """

    stands_for: Label
    own: str

    def __new__(cls, text: str, stands_for: Label) -> "Meaning":
        label = super().__new__(cls, text)
        label.stands_for, label.own = stands_for, text
        return label

    def __getnewargs__(self) -> tuple[str, Label]:  # type: ignore[override]
        return str(self), self.stands_for

    def marked(self, mark: str) -> "Meaning":
        """Append a mark to the text; the label stands for the same values."""
        label = Meaning(f"{self}{mark}", self.stands_for)
        label.own = self.own
        return label

    @property
    def described(self) -> dict[str, object]:
        """Entry of a manifest about the label, apart from its text."""
        return {**self.stands_for.entry(), **({"group": self.own} if self.own != self else {})}
