"""Everything this package raises on purpose, and checks of what a caller gives.

Each error has its exit code of the command line.
A message says what was wrong, where, and how to mend it. It may name columns and counts, and of the
values that a hierarchy needs to list those that five records have or more, the others only where
that is requested; it never shows a value of a sensitive or identifying column.
"""

import hashlib
import json
import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import islice
from math import inf, isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

T = TypeVar("T")

LONGEST = 200
"""Letters, or bits, beyond which nothing is repeated in a message."""

MOST_COMPARED = 1000
"""Names beyond are not searched for a near one: comparing two takes up to a millisecond."""

MOST_RECORDS = 10**15
"""Beyond, numbers of records would not be exact in floating point."""


class AnonymizerError(Exception):
    """Root of the package's errors; catch this to catch them all.

    Its text is the ``problem``, and the ``remedy`` where there is one. ``key`` is the key of the
    ``section`` of a study that mends it, ``value`` what was given for it: a command that has an
    option in place of the key, or knows another way out, says so by ``mended``.

    >>> error = InputError("a.csv is no database", "leave out table", section="data", key="table")
    >>> print(error.at("population: "))
    population: a.csv is no database; leave out table
    >>> print(error.mended("leave out --table"))
    a.csv is no database; leave out --table
    """

    exit_code: ClassVar[int] = 2

    def __init__(
        self,
        problem: str = "",
        remedy: str = "",
        *,
        section: str | None = None,
        key: str | None = None,
        value: object = None,
    ) -> None:
        joint = " " if problem.endswith("?") else "; "
        super().__init__(f"{problem}{joint}{remedy}" if remedy else problem)
        self.problem, self.remedy = problem, remedy
        self.section, self.key, self.value = section, key, value

    def at(self, place: str) -> Self:
        """The error with a place before it, such as ``"study.toml: [data] "``."""
        return self._with(f"{place}{self.problem}", self.remedy)

    def where(self, words: str) -> Self:
        """The error with other words for where its key is, in place of ``in [data]``, say."""
        here = f"in [{self.section}]"
        return self._with(self.problem.replace(here, words), self.remedy.replace(here, words))

    def mended(self, remedy: str, section: str | None = None, key: str | None = None) -> Self:
        """The error with another remedy, which may be another key; an empty text is none."""
        return self._with(self.problem, remedy, section, key)

    def _with(
        self, problem: str, remedy: str, section: str | None = None, key: str | None = None
    ) -> Self:
        about = section or self.section, key or self.key
        return type(self)(problem, remedy, section=about[0], key=about[1], value=self.value)


class InputError(AnonymizerError, ValueError):
    """A table, study, hierarchy or parameter that cannot be used as it is."""


class NotFittedError(AnonymizerError, ValueError, AttributeError):
    """An anonymizer cannot transform a table before it is fitted."""


class PolicyUnreachableError(AnonymizerError):
    """No recoding in the searched space satisfies the policy."""

    exit_code = 1


class PolicyBrokenError(AnonymizerError):
    """A table about to be released breaks the policy; nothing was released."""

    exit_code = 1


class WarningsError(AnonymizerError):
    """A release has warnings where none is allowed; nothing was released. Its notes are these."""

    exit_code = 1


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint such as ``"; did you mean 'education'?"``, or nothing.

    >>> did_you_mean("educaton", ["age", "education"])
    "; did you mean 'education'?"
    >>> did_you_mean("x", ["age"]), did_you_mean("AGE", ["age"])
    ('', "; did you mean 'age'?")
    >>> did_you_mean("PLZ", ["age", "PLZ code"])
    "; did you mean 'PLZ code'?"
    """
    close = nearest(name, list(known))
    return f"; did you mean {close!r}?" if close else ""


def nearest(name: str, names: list[str]) -> str:
    """The name that is nearest to another one, or the only one to begin with it; else empty."""
    if len(name) > LONGEST or len(names) > MOST_COMPARED:
        return ""
    alike = [each for each in names if each.casefold() == name.casefold()]
    close = alike or get_close_matches(name, [each for each in names if len(each) <= LONGEST], n=1)
    return close[0] if close else _only_begun(name, names)


def _only_begun(name: str, names: list[str]) -> str:
    """The only name whose first words are these; empty where there is none, or another one."""
    begun = [each for each in names if re.match(rf"{re.escape(name)}[^\w]", each, re.IGNORECASE)]
    return begun[0] if name and len(begun) == 1 and len(begun[0]) <= LONGEST else ""


def suggestion(name: object, known: Iterable[str], others: str = "known are") -> str:
    """What may have been meant by an unknown name: one that is near, else all that are known.

    >>> suggestion("educaton", ["age", "education"]), suggestion(5, ["age", "sex"])
    ("; did you mean 'education'?", '; known are age, sex')
    """
    names = list(known)
    close = did_you_mean(name, names) if isinstance(name, str) else ""
    return close or f"; {others} {', '.join(names)}"


def near_file(path: Path) -> str:
    """A hint at a file of the same directory whose name is near that of one that is not there."""
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in islice(entries, MOST_COMPARED) if entry.is_file()]
    except (OSError, ValueError):
        return ""
    begun = {name.split(".")[0]: name for name in names if name[0] != "."}  # endings are alike
    close = begun.get(nearest(path.name.split(".")[0], list(begun)))
    return f"; did you mean {close!r}?" if close else ""


def installing(extra: str) -> str:
    """How what an extra needs is installed: of the package index the name is another's.

    >>> installing("plots")
    "in a checkout of anonymizer, pip install '.[plots]'"
    """
    return f"in a checkout of anonymizer, pip install '.[{extra}]'"


def printable(text: str) -> str:
    """The text with what a terminal would carry out, or hide, spelled out; line breaks too."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(given: object) -> str:
    """What a message says of what was given: a name or a number as it is, else only its type.

    Tables, columns and lists may hold values of people, and take more than one line.

    >>> shown("bit"), shown(-1.5), shown([3, 4])
    ("'bit'", '-1.5', 'list')
    """
    if isinstance(given, int) and given.bit_length() > LONGEST:
        return "a number too large"
    if isinstance(given, str) and len(given) > LONGEST:
        return f"a text of {len(given)} letters"
    if isinstance(given, Real):
        return str(given)
    return repr(given) if given is None or isinstance(given, str) else type(given).__name__


class Ended(KeyboardInterrupt):
    """The process was ended from outside: unlike an interrupt by hand it wants no result."""


def column_names(what: str, given: object) -> tuple[str, ...]:
    """Names of columns: one, or a list of them."""
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Sequence):
        return tuple(given)
    raise InputError(f"{what} must name a column or a list of columns, not {shown(given)}")


def function_of(what: str, given: str | T, known: Mapping[str, T]) -> T:
    """The function that a name stands for, or the function itself."""
    if callable(given):
        return given
    require_one_of(what, given, known)
    return known[str(given)]


def name_of(given: str | Callable[..., object]) -> str:
    """What a function goes by in a manifest."""
    return given if isinstance(given, str) else getattr(given, "__name__", repr(given))


def require_one_of(what: str, given: object, known: Mapping[str, Any] | Sequence[str]) -> None:
    """Require that a parameter is one of the names that are known."""
    if not isinstance(given, str) or given not in known:
        raise InputError(f"{what} = {shown(given)} is unknown{suggestion(given, known)}")


class Kinds(dict[str, type[T]]):
    """Classes by their names in studies: those of this package, and those that others enter.

    The latter are entry points of a ``group`` of installed packages. Nothing of them is imported
    before their name is looked up, and none takes the name of one of ours, which alone are listed.

    >>> Kinds("anonymizer.numbers", int, {"whole": bool})["whole"]
    <class 'bool'>
    """

    def __init__(self, group: str, base: Any, own: Mapping[str, type[T]]) -> None:
        super().__init__(own)
        self.group, self.base = group, base
        self._loaded: dict[object, type[T]] = {}

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.entered

    def __missing__(self, name: str) -> type[T]:
        point = self.entered[name]
        if point not in self._loaded:
            self._loaded[point] = self._kind_of(point)
        return self._loaded[point]

    def get(self, name: str, default: None = None) -> type[T] | None:  # type: ignore[override]
        """Return the class of a name, a default where there is none."""
        try:
            return self[name]
        except KeyError:
            return default

    @property
    def entered(self) -> Mapping[str, Any]:
        """The entry points of installed packages, by their names; the first of a name."""
        return _entry_points(self.group, tuple(sys.path))

    @property
    def every(self) -> "list[type[T]]":
        """All classes, those of installed packages last."""
        return [*self.values(), *(self[name] for name in self.entered if name not in self.keys())]

    def _kind_of(self, point: Any) -> type[T]:
        """Load an entry point; InputError where it is none of the classes that the group is for."""
        entry = f"the entry point {point.name!r} of {self.group}, {shown(point.value)},"
        try:
            kind = point.load()
        except Exception as error:  # whatever another package raises
            raise InputError(
                f"{entry} cannot be loaded ({type(error).__name__}); mend or remove the package "
                "that it is of"
            ) from None
        if not (isinstance(kind, type) and issubclass(kind, self.base)):
            raise InputError(f"{entry} is no {self.base.__name__}; enter a class that is one")
        if getattr(kind, "name", None) != point.name:
            raise InputError(
                f"{entry} has the name {shown(getattr(kind, 'name', None))}, by which manifests "
                "would call it; enter it by that name"
            )
        return kind


@cache
def _entry_points(group: str, path: tuple[str, ...]) -> Mapping[str, Any]:
    """The entry points of a group in the packages on a path; looking takes some 10 ms."""
    from importlib.metadata import entry_points

    return {point.name: point for point in reversed([*entry_points(group=group)])}


def digest_of(content: object) -> str:
    """SHA-256 of content as JSON, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True, default=str)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def is_whole(value: object, least: int | None = None) -> bool:
    """Whether a value is a whole number, of at least so much."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and (least is None or int(value) >= least)  # type: ignore[call-overload]


def is_number(
    value: object,
    least: float = -inf,
    most: float = inf,
    *,
    above: bool = False,
    below: bool = False,
) -> bool:
    """Whether a value is a finite number of at least (or above) a bound, at most (or below) one."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        number = float(value)
    except OverflowError:  # a whole number that no float can hold
        return False
    reached = least < number if above else least <= number
    return isfinite(number) and reached and (number < most if below else number <= most)


def require_number(
    owner: str,
    name: str,
    value: object,
    least: float,
    most: float = inf,
    *,
    above: bool = False,
    below: bool = False,
) -> None:
    """Require that a parameter ``is_number`` within bounds."""
    if not is_number(value, least, most, above=above, below=below):
        reach = f"{'above' if above else 'of at least'} {least:g}"
        limit = "" if most == inf else f" and {'below' if below else 'at most'} {most:g}"
        raise InputError(
            f"{owner}: {name} = {shown(value)} must be a number {reach}{limit}"
            f"{_without_quotes(name, value)}"
        )


def require_whole(owner: str, name: str, value: object) -> None:
    """Require that a parameter is a whole number from 1 to ``MOST_RECORDS``."""
    if not is_whole(value, least=1):
        raise InputError(
            f"{owner}: {name} = {shown(value)} must be a whole number of at least 1"
            f"{_without_quotes(name, value)}"
        )
    if int(value) > MOST_RECORDS:  # type: ignore[call-overload]
        raise InputError(
            f"{owner}: {name} must be at most {MOST_RECORDS:,}; no table has as many records"
        )


def _without_quotes(name: str, value: object) -> str:
    """The right form of a number that was written as a text."""
    number = isinstance(value, str) and re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,15})?", value)
    return f"; write it without quotes: {name} = {value}" if number else ""


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


def _runs_on(name: str, text: str) -> bool:
    """Whether a text is a name with more than two letters or digits right behind it."""
    behind = text[len(name) : len(name) + 3]
    return text.startswith(name) and len(behind) == 3 and behind.isalnum()


def _alike(name: str, others: Iterable[str]) -> str:
    """A remedy where a name differs from another one by what no eye sees; else nothing."""
    plain = _visible(name)
    if not any(_visible(other) == plain for other in others):
        return ""
    return "one of its columns differs in blanks, or in how accents are encoded; copy that name"


def _visible(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split())


def require_columns(columns: Iterable[object], wanted: Iterable[str], remedy: str = "") -> None:
    """Require that a table has every wanted column, and no column twice.

    Where a wanted column is missing, the others are not listed: a table without a header line would
    show its first record. Nor is one near that begins alike and goes on: a header line without an
    end has run into the first record there. ``remedy``: where no name is near. The ``value`` of the
    error is the name of the column.

    >>> require_columns(["age", "diseaseanna"], ["disease"])
    Traceback (most recent call last):
    anonymizer.errors.InputError: the table has no column 'disease'
    """
    known = list(columns)
    for name in wanted:
        if name not in known:
            texts = [text for text in known if isinstance(text, str)]
            near = _alike(name, texts) or did_you_mean(
                name, [text for text in texts if not _runs_on(name, text)]
            )
            remedy = near.removeprefix("; ") or remedy
            raise InputError(f"the table has no column {name!r}", remedy, value=name)
    twice = [name for name, count in Counter(known).items() if count > 1]
    if twice:
        raise InputError(
            f"column {twice[0]!r} stands more than once", "give columns distinct names"
        )
