"""How a table lies in a file: what was found, and what a study gives of it."""

import codecs
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anonymizer.errors import InputError, shown
from anonymizer.tables.reading import dialect

UTF8 = "utf-8"
PARQUET = (".parquet", ".pq")

MARKS = {".": ".", ",": ",", " ": " \u00a0\u2009\u202f", "'": "'\u2019"}
"""The marks of a number, and all characters that are the same one."""

NO_TEXT = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}
"""Codecs of Python that no table is written in."""


def same_mark(given: str) -> str:
    """One for all blanks and all apostrophes; the mark itself where it is another one."""
    return next((mark for mark, alike in MARKS.items() if given and given in alike), given)


@dataclass(frozen=True)
class GivenFormat:
    """What is known of a file before it is opened: the keys of ``[data]``; None is to be found."""

    separator: str | None = None
    missing_values: tuple[str, ...] = ()
    encoding: str | None = None
    quote: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse what no format has."""
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
        Missing, as is an empty field, in the columns where that matters.
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
    doubts
        What the file leaves open, a sentence each; a study can say it.
    """

    parquet: bool
    separator: str = ","
    missing_values: tuple[str, ...] = ()
    encoding: str = UTF8
    quote: str = '"'
    decimal: str = "."
    thousands: str = ""
    columns: tuple[str, ...] | None = None
    skipped: int = 0
    doubts: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        _require_separator(self.separator)
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
        """The same as Python's reader of CSV has it."""
        return dialect(self.separator, self.quote)

    @property
    def suffix(self) -> str:
        """The ending of a file name."""
        return ".parquet" if self.parquet else ".csv"

    def found(self, given: GivenFormat) -> dict[str, Any]:
        """What was found in the file and is unusual, by the key of ``[data]`` that would give it.

        >>> Format(False, ";", decimal=",", encoding="utf-16").found(GivenFormat(encoding="utf-16"))
        {'decimal': ','}
        """
        usual = Format(self.parquet)
        keys = ("encoding", "quote", "decimal", "thousands", "columns")
        open_keys = [key for key in keys if getattr(given, key) is None]
        values = {key: getattr(self, key) for key in open_keys}
        return {key: value for key, value in values.items() if value != getattr(usual, key)}

    @property
    def released(self) -> "Format":
        """The format in which a table of this format is released: UTF-8, header, plain numbers."""
        return Format(self.parquet, self.separator, self.missing_values)


def _require_separator(given: str) -> None:
    if len(given) != 1 or not given.isascii() or given in '"\r\n':
        raise InputError(
            f"separator {shown(given)} must be one ASCII character, no quote, such as ';' or "
            "'\\t', a tab"
        )


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
