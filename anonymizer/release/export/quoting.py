"""Names and texts as standard SQL writes them."""

from collections.abc import Iterable

from anonymizer.errors import InputError


def name(text: str) -> str:
    """A delimited identifier.

    >>> name('a"b')
    '"a""b"'

    Raises InputError when it has a character that SQL cannot hold.
    """
    return '"' + _sound(text).replace('"', '""') + '"'


def literal(text: str | None) -> str:
    """A text, or NULL for a missing one.

    >>> literal("o'brien"), literal(None)
    ("'o''brien'", 'NULL')

    Raises InputError when it has a character that SQL cannot hold.
    """
    return "NULL" if text is None else "'" + _sound(text).replace("'", "''") + "'"


def listed(texts: Iterable[str | None]) -> str:
    """Texts in brackets, for IN."""
    return "(" + ", ".join(map(literal, texts)) + ")"


def _sound(text: str) -> str:
    if "\0" in text:
        raise InputError("a name or a value has a NUL character, which SQL cannot write")
    return text
