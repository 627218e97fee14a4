"""Hierarchies as texts, rules found in tables of labels, and hierarchies checked over a column.

Rules are TOML, tables of labels CSV. A check says which values have no labels, and what each level
gains.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from io import StringIO
from numbers import Real

import numpy as np

from anonymizer.errors import InputError
from anonymizer.hierarchy.hierarchy import Hierarchy
from anonymizer.hierarchy.label import MASKS
from anonymizer.hierarchy.naming import may_be_named
from anonymizer.hierarchy.partition import ANY, Taxonomy
from anonymizer.hierarchy.reading import hierarchy_of
from anonymizer.kernels.arrays import Codes
from anonymizer.tables.values import number_of, number_text, text_of

Rows = Sequence[Sequence[str]]

Table = Mapping[str, object]

RANGE = re.compile(r"[\[(]\s*(\S+)\s*[,;]\s*(\S+?)\s*[)\[]")
"""A half-open range as ARX and this package write it: ``[0, 10[``, ``[0, 10)``."""

SPAN = re.compile(r"(-?\d{1,15})\s*[-\u2013]\s*(-?\d{1,15})")
"""A range of whole numbers, its end included: ``0-4``."""

MOST = 0.5
"""A group of more of the records is said to hold most of them."""


def rule_text(table: Table) -> str:
    """A rule as a ``.toml`` file has it, one key per line."""
    return "".join(f"{name} = {_value(value)}\n" for name, value in table.items())


def inline_text(table: Table) -> str:
    """A rule as a line of a study has it.

    >>> inline_text({"widths": [5, Decimal("12.5")], "max-level": 2})
    '{ widths = [5, 12.5], max-level = 2 }'
    """
    return "{ " + ", ".join(f"{name} = {_value(value)}" for name, value in table.items()) + " }"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Real | Decimal):
        return number_text(Decimal(str(value)))
    if isinstance(value, Mapping):
        pairs = (f"{_value(name)} = {_value(each)}" for name, each in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    # A text of TOML is one of JSON, but for this character.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def rows_of(hierarchy: Hierarchy, values: Sequence[str]) -> list[tuple[str, ...]]:
    """The rows of a table of labels: each value with its label at every level."""
    return [(value, *map(str, hierarchy.labels(value))) for value in values]


def csv_text(rows: Rows) -> str:
    """A table of labels as ARX reads it: semicolons, no header."""
    file = StringIO()
    csv.writer(file, delimiter=";", lineterminator="\n").writerows(rows)
    return file.getvalue()


def rule_of(rows: Rows) -> dict[str, object] | None:
    """The rule that makes the groups of a table of labels, None where none does.

    Labels are those of the table, too; of ranges only their ends, since ARX writes ``[0, 10[``.
    """
    columns = list(zip(*rows, strict=True))
    if len(set(columns[-1])) > 1:
        columns.append((ANY,) * len(rows))
    for candidate in _candidates(columns):
        if _makes(candidate, columns):
            return candidate
    return None


def _candidates(columns: Rows) -> Iterator[dict[str, object]]:
    """Rules that may make a table of labels, the simplest first."""
    levels = columns[1:-1]
    if not levels:
        yield {"suppress": True}
        return
    for mask in MASKS:
        yield from _masking(columns[0], levels, mask)
    yield from _keeping(columns[0], levels)
    yield from _cutting(levels)


def _masking(values: Sequence[str], levels: Rows, mask: str) -> Iterator[dict[str, object]]:
    """Rules of masked codes, by the longest code, of which most is masked."""
    place = max(range(len(values)), key=lambda place: len(values[place]))
    longest, masked = len(values[place]), [labels[place] for labels in levels]
    if not all(label.count(mask) for label in masked):
        return
    other = {} if mask == ANY else {"mask": mask}
    left = [len(label) - len(label.lstrip(mask)) for label in masked]
    right = [len(label) - len(label.rstrip(mask)) for label in masked]
    for name, hidden, side in (("prefixes", right, "right"), ("suffixes", left, "left")):
        yield {name: [longest - each for each in hidden], **other}
        yield {"redact": hidden, "side": side, **other}


def _keeping(values: Sequence[str], levels: Rows) -> Iterator[dict[str, object]]:
    """The rule that keeps values which are their own labels."""
    kept = [
        [value for value, label in zip(values, labels, strict=True) if value == label]
        for labels in levels
    ]
    others = {
        label
        for labels in levels
        for value, label in zip(values, labels, strict=True)
        if value != label
    }
    if len(others) == 1:
        yield {"keep": kept, "other": others.pop()}


def _cutting(levels: Rows) -> Iterator[dict[str, object]]:
    """The rule of ranges whose ends the labels give."""
    cuts, widths = [], []
    for labels in levels:
        ends = [_ends(label) for label in dict.fromkeys(labels)]
        points = sorted({point for pair in ends if pair for point in pair if point is not None})
        if not all(ends) or not points:
            return
        cuts.append(points)
        closed = [(low, high) for low, high in filter(None, ends)]
        widths.append({high - low for low, high in closed if low is not None and high is not None})
    if all(len(each) == 1 for each in widths):
        yield {"widths": [min(each) for each in widths], "origin": min(cuts[-1])}
    yield {"cuts": cuts}


def _ends(label: str) -> tuple[Decimal | None, Decimal | None] | None:
    """The ends of a half-open range that a label reads as, None for an open one."""
    if match := SPAN.fullmatch(label):
        return Decimal(match[1]), Decimal(match[2]) + 1
    match = RANGE.fullmatch(label)
    return (number_of(match[1]), number_of(match[2])) if match else None


def _makes(candidate: Table, columns: Rows) -> bool:
    """Tell whether a rule makes the groups of a table, and its labels unless they are ranges."""
    try:
        hierarchy = hierarchy_of(candidate)
    except InputError:
        return False
    if not all(hierarchy.covers(hierarchy.key(value)) for value in columns[0]):
        return False
    made = list(zip(*(map(str, hierarchy.labels(value)) for value in columns[0]), strict=True))
    if len(made) != len(columns) - 1:
        return False
    ranges = "widths" in candidate or "cuts" in candidate
    return all(
        _alike(ours, theirs) and (ranges or list(ours) == list(theirs))
        for ours, theirs in zip(made, columns[1:], strict=True)
    )


def _alike(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    pairs = len(set(zip(ours, theirs, strict=True)))
    return pairs == len(set(ours)) == len(set(theirs))


@dataclass(frozen=True)
class LevelUse:
    """Effect of a level on a column: its groups, and the records of the largest and smallest.

    ``gains``: whether it has fewer groups than the level below.
    """

    level: int
    groups: int
    largest: int
    smallest: int
    gains: bool


@dataclass(frozen=True)
class HierarchyCheck:
    """A hierarchy over a column of ``records``, including missing values.

    ``lacking`` are the records of each value that it does not cover; ``unused`` is how many values
    it lists that no record has. ``levels`` are empty where values lack.
    """

    column: str
    records: int
    values: int
    lacking: Mapping[str, int] = field(repr=False)
    unused: int
    levels: Sequence[LevelUse]

    @property
    def complete(self) -> bool:
        """Whether the hierarchy has labels for every value."""
        return not self.lacking

    def to_dict(self) -> dict[str, object]:
        """Return the check as JSON; of uncovered values only the ones that may be named."""
        named = {value: size for value, size in self.lacking.items() if may_be_named(size)}
        return {
            "column": self.column,
            "records": self.records,
            "values": self.values,
            "complete": self.complete,
            "lacking": {
                "values": len(self.lacking),
                "records": sum(self.lacking.values()),
                "named": named,
            },
            "unused": self.unused,
            "levels": [vars(level) for level in self.levels],
        }


def check_hierarchy(
    hierarchy: Hierarchy, column: str, values: Sequence[object], sizes: Sequence[int]
) -> HierarchyCheck:
    """Hold a hierarchy against the distinct values of a column and the records of each."""
    keys = [hierarchy.key(value) for value in values]
    lacking: dict[str, int] = {}
    for key, value, size in zip(keys, values, sizes, strict=True):
        if key is not None and not hierarchy.covers(key):
            lacking[text_of(value)] = lacking.get(text_of(value), 0) + int(size)
    unused = len({*hierarchy.listed} - {*keys})
    levels: Sequence[LevelUse] = ()
    if not lacking:
        taxonomy = hierarchy.over(column, values, sizes)
        levels = _uses(taxonomy, records_of(taxonomy, values, sizes))
    return HierarchyCheck(column, int(sum(sizes)), len({*keys} - {None}), lacking, unused, levels)


def records_of(taxonomy: Taxonomy, values: Sequence[object], sizes: Sequence[int]) -> Codes:
    """The records of each value of a taxonomy, shape (values,)."""
    found = np.zeros(len(taxonomy.codes), np.int64)
    np.add.at(found, taxonomy.encode(values), np.asarray(sizes, np.int64))
    return found


def _uses(taxonomy: Taxonomy, records: Codes) -> list[LevelUse]:
    """The levels, by the groups that records are in."""
    found: list[LevelUse] = []
    for level, partition in enumerate(taxonomy.levels):
        sizes = np.bincount(partition.groups, records).astype(np.int64)
        sizes = sizes[sizes > 0]
        fewer = not found or len(sizes) < found[-1].groups
        largest, smallest = (int(sizes.max()), int(sizes.min())) if len(sizes) else (0, 0)
        found.append(LevelUse(level, len(sizes), largest, smallest, fewer))
    return found
