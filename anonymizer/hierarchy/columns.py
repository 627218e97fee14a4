"""The values of a column that labels are held against: in memory, or in a database."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np

from anonymizer.errors import InputError
from anonymizer.hierarchy.rules.dates import Clock, Moment, iso_of
from anonymizer.hierarchy.scale import Interval, Scale
from anonymizer.kernels.arrays import Codes
from anonymizer.tables.values import INSTANT, number_text, texts_of

LAST = "\U0010ffff"
"""Sorts after any text that begins alike."""

HierarchyNode = tuple[int | None, str | None]
"""The level and the label of a group of a hierarchy."""


@dataclass(frozen=True, eq=False)
class PlacedColumn:
    """The distinct raw values of a column: what each is written as, None for a missing one.

    ``codes``: the value of each record, shape (records,). ``nodes`` has the values of each group of
    the hierarchy, where that is known.
    """

    codes: Codes
    texts: Sequence[str | None]
    nodes: Mapping[HierarchyNode, list[int]] | None = None

    @classmethod
    def of_values(
        cls, values: Sequence[object], nodes: Mapping[HierarchyNode, list[int]] | None = None
    ) -> "PlacedColumn":
        """A column of some values, in their order."""
        return cls(np.arange(len(values)), texts_of(values), nodes)

    @cached_property
    def by_text(self) -> list[tuple[str, int]]:
        """Texts with their codes, sorted."""
        return sorted((text, code) for code, text in enumerate(self.texts) if text is not None)

    @cached_property
    def written(self) -> Mapping[str, list[int]]:
        """The codes of the values that are written as a text: 39 and "39.0" are both 39."""
        found = defaultdict(list)
        for text, code in self.by_text:
            found[text].append(code)
        return found

    @cached_property
    def missing(self) -> list[int]:
        """The codes of missing values."""
        return [code for code, text in enumerate(self.texts) if text is None]

    @cached_property
    def _on_scale(self) -> dict[Scale, list[tuple[Decimal, int]]]:
        return {}

    @cached_property
    def _moments(self) -> dict[Clock, dict[Moment | None, list[int]]]:
        return {}

    def equal(self, text: str, clock: Clock | None) -> list[int]:
        """The codes of the values that are equal to a text; of dates, all that are that moment."""
        if clock is None:
            return self.written.get(text, [])
        if clock not in self._moments:
            self._moments[clock] = defaultdict(list)
            for other, code in self.by_text:
                self._moments[clock][clock.moment(other)].append(code)
        moment = clock.moment(text)
        return [] if moment is None else self._moments[clock].get(moment, [])

    def between(self, range_: Interval) -> list[int]:
        """Numbers or dates of a half-open range; an end that is None is open."""
        scale, low, high = range_.scale, range_.low, range_.high
        if scale not in self._on_scale:
            found = ((scale.place(text), code) for text, code in self.by_text)
            self._on_scale[scale] = sorted(
                (place, code) for place, code in found if place is not None
            )
        places = self._on_scale[scale]
        begin = 0 if low is None else bisect_left(places, (low, -1))
        end = len(places) if high is None else bisect_left(places, (high, -1))
        return [code for _, code in places[begin:end]]

    def beginning(self, stem: str) -> list[tuple[str, int]]:
        """Texts that begin with a stem, with their codes."""
        places = (bisect_left(self.by_text, (text, -1)) for text in (stem, stem + LAST))
        return self.by_text[slice(*places)]


@dataclass(frozen=True)
class ColumnSql:
    """The SQL of a column: its values as texts, NULL where missing, as numbers and as dates."""

    text: str
    number: str
    moment: str

    @property
    def missing(self) -> str:
        """The condition of a missing value."""
        return f"{self.text} IS NULL"

    def equal(self, texts: Sequence[str], clock: Clock | None) -> str:
        """The condition of values that are equal to one of some texts; of dates, that moment."""
        if clock is not None:
            _require_plain(clock)
            moments = [clock.moment(text) for text in texts]
            if any(moment is None or "+" in moment.text for moment in moments):
                raise _zoned()
            places = ", ".join(_moment(moment.place) for moment in moments if moment is not None)
            return f"{self.moment} IN ({places})"
        if any(INSTANT.fullmatch(text) for text in texts):
            raise _zoned()
        return f"{self.text} IN {listed(texts)}"

    def between(self, range_: Interval, clock: Clock | None) -> str:
        """The condition of a half-open range of numbers or dates; an end that is None is open."""
        column, written = (self.number, number_text) if clock is None else (self.moment, _moment)
        if clock is not None:
            _require_plain(clock)
        bounds = ((">=", range_.low), ("<", range_.high))
        ends = [f"{column} {sign} {written(end)}" for sign, end in bounds if end is not None]
        return " AND ".join(ends or [f"{column} IS NOT NULL"])


def any_of(conditions: Iterable[str]) -> str:
    """The condition that one of some holds."""
    found = list(conditions)
    return found[0] if len(found) == 1 else "(" + " OR ".join(f"({each})" for each in found) + ")"


def name(text: str) -> str:
    """A delimited identifier.

    >>> name('a"b')
    '"a""b"'

    Raises InputError when it has a character that SQL cannot hold.
    """
    return '"' + _sound(text).replace('"', '""') + '"'


def literal(text: str | None) -> str:
    """A text, or NULL for a missing one.

    >>> literal("o'brien"), literal(None)
    ("'o''brien'", 'NULL')

    Raises InputError when it has a character that SQL cannot hold.
    """
    return "NULL" if text is None else "'" + _sound(text).replace("'", "''") + "'"


def listed(texts: Iterable[str | None]) -> str:
    """Texts in brackets, for IN."""
    return "(" + ", ".join(map(literal, texts)) + ")"


def _sound(text: str) -> str:
    if "\0" in text:
        raise InputError("a name or a value has a NUL character, which SQL cannot write")
    return text


def _moment(place: Decimal) -> str:
    text = iso_of(place)
    return f"TIMESTAMP '{text if ' ' in text else text + ' 00:00:00'}'"


def _require_plain(clock: Clock) -> None:
    """Require dates as ISO 8601 has them: SQL has no standard function that reads others."""
    if clock.format or clock.zone:
        raise _zoned()


def _zoned() -> InputError:
    return InputError(
        "the recoding reads dates in a time zone or a format of their own, which standard SQL "
        "cannot; recode with anonymizer apply"
    )
