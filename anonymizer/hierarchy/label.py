"""What the labels of a released column stand for: one class for each kind of label.

A label is held against values in memory, in a database, or line by line before a person's eyes.
A new kind of label is one class, here, and an entry of the manifest that says how it is given.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from anonymizer.errors import InputError
from anonymizer.hierarchy.calendar import Clock, Moment, iso_of
from anonymizer.hierarchy.scale import Interval, Scale
from anonymizer.kernels.arrays import Codes
from anonymizer.tables.values import INSTANT, number_text, text_of, texts_of

EVERYTHING = "1 = 1"
"""The condition of ``*``, which has what no other label of its column has."""

LAST = "\U0010ffff"
"""Sorts after any text that begins alike."""

HierarchyNode = tuple[int | None, str | None]
"""The level and the label of a group of a hierarchy."""


MASKS = "*#?~xX\u2022\u2588"
"""What may stand for a masked character: nothing that makes a number, a formula or a gap of it."""

BREAKS = "- "
"""What ends a code before more follows: 02139-4307."""


@dataclass(frozen=True)
class CodeForm:
    """How codes are brought to one length before characters are masked.

    ``length`` None leaves codes as they are. Otherwise longer ones are cut. With ``pad`` nothing is
    cut but what follows a hyphen or a blank, and shorter codes get the character in front: 2139 and
    02139-4307 are 02139.
    """

    length: int | None = None
    pad: str | None = None

    def read(self, text: str) -> str | None:
        """Return a code in this form; None where it has none.

        >>> CodeForm(5, "0").read("2139-4307"), CodeForm(5, "0").read("21394307")
        ('02139', None)
        >>> CodeForm(5).read("02139-4307"), CodeForm().read("02139-4307")
        ('02139', '02139-4307')
        """
        if self.length is None or self.pad is None:
            return text[: self.length]
        head = text.replace(BREAKS[0], BREAKS[1]).partition(BREAKS[1])[0]
        shown = head.rstrip(MASKS)
        # Nobody knows what a longer code lost in front, or what zeros in front of letters mean.
        digits = shown.isascii() and shown.isdigit()
        known = bool(shown) and len(head) <= self.length and (digits or not self.pad.isdigit())
        # A masked code has its length already.
        known = known and (shown == head or len(head) == self.length)
        return head.rjust(self.length, self.pad) if known else None

    def condition(self, column: "ColumnSql", stems: Sequence[str]) -> str:
        """The condition of values whose code begins with one of some stems in this form."""
        if self.length is None or self.pad is None:
            return column.begins(stems)
        found = []
        # By the number of characters that a code has without those in front.
        for size in range(self.length, 0, -1):
            front = self.length - size
            rests = [stem[front:] for stem in stems if not stem[:front].strip(self.pad)]
            if rests:
                head = [column.begins(rests)] if all(rests) else []
                found.append(" AND ".join([*head, column.broken_at(size)]))
        return any_of(found)

    def entry(self) -> dict[str, object]:
        """What a manifest says of it."""
        return {name: value for name, value in vars(self).items() if value is not None}


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

    @cached_property
    def _in_form(self) -> dict[CodeForm, list[tuple[str, int]]]:
        return {CodeForm(): self.by_text}

    def beginning(self, stem: str, form: CodeForm) -> list[tuple[str, int]]:
        """Texts that begin with a stem in a form, with their codes."""
        if form not in self._in_form:
            read = ((form.read(text), code) for text, code in self.by_text)
            self._in_form[form] = sorted((text, code) for text, code in read if text is not None)
        texts = self._in_form[form]
        places = (bisect_left(texts, (text, -1)) for text in (stem, stem + LAST))
        return texts[slice(*places)]


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

    @property
    def length(self) -> str:
        """The number of its characters."""
        return f"CHARACTER_LENGTH({self.text})"

    def part(self, begin: int, size: int | None = None) -> str:
        """Some of its characters, the first being 1."""
        return f"SUBSTRING({self.text} FROM {begin}{'' if size is None else f' FOR {size}'})"

    def begins(self, stems: Sequence[str]) -> str:
        """The condition of texts that begin with one of some stems."""
        by_length = groupby(sorted(stems, key=len), key=len)
        return any_of(f"{self.part(1, size)} {_is_one(own)}" for size, own in by_length)

    def broken_at(self, size: int) -> str:
        """The condition of texts whose first hyphen or blank, or end, follows some characters."""
        breaks = ", ".join(map(literal, BREAKS))
        whole = [f"{self.part(1, size)} NOT LIKE '%{each}%'" for each in BREAKS]
        end = any_of([f"{self.length} = {size}", f"{self.part(size + 1, 1)} IN ({breaks})"])
        return " AND ".join([*whole, end])

    @staticmethod
    def number_at(place: Decimal) -> str:
        """A number as a condition writes it."""
        return number_text(place)

    @staticmethod
    def moment_at(place: Decimal) -> str:
        """A date as a condition writes it."""
        text = iso_of(place)
        return f"TIMESTAMP '{text if ' ' in text else text + ' 00:00:00'}'"

    def equal(self, texts: Sequence[str], clock: Clock | None) -> str:
        """The condition of values that are equal to one of some texts; of dates, that moment."""
        if clock is not None:
            _require_plain(clock)
            moments = [clock.moment(text) for text in texts]
            if any(moment is None or "+" in moment.text for moment in moments):
                raise _zoned()
            found = [moment.place for moment in moments if moment is not None]
            places = ", ".join(map(self.moment_at, found))
            return f"{self.moment} IN ({places})"
        if any(INSTANT.fullmatch(text) for text in texts):
            raise _zoned()
        return f"{self.text} IN {listed(texts)}"

    def between(self, range_: Interval, clock: Clock | None) -> str:
        """The condition of a half-open range of numbers or dates; an end that is None is open."""
        column, written = self.number, self.number_at
        if clock is not None:
            column, written = self.moment, self.moment_at
            _require_plain(clock)
        bounds = ((">=", range_.low), ("<", range_.high))
        ends = [f"{column} {sign} {written(end)}" for sign, end in bounds if end is not None]
        return " AND ".join(ends or [f"{column} IS NOT NULL"])


def any_of(conditions: Iterable[str]) -> str:
    """The condition that one of some holds."""
    found = list(conditions)
    return found[0] if len(found) == 1 else "(" + " OR ".join(f"({each})" for each in found) + ")"


def _is_one(texts: Iterable[str]) -> str:
    """What follows something that is one of some texts."""
    found = list(map(literal, texts))
    return f"= {found[0]}" if len(found) == 1 else f"IN ({', '.join(found)})"


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


def _require_plain(clock: Clock) -> None:
    """Require dates as ISO 8601 has them: SQL has no standard function that reads others."""
    if clock.format or clock.zone:
        raise _zoned()


def _zoned() -> InputError:
    return InputError(
        "the recoding reads dates in a time zone or a format of their own, which standard SQL "
        "cannot; recode with anonymizer apply"
    )


class LabelLine(NamedTuple):
    """A line of a table that says which values have a label.

    ``rule`` is ``value`` (that value), ``range`` (from ``begin``, included, to ``end``, not
    included; an empty one is open), ``mask`` (texts as long as ``value`` that differ from it only
    in the characters ``begin`` to ``end``, the first being 1), ``code`` (texts that begin with
    ``value`` once they have ``end`` characters, with ``begin`` in front of what is shorter up to a
    hyphen or a blank), ``all others`` (all values but those of the lines ``except``),
    ``everything`` or ``missing``. ``not mask`` and ``not code`` are not among those before them.
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
        """Codes of these values, found by their texts alone."""

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
    """All values but some; missing ones are among them where it has these."""

    excluded: tuple[str, ...]
    missing: bool = False

    def codes_in(self, column: PlacedColumn) -> list[int]:
        excluded = {*self.excluded}
        found = [code for text, code in column.by_text if text not in excluded]
        return [*found, *column.missing] if self.missing else found

    def condition(self, column: ColumnSql) -> str:
        some = f" AND {column.text} NOT IN {listed(self.excluded)}" if self.excluded else ""
        found = f"{column.text} IS NOT NULL{some}"
        return any_of([found, column.missing]) if self.missing else found

    def lines(self) -> list[LabelLine]:
        rows = [LabelLine("all others"), *(LabelLine("except", each) for each in self.excluded)]
        return [*rows, LabelLine("missing")] if self.missing else rows

    def entry(self) -> dict[str, object]:
        return {"except": [*self.excluded], **({"missing": True} if self.missing else {})}


@dataclass(frozen=True)
class CodeLabel(Label):
    """Codes that differ from a ``text`` only where its characters are masked.

    They are as long as it, or any that a ``form`` brings to that length. Codes that begin with one
    of ``also`` are among them, and those that begin with one of ``without`` are not.
    """

    text: str
    begin: int
    end: int
    form: CodeForm = CodeForm()
    also: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def codes_in(self, column: PlacedColumn) -> list[int]:
        stems = (self.text[: self.begin], *self.also)
        texts = (pair for stem in stems for pair in column.beginning(stem, self.form))
        return [
            code
            for text, code in texts
            if (self.form.length or len(text) == len(self.text))
            and text.endswith(self._tail)
            and not text.startswith(self.without)
        ]

    @property
    def _tail(self) -> str:
        return self.text[self.end :]

    def condition(self, column: ColumnSql) -> str:
        stems = [stem for stem in (self.text[: self.begin], *self.also) if stem]
        parts = [] if self.form.length else [f"{column.length} = {len(self.text)}"]
        if stems:
            parts.append(self.form.condition(column, stems))
        if self._tail:
            parts.append(f"{column.part(self.end + 1)} = {literal(self._tail)}")
        if self.without:
            parts.append(f"NOT ({self.form.condition(column, self.without)})")
        return " AND ".join(parts)

    def lines(self) -> list[LabelLine]:
        some = (("", (self.text[: self.begin], *self.also)), ("not ", self.without))
        pairs = [(sign, stem) for sign, stems in some for stem in stems]
        if self.form.length:
            length, pad = str(self.form.length), self.form.pad or ""
            return [LabelLine(f"{sign}code", stem, pad, length) for sign, stem in pairs]
        if self.begin == self.end:
            return [LabelLine("value", stem) for sign, stem in pairs if not sign]
        masks = [(sign, stem, stem + self.text[len(stem) :]) for sign, stem in pairs]
        end = str(self.end)
        return [
            LabelLine(f"{sign}mask", text, str(len(stem) + 1), end) for sign, stem, text in masks
        ]

    def entry(self) -> dict[str, object]:
        masked = {"masked": [self.begin, self.end]} if self.begin < self.end else {}
        stems = {"also": self.also, "without": self.without}
        code = self.form.entry() | {name: [*some] for name, some in stems.items() if some}
        return {**masked, **({"code": code} if code else {})}


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
