"""What makes two raw values the same value, and a value a number."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Context, Decimal, InvalidOperation, localcontext
from numbers import Real
from string import ascii_letters
from typing import Any

import numpy as np
import pandas as pd

WHOLE = re.compile(r"-?(0|[1-9][0-9]*)[.]0+")
"""A whole number as it is written once a column of numbers had gaps."""

LARGE = re.compile(r"-?[1-9]([.][0-9]{1,16})?e[+](1[6-9]|[2-9][0-9]|[1-9][0-9]{2})")
"""A whole number from 10^16 on, as a float is written."""

LETTERS = frozenset(ascii_letters)
"""No finite number begins with any of them."""

SIGNED = frozenset("-0123456789")
"""What a text begins with that is written in several ways; one that is empty is not."""

INSTANT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.]\d{1,6})?)?(Z|[+-]\d\d:?\d\d)", re.ASCII
)
"""A date and a time of day in a time zone, as ISO 8601 writes it."""

PLAIN = re.compile(r"-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?")
"""Numbers as columns of numbers are written; codes such as 0047 are none."""

NUMBER = r"(\d+(?:[.,]\d+)?)"
RANGE = re.compile(
    r"(?:(?P<from>>=|\u2265|at least|from|ab)|(?P<after>>|over|above|more than|\u00fcber)|"
    r"(?P<up_to><=|\u2264|up to|bis)|(?P<under><|under|below|less than|unter))?\s*"
    rf"{NUMBER}\s*"
    rf"(?:(?:[-\u2013]|to|bis)\s*{NUMBER}"
    r"|(?P<over>\+|plus|(?:and|or) (?:over|older|more|above)|und (?:mehr|\u00e4lter)))?"
    r"\s*(?:years|jahre)?"
)
"""A range of numbers as people write it: 18-24, 65+, > 89, under 18."""

BLANKS, APOSTROPHES = " \u00a0\u2007\u2009\u202f", "'\u2019"
"""What marks thousands in any notation, as a comma does, or a point where decimals have a comma."""

MEASURED = {
    decimal: re.compile(
        rf"(\d{{1,3}}([{other}{BLANKS}{APOSTROPHES}])\d{{3}}(\2\d{{3}})*|\d+)([{decimal}]\d+)?",
        re.ASCII,
    )
    for decimal, other in (".,", ",.")
}
"""A number next to its unit, with marks of thousands or without, by its decimal mark."""

MOST_DIGITS = 300
"""Numbers of more digits, before or after the point, are none that anybody measured."""


def is_missing(value: Any) -> bool:
    """Whether a raw value is missing: None, NaN and their kin."""
    if value is None or isinstance(value, str):  # most values are texts
        return value is None
    return pd.api.types.is_scalar(value) and bool(pd.isna(value))


def text_of(value: object) -> str:
    """The text of a value, blanks around it stripped: one for equal numbers and equal instants.

    >>> text_of(39), text_of(39.0), text_of(" 39.0"), text_of(0.5), text_of("0047"), text_of(-0.0)
    ('39', '39', '39', '0.5', '0047', '0')
    >>> text_of("2020-01-01T01:00:00+01:00"), text_of("2020-01-01 00:00:00Z")
    ('2020-01-01 00:00:00+00:00', '2020-01-01 00:00:00+00:00')
    >>> text_of(1e16), text_of("1e+16"), text_of("1e5")
    ('10000000000000000', '10000000000000000', '1e5')
    """
    if type(value) is str:
        text = value.strip()
        if text[:1] not in SIGNED or text.isdecimal():
            return text
    if isinstance(value, datetime) and value.tzinfo is not None:
        return str(value.astimezone(UTC))
    text = str(value).strip()
    typed = not isinstance(value, str | bool) and isinstance(value, Real | Decimal)
    if typed or LARGE.fullmatch(text):
        number = number_of(value)
        exact = isinstance(value, Decimal)
        if number is not None and (exact or number == number.to_integral_value()):
            return number_text(number)
    if INSTANT.fullmatch(text):
        try:
            return str(datetime.fromisoformat(text).astimezone(UTC))
        except (ValueError, OverflowError):  # no such day, or one before the year 1
            return text
    whole = text.split(".")[0] if WHOLE.fullmatch(text) else text
    return "0" if whole == "-0" else whole


def both_texts(value: object) -> tuple[str, str]:
    """How a value is written, and its text, which equal ones share.

    >>> both_texts("39.0"), both_texts(39)
    (('39.0', '39'), ('39', '39'))
    """
    return str(value).strip(), text_of(value)


def texts_of(values: Iterable[object]) -> list[str | None]:
    """The text of each value; None for a missing one."""
    return [None if is_missing(value) else text_of(value) for value in values]


def texts_apart(values: Iterable[object], *others: Iterable[object]) -> list[str | None]:
    """The text of each value, None for a missing one, no two texts that are written apart alike.

    It is :func:`text_of`, by which 39 and 39.0 are one, unless a column has texts that differ and
    read so: labels 1 and 1.0 are two. ``others`` are the same column of other tables: one that
    writes 1 has the value of one that writes 1.0.

    >>> texts_apart([39.0, None]), texts_apart(["1", "1.0"]), texts_apart([1.0], ["1", "1.0"])
    (['39', None], ['1', '1.0'], ['1.0'])
    >>> texts_apart(["1.0"], ["1"])
    ['1']
    """
    values = list(values)
    apart = {text for column in (values, *others) for text in _spelled_apart(column)}
    texts = texts_of(values)
    return [
        str(value).strip() if text in apart else text
        for value, text in zip(values, texts, strict=True)
    ]


def _spelled_apart(values: Iterable[object]) -> Iterator[str]:
    """The texts that values of a column, which are texts themselves, write in several ways."""
    spellings: dict[str, set[str]] = {}
    for value in values:
        if isinstance(value, str):
            spellings.setdefault(text_of(value), set()).add(value.strip())
    return (text for text, written in spellings.items() if len(written) > 1)


def without_sign(value: object) -> object:
    """0.0 for -0.0, which it equals, and which is all that some engines have; else the value.

    >>> without_sign(-0.0), without_sign(-1.0), without_sign("-0.0")
    (0.0, -1.0, '-0.0')
    """
    return abs(value) if isinstance(value, float | np.floating) and value == 0 else value


def key_text(key: Hashable) -> str | None:
    """What a value is written as that has a key; None for a missing one.

    >>> key_text(Decimal("39.0")), key_text("39"), key_text(None)
    ('39', '39', None)
    """
    if key is None:
        return None
    return number_text(key) if isinstance(key, Decimal) else str(key)


def number_of(value: object) -> Decimal | None:
    """The exact number that a value writes out; None when it is no number of a sensible size.

    >>> number_of(" 0.1"), number_of(0.1), number_of("x"), number_of("inf")
    (Decimal('0.1'), Decimal('0.1'), None, None)
    """
    text = str(value).strip()
    if text[:1] in LETTERS:  # a millionth of a second less, for millions of values
        return None
    try:
        number = Decimal("NaN" if "_" in text else text)
    except InvalidOperation:
        return None
    sensible = number.is_finite() and abs(number.adjusted()) <= MOST_DIGITS
    return number if sensible else None


def measure_in(text: str, unit: str, decimal: str = ".") -> Decimal | None:
    """The number that a text writes before a unit, or after it; None where it has no such unit.

    ``decimal``: its decimal mark, a point or a comma; the other one marks thousands.

    >>> measure_in("165 cm", "cm"), measure_in("$1,200.50", "$"), measure_in("-5 %", "%")
    (Decimal('165'), Decimal('1200.50'), Decimal('-5'))
    >>> measure_in("165", "cm"), measure_in("165 kg", "cm"), measure_in("5,5 %", "%")
    (None, None, None)
    >>> measure_in("1.234,50 EUR", "EUR", ","), measure_in("CHF 1'234.50", "CHF")
    (Decimal('1234.50'), Decimal('1234.50'))
    """
    own, plain = unit.casefold(), text.strip().casefold().replace("\u2212", "-")
    whole = plain.removeprefix("-")
    if not whole.endswith(own) and not whole.startswith(own):
        return None
    bare = whole.removesuffix(own) if whole.endswith(own) else whole.removeprefix(own)
    found = MEASURED[decimal].fullmatch(bare.strip())
    if found is None:
        return None
    sign, whole = "-" if plain.startswith("-") else "", re.sub(r"\D", "", found[1])
    return number_of(f"{sign}{whole}{(found[4] or '').replace(',', '.')}")


def range_in(text: str) -> tuple[Decimal | None, Decimal | None] | None:
    """The half-open range [low, high) that a text writes; None is an open end, or no range at all.

    Ends have the digits that they are written with: from 18 to 24 are all that are below 25, and
    what is above 89 begins at 90.

    >>> range_in("90+"), range_in("> 89"), range_in("<1")
    ((Decimal('90'), None), (Decimal('90'), None), (None, Decimal('1')))
    >>> range_in("18-24"), range_in("24"), range_in("A4")
    ((Decimal('18'), Decimal('25')), None, None)
    """
    found = RANGE.fullmatch(" ".join(text.split()).casefold())
    if found is None:
        return None
    first, second = (
        None if end is None else Decimal(end.replace(",", ".")) for end in found.group(5, 6)
    )
    assert first is not None
    unit = Decimal(1).scaleb(min(int(first.as_tuple().exponent), 0))
    signs = {name for name, sign in found.groupdict().items() if sign}
    if len(signs) + (second is not None) != 1:
        return None
    if second is not None:
        return (first, second + unit) if first <= second else None
    if signs & {"under", "up_to"}:
        return None, first + unit * ("up_to" in signs)
    return first + unit * ("after" in signs), None


def rank(key: Hashable) -> tuple[bool, bool, Decimal, str]:
    """Numbers by size, then texts by letter, a missing value last: not as rows happen to come."""
    number = number_of(key)
    return (key is None, number is None, number or Decimal(0), "" if key is None else str(key))


def floor_to(number: Decimal, step: Decimal) -> Decimal:
    """The last multiple of a step up to a number, exactly.

    >>> number_text(floor_to(Decimal("0.35"), Decimal("0.1"))), floor_to(Decimal(-3), Decimal(25))
    ('0.3', Decimal('-25'))
    """
    with exactly():
        return number - number % step - (step if number % step < 0 else 0)


def exactly() -> AbstractContextManager[object]:
    """A context in which sums of numbers of a sensible size are not rounded."""
    return localcontext(Context(prec=4 * MOST_DIGITS))


def number_text(number: Decimal) -> str:
    """A number as people write it.

    >>> number_text(Decimal("25.0")), number_text(Decimal("1E+2"))
    ('25', '100')
    """
    text = f"{number:f}" if number else "0"
    return text.rstrip("0").rstrip(".") if "." in text else text


def plain_text(value: object) -> str | None:
    """What a value or a label reads as, however a number is written; None for a missing one.

    >>> plain_text("1.50"), plain_text(1e22), plain_text("0047"), plain_text(None)
    ('1.5', '10000000000000000000000', '0047', None)
    """
    if is_missing(value):
        return None
    text = text_of(value)
    number = number_of(text) if PLAIN.fullmatch(text) else None
    return text if number is None else number_text(number)


@dataclass(frozen=True)
class Step:
    """A unit of the calendar, or a width of ranges that are counted from an origin."""

    unit: str = ""
    width: Decimal = Decimal(0)
    origin: Decimal = Decimal(0)
