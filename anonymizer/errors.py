"""Everything this package raises on purpose, and checks of what a caller gives.

Each error has its exit code of the command line.
A message says what was wrong, where, and how to mend it. It may name columns and counts, and of the
values that a hierarchy needs to list those that five records have or more, the others only where
that is requested; it never shows a value of a sensitive or identifying column.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

__all__ = [
    "LONGEST",
    "AnonymizerError",
    "Ended",
    "InputError",
    "NotFittedError",
    "PolicyBrokenError",
    "PolicyUnreachableError",
    "column_names",
    "did_you_mean",
    "digest_of",
    "function_of",
    "is_whole",
    "jobs_of",
    "name_of",
    "require_columns",
    "require_one_of",
    "shown",
    "whole_seed",
]


T = TypeVar("T")

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


def column_names(what: str, stated: object) -> tuple[str, ...]:
    """Names of columns: one, or a list of them."""
    if isinstance(stated, str):
        return (stated,)
    if isinstance(stated, Sequence):
        return tuple(stated)
    raise InputError(f"{what} must name a column or a list of columns, not {shown(stated)}")


def function_of(what: str, stated: str | T, known: Mapping[str, T]) -> T:
    """The function that a name stands for, or the function itself."""
    if callable(stated):
        return stated
    require_one_of(what, stated, known)
    return known[str(stated)]


def name_of(stated: str | Callable[..., object]) -> str:
    """What a function goes by in a manifest."""
    return stated if isinstance(stated, str) else getattr(stated, "__name__", repr(stated))


def require_one_of(what: str, stated: object, known: Mapping[str, Any] | Sequence[str]) -> None:
    """Require that what is stated is one of the names that are known."""
    if not isinstance(stated, str) or stated not in known:
        close = did_you_mean(stated, known) if isinstance(stated, str) else ""
        hint = close or f"; known are {', '.join(known)}"
        raise InputError(f"{what} = {shown(stated)} is unknown{hint}")


def digest_of(asked: Mapping[str, object]) -> str:
    """SHA-256 of what was asked for, whatever the order it was stated in."""
    text = json.dumps(asked, sort_keys=True, default=str)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def is_whole(value: object, least: int | None = None) -> bool:
    """Whether a value is a whole number, of at least so much."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and (least is None or int(value) >= least)  # type: ignore[call-overload]


def whole_seed(seed: int) -> int:
    """A seed: a whole number of at least 0."""
    if not is_whole(seed, least=0):
        raise InputError(f"seed = {shown(seed)} must be a whole number of at least 0")
    return int(seed)


def jobs_of(jobs: int | None) -> int | None:
    """How much is done at once, as joblib has it."""
    if jobs is not None and (not is_whole(jobs) or jobs == 0):
        raise InputError(f"n_jobs = {shown(jobs)} must be a whole number but 0; -1 takes all cores")
    return jobs


def require_columns(columns: Iterable[object], wanted: Iterable[str], hint: str = "") -> None:
    """Require that a table has every wanted column, and no column twice.

    Where a wanted column lacks, the others are not listed: a table without a header line would
    show its first record.

    Raises
    ------
    InputError
        Naming the column and the nearest one that exists.
    """
    known = list(columns)
    for name in wanted:
        if name not in known:
            near = did_you_mean(name, [text for text in known if isinstance(text, str)])
            raise InputError(f"the table has no column {name!r}{near or hint}")
    twice = [name for name, count in Counter(known).items() if count > 1]
    if twice:
        raise InputError(f"column {twice[0]!r} stands more than once; give columns distinct names")
