"""What is seen of a CSV file without parsing it: enough to tell if another reader misread it."""

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from anonymizer.kernels.arrays import Mask
from anonymizer.tables.files.format import UTF8, Format
from anonymizer.tables.files.opening import COMPRESSIONS, table_stream
from anonymizer.tables.relations.embedded.connection import Connection

SEEN = 1 << 20
"""Bytes that are looked at together: few enough that they are still in the cache."""


class Look:
    """What is seen of a file without parsing it, many lines at a time.

    ``cuts`` are the separators, ``empty`` the lines without a field, ``returns`` and ``lines``
    carriage returns and line feeds, ``pairs`` one after the other; ``open`` says whether no line
    feed ends the last line.
    """

    def __init__(self, form: Format) -> None:
        self._form = form
        self._quote = form.quote.encode()
        around = re.escape(form.separator.encode()) + b"\\r\\n"
        quote = re.escape(self._quote)
        self._blank = re.compile(
            b"(?:^|[%s])[ \\t]+%s|%s[ \\t]+(?:[%s]|$)" % (around, quote, quote, around)
        )
        blanks = (b" ", b"\t")
        self._near = [pair for each in blanks for pair in (each + self._quote, self._quote + each)]
        self.quotes = self.blanks = self.open = False
        self.returns = self.pairs = self.lines = self.cuts = self.empty = self.size = 0

    @property
    def is_regular(self) -> bool:
        """Whether lines end alike, and every quote where a field does."""
        alike = self.returns in (0, self.lines) and self.returns == self.pairs
        return alike and not self.blanks and self.lines > 0

    def at(self, text: bytes) -> None:
        """Look at the next lines, each of them whole: arrays compare faster than texts count."""
        first = not self.size
        self.size += len(text)
        signs = np.frombuffer(text, np.uint8)
        ends = signs == ord("\n")
        self.open = not ends[-1]
        self.lines += int(np.count_nonzero(ends))
        self.cuts += int(np.count_nonzero(signs == ord(self._form.separator)))
        if b"\r" in text:
            self.returns += text.count(b"\r")
            self.pairs += text.count(b"\r\n")
        if self._quote and self._quote in text:
            self.quotes = True
            near = any(each in text for each in self._near)
            self.blanks = self.blanks or (near and self._blank.search(text) is not None)
        elif text[:1] in (b"\n", b"\r") or self._has_empty(text, ends):
            self.empty += sum(not line for line in text.splitlines())
        if first and text.removeprefix(b"\xef\xbb\xbf")[:1] in (b"\r", b"\n"):
            self.blanks = True

    def _has_empty(self, text: bytes, ends: Mask) -> bool:
        """Whether some line may be empty; a search for two ends takes six times as long."""
        return bool((ends[1:] & ends[:-1]).any()) or (self.returns > 0 and b"\n\r\n" in text)


Looked = Callable[[], Look]


@contextmanager
def looking(connection: Connection, path: Path, form: Format) -> Iterator[tuple[Path, Looked]]:
    """Where a file lies as plain UTF-8, and what gives all that is seen of it.

    One that has to be written so is looked at meanwhile, another one while DuckDB reads it.
    """
    if is_plain(path, form):
        connection.reads(path)
        with ThreadPoolExecutor(1) as pool:
            yield path, pool.submit(looked_at, lines_of(path, form), form).result
        return
    with tempfile.NamedTemporaryFile(dir=connection.scratch, suffix=".csv") as plain:
        look = looked_at(_copied(lines_of(path, form), plain), form)
        plain.flush()
        yield Path(plain.name), lambda: look


def looked_at(lines: Iterable[bytes], form: Format) -> Look:
    """What is seen of lines, given many at a time."""
    look = Look(form)
    for text in lines:
        look.at(text)
    return look


def _copied(lines: Iterable[bytes], file: IO[bytes]) -> Iterator[bytes]:
    for text in lines:
        file.write(text)
        yield text


def is_plain(path: Path, form: Format) -> bool:
    """Whether a file is UTF-8 text from its first byte on."""
    return path.suffix not in COMPRESSIONS and form.encoding == UTF8 and not form.skipped


def lines_of(path: Path, form: Format) -> Iterator[bytes]:
    """The lines of a file, many at a time."""
    with table_stream(path, form.encoding, form.skipped) as stream:
        while block := stream.read(SEEN):
            yield block + stream.readline()
