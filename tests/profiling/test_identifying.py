"""Values that identify whatever their column is called, and those that only look alike."""

import os
import random
import re
from pathlib import Path

import pandas as pd
import pytest

from anonymizer import load_census, profile
from anonymizer.profiling.columns import ProfiledColumn
from anonymizer.profiling.identifying import MOST_VALUES, IdentifyingValues, identifying
from anonymizer.tables.datasets import load_adult
from anonymizer.tables.values import text_of


def drawn(form, number=40, seed=1):
    """Texts of a form in which each # is a digit."""
    rng = random.Random(seed)
    return [re.sub("#", lambda _: str(rng.randint(0, 9)), form) for _ in range(number)]


def with_check(digits):
    """A Polish number of a person: ten digits and the one that checks them."""
    weights = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
    found = -sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True)) % 10
    return f"{digits}{found}"


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("e-mail addresses", ["kim39@example.org", "k.o'neil+x@mail.example.co.uk"]),
        ("URLs", ["https://example.org/kim", "www.example.org/kim", "http://10.0.0.1/a"]),
        ("UUIDs", ["123e4567-e89b-12d3-a456-426614174000"]),
        ("IBANs", ["DE89370400440532013000", "GB82 WEST 1234 5698 7654 32"]),
        ("IP addresses", [f"10.0.7.{n}" for n in range(9)]),
        ("IP addresses", [f"2001:db8::{n:x}" for n in range(1, 9)]),
        ("social security numbers", drawn("2##-1#-1###")),
        ("social security numbers", [with_check(f"8501{day:02}1234") for day in range(1, 28)]),
        ("telephone numbers", drawn("+49 30 1######")),
        ("telephone numbers", drawn("0171 #######")),
        ("telephone numbers", drawn("(212) 555-####")),
        ("telephone numbers", drawn("212-555-####")),
        ("telephone numbers", drawn("06123#####")),
        ("addresses", [f"{n} Main Street" for n in range(1, 9)]),
        ("addresses", [f"Lindenstraße {n}" for n in range(1, 9)]),
        ("addresses", [f"{n} rue de la Paix" for n in range(1, 9)]),
        ("addresses", [f"Via Roma {n}" for n in range(1, 9)]),
    ],
)
def test_values_that_identify(kind, texts):
    known = len({*texts})
    found = identifying(texts)
    assert found is not None
    assert found.kind == kind
    assert found.of == known
    assert found.count >= 0.9 * known
    column = ProfiledColumn.of(pd.Series([*texts, *texts, *texts], name="x"))
    assert column.kind == "identifier"


@pytest.mark.parametrize(
    "texts",
    [
        drawn("1####"),  # postal codes of five digits, with and without zeros
        drawn("0####"),
        drawn("1####-####"),
        [f"SW1A {n}AA" for n in range(9)],
        [f"2024-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 28)],
        [f"{d:02}.{m:02}.2020" for m in range(1, 13) for d in range(1, 28)],
        [f"{d:02}/{m:02}/1999" for m in range(1, 13) for d in range(1, 28)],
        [f"2020{m:02}{d:02}" for m in range(1, 13) for d in range(1, 28)],
        [f"2024-01-{d:02} 10:30:{d:02}" for d in range(1, 28)],
        [f"{h:02}:{m:02}:00" for h in range(24) for m in range(0, 60, 7)],
        drawn("7######"),
        drawn("3#########", 200),
        drawn("4##########", 200),
        drawn("0.####"),
        drawn("-1#####.###"),
        [f"{n:010}" for n in range(200)],
        drawn("0########"),
        ["DE-BE", "US", "GBR", "en_US", "DE-BY", "ISO-8859-1"],
        [f"E11.{n}" for n in range(9)],
        ["[10, 20)", "(-inf, 5)", "[1000, 2000)", "[8849349, 9274111)"],
        [f"{n}-{n + 9}" for n in range(0, 2000, 10)],
        [f"{n} - {n + 9999}" for n in range(0, 200_000, 10_000)],
        ["1999-2000", "2000-2001", "2001-2002"],
        [f"P{n:04}" for n in range(99)],
        ["101**", "10***", "1.2.3", "2.0.1"],
        ["52.5200, 13.4050", "48.1, 11.6"],
        ["$5,549.25", "5.549,25 EUR", "1 234 567"],
        ["Street food", "Via", "Avenue Q", "@home", "a@b", "and/or"],
        ["10.0.0.1", "none", "other", "x", "y", "z"],  # a single one by its form alone
        [],
    ],
)
def test_values_that_only_look_alike(texts):
    assert identifying(texts) is None


def test_one_certain_value_among_others_is_found_and_makes_no_identifier():
    texts = ["flu", "cold", "kim@example.org", "asthma"]
    assert identifying(texts) == IdentifyingValues("e-mail addresses", 1, 4)
    assert ProfiledColumn.of(pd.Series(texts * 9, name="illness")).kind == "category"


def test_the_order_of_values_does_not_matter():
    texts = [f"m{n}@example.org" if n % 3 else f"v{n}" for n in range(3 * MOST_VALUES)]
    found = identifying(texts)
    assert found == identifying(reversed(texts)) == identifying(sorted(texts))
    assert found.of == MOST_VALUES
    assert 0.6 < found.count / found.of < 0.73


ADULT = Path(os.environ.get("ANONYMIZER_DATA", "data")) / "adult" / "adult.data"


@pytest.mark.parametrize(
    "load",
    [
        load_census,
        pytest.param(
            load_adult,
            marks=pytest.mark.skipif(
                not ADULT.exists(), reason="needs real Adult in ANONYMIZER_DATA"
            ),
        ),
    ],
)
def test_no_column_of_known_tables_is_flagged(load):
    table = load()
    for name in table:
        assert identifying(map(text_of, table[name].unique())) is None, name
    assert "repeats" not in " ".join(column.why for column in profile(table).columns)
