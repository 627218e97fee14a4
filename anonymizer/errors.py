"""Everything this package raises on purpose, each with the exit code of the command line.

A message says what was wrong, where, and how to mend it. It may name columns and counts, and of the
values that a hierarchy needs to list those that five records have or more, the others only where
that is requested; it never shows a value of a sensitive or identifying column.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real
from typing import ClassVar

__all__ = [
    "LONGEST",
    "AnonymizerError",
    "Ended",
    "InputError",
    "NotFittedError",
    "PolicyBrokenError",
    "PolicyUnreachableError",
    "did_you_mean",
    "shown",
]


LONGEST = 200
"""Letters, or bits, beyond which nothing is repeated in a message."""

MOST_COMPARED = 1000
"""Names beyond are not searched for a near one: comparing two takes up to a millisecond."""


class AnonymizerError(Exception):
    """Root of the package's errors; catch this to catch them all."""

    exit_code: ClassVar[int] = 2


class InputError(AnonymizerError, ValueError):
    """A table, study, hierarchy or parameter that cannot be used as it is."""


class NotFittedError(AnonymizerError, ValueError, AttributeError):
    """An anonymizer was asked to transform a table before it was fitted."""


class PolicyUnreachableError(AnonymizerError):
    """No recoding in the searched space satisfies the policy."""

    exit_code = 1


class PolicyBrokenError(AnonymizerError):
    """A table about to be released breaks the policy; nothing was released."""

    exit_code = 1


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint such as ``"; did you mean 'education'?"``, or nothing.

    >>> did_you_mean("educaton", ["age", "education"])
    "; did you mean 'education'?"
    >>> did_you_mean("x", ["age"]), did_you_mean("AGE", ["age"])
    ('', "; did you mean 'age'?")
    """
    names = list(known)
    if len(name) > LONGEST or len(names) > MOST_COMPARED:
        return ""
    alike = [each for each in names if each.casefold() == name.casefold()]
    close = alike or get_close_matches(name, [each for each in names if len(each) <= LONGEST], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def shown(stated: object) -> str:
    """What a message says of what was stated: a name or a number as it is, else its type alone.

    Tables, columns and lists may hold values of people, and take more than one line.

    >>> shown("bit"), shown(-1.5), shown([3, 4])
    ("'bit'", '-1.5', 'list')
    """
    if isinstance(stated, int) and stated.bit_length() > LONGEST:
        return "a number too large"
    if isinstance(stated, str) and len(stated) > LONGEST:
        return f"a text of {len(stated)} letters"
    if isinstance(stated, Real):
        return str(stated)
    return repr(stated) if stated is None or isinstance(stated, str) else type(stated).__name__


class Ended(KeyboardInterrupt):
    """The process was told to end: unlike an interrupt by hand it asks for no result."""
