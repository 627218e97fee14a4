"""Rules that are made of the values of a column, and rules found in tables of labels."""

from collections import Counter
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anonymizer import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.authoring import (
    check_hierarchy,
    csv_text,
    inline_text,
    rows_of,
    rule_of,
    rule_text,
)
from anonymizer.hierarchy.building import cuts_of, priority, widths_of
from anonymizer.tables.reading import parsed_toml

# The most frequent values


def test_priority_by_hand():
    sizes = {"fr": 50, "es": 20, "it": 20, "pt": 9, "ad": 4, "va": 1}
    assert priority(sizes, [3, 1], "rest") == {
        "keep": [["fr", "es", "it"], ["fr"]],
        "other": "rest",
    }
    assert priority(sizes, [2], "rest") == {"keep": [["fr", "es"]], "other": "rest"}


def test_values_of_fewer_than_five_records_are_never_kept():
    sizes = {"fr": 50, "es": 20, "it": 20, "pt": 9, "ad": 4, "va": 1}
    assert priority(sizes, [20, 1], "rest")["keep"] == [["fr", "es", "it", "pt"], ["fr"]]
    assert priority(sizes, [20], "rest")["keep"] == [["fr", "es", "it", "pt"]]
    with pytest.raises(InputError, match="no value has 5 records; nothing can be kept"):
        priority({"ad": 4, "va": 1}, [2], "rest")


def test_a_value_that_is_called_like_the_others_is_not_kept():
    assert priority({"other": 90, "fr": 50}, [2], "other") == {"keep": [["fr"]], "other": "other"}


@pytest.mark.parametrize("levels", [[], [0], [5, 20], [3, 3], [2.5]])
def test_levels_have_to_fall(levels):
    with pytest.raises(InputError, match=r"must be falling whole numbers, such as 20,5"):
        priority({"fr": 50}, levels, "other")
    with pytest.raises(InputError, match=r"must be falling whole numbers, such as 8,4"):
        cuts_of({"1": 50}, levels)


# Ranges


def test_cuts_by_hand():
    sizes = {str(value): 10 for value in range(100)}
    assert cuts_of(sizes, [4, 2]) == {"cuts": [[25, 50, 75], [50]]}
    assert cuts_of({"1": 90, "2.5": 10, "7": 100}, [2]) == {"cuts": [[5]]}


def test_a_cut_is_no_value_of_few_records_if_another_makes_the_same_ranges():
    """100 is the roundest number near the median, and one person's value."""
    assert cuts_of({"95": 19, "100": 1, "105": 20}, [2]) == {"cuts": [[98]]}
    assert cuts_of({"95": 19, "100": 5, "105": 20}, [2]) == {"cuts": [[100]]}
    assert cuts_of({"98": 9, "99": 10, "100": 1, "101": 20}, [2]) == {"cuts": [[100]]}


def test_widths_by_hand():
    sizes = {str(value): 1 for value in (17, 40, 90)}
    assert widths_of(sizes, [16, 4]) == {"widths": [5, 25]}
    assert widths_of({"0.01": 1, "0.09": 1}, [8, 2]) == {
        "widths": [Decimal("0.01"), Decimal("0.05")]
    }


@given(
    values=st.lists(st.decimals(-1000, 1000, places=1), min_size=80, max_size=200),
    levels=st.sets(st.integers(2, 4), min_size=1, max_size=3),
)
def test_cut_points_are_nested_and_hold_about_equally_many_records(values, levels):
    sizes = Counter(map(str, values))
    ordered = sorted(levels, reverse=True)
    assume(sizes.most_common(1)[0][1] < len(values) / 2)
    found = cuts_of(sizes, ordered)["cuts"]
    Hierarchy.of({"cuts": found})  # nested, increasing
    for fine, coarse in pairwise(found):
        assert {*coarse} < {*fine}
    numbers = np.sort(np.array([float(value) for value in values]))
    share, few = 1 / ordered[0], 4 / len(values)  # records of a value that a cut gives way to
    for cut in map(float, found[0]):
        below, upto = (numbers < cut).mean(), (numbers <= cut).mean()
        places = [place * share for place in range(1, ordered[0])]
        assert any(below - share / 8 <= place <= upto + share / 8 + few for place in places)


@given(st.lists(st.decimals(-1000, 1000, places=1), min_size=2, unique=True), st.integers(1, 50))
def test_widths_are_round_and_about_as_many(values, number):
    (width,) = widths_of(Counter(map(str, values)), [number])["widths"]
    assert str(width.normalize().as_tuple().digits[0]) in "125"
    assert len(width.normalize().as_tuple().digits) == 1
    assert (max(values) - min(values)) / number <= width


@pytest.mark.parametrize(
    ("sizes", "levels", "message"),
    [
        (
            {"a": 50, "1": 50},
            [2],
            "the column holds 1 value that are no numbers, which ranges need",
        ),
        ({"1": 39}, [2], "39 records are too few for 2 ranges; take at most 1"),
        ({"1": 100}, [2], "nearly all records have one value; there are no ranges of them"),
    ],
)
def test_columns_without_ranges(sizes, levels, message):
    with pytest.raises(InputError, match=message):
        cuts_of(sizes, levels)


def test_one_value_has_no_widths():
    with pytest.raises(InputError, match="all records have one value"):
        widths_of({"1": 100}, [2])


# Texts of rules


@pytest.mark.parametrize(
    "rule",
    [
        {"widths": [5, Decimal("12.5")], "origin": Decimal("-0.5")},
        {"keep": [['a "b"', "c\\\x7f\n"], ["c\\\x7f\n"]], "other": "\u00e9", "max-level": 2},
        {"suppress": True},
    ],
)
def test_texts_of_rules_are_read_back(rule):
    expected = {name: plain(value) for name, value in rule.items()}
    assert parsed_toml(rule_text(rule)) == expected
    assert parsed_toml(f"x = {inline_text(rule)}") == {"x": expected}


def plain(value):
    if isinstance(value, list):
        return [plain(each) for each in value]
    return float(value) if isinstance(value, Decimal) else value


CODES = ["47906", "47", "123456", "4790", "479"]
RULES = [
    ({"prefixes": [4, 2]}, CODES),
    ({"suffixes": [3, 1], "mask": "#"}, CODES),
    ({"redact": [1, 2], "side": "right"}, CODES),
    ({"redact": [1, 2], "side": "left", "mask": "x"}, CODES),
    ({"widths": [5, 10], "origin": 2}, [str(value) for value in range(60)]),
    ({"cuts": [[20, 35, 40], [35]]}, [str(value) for value in range(60)]),
    ({"keep": [["a", "b"], ["a"]], "other": "z"}, list("abcde")),
    ({"suppress": True}, ["a", "b"]),
]


@pytest.mark.parametrize(("rule", "values"), RULES, ids=lambda each: str(each)[:20])
def test_a_table_that_a_rule_made_is_the_rule_again(tmp_path, rule, values):
    made = Hierarchy.of(rule)
    rows = rows_of(made, values)
    (tmp_path / "table.csv").write_text(csv_text(rows))
    listed = Hierarchy.read(tmp_path / "table.csv")
    found = Hierarchy.of(rule_of(rows))
    for value in values:
        labels = [*map(str, made.labels(value))]
        assert [*map(str, listed.labels(value))] == labels == [*map(str, found.labels(value))]


def test_ranges_as_arx_writes_them():
    rows = [[str(age), f"[{age // 5 * 5}, {age // 5 * 5 + 5}[", "*"] for age in range(10, 40)]
    assert rule_of(rows) == {"widths": [5], "origin": 10}
    spans = [[str(age), f"{age // 5 * 5}-{age // 5 * 5 + 4}", "*"] for age in range(10, 40)]
    assert rule_of(spans) == {"widths": [5], "origin": 10}
    spans[-1][1] = "10-14"  # 39 is no such age
    assert rule_of(spans) is None


def test_a_table_of_names_is_no_rule():
    assert rule_of([["flu", "viral", "*"], ["cold", "viral", "*"], ["ulcer", "organ", "*"]]) is None
    assert rule_of([["47906", "4790*", "*"], ["47905", "4790*", "*"], ["48", "4790*", "*"]]) is None


# What a column lacks


def test_a_check_by_hand():
    listed = Hierarchy.from_rows(
        [["a", "x", "p"], ["b", "x", "p"], ["c", "y", "q"], ["d", "y", "q"]]
    )
    check = check_hierarchy(listed, "job", ["a", "b", "c", None], [6, 3, 1, 2])
    assert (check.complete, check.records, check.values, check.unused) == (True, 12, 3, 1)
    uses = [(use.groups, use.largest, use.smallest, use.gains) for use in check.levels]
    assert uses == [(4, 6, 1, True), (3, 9, 1, True), (3, 9, 1, False), (1, 12, 12, True)]


def test_a_check_names_no_rare_value():
    listed = Hierarchy.from_rows([["a", "x"]])
    check = check_hierarchy(listed, "job", ["a", "b", "MARKER"], [6, 5, 4])
    assert not check.complete
    assert check.to_dict()["lacking"] == {"values": 2, "records": 9, "named": {"b": 5}}
    assert "MARKER" not in repr(check)
