"""Messages of the library without what they quote, for pages that show no value of the table."""

import re
from collections.abc import Collection

QUOTED = re.compile(r"""(?<!\w)('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)""", re.DOTALL)
"""A text in quotes as Python writes it; an apostrophe within a word begins none."""

HIDDEN = "'...'"
"""What stands for a text that is not shown."""


def unquoted(message: str, names: Collection[str]) -> str:
    r"""The message with nothing in quotes but names of columns.

    >>> unquoted("column 'city' holds 1 value, in 63 records ('Rome'), that it lacks", ["city"])
    "column 'city' holds 1 value, in 63 records ('...'), that it lacks"
    """
    known = {repr(name) for name in names} | {f'"{name}"' for name in names}
    return QUOTED.sub(lambda found: found[0] if found[0] in known else HIDDEN, message)
