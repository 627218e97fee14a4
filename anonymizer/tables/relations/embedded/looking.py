"""What is seen of a CSV file without parsing it: enough to tell if another reader misread it."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.arrays import Mask
from anonymizer.tables.files.format import UTF8, Format
from anonymizer.tables.files.opening import COMPRESSIONS, table_stream
from anonymizer.tables.relations.embedded.connection import Connection

LINE_FEED, RETURN = ord("\n"), ord("\r")

Signs = NDArray[np.uint8]
"""Characters of a text, or what stands for them in UTF-8, shape (bytes,)."""

SEEN = 1 << 20
"""Bytes that are looked at together: few enough that they are still in the cache."""


class Look:
    """What is seen of a file without parsing it, many lines at a time.

    ``lines`` are the line feeds, ``cuts`` the separators and ``returns`` the carriage returns
    outside of quotes, ``pairs`` those before a line feed, ``empty`` the lines without a field, and
    ``inner`` the line feeds within quotes; ``open`` says whether no line feed ends the last line,
    ``odd`` whether a quote stands elsewhere than at the ends of a field, or doubled within it.
    """

    def __init__(self, form: Format) -> None:
        self._cut = ord(form.separator)
        self._quote = ord(form.quote) if form.quote else None
        self.open = self.odd = self._within = False
        self.returns = self.pairs = self.lines = self.cuts = self.empty = self.inner = 0
        self._first = True

    @property
    def is_regular(self) -> bool:
        """Whether lines end alike, and every quote where a field does."""
        alike = self.returns in (0, self.lines) and self.returns == self.pairs
        return alike and not (self.odd or self._within) and self.lines > 0

    def at(self, text: bytes) -> None:
        """Look at the next lines, each of them whole: arrays compare faster than texts count."""
        if self._first and text.removeprefix(b"\xef\xbb\xbf")[:1] in (b"\r", b"\n"):
            self.odd = True
        self._first = False
        signs = np.frombuffer(text, np.uint8)
        ends, cuts = signs == LINE_FEED, signs == self._cut
        self.open, begins = not ends[-1], not self._within
        within = self._quoted(signs)
        if within is not None:
            self.inner += int(np.count_nonzero(ends & within))
            ends, cuts = ends & ~within, cuts & ~within
        self.lines += int(np.count_nonzero(ends))
        self.cuts += int(np.count_nonzero(cuts))
        if b"\r" in text:
            returns = signs == RETURN if within is None else (signs == RETURN) & ~within
            self.returns += int(np.count_nonzero(returns))
            self.pairs += int(np.count_nonzero(returns[:-1] & ends[1:]))
        self.empty += self._empty(signs, ends, begins)

    def _quoted(self, signs: Signs) -> Mask | None:
        """Which characters are within quotes; None where there are no quotes."""
        if self._quote is None:
            return None
        quotes = signs == self._quote
        if not (self._within or quotes.any()):
            return None
        # Counted modulo 256: only whether the number is odd matters.
        within: Mask = (np.cumsum(quotes, dtype=np.uint8) + np.uint8(self._within)) % 2 == 1
        before = np.concatenate([[LINE_FEED], signs[:-1]])[quotes & within]
        after = np.concatenate([signs[1:], [LINE_FEED]])[quotes & ~within]
        beginning, ending = (self._cut, LINE_FEED, self._quote), (RETURN, self._cut, LINE_FEED)
        self.odd |= not np.isin(before, beginning).all()
        self.odd |= not np.isin(after, (*ending, self._quote)).all()
        self._within = bool(within[-1])
        return within

    def _empty(self, signs: Signs, ends: Mask, begins: bool) -> int:
        """The lines without a field; ``begins``: whether the first one begins with the text."""
        if not (begins and ends[0]) and not (self.returns or (ends[1:] & ends[:-1]).any()):
            return 0
        last = np.flatnonzero(ends)
        first = np.concatenate([[0 if begins else -2], last[:-1] + 1])
        alone = (last - first == 1) & (signs[first] == RETURN)
        return int(np.count_nonzero((last == first) | alone))


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
