"""The format of a table file, by its name and its first lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.tables.files.opening import readable, table_stream
from anonymizer.tables.reading import separator_of

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
        What counts as missing besidess an empty field, in the columns where that matters.
    """

    parquet: bool
    separator: str = ","
    missing_values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.separator) != 1 or not self.separator.isascii() or self.separator in '"\r\n':
            raise InputError(f"separator {self.separator!r} must be one ASCII character, no quote")

    @property
    def suffix(self) -> str:
        """The ending of a file name."""
        return ".parquet" if self.parquet else ".csv"


def format_of(
    path: Path, separator: str | None = None, missing_values: Sequence[str] = ()
) -> Format:
    """Find a file's format by its name, and a CSV file's separator by its first lines.

    Raises
    ------
    InputError
        When there is no such file.
    """
    try:
        exists, is_file = path.exists(), path.is_file()
    except (OSError, ValueError):
        raise InputError(f"cannot read {str(path)!r}: no file has such a name") from None
    if not is_file:
        raise InputError(f"there is no {'table in' if exists else 'file'} {path}")
    if path.suffix.lower() in PARQUET:
        return Format(parquet=True, missing_values=tuple(missing_values))
    return Format(
        False, separator or separator_of(_first_lines(path), SEPARATORS), tuple(missing_values)
    )


def _first_lines(path: Path) -> list[str]:
    """Some whole lines of a text file, decompressed."""
    with readable(path), table_stream(path) as stream:
        start = stream.read(SNIFFED)
    lines: list[str] = start.decode("utf-8-sig", errors="replace").splitlines()
    return lines[:-1] if len(start) == SNIFFED else lines
