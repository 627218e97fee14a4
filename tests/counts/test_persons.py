"""What a record counts of a person who has several, and how many persons an array can have."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from anonymizer import Anonymizer, Boxes, Hierarchy, InputError, KAnonymity
from anonymizer.counts import pairs
from anonymizer.counts.columns import by_text, of_persons
from anonymizer.counts.linked import compositions
from anonymizer.counts.persons import MOST_PARTS, Persons, _parts
from anonymizer.information import matrices
from anonymizer.information.matrices import dense
from anonymizer.recoding.partitions import families


def test_the_records_of_a_person_count_one_together():
    """Persons of 1, 2 and 3 records: sixths."""
    table = pd.DataFrame({"who": list("abbccc")})
    persons = Persons.of(table, ["who"])
    assert persons.parts.tolist() == [6, 3, 2]
    assert persons.parts_in_rows().tolist() == [6, 3, 3, 2, 2, 2]
    some = Persons.of(table.iloc[[5, 1]], ["who"])  # of whom records were left out
    assert some.parts_in_rows(persons).tolist() == [2, 3]
    assert some.parts_in_rows().tolist() == [1, 1]


def test_two_columns_tell_more_persons_apart_than_one():
    table = pd.DataFrame({"clinic": list("xxyy"), "number": [1, 2, 1, 1]})
    assert Persons.of(table, ["clinic", "number"]).records.tolist() == [1, 1, 2]
    assert Persons.of(table, ["number"]).records.tolist() == [3, 1]


@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=9))
def test_persons_with_equally_many_records_in_each_class_have_one_number(rows):
    """A row of the list for each person; numbers begin at 0, and leave none out."""
    joint = np.array(rows).T
    found = compositions(joint).tolist()
    assert found == compositions(csr_array(joint)).tolist()
    for (one, own), (other, others) in product(zip(rows, found, strict=True), repeat=2):
        assert (own == others) == (one == other)
        assert (own == -1) == (not any(one))
    assert sorted({*found} - {-1}) == [*range(len({tuple(row) for row in rows if any(row)}))]


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_a_person_counts_once_in_each_class(kind):
    """Of a, who has flu twice and hiv once; of b and c, who have one record of each value."""
    table = pd.DataFrame({"who": list("aaabbcc"), "w": ["f", "f", "h", "f", "h", "f", "h"]})
    class_of = np.array([0, 0, 0, 0, 1, 1, 1])
    persons = Persons.of(table, ("who",))
    _, pairs = of_persons(table, ["w"], class_of, 2, persons, None, by_text, "share")
    found = replace(pairs["w"], joint=kind(dense(pairs["w"].joint)))
    shares = dense(found.by_class) / dense(found.by_class).sum(axis=1)[:, None]
    assert shares == pytest.approx(np.array([[5 / 6, 1 / 6], [1 / 4, 3 / 4]]))
    # As one class: of a two of three records are flu, of b and c one of two.
    whole = replace(found, joint=kind(dense(found.joint).sum(axis=0)[None]))
    (flu, hiv) = dense(whole.by_class)[0]
    assert flu / (flu + hiv) == pytest.approx(5 / 9)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_who_asks_for_a_value_takes_it_for_all_that_its_persons_have(kind):
    """Of a, who has flu twice and hiv once; b, flu here and hiv there; c, both there; d, a cold."""
    table = pd.DataFrame({"who": list("aaabdbcc"), "w": [*"ffhfc", *"hfh"]})
    class_of = np.array([0] * 5 + [1] * 3)
    persons = Persons.of(table, ("who",))
    _, pairs = of_persons(table, ["w"], class_of, 2, persons, None, by_text, "each")
    found = replace(pairs["w"], joint=kind(dense(pairs["w"].joint)))
    _, flu, hiv = range(3)
    assert found.of_several == [flu, hiv]
    classes, rows = found.of_value(hiv)
    assert classes.tolist() == [0, 1]
    shares = dense(rows) / dense(rows).sum(axis=1)[:, None]
    assert shares == pytest.approx(np.array([[1 / 3, 1 / 3, 1 / 3], [0, 0, 1]]))
    assert (dense(rows).sum(axis=1) == dense(found.by_class).sum(axis=1)).all()
    # Three of four have hiv, one of three in the first class: that it is fewer tells nothing. Both
    # of the second have it, and nothing else is left.
    ((classes, rows, margin),) = found.compared(hiv, np.array([2, 7, 3]))
    assert classes.tolist() == [1]
    assert (rows[0] / rows[0].sum()).tolist() == [0, 0, 1]
    assert margin / margin.sum() == pytest.approx([0.25 * 2 / 9, 0.25 * 7 / 9, 0.75])
    assert [places.tolist() for places, _, _ in found.compared(flu, np.array([2, 7, 3]))] == [[]]


def test_where_no_common_denominator_is_small_enough_parts_are_rounded():
    numbers = [*range(1, 60)]  # their least common multiple has 26 digits
    parts = _parts(numbers, 1000)
    assert parts[0] * 1000 <= MOST_PARTS
    together = parts * np.array(numbers) / parts[0]
    np.testing.assert_allclose(together, 1, rtol=1000 * 60 / MOST_PARTS)
    assert _parts([10**9], 2**40).tolist() == [1]


@pytest.mark.parametrize("recoding", [Boxes(refinement="heuristic"), "variable-range"])
def test_persons_who_are_too_many_for_an_array_are_said_to_be(monkeypatch, recoding):
    table = pd.DataFrame({"age": range(40), "who": range(40)})
    for name, value in {"FEW_CELLS": -1, "FEW_VALUES": -1, "PAIRS_APART": 0}.items():
        monkeypatch.setattr(pairs, name, value)
    for place in (matrices, families):
        monkeypatch.setattr(place, "MOST_BYTES", 1000)
    ages = {"age": Hierarchy.ranges(widths=[2, 4])}
    anonymizer = Anonymizer(ages, privacy=[KAnonymity(2)], person="who", recoding=recoding)
    with pytest.raises(InputError, match="there are 40 persons, too many to look at all of them"):
        anonymizer.fit(table)
