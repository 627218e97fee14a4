"""Values, keys and comments as TOML writes them."""

import json
import re
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

BARE = re.compile(r"[A-Za-z0-9_-]+")

WIDTH = 96
"""Letters of a line; longer lists are broken, and longer rules get a file."""


def key(name: str) -> str:
    """A key: in quotes where it has other letters than TOML takes bare.

    >>> key("age"), key("größe")
    ('age', '"größe"')
    """
    return name if BARE.fullmatch(name) else text(name)


def text(given: str) -> str:
    """A text in quotes, on one line."""
    return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")


def value(given: Any) -> str:
    """A value on one line: a text, number, truth, list or inline table.

    >>> value({"widths": [5, 10], "other": "n/a"})
    '{ widths = [5, 10], other = "n/a" }'
    """
    if isinstance(given, Mapping):
        return f"{{ {', '.join(f'{key(name)} = {value(each)}' for name, each in given.items())} }}"
    if isinstance(given, str):
        return text(given)
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, Sequence):
        return f"[{', '.join(map(value, given))}]"
    return repr(given)


def entry(name: str, given: Any) -> str:
    """A line ``name = value``; a list that is too long for one is broken into several."""
    line = f"{key(name)} = {value(given)}"
    if len(line) <= WIDTH or not isinstance(given, Sequence) or isinstance(given, str):
        return line
    inner = "".join(f"    {value(each)},\n" for each in given)
    return f"{key(name)} = [\n{inner}]"


def comment(words: str, mark: str = "# ") -> str:
    """A comment, broken into lines; what is not printable is spelled out."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in words)
    lines = wrap(shown, WIDTH - len(mark), break_long_words=False, break_on_hyphens=False)
    return "\n".join(mark + line for line in lines)
