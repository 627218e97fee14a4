"""Files that somebody else wrote: opened only if they are regular, read only up to a limit.

Devices and pipes never end, or wait for ever. Limits are generous; each is raised by the
environment variable that the message names.
"""

import csv
import errno
import json
import os
import re
import stat
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from math import isfinite
from pathlib import Path
from typing import Any

from anonymizer.errors import LONGEST, InputError, near_file

MIB = 2**20

DEEPEST = 40
"""Lists and sections within each other; what this package reads needs 8."""

MOST_PARTS = 200
"""Dots between signs that end a key or a value; no path has as many."""
BETWEEN = re.compile(r"[\[\]{}=,\n]")

LONGEST_NUMBER = 300
"""Digits of a whole number in a document: every one of them is a float, too."""

ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")
"""How JSON writes half of a character."""

KINDS: Mapping[Callable[[int], bool], str] = {
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


class IrregularError(OSError):
    """A path leads to something that is no regular file; ``strerror`` says to what."""


@dataclass(frozen=True)
class Cap:
    """A cap on how much is read, unless the environment variable sets another, at least 1."""

    variable: str
    default: int

    @property
    def value(self) -> int:
        """The limit that applies; InputError when the environment has something else."""
        given = os.environ.get(self.variable)
        if given is None:
            return self.default
        if not re.fullmatch("0*[1-9][0-9]{0,17}", given):
            raise InputError(f"{self.variable} must be a whole number of at least 1")
        return int(given)

    def refuse(self, path: Path, what: str) -> InputError:
        """The complaint that a file goes beyond the limit, ``{}`` in ``what`` being the limit."""
        return InputError(
            f"cannot read {path}: {what.format(f'{self.value:,}')}; {self.variable} in the "
            "environment raises this limit"
        )


STUDY = Cap("ANONYMIZER_MAX_STUDY", MIB)
"""Bytes of a study file, and of a rule of generalization."""

HIERARCHY = Cap("ANONYMIZER_MAX_HIERARCHY", 256 * MIB)
"""Bytes of a hierarchy that lists its values: some ten million of them."""

MANIFEST_SIZE = Cap("ANONYMIZER_MAX_MANIFEST", 256 * MIB)
"""Bytes of a ``release.json``: the channels of a masked release may be large."""

TABLE = Cap("ANONYMIZER_MAX_TABLE", 32 * 1024 * MIB)
"""Bytes of a file of a table, decompressed: no more than one is decoded whole."""

RATIO = Cap("ANONYMIZER_MAX_RATIO", 200)
"""How many times larger a compressed table of some size may become: tables become 3 to 50 times."""

LINE = Cap("ANONYMIZER_MAX_LINE", 16 * MIB)
"""Letters of a line of CSV."""

COLUMNS = Cap("ANONYMIZER_MAX_COLUMNS", 100_000)
"""Columns of a table."""


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file, links followed, and nothing else; never waits.

    What a path leads to is looked at before it is opened, since opening some devices does
    something, and once more when it is open, since it may be another one by then.

    OSError when it is not there or may not be read, ``IrregularError`` when it is no regular file,
    ValueError when no file has such a name.
    """
    _require_regular(os.stat(path).st_mode)  # noqa: PTH116 (pathlib adds nothing)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0))
    try:
        _require_regular(os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _require_regular(mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IrregularError(errno.EISDIR, os.strerror(errno.EISDIR))
    kind = next((name for is_kind, name in KINDS.items() if is_kind(mode)), "something else")
    raise IrregularError(errno.EINVAL, f"it is {kind}, not a file")


def read_whole(path: Path, limit: Cap, kind: str = "", absent: str = "") -> str:
    """The text of a regular file, UTF-8 with or without a byte order mark.

    InputError when it cannot be read or is longer than the limit. Messages say "cannot read", then
    the ``kind`` of file with a blank after it; ``absent`` is the message where there is no file.
    """
    return text_in(read_bytes(path, limit, kind, absent), path, kind)


def text_in(content: bytes, path: Path, kind: str = "") -> str:
    """The text of the content of a file; InputError when it is none."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        what = f"cannot read {kind}{path}"
        raise InputError(f"{what}: it is not UTF-8 text; save it as UTF-8") from None


def read_bytes(path: Path, limit: Cap, kind: str = "", absent: str = "") -> bytes:
    """The content of a regular file; errors as those of :func:`read_whole`."""
    most, failing = limit.value, f"cannot read {kind}"
    try:
        with open_regular(path) as file:
            content = file.read(most + 1)
    except OSError as error:
        none = absent if isinstance(error, FileNotFoundError) else ""
        near = near_file(path) if isinstance(error, FileNotFoundError) else ""
        raise InputError(none or f"{failing}{path}: {error.strerror}{near}") from None
    except ValueError:
        raise InputError(f"{failing}{str(path)!r}: no file has such a name") from None
    if len(content) > most:
        raise limit.refuse(path, "it has more than {} bytes")
    return content


def dialect(separator: str, quote: str) -> dict[str, Any]:
    """What Python's reader of CSV is to know; ``quote`` is empty where there are no quotes."""
    quoting = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    return {"delimiter": separator, **quoting}


def separator_of(lines: Sequence[str], separators: str, quote: str = '"') -> str:
    """The character that cuts every line of CSV into the same number of fields, the most of them.

    Of equal ones the first; where none does, the one that occurs most often in the first line.
    Separators within quotes cut nothing; ``quote`` is empty where there are no quotes.
    """
    possible = [each for each in separators if any(each in line for line in lines)]
    if len(possible) == 1 and possible[0] in lines[0]:  # millions of lines need not be cut
        return possible[0]
    fields = {separator: _fields(lines, separator, quote) for separator in possible}
    best = max(possible, key=fields.__getitem__, default="")
    return best if fields.get(best, 0) > 1 else max(separators, key="".join(lines[:1]).count)


def _fields(lines: Sequence[str], separator: str, quote: str) -> int:
    """The number of fields of every line that is not empty; 0 where it differs."""
    found = 0
    try:
        for row in filter(None, csv.reader(lines, **dialect(separator, quote))):
            if found not in (0, len(row)):
                return 0
            found = len(row)
    except csv.Error:
        return 0
    return found


def parsed_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text; ValueError when it is none, or none that anybody would write."""
    # tomllib takes time by the square of the parts of a key, before it can be looked at.
    if any(part.count(".") > MOST_PARTS for part in BETWEEN.split(text)):
        raise ValueError("lists or sections are nested too deeply")
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise ValueError("lists or sections are nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(str(error)[:LONGEST]) from None  # it may quote a key
    except (ValueError, OverflowError):  # Python's own limit on the digits of a number
        raise ValueError("it holds a number or a date beyond any limit") from None
    _require_sensible(content)
    return content


KeyPath = tuple[str | int, ...]
"""Keys within each other, and the number of a section where several have one name."""


def key_lines(text: str) -> dict[KeyPath, int]:
    r"""Return the line, from 1, on which each section and key of a valid TOML text begins.

    Statements are read one by one: lines are joined until they are one.

    >>> key_lines("[data]\npath = 'a'\n[[privacy]]\nk = 5")[("privacy", 0, "k")]
    4
    """
    found: dict[KeyPath, int] = {}
    several: Counter[KeyPath] = Counter()
    section: KeyPath = ()
    statement, begin = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        within, statement = bool(statement), f"{statement}{line}\n"
        if within and line.endswith(","):  # a list of many lines is not read once for each
            continue
        try:
            paths = [*_paths(tomllib.loads(statement))]
        except tomllib.TOMLDecodeError:
            continue  # it goes on in the next line
        if statement.lstrip().startswith("["):
            section, paths = paths[-1], [()]
            if section[-1] == 0:  # [[privacy]]: one of several
                several[section] += 1
                section = (*section[:-1], several[section] - 1)
        for path in paths:
            found.setdefault((*section, *path), begin)
        statement, begin = "", number + 1
    return found


def _paths(content: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield where each key and each item of a list is, the outer ones first."""
    pairs = content.items() if isinstance(content, dict) else ()
    for key, each in enumerate(content) if isinstance(content, list) else pairs:
        yield (*path, key)
        yield from _paths(each, (*path, key))


def parsed_json(text: str) -> Any:
    """Parse a JSON text strictly: finite numbers, whole characters, every key once.

    ValueError when it is none, or none anybody would write.
    """
    try:
        content = json.loads(
            text, object_pairs_hook=_each_once, parse_float=_finite, parse_constant=_finite
        )
    except RecursionError:
        raise ValueError("lists or sections are nested too deeply") from None
    if ESCAPED.search(text):
        json.dumps(content, ensure_ascii=False).encode()  # raises on half a character
    _require_sensible(content)
    return content


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("it holds a number that is not finite")
    return number


def _require_sensible(content: object) -> None:
    """Bound the depth and the numbers of a document, so that its users need not."""
    layer = [content]
    for _ in range(DEEPEST):
        below: list[object] = []
        for each in layer:
            if isinstance(each, Mapping):
                below.extend(each.values())
            elif isinstance(each, list):
                below.extend(each)
            elif isinstance(each, int) and abs(each) >= 10**LONGEST_NUMBER:
                raise ValueError(f"it holds a number of more than {LONGEST_NUMBER} digits")
        if not below:
            return
        layer = below
    raise ValueError("lists or sections are nested too deeply")
