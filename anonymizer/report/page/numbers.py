"""Numbers as a page has them; every number of a page goes through here."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import exp, isfinite
from string import Formatter
from typing import Any

import numpy as np

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
    return np.format_float_positional(value, DIGITS, fractional=False, trim="-")


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


def people(value: float | None) -> str:
    """A number of people.

    >>> people(1), people(359.0)
    ('1 person', '359 people')
    """
    return f"{count(value)} {'person' if value == 1 else 'people'}"


def others(value: float) -> str:
    """How many others are in a class of so many people.

    >>> others(5), others(2)
    ('4 others', '1 other')
    """
    return f"{count(value - 1)} other{'' if value == 2 else 's'}"


def several(number_of: float, one: str, more: str) -> str:
    """A number of things that are called otherwise where they are several.

    >>> several(1, "class", "classes"), several(26, "class", "classes")
    ('1 class', '26 classes')
    """
    return f"{count(number_of)} {one if number_of == 1 else more}"


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
