"""Values that readers, or the library, may take for others than whoever wrote them meant."""

import datetime as dt
import random
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pandas as pd

__all__ = ["OBJECTS", "PALETTES", "drawn", "objects", "palette", "texts"]

PALETTES: dict[str, tuple[str, ...]] = {
    "integers": tuple(map(str, range(18, 70))),
    "decimals": ("0.5", "1.5", "2.25", "-3.75", "10.1", "7.0", "100", "-0.5"),
    "words": ("flu", "cold", "hiv", "gout", "mumps", "ache"),
    "codes": ("0047", "0048", "0147", "4790", "4791", "47", "0005"),
    "bools": ("True", "False"),
    "dates": (
        "2020-01-01", "2020-01-02", "2020-02-29", "2020-03-31", "2021-12-31", "1999-02-28",
        "1969-12-31", "1970-01-01", "1900-01-01", "2020-01-01 00:00:00",
    ),
    "spelled": (
        "1", "1.0", "01", "+1", "1e0", " 1", "1.00", "1E0", "2", "2.0", "002", "-0.0", "0.0",
        "0", "-0", "10", "1e1", ".5", "0.5", "-1", "1.",
    ),
    "large": (
        "9007199254740993", "9007199254740992", "9007199254740992.0", "9223372036854775808",
        "0.1", "0.10000000000000000001", "1e308", "123456789012345678901234567890",
    ),
    "beyond": ("inf", "Infinity", "-inf", "1e400", "1e-400", "0", "1", "2"),
    "booleans": (
        "True", "TRUE", "true", "False", "FALSE", "false", "1", "0", "t", "f", "T", "yes", "no",
    ),
    "nothing": (
        "", "NA", "null", "nan", "None", "NaN", "N/A", "NULL", "-", "?", "#N/A", "<NA>", "n/a",
        " ", "x", "y",
    ),
    "twins": (
        "\u00e9", "e\u0301", "flu", "flu ", "\u00a0flu", "Flu", "FLU", "fl\u200bu", "flu\ufeff",
        "\ufb02u", "\u00df", "ss", "SS", "\u0131", "i", "I",
    ),
    "dangerous": (
        "=1+1", "-5", "+5", "@x", 'a"b', '"', "a,b", "a;b", "two\nlines", "c\rr", "c\r\nl",
        "tab\tx", "*", "[1, 2)", "{a, b}", "#c", "'", "\\", "a|b", "\U0001f600", "\u202eabc",
    ),
    "times": (
        "2020-01-01T12:00:00Z", "2020-01-01T13:00:00+01:00", "2020-01-01 12:00:00",
        "2020-01-01T12:00:00+00:00", "2020-01-01T12:00:00.000Z", "2020-01-01T12:00:00",
        "2020-01-01", "2020-01-02", "12:00:00", "12:00",
    ),
    "days": ("2020-01-01", "2020/01/01", "01/02/2020", "02/01/2020", "2020-1-1", "20200101"),
    "long": ("x" * 3000, "x" * 2999 + "y", "1" * 400, "short"),
}  # fmt: skip
"""Texts by what is odd about them."""

TAME = ("integers", "decimals", "words", "codes", "bools", "dates")
NUMBERS = ("integers", "decimals")

DAY = dt.datetime(2020, 1, 1, 12)
UTC, CET = dt.UTC, dt.timezone(dt.timedelta(hours=1))

OBJECTS: dict[str, tuple[object, ...]] = {
    "ones": (
        1, True, 1.0, Decimal("1.0"), Decimal("1.00"), "1", "1.0", "True", np.int64(1),
        np.float32(1), 2, 2.0, "2",
    ),
    "zeros": (0, 0.0, -0.0, False, Decimal("-0"), Decimal("0.00"), "0", "-0.0", 1),
    "gaps": (None, float("nan"), pd.NA, pd.NaT, "", "NA", "nan", "None", "x"),
    "instants": (
        pd.Timestamp(DAY, tz=UTC), pd.Timestamp(DAY, tz=UTC).tz_convert(CET),
        pd.Timestamp(DAY, tz=UTC).tz_convert("Asia/Tokyo"), DAY.replace(tzinfo=UTC),
        pd.Timestamp(DAY), DAY, DAY.date(),
        "2020-01-01 12:00:00+00:00", "2020-01-01",
    ),
    "large": (
        2**53, 2**53 + 1, float(2**53), Decimal(2**53 + 1), 2**63, 10**30, 0.1, Decimal("0.1"),
    ),
    "bytes": (b"a", "a", "b'a'", "b", 1, None),
    "mixed": (1, "x", True, 1.0, None, Decimal("2"), DAY.date(), "1", 3.5),
}  # fmt: skip
"""Objects of a column of a DataFrame by what is odd about them."""


def palette(rng: random.Random, tame: float) -> str:
    """The name of a palette, with a given probability a tame one."""
    return rng.choice(TAME if rng.random() < tame else tuple(PALETTES))


def texts(rng: random.Random, kind: str, most: int) -> list[str]:
    """A few distinct texts of a palette, now and then with one of another."""
    values = rng.sample(PALETTES[kind], min(len(PALETTES[kind]), rng.randint(1, most)))
    if kind not in TAME and rng.random() < 0.3:
        values += rng.sample(PALETTES[rng.choice(tuple(PALETTES))], 1)
    return list(dict.fromkeys(values))


def objects(rng: random.Random, most: int) -> list[object]:
    """A few objects, some of which are equal."""
    values = OBJECTS[rng.choice(tuple(OBJECTS))]
    return rng.sample(values, min(len(values), rng.randint(1, most)))


def drawn(rng: random.Random, values: Sequence[object], size: int) -> list[object]:
    """A column of so many values; skewed, or each about as often as the others."""
    weights = [rng.random() ** rng.choice((0, 1, 3)) + 0.02 for _ in values]
    if rng.random() < 0.15:  # in an order that follows the values
        return [values[i * len(values) // size] for i in range(size)]
    return rng.choices(values, weights, k=size)
