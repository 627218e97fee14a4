"""The kinds of hierarchy a steward can state: a table of values, ranges, prefixes, suppression."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import pairwise
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.errors import InputError
from anonymizer.hierarchy.partition import (
    ANY,
    Interval,
    Partition,
    Taxonomy,
    number_text,
    torn_levels,
)

__all__ = ["Hierarchy", "Prefixes", "Ranges", "Suppression", "Table"]

Label = str | Interval
SHOWN = 3
"""How many values a message names at the most."""


class Hierarchy(ABC):
    """How the values of one attribute generalize, stated before any table is seen.

    Make one with :meth:`read` (an ARX-style CSV file or a TOML rule), :meth:`from_rows`,
    :meth:`ranges`, :meth:`prefixes` or :meth:`suppression`. Level 0 is the raw value, the
    highest level a single group.
    """

    source: str = "its hierarchy"

    @staticmethod
    def read(path: str | Path) -> "Hierarchy":
        """Read a hierarchy file: ``.toml`` holds a rule, anything else a table (CSV).

        Raises
        ------
        InputError
            When the file cannot be read or is not a hierarchy; the message names the place.
        """
        from anonymizer.hierarchy.files import read

        return read(Path(path))

    @staticmethod
    def from_rows(rows: Iterable[Sequence[object]]) -> "Hierarchy":
        """Build from rows ``value, label at level 1, label at level 2, ...``, finest first.

        A last column of more than one group gets ``*`` above it.
        """
        return Table.of([[_text(field) for field in row] for row in rows])

    @staticmethod
    def ranges(
        widths: Sequence[float] = (),
        *,
        cuts: Sequence[Sequence[float]] = (),
        origin: float = 0,
    ) -> "Hierarchy":
        """Half-open ranges of numbers, one level per width (or list of cut points), then ``*``.

        >>> [str(label) for label in Hierarchy.ranges(widths=[25, 50]).labels(Decimal(25))]
        ['[25, 50)', '[0, 50)', '*']
        """
        return Ranges(
            tuple(map(_decimal, widths)),
            tuple(tuple(map(_decimal, level)) for level in cuts),
            _decimal(origin),
        )

    @staticmethod
    def prefixes(lengths: Sequence[int]) -> "Hierarchy":
        """Keep the first characters of a code and mask the rest, one level per length, then ``*``.

        >>> Hierarchy.prefixes([4, 2]).labels("47906")
        ('4790*', '47***', '*')
        """
        return Prefixes(tuple(lengths))

    @staticmethod
    def suppression() -> "Hierarchy":
        """Keep every value (level 0) or none of them (level 1)."""
        return Suppression()

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers that were meant as such, so that ranges may be refined."""
        return False

    @property
    @abstractmethod
    def height(self) -> int:
        """The highest level."""

    @abstractmethod
    def labels(self, key: Hashable) -> tuple[Label, ...]:
        """The labels of a value at levels 1, 2, ..., height."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """What was stated, as JSON has it: the hierarchy's part of a study's fingerprint."""

    def key(self, value: object) -> Hashable:
        """What identifies a raw value: its text, blanks around it stripped; None if missing.

        Raises ``InvalidOperation`` when the value is not of the kind that generalizes.
        """
        return None if _missing(value) else _text(value)

    def over(self, attribute: str, values: Iterable[object]) -> Taxonomy:
        """Hold the hierarchy against the values of a column.

        Parameters
        ----------
        attribute
            The column's name, for messages.
        values
            The distinct raw values. A missing one is a value of its own, generalized to ``*``.

        Raises
        ------
        InputError
            When the hierarchy lacks values of the column; the message names some and the file.
        """
        raw = self._keyed(attribute, values)
        keys = sorted({*raw, *self._listed()}, key=_rank)
        rows = [self._labels_or_any(key) for key in keys]
        levels = (
            Partition.of([raw.get(key, key) for key in keys]),
            *(Partition.of([row[level] for row in rows]) for level in range(self.height)),
        )
        numbers = _numbers(keys)
        return Taxonomy(
            attribute,
            {key: code for code, key in enumerate(keys)},
            levels,
            self._key_or_nothing,
            numbers,
            ordered=self.ordered and numbers is not None,
            listed=bool(self._listed()),
        )

    def _listed(self) -> Iterable[Hashable]:
        """The values the steward listed."""
        return ()

    def _labels_or_any(self, key: Hashable) -> tuple[Label, ...]:
        return (ANY,) * self.height if key is None else self.labels(key)

    def _key_or_nothing(self, value: object) -> Hashable:
        """The key, or one that no value has."""
        try:
            return self.key(value)
        except InvalidOperation:
            return _Stranger

    def _keyed(self, attribute: str, values: Iterable[object]) -> dict[Hashable, object]:
        """The raw values by key, the first to come standing for its equals."""
        raw: dict[Hashable, object] = {}
        strangers = []
        for value in values:
            key = self._key_or_nothing(value)
            if key is not None and not self._covers(key):
                strangers.append(_text(value))
            raw.setdefault(key, None if key is None else value)
        if strangers:
            raise InputError(self._lacking(attribute, strangers))
        return raw

    def _covers(self, key: Hashable) -> bool:
        return key is not _Stranger

    def _lacking(self, attribute: str, strangers: list[str]) -> str:
        return (
            f"column {attribute!r} holds {_named(strangers)} that {self.source} lacks; "
            f"add them to {self.source}, clean the column, or declare them as missing values"
        )


class _Stranger:
    """The key of a value that a hierarchy cannot take."""


@dataclass(frozen=True)
class Table(Hierarchy):
    """Every value listed with its label at each level (ARX's format).

    Parameters
    ----------
    rows
        The labels at levels 1, 2, ... of each value.
    source
        The file, for messages.
    """

    rows: dict[str, tuple[str, ...]]
    source: str = "its hierarchy"

    @classmethod
    def of(cls, rows: Sequence[Sequence[str]], source: str = "its hierarchy") -> "Table":
        """Check rows ``value, label at level 1, ...`` and take them over.

        Raises
        ------
        InputError
            When there are none, their lengths differ, a value stands twice with different labels,
            or levels are not nested.
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
            value, labels = row[0], tuple(row[1:])
            if table.setdefault(value, labels) != labels:
                raise InputError(f"{source}: value {value!r} stands twice, with different labels")
        _require_nested(table, source)
        return cls(_topped(table), source)

    @cached_property
    def ordered(self) -> bool:
        """Whether every value is a number."""
        return _numbers(self.rows) is not None

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

    def _listed(self) -> Iterable[Hashable]:
        return self.rows

    def _covers(self, key: Hashable) -> bool:
        return key in self.rows


@dataclass(frozen=True)
class Ranges(Hierarchy):
    """Half-open ranges of numbers: of equal widths aligned at an origin, or between cut points."""

    widths: tuple[Decimal, ...] = ()
    cuts: tuple[tuple[Decimal, ...], ...] = ()
    origin: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        if bool(self.widths) == bool(self.cuts):
            raise InputError("ranges need either widths or cuts, such as widths = [25, 50]")
        if any(width <= 0 for width in self.widths):
            raise InputError("widths of ranges must be above 0")
        for level, (fine, coarse) in enumerate(pairwise(self.widths), 1):
            if coarse % fine:
                self._refuse(level, self.origin + coarse)
        for level, points in enumerate(self.cuts, 1):
            if not points or list(points) != sorted(set(points)):
                raise InputError(f"cuts of level {level} must be increasing, at least one")
        for level, (points, coarser) in enumerate(pairwise(self.cuts), 1):
            for cut in coarser:
                if cut not in points:
                    self._refuse(level, cut)

    def _refuse(self, level: int, cut: Decimal) -> None:
        """A cut of the level above falls inside a range of this one."""
        torn = self._range(level, cut)
        below = cut - 1 if torn.low is None else torn.low
        values = [number_text(below), number_text(cut)]
        raise InputError(torn_levels(level, values, str(torn)))

    @property
    def ordered(self) -> bool:
        """Ranges are of numbers."""
        return True

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.widths or self.cuts) + 1

    def key(self, value: object) -> Hashable:
        """The number itself; None if missing."""
        return None if _missing(value) else _decimal(value)

    def labels(self, key: Hashable) -> tuple[Label, ...]:
        """The ranges that hold a number at levels 1, 2, ..., then ``*``."""
        number = _decimal(key)
        return (*(self._range(level, number) for level in range(1, self.height)), ANY)

    def _range(self, level: int, number: Decimal) -> Interval:
        if self.widths:
            width = self.widths[level - 1]
            low = (number - self.origin) // width * width + self.origin
            low = low - width if low > number else low  # Decimal // rounds towards zero
            return Interval(low, low + width)
        points = self.cuts[level - 1]
        below = [cut for cut in points if cut <= number]
        above = [cut for cut in points if cut > number]
        return Interval(below[-1] if below else None, above[0] if above else None)

    def describe(self) -> dict[str, object]:
        """What was stated, as JSON has it."""
        return {
            "widths": [number_text(width) for width in self.widths],
            "cuts": [[number_text(cut) for cut in level] for level in self.cuts],
            "origin": number_text(self.origin),
        }

    def _lacking(self, attribute: str, strangers: list[str]) -> str:
        return (
            f"column {attribute!r} holds {_named(strangers)} that are not numbers, as ranges "
            "need; clean the column or declare them as missing values"
        )


@dataclass(frozen=True)
class Prefixes(Hierarchy):
    """Codes that keep their first characters, the others masked by ``*`` (zip codes)."""

    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        falling = all(fine > coarse for fine, coarse in pairwise(self.lengths))
        if not self.lengths or not falling or self.lengths[-1] < 1:
            raise InputError("prefixes must be falling lengths of at least 1, such as [4, 3]")

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
class Suppression(Hierarchy):
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


def _missing(value: Any) -> bool:
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def _text(value: object) -> str:
    """The text of a value: ``39`` for 39 and for 39.0, blanks around a text stripped."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Integral | Real) and not isinstance(value, bool | np.bool_):
        number = _decimal(value)
        return number_text(number) if number == number.to_integral_value() else str(value)
    return str(value)


def _decimal(value: object) -> Decimal:
    """The exact number that a value writes out; InvalidOperation when it is none."""
    number = value if isinstance(value, Decimal) else Decimal(str(value).strip())
    if not number.is_finite():
        raise InvalidOperation
    return number


def _numbers(keys: Iterable[Hashable]) -> np.ndarray | None:
    """Every key as a number (NaN for a missing one), or None where one is no number."""
    try:
        return np.array([np.nan if key is None else float(_decimal(key)) for key in keys])
    except InvalidOperation:
        return None


def _rank(key: Hashable) -> tuple[bool, bool, Decimal, str]:
    """Numbers by size, then texts by letter, a missing value last: not as rows happen to come."""
    if key is None:
        return (True, True, Decimal(0), "")
    try:
        return (False, False, _decimal(key), str(key))
    except InvalidOperation:
        return (False, True, Decimal(0), str(key))


def _named(values: list[str]) -> str:
    shown = ", ".join(map(repr, values[:SHOWN])) + (", ..." if len(values) > SHOWN else "")
    return f"{len(values)} value{'s' if len(values) > 1 else ''} ({shown})"
