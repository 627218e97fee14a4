"""Tables in files of other programs: SPSS, Stata, SAS, Excel, ODS, JSON lines and Arrow.

Such a file is written as Parquet once, and read as that: every value exactly, and a code that has a
label as its label. A release is written as Parquet, and then as such a file. What reads and writes
it is imported when it is needed.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.ipc

from anonymizer.errors import InputError, did_you_mean, installing
from anonymizer.tables.files.opening import readable, require_named, table_stream
from anonymizer.tables.reading import TABLE, open_regular
from anonymizer.tables.values import number_of, text_of

EXACT = 2**53
"""Whole numbers up to it are floats, too."""

MOST_LISTED = 20
"""Sheets that a message lists."""

KINDS = (int, float, bool, datetime, date, time)
"""Types of values that a column keeps; any other one is a text."""


class Read(NamedTuple):
    """A table, and the categories of columns whose file says that they are ordered."""

    table: pa.Table
    orders: Mapping[str, Sequence[str]] = {}


def as_parquet(path: Path, sheet: str | None, place: Path) -> None:
    """Write the table of a file as Parquet; ``sheet``: of a workbook that has several.

    InputError when it cannot be read, or the library that reads it is not installed.
    """
    import pyarrow.parquet as pq  # loads what reads the cloud

    table = _read(path, sheet).table
    require_named(path, table.column_names, ())
    pq.write_table(table.replace_schema_metadata(), place)


def orders_in(path: Path, sheet: str | None = None) -> dict[str, list[Any]]:
    """The categories, in their order, of the columns that have one in their file."""
    return {name: [*found] for name, found in _read(path, sheet).orders.items()}


def _read(path: Path, sheet: str | None) -> Read:
    program, reader = READERS[path.suffix.lower()]
    if sheet is not None and reader not in (_of_workbook, _of_sheets):
        raise InputError(
            f"{path} has one table", "leave out table in [data]", section="data", key="table"
        )
    with readable(path):
        open_regular(path).close()
        if path.stat().st_size > TABLE.value:
            raise TABLE.refuse(path, "it has more than {} bytes")
        try:
            return reader(path, sheet)
        except ModuleNotFoundError as error:
            raise InputError(
                f"cannot read {path}: a file of {program} needs {error.name}, which is not "
                f"installed: {installing('files')}"
            ) from None


# Labels


def _labelled(path: Path, read: str) -> Read:
    """A table of codes with labels, each code as its label; others as they are."""
    pyreadstat = import_module("pyreadstat")
    frame, meta = getattr(pyreadstat, read)(str(path))
    columns, orders = [], {}
    for place, name in enumerate(frame.columns):
        labels = meta.variable_value_labels.get(name)
        values = _plain_values(frame.iloc[:, place])
        if labels:
            texts = _texts_of(labels)
            codes = [None if each is None else _code(each) for each in values]
            values = [None if each is None else texts.get(each, each) for each in codes]
            shown = {_as_text(each) for each in values if each is not None}
            if len(shown) < len({*codes} - {None}):
                raise InputError(
                    f"cannot read {path}: column {name!r} has a label that is another value, too; "
                    "give each value a label of its own"
                )
            if meta.variable_measure.get(name) == "ordinal":
                orders[name] = [texts[code] for code in sorted(texts, key=_by_number)]
        columns.append(_column(values, texts=bool(labels)))
    return Read(pa.table(columns, names=list(frame.columns)), orders)


def _plain_values(column: pd.Series) -> list[Any]:
    """Values of Python, None where one is missing."""
    missing = column.isna()
    return [None if gone else each for each, gone in zip(column.tolist(), missing, strict=True)]


def _texts_of(labels: Mapping[Any, str]) -> dict[Any, str]:
    """A text for each code: its label, with the code where another code may read alike.

    Two codes may have the same label, and a label may be the number of another code.
    """
    twice = Counter(label.strip() for label in labels.values())
    return {
        _code(code): label
        if twice[label.strip()] == 1 and number_of(label) in (None, number_of(_code(code)))
        else f"{label} [{_code(code)}]"
        for code, label in labels.items()
    }


def _code(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _by_number(code: Any) -> tuple[bool, Any]:
    return isinstance(code, str), code


# Cells


def _column(values: Sequence[Any], *, texts: bool = False) -> pa.Array:
    """Values of one type as that; numbers that are all whole as such; anything else as texts."""
    kinds = {type(each) for each in values if each is not None}
    if not texts and kinds and kinds <= {int, float} and _are_exact(values, kinds):
        whole = all(each is None or float(each).is_integer() for each in values)
        kind = pa.int64() if whole else pa.float64()
        return pa.array([each if each is None or not whole else int(each) for each in values], kind)
    if not texts and len(kinds) == 1 and next(iter(kinds)) in KINDS[2:]:
        return pa.array(_as_dates(values))
    return pa.array([None if each is None else _as_text(each) for each in values], pa.string())


def _are_exact(values: Sequence[Any], kinds: set[type]) -> bool:
    """Whether all numbers are what they are as a whole number, or as a float."""
    most = 2**63 if kinds == {int} else EXACT
    numbers = (each for each in values if each is not None)
    return all(isinstance(each, float) or -most <= each < most for each in numbers) and not (
        float in kinds and any(isinstance(each, int) and abs(each) > EXACT for each in values)
    )


def _as_dates(values: Sequence[Any]) -> Sequence[Any]:
    """Instants that are all midnight, as a workbook has dates, as dates."""
    moments = [each for each in values if isinstance(each, datetime)]
    if not moments or any(each.time() != time() for each in moments):
        return values
    return [None if each is None else each.date() for each in values]


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(text_of(value))


def _of_rows(path: Path, rows: Iterable[Sequence[Any]]) -> pa.Table:
    """A table of rows, of which the first that is not empty has the names of the columns."""
    filled = [[*row] for row in rows if any(each not in (None, "") for each in row)]
    if len(filled) < 2:
        raise InputError(f"cannot read {path}: it is empty")
    header, *records = filled
    width = max(n for n, each in enumerate(header, 1) if each not in (None, ""))
    names = ["" if each is None else str(each).strip() for each in header[:width]]
    for number, row in enumerate(records, 2):
        if any(each not in (None, "") for each in row[width:]):
            raise InputError(
                f"cannot read {path}: row {number} has more cells than the first one; remove rows "
                "before the one that names the columns"
            )
    cells = [[None if each == "" else each for each in row] + [None] * width for row in records]
    return pa.table([_column([row[n] for row in cells]) for n in range(width)], names=names)


def _chosen(path: Path, sheet: str | None, known: Sequence[str]) -> str:
    """The sheet that is meant: the only one where none is given."""
    if sheet in known or (sheet is None and len(known) == 1):
        return sheet or known[0]
    listed = ", ".join(map(repr, known[:MOST_LISTED]))
    if sheet is None:
        raise InputError(
            f"{path} has several sheets: {listed}",
            "set table in [data] to one of them",
            section="data",
            key="table",
        )
    raise InputError(f"{path} has no sheet {sheet!r}, only {listed}{did_you_mean(sheet, known)}")


def _of_workbook(path: Path, sheet: str | None) -> Read:
    """A sheet of Excel, formulas as what they came to."""
    openpyxl = import_module("openpyxl")
    with zipfile.ZipFile(path) as parts:
        if sum(each.file_size for each in parts.infolist()) > TABLE.value:
            raise TABLE.refuse(path, "it has more than {} bytes, decompressed")
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        rows = book[_chosen(path, sheet, book.sheetnames)].iter_rows(values_only=True)
        return Read(_of_rows(path, rows))
    finally:
        book.close()


def _of_sheets(path: Path, sheet: str | None) -> Read:
    """A sheet of LibreOffice, or of Excel before 2007."""
    book = import_module("python_calamine").CalamineWorkbook.from_path(path)
    chosen = book.get_sheet_by_name(_chosen(path, sheet, book.sheet_names))
    return Read(_of_rows(path, chosen.to_python()))


# Lines and columns


def _of_lines(path: Path, sheet: str | None) -> Read:
    """JSON, a record a line; a record may be without some columns."""
    records = []
    with table_stream(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError:
                record = None
            if not isinstance(record, dict):
                raise InputError(f"cannot read {path}: line {number} is no object of JSON")
            records.append(record)
    names = [*dict.fromkeys(name for record in records for name in record)]
    for name in names:
        if any(isinstance(record.get(name), dict | list) for record in records):
            raise InputError(
                f"cannot read {path}: column {name!r} has lists or objects; write a value each"
            )
    columns = [_column([record.get(name) for record in records]) for name in names]
    return Read(pa.table(columns, names=names))


def _of_arrow(path: Path, sheet: str | None) -> Read:
    """Arrow's own format, also called Feather."""
    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_file(source).read_all()
        table.validate(full=True)
        ordered = [each.name for each in table.schema if _is_ordered(each.type)]
        orders = {
            name: table.column(name).unify_dictionaries().chunk(0).dictionary.to_pylist()
            for name in ordered
            if len(table)
        }
        return Read(table, orders)


def _is_ordered(kind: pa.DataType) -> bool:
    return pa.types.is_dictionary(kind) and bool(kind.ordered)


# Released


def write_foreign(
    held: Path, path: Path, source: Path | None = None, untouched: Collection[str] = ()
) -> None:
    """Write a table in Parquet as a file of another program.

    ``untouched``: columns with the values of the table at ``source``: where that has codes with
    labels they get their codes again, the labels of values that occur, and the words of the column.
    InputError where the program has no such name, or no such text.
    """
    import pyarrow.parquet as pq  # loads what reads the cloud

    program = READERS[path.suffix][0]
    table = pq.read_table(held)
    for name in table.column_names:
        if not NAMES[path.suffix].fullmatch(name):
            raise InputError(
                f"column {name!r:.80} has a name that {program} does not take; rename it in the "
                "table, or release another kind of file"
            )
    columns = {name: _cells(table.column(name)) for name in table.column_names}
    try:
        if path.suffix == ".xlsx":
            _write_sheet(columns, path)
        else:
            _write_statistics(columns, path, source, untouched)
    except ModuleNotFoundError as error:
        raise InputError(
            f"a file of {program} needs {error.name}, which is not installed: {installing('files')}"
        ) from None
    except Exception as error:  # what these libraries raise may quote a value
        if isinstance(error, OSError | MemoryError):
            raise
        raise InputError(
            f"the table has a value that {program} does not take, such as a text that is too long "
            "or has control characters; release Parquet or CSV"
        ) from None


def _cells(column: pa.ChunkedArray) -> list[Any]:
    """Values that all programs have: whole numbers and floats, dates, texts."""
    kind = column.type
    plain = pa.types.is_floating(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    if plain and getattr(kind, "tz", None) is None:
        return list(column.to_pylist())
    values = column.to_pylist()
    if pa.types.is_integer(kind) and all(v is None or abs(v) <= EXACT for v in values):
        return list(values)
    return [None if each is None else _as_text(each) for each in values]


def _write_sheet(columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """A workbook of one sheet, in which no text is a formula."""
    openpyxl = import_module("openpyxl")
    cell = import_module("openpyxl.cell").WriteOnlyCell
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("released")
    try:
        for row in ([*columns], *zip(*columns.values(), strict=True)):
            cells = [cell(sheet, value) for value in row]
            for each, value in zip(cells, row, strict=True):
                if isinstance(value, str):
                    each.data_type = "s"
            sheet.append(cells)
    finally:
        sheet.close()
    book.save(path)


def _write_statistics(
    columns: Mapping[str, list[Any]], path: Path, source: Path | None, untouched: Collection[str]
) -> None:
    pyreadstat = import_module("pyreadstat")
    meta = _labels_of(source)
    codes, kept, words, measures = {}, {}, {}, {}
    for name, values in columns.items():
        own = {} if meta is None or name not in untouched else meta.variable_value_labels.get(name)
        codes[name], kept[name] = _coded(values, own or {}, whole=path.suffix == ".dta")
        if meta is not None and name in untouched:
            words[name] = meta.column_names_to_labels.get(name) or ""
            measures[name] = meta.variable_measure.get(name) or "unknown"
    frame = pd.DataFrame({name: _series(values) for name, values in codes.items()})
    options = {
        "variable_value_labels": {name: each for name, each in kept.items() if each},
        "column_labels": {name: each for name, each in words.items() if each},
    }
    if path.suffix == ".dta":
        pyreadstat.write_dta(frame, str(path), **options)
    else:
        pyreadstat.write_sav(frame, str(path), variable_measure=measures, **options)


def _labels_of(source: Path | None) -> Any:
    """What a file says of its columns; None where it is none of statistics."""
    reader = None if source is None else STATISTICS.get(source.suffix.lower())
    if reader is None:
        return None
    with readable(source):  # type: ignore[arg-type]
        return getattr(import_module("pyreadstat"), reader)(str(source), metadataonly=True)[1]


def _coded(
    values: list[Any], labels: Mapping[Any, str], *, whole: bool
) -> tuple[list[Any], dict[Any, str]]:
    """Values as codes again, and the labels of those that occur; as they are where one is none."""
    known = {text: code for code, text in _texts_of(labels).items()}
    codes = [each if each is None else known.get(each, _number(each)) for each in values]
    there = {each for each in codes if each is not None}
    kinds = {isinstance(each, str) for each in there}
    if not labels or None in (known.get(v, _number(v)) for v in values if v is not None):
        return values, {}
    if len(kinds) > 1 or (whole and any(not isinstance(each, int) for each in there)):
        return values, {}
    return codes, {_code(code): text for code, text in labels.items() if _code(code) in there}


def _number(value: Any) -> Any:
    """A text that is a number as that; None for any other one."""
    found = number_of(value)
    if found is None:
        return None
    return int(found) if found == int(found) else float(found)


def _series(values: list[Any]) -> pd.Series:
    kinds = {type(each) for each in values if each is not None}
    if not kinds:
        return pd.Series([""] * len(values), dtype=object)
    if kinds <= {int, float}:
        return pd.Series([float("nan") if v is None else v for v in values], dtype=float)
    if kinds == {str}:
        return pd.Series(["" if v is None else v for v in values], dtype=object)
    return pd.Series(values, dtype=object)


NAMES = {
    ".dta": re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}"),
    ".sav": re.compile(r"[A-Za-z@](?:[A-Za-z0-9_.@#$]{0,62}[A-Za-z0-9_@#$])?"),
    ".xlsx": re.compile(r".+"),
}
"""The names of columns that programs take."""


STATISTICS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
"""Functions of pyreadstat that read files of statistics."""


def _of_statistics(path: Path, sheet: str | None) -> Read:
    return _labelled(path, STATISTICS[path.suffix.lower()])


READERS: Mapping[str, tuple[str, Callable[[Path, str | None], Read]]] = {
    ".sav": ("SPSS", _of_statistics),
    ".zsav": ("SPSS", _of_statistics),
    ".por": ("SPSS", _of_statistics),
    ".dta": ("Stata", _of_statistics),
    ".sas7bdat": ("SAS", _of_statistics),
    ".xpt": ("SAS", _of_statistics),
    ".xlsx": ("Excel", _of_workbook),
    ".xlsm": ("Excel", _of_workbook),
    ".xls": ("Excel", _of_sheets),
    ".ods": ("LibreOffice", _of_sheets),
    ".jsonl": ("JSON lines", _of_lines),
    ".ndjson": ("JSON lines", _of_lines),
    ".arrow": ("Arrow", _of_arrow),
    ".feather": ("Arrow", _of_arrow),
}
"""The program that a file is of, and what reads it, by the ending of its name."""
