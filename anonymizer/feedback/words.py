"""Words of all reports: numbers with their nouns, shares and bits, lists of names, sentences."""

import csv
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import exp, isfinite
from string import Formatter
from typing import Any

DIGITS = 4
"""Significant digits of measures."""

UNKNOWN = "not determined"


def number(value: float | None) -> str:
    """A measure with four significant digits, never in powers of ten.

    >>> number(0.52210042), number(3.0), number(None)
    ('0.5221', '3', 'not determined')
    """
    if value is None or not isfinite(value):
        return UNKNOWN
    if abs(value) >= 10 ** (DIGITS - 1):
        return f"{value:,.0f}"
    return f"{Decimal(f'{value:.{DIGITS}g}'):f}"


def count(value: float | None) -> str:
    """A whole number with separated thousands.

    >>> count(30_000)
    '30,000'
    """
    return UNKNOWN if value is None else f"{round(value):,}"


def bits(value: float | None) -> str:
    """Information in bits.

    >>> bits(0.55), bits(1)
    ('0.55 bits', '1 bit')
    """
    shown = number(value)
    return shown if shown == UNKNOWN else f"{shown} bit{'' if shown == '1' else 's'}"


def share(value: float | None) -> str:
    """A share in percent.

    >>> share(0.6071590), share(1 / 359)
    ('60.72%', '0.2786%')
    """
    shown = number(None if value is None else 100 * value)
    return shown if shown == UNKNOWN else shown + "%"


def share_of(share: float | None, form: str = ".2%") -> str:
    """Return a share in a form of its own, or that its denominator is within noise.

    >>> share_of(0.125, ".1%"), share_of(None)
    ('12.5%', 'not determined')
    """
    return UNKNOWN if share is None else format(share, form)


def people(value: float) -> str:
    """A number of people.

    >>> people(1), people(359.0)
    ('1 person', '359 people')
    """
    return plural(value, "person", "people")


def others(value: float) -> str:
    """How many others are in a class of so many people.

    >>> others(5), others(2)
    ('4 others', '1 other')
    """
    return plural(value - 1, "other")


def plural(number_of: float, one: str, more: str | None = None) -> str:
    """Return a number of things with their noun.

    ``more``: what several of them are called where that is not ``one`` with an s.

    >>> plural(1, "class"), plural(26, "class"), plural(2_000, "record"), plural(1, "is", "are")
    ('1 class', '26 classes', '2,000 records', '1 is')
    """
    regular = one + ("es" if one.endswith("s") else "s")
    return f"{count(number_of)} {one if number_of == 1 else more or regular}"


def ordinal(value: float) -> str:
    """A place in an order.

    >>> [ordinal(place) for place in (1, 2, 3, 11, 22)]
    ['1st', '2nd', '3rd', '11th', '22nd']
    """
    place = round(value)
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place:,}{'th' if place % 100 in (11, 12, 13) else ending}"


FORMS: Mapping[str, Callable[[float], str]] = {
    "": number,
    "number": number,
    "count": count,
    "bits": bits,
    "share": share,
    "people": people,
    "others": others,
    "ordinal": ordinal,
    "times": lambda value: number(1 + value),
    "factor": lambda value: number(2**value),
    "exponential": lambda value: number(exp(value)),
    "points": lambda value: f"{number(100 * value)} percentage points",
}
"""Forms of the numbers in the sentences of a privacy model, see ``Wording``."""


@dataclass(frozen=True)
class FormedNumber:
    """A number that a sentence gives a form."""

    value: float

    def __format__(self, form: str) -> str:
        return FORMS[form](self.value)


def sentence(text: str, places: Mapping[str, Any]) -> str:
    """A sentence with its places filled in; texts as they are, numbers in the forms they have."""
    known = {
        name: FormedNumber(value) if isinstance(value, int | float) else value
        for name, value in places.items()
    }
    return Formatter().vformat(text, (), known)


RECORDS = (
    (r"\b([Tt])hat person's record\b", r"\1hat record"),
    (r"\b([Pp])eople who\b", r"\1eople that"),
    (r"\b([Pp])erson who\b", r"\1erson that"),
    (r"\bpeople\b", "records"),
    (r"\bPeople\b", "Records"),
    (r"\bperson\b", "record"),
    (r"\bPerson\b", "Record"),
)
"""Words about people, and those about records that take their place, in this order."""


def of_records(text: str) -> str:
    """A sentence about people as one about records: what counts of records bear out.

    >>> of_records("The person who is easiest to find shares a class with 4 people.")
    'The record that is easiest to find shares a class with 4 records.'
    """
    for pattern, words in RECORDS:
        text = re.sub(pattern, words, text)
    return text


def listed(names: Iterable[str], last: str = "and") -> str:
    """Names in a sentence.

    >>> listed(["age", "sex", "race"])
    'age, sex and race'
    """
    *most, end = [*names] or ["nothing"]
    return f"{', '.join(most)} {last} {end}" if most else end


def names_listed(given: str) -> list[str]:
    """Names that commas separate; one with a comma stands in double quotes.

    >>> names_listed('age, "city, country",sex')
    ['age', 'city, country', 'sex']
    """
    listed = csv.reader(given.splitlines(), skipinitialspace=True)
    return [name.strip() for each in listed for name in each if name.strip()]
