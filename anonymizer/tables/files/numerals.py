"""Numbers in other notations than the package's: which one a file has, and numbers without it.

``1.234,5``, ``1 234,5`` and ``1'234.5`` are 1234.5. ``1,234`` alone may be two numbers.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute

from anonymizer.tables.files.format import MARKS, Format, same_mark

ABSENT = ("", "?", "-", ".", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None")
"""What stands in a column of numbers where one is missing, whether the study lists it or not."""

ALL = "".join(MARKS.values())

GROUPED = re.compile(rf"(?<=[0-9])([{ALL}])[0-9]{{3}}(?:\1[0-9]{{3}})*(?!\1)([.,])[0-9]")
"""A number with both marks, somewhere in a text: that of thousands, then the decimal one."""

COMMA = re.compile(r"[0-9],[0-9]")


def pattern_of(decimal: str, thousands: str) -> str:
    """The regular expression of a number in a notation; both Python and Arrow read it."""
    whole = "[0-9]+"
    if thousands:
        whole = rf"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:[{MARKS[thousands]}][0-9]{{3}})+)"
    point = f"[{decimal}]"
    return rf"[+-]?(?:{whole}(?:{point}[0-9]+)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"


PLAIN = re.compile(pattern_of(".", ""))


def is_plain(text: str) -> bool:
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


def is_open(texts: Sequence[str], mark: str, absent: Sequence[str]) -> bool:
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
        plain = _plain(column, form)
        if plain is not None:
            table = table.set_column(place, name, plain)
    return table


def _plain(column: pa.ChunkedArray, form: Format) -> pa.ChunkedArray | None:
    """Texts as plain numbers; None where none has a mark, or not all are numbers."""
    compute = pa.compute
    marks = f"[{form.decimal if form.decimal != '.' else ''}{MARKS.get(form.thousands, '')}]"
    if not compute.any(compute.match_substring_regex(column, marks)).as_py():
        return None
    trimmed = compute.utf8_trim_whitespace(column)
    pattern = pattern_of(form.decimal, form.thousands)
    number = compute.match_substring_regex(trimmed, f"^(?:{pattern})$")
    absent = compute.is_in(trimmed, pa.array([*ABSENT, *form.missing_values], pa.string()))
    if not compute.all(compute.or_(number, absent)).as_py():
        return None
    plain = trimmed
    if form.thousands:
        plain = compute.replace_substring_regex(plain, f"[{MARKS[form.thousands]}]", "")
    plain = compute.replace_substring(plain, form.decimal, ".")
    return compute.if_else(number, plain, column)
