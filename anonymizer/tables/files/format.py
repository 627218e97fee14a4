"""How a table lies in a file, what a study gives of it, and how its numbers are written.

``1.234,5``, ``1 234,5`` and ``1'234.5`` are 1234.5 in other notations than that of the package.
``1,234`` alone may be two numbers.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.errors import InputError, shown
from anonymizer.tables import engine
from anonymizer.tables.reading import LINE, dialect
from anonymizer.tables.values import both_texts, text_of

UTF8 = "utf-8"

PARQUET = (".parquet", ".pq")

NO_TEXT = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}
"""Codecs of Python that no table is written in."""

MARKS = {".": ".", ",": ",", " ": " \u00a0\u2009\u202f", "'": "'\u2019"}
"""The marks of a number, and all characters that are the same one."""

ALL = "".join(MARKS.values())

ABSENT = ("", "?", "-", ".", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None")
"""What stands in a column of numbers where one is missing, whether the study lists it or not."""

GROUPED = re.compile(rf"(?<=[0-9])([{ALL}])[0-9]{{3}}(?:\1[0-9]{{3}})*(?!\1)([.,])[0-9]")
"""A number with both marks, somewhere in a text: that of thousands, then the decimal one."""

COMMA = re.compile(r"[0-9],[0-9]")


MissingValues = Sequence[str] | Mapping[str, Sequence[str]]
"""Texts that count as missing: in all columns, or by column, ``EVERY`` being any of them."""

AS_LISTS = (
    'must be a list of texts, or such a list by column, such as missing-values = ["?"] or '
    "missing-values = { kids = [77, 99] }"
)
"""What the key of a study that gives them has to be."""

EVERY = "*"
"""In place of the name of a column: all columns."""


def missing_texts(given: MissingValues, column: str | None = None) -> tuple[str, ...]:
    """Return the texts that count as missing in a column, or in any where none is named.

    >>> missing_texts({"*": ("?",), "kids": ("77",)}, "kids"), missing_texts(("?",), "kids")
    (('?', '77'), ('?',))
    >>> missing_texts({"*": ("?",), "kids": ("77",)}, "age")
    ('?',)
    """
    if not isinstance(given, Mapping):
        return tuple(given)
    names = given if column is None else (EVERY, column)
    return tuple(dict.fromkeys(text for name in names for text in given.get(name, ())))


def missing_values_of(given: object) -> MissingValues:
    """Take over texts, or lists of them by column, as a study or a manifest has them.

    Raises InputError where they are neither.
    """
    if isinstance(given, Mapping):
        return {str(name): _texts_in(each) for name, each in given.items()}
    return _texts_in(given)


def reported_missing(given: MissingValues) -> list[str] | dict[str, list[str]]:
    """Return them as JSON and TOML have them."""
    if isinstance(given, Mapping):
        return {name: list(texts) for name, texts in given.items()}
    return list(given)


def _texts_in(given: object) -> tuple[str, ...]:
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, Sequence) or not all(
        isinstance(each, str | int | float) and not isinstance(each, bool) for each in listed
    ):
        raise InputError(f"missing-values {AS_LISTS}")
    return tuple(map(text_of, listed))


def same_mark(given: str) -> str:
    """One for all blanks and all apostrophes; the mark itself where it is another one."""
    return next((mark for mark, alike in MARKS.items() if given and given in alike), given)


Layout = tuple[tuple[str, int, int], ...]


def layout_of(given: Any) -> Layout:
    """The columns of a fixed width, with the places where they begin and end, from 0.

    Given are the first and the last character, from 1, in a mapping or in a text.

    >>> layout_of({"age": [1, 3], "sex": 4}), layout_of("age=1-3, sex=4")
    ((('age', 0, 3), ('sex', 3, 4)), (('age', 0, 3), ('sex', 3, 4)))
    """
    if isinstance(given, str):
        pairs = [each.rpartition("=") for each in given.split(",")]
        given = {name.strip(): place.split("-") for name, _, place in pairs}
    if not isinstance(given, Mapping) or not given:
        raise InputError(LAYOUT)
    found = []
    for name, place in given.items():
        ends = place if isinstance(place, Sequence) else [place]
        if not 1 <= len(ends) <= 2 or not all(str(each).strip().isdecimal() for each in ends):
            raise InputError(f"layout of {name!r}: {LAYOUT}")
        begin, end = int(ends[0]), int(ends[-1])
        if not 1 <= begin <= end <= LINE.value:
            raise InputError(f"layout of {name!r}: it ends before it begins; {LAYOUT}")
        found.append((name, begin - 1, end))
    return tuple(found)


LAYOUT = "write layout = { age = [1, 3], sex = 4 }, the first and the last character of each column"


@dataclass(frozen=True)
class GivenFormat:
    """Keys of ``[data]``, known before a file is opened; None where the file has to show it."""

    separator: str | None = None
    missing_values: MissingValues = ()
    encoding: str | None = None
    quote: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    columns: tuple[str, ...] | None = None
    layout: Any = None

    def __post_init__(self) -> None:
        """Refuse what no format has."""
        if self.layout is not None:
            object.__setattr__(self, "layout", layout_of(self.layout))
        decimal = self.decimal or ("," if self.thousands == "." else ".")
        Format(
            False,
            separator="," if self.separator is None else self.separator,
            encoding=UTF8 if self.encoding is None else self.encoding,
            quote='"' if self.quote is None else self.quote,
            decimal=decimal,
            thousands=self.thousands or "",
        )


@dataclass(frozen=True)
class Format:
    """How a table lies in a file: as Parquet, else as CSV, which the other fields are about.

    Parameters
    ----------
    separator
        Between the fields, one ASCII character.
    missing_values
        Missing, as is an empty field, in the columns where that matters; see ``MissingValues``.
    encoding
        As Python names it.
    quote
        Around a field that holds separators or ends of lines; empty where nothing is.
    decimal, thousands
        The marks of numbers as they are written in the file: ``.`` or ``,``, and ``.``, ``,``, a
        blank, an apostrophe or none.
    columns
        The names of the columns of a file without a header line; None where it has one.
    skipped
        Lines before the table: one where the first says ``sep=;``.
    layout
        Of a file of fixed width: the columns with the places where they begin and end, from 0.
    program
        The ending of a file of another program, which is written as Parquet first; empty of none.
    doubts
        What the file leaves open, a sentence each; a study can say it.
    """

    parquet: bool
    separator: str = ","
    missing_values: MissingValues = ()
    encoding: str = UTF8
    quote: str = '"'
    decimal: str = "."
    thousands: str = ""
    columns: tuple[str, ...] | None = None
    skipped: int = 0
    layout: Layout | None = None
    program: str = ""
    doubts: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        separator = self.separator
        if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
            raise InputError(
                f"separator {shown(separator)} must be one ASCII character, no quote, such as "
                "';' or '\\t', a tab"
            )
        object.__setattr__(self, "encoding", _codec(self.encoding))
        object.__setattr__(self, "thousands", same_mark(self.thousands))
        if self.quote not in ('"', "'", "") or self.quote == self.separator:
            raise InputError(f"""quote = {shown(self.quote)} must be '"', "'" or "" for none""")
        if self.decimal not in (".", ","):
            raise InputError(f"decimal = {shown(self.decimal)} must be '.' or ','")
        if self.thousands not in {"", *MARKS} - {self.decimal}:
            raise InputError(
                f"thousands = {shown(self.thousands)} must be ',', '.', ' ', an apostrophe or "
                f"'' for none, and another mark than decimal = {self.decimal!r}"
            )

    @property
    def header(self) -> bool:
        """Whether the file has a line that names the columns."""
        return self.columns is None

    @property
    def plain(self) -> bool:
        """Whether numbers are written as the package writes them."""
        return self.decimal == "." and not self.thousands

    @property
    def dialect(self) -> dict[str, Any]:
        """Options of Python's reader of CSV."""
        return dialect(self.separator, self.quote)

    @property
    def suffix(self) -> str:
        """The ending of a file name."""
        return self.program or (".parquet" if self.parquet else ".csv")

    def found(self, given: GivenFormat) -> dict[str, Any]:
        """What was found in the file and is unusual, by the key of ``[data]`` that would give it.

        >>> Format(False, ";", decimal=",", encoding="utf-16").found(GivenFormat(encoding="utf-16"))
        {'decimal': ','}
        """
        usual = Format(self.parquet)
        keys = ["encoding", "quote", "decimal", "thousands", "columns"]
        if self.layout is not None:
            keys = keys[:1]
        open_keys = [key for key in keys if getattr(given, key) is None]
        values = {key: getattr(self, key) for key in open_keys}
        return {key: value for key, value in values.items() if value != getattr(usual, key)}

    @property
    def released(self) -> Format:
        """The format in which a table of this format is released: UTF-8, header, plain numbers."""
        return Format(self.parquet, self.separator, self.missing_values)


def _codec(given: str) -> str:
    """Python's name of an encoding; InputError where it knows none."""
    try:
        found = codecs.lookup(given)
        text = found._is_text_encoding and found.name not in NO_TEXT
    except (LookupError, ValueError):
        text = False
    if not text:
        raise InputError(
            f"encoding = {shown(given)} is unknown; known are utf-8, cp1252, latin-1, cp1250, "
            "utf-16, mac-roman, shift_jis and others of Python"
        )
    return UTF8 if found.name in ("utf-8-sig", "ascii") else found.name


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet, by its name."""
    return path.suffix.lower() in PARQUET


def pattern_of(decimal: str, thousands: str) -> str:
    """The regular expression of a number in a notation; both Python and Arrow read it."""
    whole = "[0-9]+"
    if thousands:
        whole = rf"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:[{MARKS[thousands]}][0-9]{{3}})+)"
    point = f"[{decimal}]"
    return rf"[+-]?(?:{whole}(?:{point}[0-9]+)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"


PLAIN = re.compile(pattern_of(".", ""))


def is_plain_number(text: str) -> bool:
    """Whether a text is a number as the package writes it."""
    return PLAIN.fullmatch(text.strip()) is not None


def may_be_marked(text: str) -> bool:
    """Whether a text has a number with both marks, or with a comma; mostly a quick look."""
    if COMMA.search(text):
        return True
    several = sum(mark in text for mark in ALL) > 1
    return several and GROUPED.search(text) is not None


def are_numbers(texts: Iterable[str], decimal: str, thousands: str, absent: Sequence[str]) -> bool:
    """Whether all texts are numbers in a notation or missing, and any is a number."""
    pattern, seen = re.compile(pattern_of(decimal, thousands)), False
    for text in map(str.strip, texts):
        if pattern.fullmatch(text):
            seen = True
        elif text not in absent:
            return False
    return seen


def both_marks(texts: Sequence[str], absent: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The notations (decimal, thousands) of numbers one of which has both marks; at most one.

    All texts have to be numbers in that notation.
    """
    example = GROUPED.search("\n".join(texts))
    if example:
        decimal, thousands = example[2], same_mark(example[1])
        if are_numbers(texts, decimal, thousands, absent):
            yield decimal, thousands


def is_decimal_comma(texts: Sequence[str], absent: Sequence[str]) -> bool:
    """Whether all texts are numbers whose commas are decimal ones, for sure of one of them.

    ``1,234`` may be a thousand; ``3,5``, ``0,123`` and ``1234,567`` are not.
    """
    thousand = re.compile(pattern_of(".", ","))
    sure = any("," in text and not thousand.fullmatch(text.strip()) for text in texts)
    return sure and are_numbers(texts, ",", "", absent)


def may_be_thousands(texts: Sequence[str], mark: str, absent: Sequence[str]) -> bool:
    """Whether all texts are whole numbers if a mark is one of thousands, and any has the mark."""
    decimal = "," if mark == "." else "."
    marked = [text for text in texts if mark in text]
    return (
        bool(marked)
        and are_numbers(texts, decimal, mark, absent)
        and not (any(decimal in text for text in texts))
    )


def with_plain_numbers(table: pa.Table, form: Format) -> pa.Table:
    """The table with a point and no thousands marks in every column that is numbers throughout."""
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        plain = _plain(column, form, missing_texts(form.missing_values, name))
        if plain is not None:
            table = table.set_column(place, name, plain)
    return table


def _plain(
    column: pa.ChunkedArray, form: Format, declared: Sequence[str]
) -> pa.ChunkedArray | None:
    """Texts as plain numbers; None where none has a mark, or not all are numbers."""
    import pyarrow.compute as compute  # 0.04 s, which few files need

    marks = f"[{form.decimal if form.decimal != '.' else ''}{MARKS.get(form.thousands, '')}]"
    if not compute.any(compute.match_substring_regex(column, marks)).as_py():
        return None
    trimmed = compute.utf8_trim_whitespace(column)
    pattern = pattern_of(form.decimal, form.thousands)
    number = compute.match_substring_regex(trimmed, f"^(?:{pattern})$")
    absent = compute.is_in(trimmed, pa.array([*ABSENT, *declared], pa.string()))
    if not compute.all(compute.or_(number, absent)).as_py():
        return None
    plain = trimmed
    if form.thousands:
        plain = compute.replace_substring_regex(plain, f"[{MARKS[form.thousands]}]", "")
    plain = compute.replace_substring(plain, form.decimal, ".")
    return compute.if_else(number, plain, column)


def cleaned(column: pd.Series, form: Format) -> pd.Series:
    """Strip blanks around texts; empty texts and values declared missing become missing."""
    column = engine.stripped(column)
    codes, values = engine.distinct(column)
    absent = {"", *missing_texts(form.missing_values, str(column.name))}
    missing = np.array([not absent.isdisjoint(both_texts(value)) for value in values], bool)
    return column.mask(missing[codes]) if missing.any() else column
