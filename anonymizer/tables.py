"""Table files, CSV and Parquet: read whole or refused, written whole or not at all."""

import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from anonymizer.errors import InputError

__all__ = ["Format", "format_of", "read_table", "write_table", "write_together"]

SEPARATORS = ",;\t|"
SNIFFED = 64 * 1024
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Format:
    """How a table lies in a file.

    Parameters
    ----------
    parquet
        Parquet; CSV otherwise.
    separator
        Between the fields of a CSV file.
    missing_values
        What counts as missing beside an empty field, in the columns where that matters.
    """

    parquet: bool
    separator: str = ","
    missing_values: tuple[str, ...] = ()

    @property
    def suffix(self) -> str:
        """The ending of a file name."""
        return ".parquet" if self.parquet else ".csv"


def format_of(
    path: Path, separator: str | None = None, missing_values: Sequence[str] = ()
) -> Format:
    """Tell a file's format by its name, and a CSV file's separator by its first lines.

    Raises
    ------
    InputError
        When there is no such file.
    """
    if not path.is_file():
        raise InputError(f"there is no {'file' if not path.exists() else 'table in'} {path}")
    if path.suffix.lower() in PARQUET:
        return Format(parquet=True, missing_values=tuple(missing_values))
    return Format(False, separator or _separator(path), tuple(missing_values))


def read_table(path: Path, form: Format, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a whole table; CSV fields stay texts, so that nothing is lost on the way back.

    Parameters
    ----------
    path
        The file; a CSV file may be compressed (.gz, .bz2, .zst).
    form
        Its format.
    columns
        The columns in which empty fields and ``missing_values`` are read as missing.

    Raises
    ------
    InputError
        When the file cannot be read to its end: the message names the file and the row, no value.
    """
    table = _read(path, _read_parquet if form.parquet else lambda p: _read_csv(p, form.separator))
    _require_distinct(path, table.column_names)
    frame: pd.DataFrame = table.to_pandas()
    for name in [name for name in columns if name in frame.columns]:
        frame[name] = _marked(frame[name], form)
    return frame


def write_table(frame: pd.DataFrame, path: Path, form: Format) -> None:
    """Write a table in a format, without its index."""
    if form.parquet:
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, sep=form.separator, index=False, lineterminator="\n")


def write_together(
    directory: Path, writers: dict[str, Callable[[Path], None]], obsolete: Sequence[str] = ()
) -> None:
    """Write several files so that all of them appear, whole, or none.

    Each is written under a temporary name on the same file system and flushed to disk; only when
    all are there do they get their names, in order, the last one being the sign that all are. If
    a name cannot be given, those given before are taken back.

    Parameters
    ----------
    directory
        Where; made when it does not exist.
    writers
        What writes each file, by name.
    obsolete
        Files of an earlier run that go away.

    Raises
    ------
    InputError
        When something cannot be written; nothing is left behind.
    """
    made = _make(directory)
    try:
        scratch = Path(tempfile.mkdtemp(prefix=".writing-", dir=directory))
    except OSError as error:
        _unmake(made)
        raise InputError(f"cannot write to {directory}: {error.strerror}") from None
    try:
        for name, write in writers.items():
            write(scratch / name)
            _flush(scratch / name)
        _rename_all(scratch, directory, list(writers))
        made = []
        for name in set(obsolete) - set(writers):
            (directory / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot write to {directory}: {error.strerror or error}; nothing was written"
        ) from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        _unmake(made)


def _make(directory: Path) -> list[Path]:
    """Make a directory; give those that were missing, innermost first."""
    missing = [path for path in [directory, *directory.parents] if not path.exists()]
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _unmake(missing)
        raise InputError(f"cannot make the directory {directory}: {error.strerror}") from None
    return missing


def _unmake(made: list[Path]) -> None:
    for path in made:
        with suppress(OSError):
            path.rmdir()


def _rename_all(scratch: Path, directory: Path, names: list[str]) -> None:
    """Give files their names; what they replace is kept aside until all have theirs."""
    aside = scratch / "replaced"
    aside.mkdir()
    done: list[str] = []
    try:
        for name in names:
            if (directory / name).exists():
                (directory / name).replace(aside / name)
            done.append(name)
            (scratch / name).replace(directory / name)
        _flush(directory)
    except BaseException:
        for name in done:
            (directory / name).unlink(missing_ok=True)
            if (aside / name).exists():
                (aside / name).replace(directory / name)
        raise


def _flush(path: Path) -> None:
    if path.is_dir() and os.name == "nt":  # directories cannot be flushed there
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path, reader: Callable[[Path], pa.Table]) -> pa.Table:
    """Read with messages of our own: those of the library quote the data."""
    try:
        return reader(path)
    except (pa.ArrowInvalid, OSError, EOFError) as error:
        raise InputError(f"cannot read {path}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """Why a file cannot be read, in words of our own."""
    if isinstance(error, PermissionError):
        return "permission denied"
    text = str(error)
    if "UTF8" in text:
        return "it is not UTF-8 text"
    if "Empty CSV" in text:
        return "it is empty"
    if "Expected" in text and "columns" in text:
        return "its rows do not all have as many fields as its header"
    return "it is damaged, cut short, or not what its name says"


def _read_parquet(path: Path) -> pa.Table:
    return pyarrow.parquet.read_table(path)


def _read_csv(path: Path, separator: str) -> pa.Table:
    uneven: list[str] = []

    def refuse(row: pyarrow.csv.InvalidRow) -> str:
        place = f"row {row.number} has" if row.number is not None else "a row has"
        uneven.append(f"{place} {row.actual_columns} fields, the header {row.expected_columns}")
        return "error"

    names = _header(path, separator)
    try:
        table = pyarrow.csv.read_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(use_threads=False),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=separator, newlines_in_values=True, invalid_row_handler=refuse
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        if uneven:
            raise InputError(f"cannot read {path}: {uneven[0]}") from None
        raise
    stripped = [pc.utf8_ltrim(column, " ") for column in table.columns]
    return pa.table(stripped, names=[name.strip() for name in table.column_names])


def _header(path: Path, separator: str) -> list[str]:
    reader = pyarrow.csv.open_csv(
        path, parse_options=pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    )
    names: list[str] = reader.schema.names
    return names


def _separator(path: Path) -> str:
    """The character that cuts the first lines into the same number of fields, the most of them."""
    lines = _first_lines(path)

    def fields(separator: str) -> int:
        counts = {len(row) for row in csv.reader(lines, delimiter=separator) if row}
        return counts.pop() if len(counts) == 1 else 0

    best = max(SEPARATORS, key=fields)
    if fields(best) > 1 or not lines:
        return best
    return max(SEPARATORS, key=lines[0].count)


def _first_lines(path: Path) -> list[str]:
    """Some whole lines of a text file, decompressed."""
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            start = stream.read(SNIFFED)
    except OSError as error:
        raise InputError(f"cannot read {path}: {_reason(error)}") from None
    lines: list[str] = start.decode("utf-8-sig", errors="replace").splitlines()
    return lines[:-1] if len(start) == SNIFFED else lines


def _marked(column: pd.Series, form: Format) -> pd.Series:
    """Empty texts and the values declared missing, as missing."""
    codes, values = pd.factorize(column, use_na_sentinel=False)
    absent = {"", *form.missing_values}
    missing = np.array([isinstance(v, str) and v.strip() in absent for v in values], bool)
    return column.mask(missing[codes]) if len(codes) else column


def _require_distinct(path: Path, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{path}: column {twice[0]!r} stands more than once; rename one of them")
