"""A second opinion: what pycanon 1.3.5 found in the tables of ``pycanon_values.csv``.

``pycanon_values.py`` made them, and says how: pycanon asks for exact versions of pandas, numpy and
scipy that are older than ours, so that it cannot be run here. It takes index labels for positions;
in these tables they are the same.

Where it is wrong, it is not compared but held to its error:

- recursive (c, l)-diversity takes the counts in rising order, and so divides the smallest by the
  sum of the largest;
- enhanced beta-likeness gives min(beta, -ln p) of the rarest value where no beta satisfies it;
- delta-disclosure leaves out values that a class does not have, which disclose without bound;
- entropy l-diversity is cut to a whole number after rounding: three values alike make 2.
"""

import csv
import random
import string
from collections import Counter
from math import inf, isfinite, isinf, isnan, log
from pathlib import Path

import literature
import numpy as np
import pytest
from pycanon_values import tables

from anonymizer.counts.counts import Classes
from anonymizer.privacy import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    KAnonymity,
    TCloseness,
)

VALUES = Path(__file__).parents[1] / "pycanon_values.csv"
with VALUES.open(newline="", encoding="utf-8") as file:
    FOUND = {
        row.pop("table"): {name: float(value) for name, value in row.items()}
        for row in csv.DictReader(file)
    }

ROUNDING = 1e-9


def groups_of(table: str) -> list[Counter]:
    return [Counter(word) for word in table.split()]


def by_literature(table: str) -> dict[str, float]:
    """The worst class under each definition; delta-disclosure in bits."""
    groups = groups_of(table)
    whole = sum(groups, Counter())
    order = sorted(whole)
    return {
        "k": min(map(Counter.total, groups)),
        "distinct_l": min(map(literature.distinct, groups)),
        "entropy_l": min(map(literature.entropy_l, groups)),
        "alpha": max(map(literature.alpha, groups)),
        "t_equal": max(literature.equal(group, whole) for group in groups),
        "t_ordered": max(literature.ordered(group, whole, order) for group in groups),
        "basic_beta": max(literature.basic_beta(group, whole) for group in groups),
        "enhanced_beta": max(literature.enhanced_beta(group, whole) for group in groups),
        "delta_disclosure": max(literature.delta_disclosure(group, whole) for group in groups),
    }


def by_package(table: str) -> dict[str, float]:
    """The same of the package's own models."""
    groups = groups_of(table)
    letters = [letter for letter in string.ascii_lowercase if letter in table]
    joint = np.array([[group[letter] for letter in letters] for group in groups])
    classes = Classes(joint, joint.sum(axis=0), tuple(str(i) for i in range(len(letters))))
    models = {
        "k": KAnonymity(1),
        "distinct_l": DistinctLDiversity(1),
        "entropy_l": EntropyLDiversity(1),
        "alpha": AlphaKAnonymity(1, 1),
        "t_equal": TCloseness(1, "equal"),
        "t_ordered": TCloseness(1, "ordered"),
        "basic_beta": BasicBetaLikeness(1),
        "enhanced_beta": EnhancedBetaLikeness(1),
        "delta_disclosure": DeltaDisclosure(1),
    }
    return {name: model.worst(model.measure(classes)) for name, model in models.items()}


MEASURED = pytest.mark.parametrize("measured", [by_literature, by_package])


@pytest.mark.parametrize("table", FOUND)
@MEASURED
def test_measures_agree(measured, table):
    ours, theirs = measured(table), FOUND[table]
    for name, value in ours.items():
        match name:
            case "entropy_l":
                assert theirs[name] in (int(value - ROUNDING), int(value + ROUNDING))
            case "delta_disclosure" if isinf(value):
                assert _some_class_lacks_a_value(table)
            case "delta_disclosure":
                assert value * log(2) == pytest.approx(theirs[name], abs=ROUNDING)
            case "enhanced_beta" if isinf(value):
                assert theirs[name] <= theirs["basic_beta"] + ROUNDING
            case _:
                assert value == pytest.approx(theirs[name], abs=ROUNDING), name


def _some_class_lacks_a_value(table: str) -> bool:
    values = set(table) - {" "}
    return any(values - set(word) for word in table.split())


def test_enough_tables_have_what_is_compared():
    found = [by_literature(table) for table in FOUND]
    assert list(FOUND) == tables(random.Random(1))
    for name in ("delta_disclosure", "enhanced_beta"):
        assert 10 < sum(isfinite(measures[name]) for measures in found) < 50
    assert sum(measures["t_ordered"] < measures["t_equal"] - 0.01 for measures in found) > 20


@pytest.mark.parametrize(
    ("table", "c", "theirs"),
    [
        ("aaab abbb", 3, 1),  # 3 and 1: less than 1 x 1, it says
        ("aaab ab", 3, 2),
        ("ab ab", 1, 2),  # even classes are the same in any order; 2 is the next whole number
    ],
)
def test_recursive_diversity_is_upside_down(table, c, theirs):
    assert max(literature.recursive_c(group, 2) for group in groups_of(table)) == c
    assert FOUND[table]["recursive_c"] == theirs
    assert isnan(FOUND["a b"]["recursive_c"])


def test_enhanced_likeness_that_no_beta_gives():
    assert by_literature("a b")["enhanced_beta"] == inf
    assert FOUND["a b"]["enhanced_beta"] == pytest.approx(log(2))


def test_disclosure_of_values_that_a_class_lacks():
    assert by_literature("a b")["delta_disclosure"] == inf
    assert FOUND["a b"]["delta_disclosure"] == pytest.approx(log(2))


def test_whole_numbers_of_values_are_rounded_first():
    for table, values, theirs in [("abc abc", 3, 2), ("abcdef abcdef", 6, 5)]:
        assert by_literature(table)["entropy_l"] == pytest.approx(values)
        assert FOUND[table]["entropy_l"] == theirs
