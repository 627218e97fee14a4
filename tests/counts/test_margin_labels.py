"""Of which level the labels of a margin are, and which value stands for each."""

import pandas as pd
import pytest

from anonymizer import Hierarchy, InputError
from anonymizer.counts.margin_labels import at_level

CITIES = Hierarchy.from_rows(
    [["Bern", "Bern", "CH"], ["Thun", "Bern", "CH"], ["Lyon", "Lyon", "FR"], ["Nice", "Lyon", "FR"]]
)


@pytest.mark.parametrize(
    ("hierarchy", "labels", "level", "values"),
    [
        (Hierarchy.ranges(widths=[5, 10]), ["[20, 25)", "[25, 30)"], 1, ["20", "25"]),
        (Hierarchy.ranges(widths=[5, 10]), ["[20, 30)", "[-10, 0)"], 2, ["20", "-10"]),
        (Hierarchy.ranges(widths=[5, 10]), ["20", "25"], 0, ["20", "25"]),
        (Hierarchy.ranges(widths=[5, 10]), ["[20, 25)", None], 1, ["20", None]),
        (Hierarchy.ranges(widths=[5, 10]), [20, 25], 0, [20, 25]),
        (Hierarchy.calendar(["month", "year"]), ["2024-03"], 1, ["2024-03-01"]),
        (Hierarchy.calendar(["month", "year"]), ["2024-03-07"], 0, ["2024-03-07"]),
        (Hierarchy.prefixes([3, 2]), ["901*", "912*"], 1, ["901*", "912*"]),
        (Hierarchy.prefixes([3, 2]), [None, "901*"], 1, [None, "901*"]),
        (Hierarchy.prefixes([3, 2]), ["9010", "9120"], 0, ["9010", "9120"]),
        (CITIES, ["CH", "FR"], 2, None),
        (CITIES, ["Bern", "Lyon"], 0, ["Bern", "Lyon"]),  # of which both are raw values, too
        (CITIES, ["Bern", "Nice"], 0, ["Bern", "Nice"]),
        (Hierarchy.keep(["FR", "ES"]), ["FR", "ES", "other"], 1, ["FR", "ES", "other"]),
        (Hierarchy.suppression(), ["*", "F"], 0, ["*", "F"]),
    ],
)
def test_labels_of_one_level_are_found(hierarchy, labels, level, values):
    column, found = at_level("x", pd.Series(labels, dtype=object), hierarchy)
    assert found == level
    if values is not None:
        assert [None if pd.isna(value) else value for value in column] == values
    known = [each for each in zip(labels, column, strict=True) if each[0] is not None]
    for label, value in known if level else ():
        assert str(hierarchy.labels(value)[level - 1]) == label


def test_labels_of_several_levels_are_refused():
    ages = pd.Series(["[20, 25)", "[25, 30)", "[30, 40)"])
    message = "column 'age' has 2 labels of level 1 of its hierarchy, and 1 others; give it labels"
    with pytest.raises(InputError, match=message):
        at_level("age", ages, Hierarchy.ranges(widths=[5, 10]))
    message = "column 'age' has 1 labels of level 1 of its hierarchy, and 1 others; give it labels"
    with pytest.raises(InputError, match=message):  # of a raw value and a label, too
        at_level("age", pd.Series(["20", "[20, 25)"]), Hierarchy.ranges(widths=[5, 10]))
