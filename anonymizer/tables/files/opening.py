"""Opening table files: decompressed, within limits, and refused in our own words."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from anonymizer.errors import InputError, require_columns
from anonymizer.tables.reading import LINE, MIB, RATIO, TABLE, IrregularError, open_regular

COMPRESSIONS = {".bz2": "bz2", ".gz": "gzip", ".lz4": "lz4", ".zst": "zstd"}
"""What a file was compressed by, by the ending of its name."""

CHUNK = MIB
"""Bytes read at a time."""

FREE = 16 * MIB
"""Decompressed bytes that may come of a file however small."""


@contextmanager
def table_stream(path: Path) -> Iterator[BinaryIO]:
    """Open a table file, decompressed as its name says (.gz, .bz2, .zst, .lz4).

    Reading raises InputError where it goes beyond a limit: of all bytes, of one line, or of what
    has been read so far over what it was compressed to (a bomb shows early).
    """
    with open_regular(path) as file:
        yield io.BufferedReader(_Bounded(file, path), CHUNK)


class _Bounded(io.RawIOBase):
    """A stream that ends in an error at its limits."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self._name = COMPRESSIONS.get(path.suffix)
        self._stream = file if self._name is None else pa.input_stream(file, compression=self._name)
        self._most, self._line = TABLE.value, LINE.value
        self._read = self._since = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        chunk = self._stream.read(len(buffer))
        buffer[: len(chunk)] = chunk
        self._read += len(chunk)
        if self._read > self._most:
            raise TABLE.refuse(self._path, "it has more than {} bytes, decompressed")
        free = self._name is None or self._read <= FREE
        if not free and self._read > RATIO.value * max(self._file.tell(), 1):
            raise RATIO.refuse(self._path, "it decompresses to more than {} times its size")
        # Lines that are too long span several chunks, so that only their ends matter.
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        self._since = self._since + len(chunk) if end < 0 else len(chunk) - 1 - end
        if self._since > self._line:
            raise LINE.refuse(self._path, "it is no CSV, with a line of more than {} bytes")
        return len(chunk)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say in our own words why a file cannot be read: the parsers' messages quote the data."""
    try:
        open_regular(path).close()
        yield
    except (InputError, MemoryError):
        raise
    except IrregularError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"cannot read {path}: it is not UTF-8 text") from None
    except PermissionError:
        raise InputError(f"cannot read {path}: permission denied") from None
    except Exception as error:  # parsers raise anything on damaged files
        empty = "it is empty" if "Empty CSV" in str(error) else ""
        reason = empty or "it is damaged, cut short, or not what its name says"
        raise InputError(f"cannot read {path}: {reason}") from None


def require_named(path: Path, names: Sequence[str], columns: Sequence[str]) -> None:
    """Require that a file has some columns, and none twice."""
    try:
        require_columns(names, columns, "; does its first line name the columns?")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
