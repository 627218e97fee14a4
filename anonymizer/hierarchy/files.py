"""Hierarchy files: ARX's CSV tables and TOML rules."""

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.hierarchy.hierarchy import Hierarchy
from anonymizer.hierarchy.inline import hierarchy_of
from anonymizer.hierarchy.partition import ANY
from anonymizer.hierarchy.rules.listed import ListedHierarchy
from anonymizer.tables.reading import HIERARCHY, STUDY, parsed_toml, read_whole, separator_of
from anonymizer.tables.values import number_of

SEPARATORS = ";,\t|"
"""The likeliest first; ARX writes semicolons."""


def read_hierarchy(path: Path) -> Hierarchy:
    """Read a hierarchy file; a ``.toml`` file holds a rule, any other a table."""
    is_rule = path.suffix.lower() == ".toml"
    text = read_whole(path, STUDY if is_rule else HIERARCHY, "hierarchy ")
    if not text.strip():
        raise InputError(f"{path}: the hierarchy file is empty")
    return _rule(text, path) if is_rule else _table(text, path)


def _table(text: str, path: Path) -> Hierarchy:
    lines = [line for line in text.splitlines() if line.strip()]
    separator = separator_of(lines, SEPARATORS)
    columns = _plain_columns(text, separator)
    if columns is None:
        rows = _rows(text, separator, path)
        if not rows:
            raise InputError(f"{path}: the hierarchy file lists no values")
        begin = int(_has_header(rows[0], rows[1:], path.stem))
        return ListedHierarchy.by_rows(rows[begin:], str(path))
    ends = list(zip(columns[0], columns[-1], strict=True))
    begin = int(_has_header([column[0] for column in columns], ends[1:], path.stem))
    return ListedHierarchy.by_columns([column[begin:] for column in columns], str(path))


def _plain_columns(text: str, separator: str) -> list[list[str]] | None:
    """The columns of a CSV text as ``_rows`` has them; None where that takes more than to cut it.

    A fifth of the time, for millions of rows without quotes, gaps or blank lines.
    """
    text = text.replace("\r\n", "\n").removesuffix("\n")
    if '"' in text or "\r" in text:
        return None
    lines = text.split("\n")
    cuts = lines[0].count(separator)
    if {line.count(separator) for line in lines} != {cuts}:
        return None
    if max(map(len, lines)) > csv.field_size_limit():
        return None
    fields = list(map(str.strip, text.replace("\n", separator).split(separator)))
    columns = [fields[place :: cuts + 1] for place in range(cuts + 1)]
    return None if "" in columns[0] else columns


def _rows(text: str, separator: str, path: Path) -> list[list[str]]:
    """The rows of a CSV text, blank ones left out, blanks around fields stripped."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        rows = [[field.strip() for field in row] for row in reader]
    except csv.Error:
        raise InputError(
            f"{path}: line {reader.line_num} is not CSV; is a quote left open?"
        ) from None
    return [row for row in rows if any(row)]


def _has_header(first: Sequence[str], others: Sequence[Sequence[str]], attribute: str) -> bool:
    """Tell whether the first row names columns, by its words, its top label, or its value."""
    if not others:
        return False
    known = {attribute.casefold().replace("-", ""), "value", "values", "level0"}
    if first[0].casefold().replace(" ", "").replace("-", "") in known:
        return True
    if len(first) > 1 and first[-1] != ANY and all(row[-1] == ANY for row in others):
        return True
    return number_of(first[0]) is None and all(number_of(row[0]) is not None for row in others)


def _rule(text: str, path: Path) -> Hierarchy:
    try:
        table = parsed_toml(text)
        if str(table.get("file", "")).lower().endswith(".toml"):
            raise InputError("a rule file may not refer to another one; file must be a CSV table")
        return hierarchy_of(table, path.parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except ValueError as error:
        raise InputError(f"{path}: not a TOML file: {error}") from None
