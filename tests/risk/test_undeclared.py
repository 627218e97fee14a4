"""A warning of attributes that nobody declared but that identify."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from risky import OneAtATime, bits_of, names_of, sizes_of, tables

from anonymizer.errors import InputError
from anonymizer.risk import Undeclared, undeclared

PEOPLE = pd.DataFrame(
    {
        "sex": ["f", "f", "f", "f", "m", "m", "m", "m"],
        "file": ["Ann", "Bea", "Cy", "Dot", "Ed", "Flo", "Gus", "Hal"],
        "shoe": [38, 38, 39, 40, 40, 41, 41, 41],
        "note": [["n"]] * 8,
        "same": ["s"] * 8,
        "paid": [1.5, None, 2.25, 3.125, None, 5.0, 6.0, 7.0],
        "w": ["x", "y", "x", "x", "y", "y", "y", "x"],
    }
)


def found_of(found):
    return {attribute.name: attribute for attribute in found.attributes}


def test_hand_worked_warnings():
    found = undeclared(PEOPLE, list(PEOPLE.columns), ["sex"], ["w"], singled_out=0.25)
    assert found.share_alone == 0.0
    assert found.skipped == ("note",)
    told = found_of(found)
    assert list(told) == ["file", "paid", "shoe", "same"]
    assert [attribute.kind for attribute in found.attributes] == [
        "identifier",
        "quasi-identifier",
        "quasi-identifier",
        None,
    ]
    assert [attribute.name for attribute in found.flagged] == ["file", "paid", "shoe"]
    shoe = told["shoe"]  # of women 2 + 1 + 1, of men 1 + 3
    assert (shoe.distinction, shoe.share_alone, shoe.share_alone_combined) == (0.5, 0.125, 0.375)
    assert shoe.separation == 1 - (1 + 1 + 3) / 28
    assert shoe.adds == pytest.approx(bits_of([2, 1, 1, 1, 3]) - 1, abs=1e-12)
    assert shoe.reason == (
        "knowing it with the quasi-identifiers leaves 37.50% of the records alone, not 0.00%"
    )
    paid = told["paid"]  # nobody's pay is missing twice among women, or among men
    assert (paid.distinction, paid.share_alone, paid.share_alone_combined) == (0.875, 0.75, 1.0)
    assert told["file"].reason == "nearly every record has its own value (distinction 1.0000)"
    assert told["file"].adds == pytest.approx(2.0, abs=1e-12)
    assert (told["same"].adds, told["same"].reason) == (0.0, "")


def test_thresholds_are_parameters():
    columns = ["sex", "shoe", "paid"]

    def kinds(**options):
        found = undeclared(PEOPLE, columns, ["sex"], **options)
        return {attribute.name: attribute.kind for attribute in found.attributes}

    assert kinds(singled_out=0.375)["shoe"] == "quasi-identifier"
    assert kinds(singled_out=0.38)["shoe"] is None
    assert kinds(identifying=0.875)["paid"] == "identifier"
    assert kinds(identifying=0.88)["paid"] == "quasi-identifier"


def test_declared_columns_are_left_out():
    columns = [name for name in PEOPLE.columns if name != "note"]
    found = undeclared(PEOPLE, columns, ["sex", "shoe"], ["file", "paid", "w"])
    assert list(found_of(found)) == ["same"]
    assert found.share_alone == 0.375
    assert undeclared(PEOPLE, ["sex"], ["sex"]) == Undeclared(0.0, (), ())


def test_without_quasi_identifiers():
    told = found_of(undeclared(PEOPLE, ["shoe"], []))["shoe"]
    assert (told.share_alone_combined, told.kind) == (0.125, "quasi-identifier")
    assert told.adds == pytest.approx(bits_of([2, 1, 2, 3]), abs=1e-12)


def test_what_repeats_a_quasi_identifier_never_adds_less_than_nothing():
    rng = np.random.default_rng(9)
    for _ in range(30):
        known = rng.integers(0, 40, 700)
        table = pd.DataFrame({"known": known, "same": -known})[::-1]
        (same,) = undeclared(table, ["same"], ["known"]).attributes
        assert 0 <= same.adds <= 1e-12


def test_no_value_is_ever_shown():
    found = undeclared(PEOPLE, list(PEOPLE.columns), ["sex"], ["w"])
    text = json.dumps(found.to_dict())
    for name in PEOPLE["file"]:
        assert name not in text


@given(tables())
def test_figures_beside_the_records(table):
    first, *others = names_of(table)
    found = undeclared(table, list(table.columns), [first], ["w"])
    assert found.share_alone == Counter(sizes_of(table, (first,)))[1] / len(table)
    assert {attribute.name for attribute in found.attributes} == set(others)
    for attribute in found.attributes:
        own, both = (
            sizes_of(table, names) for names in [(attribute.name,), (first, attribute.name)]
        )
        assert attribute.distinction == len(own) / len(table)
        assert attribute.share_alone == own.count(1) / len(table)
        assert attribute.share_alone_combined == both.count(1) / len(table)
        adds = bits_of(both) - bits_of(sizes_of(table, (first,)))
        assert attribute.adds == pytest.approx(adds, abs=1e-9)
        assert attribute.adds >= 0
        identifier = attribute.distinction >= 0.9
        kind = (
            "quasi-identifier"
            if attribute.share_alone_combined - found.share_alone >= 0.01
            else None
        )
        assert attribute.kind == ("identifier" if identifier else kind)
        assert bool(attribute.reason) == bool(attribute.kind)


def test_columns_are_read_once_one_at_a_time():
    table = OneAtATime(PEOPLE)
    columns = list(PEOPLE.columns)
    found = undeclared(table, columns, ["sex"], ["w"])
    assert found == undeclared(PEOPLE, columns, ["sex"], ["w"])
    assert table.read == dict.fromkeys(["sex", "file", "shoe", "note", "same", "paid"], 1)


def test_the_progress():
    seen = []
    undeclared(PEOPLE, ["sex", "shoe", "same"], ["sex"], watch=lambda *done: seen.append(done))
    assert seen[-1] == ("measuring columns without a role", 1, 2)


def test_json():
    found = undeclared(PEOPLE, ["sex", "shoe", "same", "note"], ["sex"]).to_dict()
    assert list(found) == ["share_alone", "attributes", "skipped", "flagged"]
    assert (found["flagged"], found["skipped"]) == (["shoe"], ["note"])
    assert list(found["attributes"][0]) == [
        *("distinction", "separation", "share_alone"),
        *("name", "share_alone_combined", "adds", "kind", "reason"),
    ]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((["shoe"], ["sex"]), {"identifying": 0}, "identifying = 0 must be a share above 0"),
        ((["shoe"], ["sex"]), {"singled_out": 2}, "singled_out = 2 must be a share above 0"),
        ((["size"], ["sex"]), {}, "the table has no column 'size'"),
        ((["shoe"], ["size"]), {}, "the table has no column 'size'"),
        ((["shoe"], ["note"]), {}, "column 'note' holds values that cannot be told apart"),
    ],
)
def test_what_cannot_be_judged(arguments, options, message):
    with pytest.raises(InputError, match=message):
        undeclared(PEOPLE, *arguments, **options)


def test_no_records():
    with pytest.raises(InputError, match="no records"):
        undeclared(PEOPLE.head(0), ["shoe"], ["sex"])


def test_adult_beside_pandas(adult):
    known = ["age", "sex", "race"]
    found = undeclared(adult, list(adult.columns), known, ["salary-class"])
    before = Counter(sizes_of(adult, tuple(known)))[1] / len(adult)
    assert found.share_alone == before
    assert found.attributes[0].name == "fnlwgt"  # weights of the census: nearly unique numbers
    for attribute in found.attributes:
        alone = Counter(sizes_of(adult, (*known, attribute.name)))[1] / len(adult)
        assert attribute.share_alone_combined == alone
        assert (attribute.kind is not None) == (alone - before >= 0.01)
