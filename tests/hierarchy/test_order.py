"""Ordered categories: groups of consecutive values, their labels, and what is refused."""

import unicodedata
from itertools import combinations_with_replacement, pairwise

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.order import Ranks
from anonymizer.hierarchy.scale import Interval

SIZES = ["XS", "S", "M", "L", "XL"]


def ladder(hierarchy, values=SIZES):
    return [
        [str(hierarchy.labels(value)[level]) for value in values]
        for level in range(hierarchy.height)
    ]


def test_widths_group_consecutive_values():
    assert ladder(Hierarchy.order(SIZES, widths=[2, 4])) == [
        ["XS - S", "XS - S", "M - L", "M - L", "XL"],
        ["XS - L", "XS - L", "XS - L", "XS - L", "XL"],
        ["*"] * 5,
    ]


def test_a_group_begins_at_each_cut():
    assert ladder(Hierarchy.order(SIZES, cuts=[["S", "XL"], ["XL"]])) == [
        ["XS", "S - L", "S - L", "S - L", "XL"],
        ["XS - L", "XS - L", "XS - L", "XS - L", "XL"],
        ["*"] * 5,
    ]
    assert ladder(Hierarchy.of({"order": SIZES, "cuts": ["M"]}))[0][1:3] == ["XS - S", "M - XL"]


def test_the_order_of_a_pandas_column_is_one():
    column = pd.Series(pd.Categorical(["M", "S"], ["S", "M", "L"], ordered=True))
    hierarchy = Hierarchy.order(column.cat.categories, widths=[2])
    assert ladder(hierarchy, ["S", "M", "L"])[0] == ["S - M", "S - M", "L"]


def test_an_order_alone_has_the_values_and_the_star():
    assert ladder(Hierarchy.of({"order": SIZES})) == [["*"] * 5]


def test_values_lie_in_their_order_and_missing_ones_nowhere():
    taxonomy = Hierarchy.order(SIZES).over("size", ["L", None, "XS"])
    assert taxonomy.texts == (*SIZES, None)
    assert taxonomy.numbers == (0, 1, 2, 3, 4, None)
    assert taxonomy.ordered
    assert taxonomy.listed.tolist() == [True] * 5 + [False]


def test_numbers_are_values_like_any_other():
    hierarchy = Hierarchy.order([3, "1.0", 2], widths=[2])
    assert ladder(hierarchy, [3.0, 1, "2"])[0] == ["3 - 1", "3 - 1", "2"]


def test_values_that_the_order_lacks_are_refused_and_named_where_many_have_them():
    with pytest.raises(InputError) as error:
        Hierarchy.order(["S", "M"]).over("size", ["S", "L", "XXL"], [9, 5, 4])
    assert str(error.value) == (
        "column 'size' holds 2 values, in 9 records ('L'; --show-values (in Python, "
        "showing_values()) names what fewer than 5 records have) that order lacks; add them to "
        "order where they belong, clean the column, or declare them as missing values"
    )


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (
            {"order": ["S"]},
            'two or more values, each once, none of them empty, such as order = \\["S"',
        ),
        ({"order": ["S", "S "]}, "two or more values, each once"),
        ({"order": ["S", ""]}, "none of them empty"),
        ({"order": "S, M"}, "order must be a list, such as order ="),
        ({"order": SIZES, "widths": [2], "cuts": ["M"]}, "with widths or with cuts, not both"),
        (
            {"order": SIZES, "widths": [2, 3]},
            r"3 at level 2 is no multiple of 2.*widths = \[2, 4\]",
        ),
        ({"order": SIZES, "widths": [2, 2]}, "2 at level 2 is no multiple of 2"),
        ({"order": SIZES, "widths": [0]}, "whole numbers of values.*, not 0"),
        ({"order": SIZES, "widths": [1.5]}, "whole numbers of values.*, not 1.5"),
        ({"order": SIZES, "cuts": ["Q"]}, "cuts has 'Q', which is not in order; add it there"),
        (
            {"order": SIZES, "cuts": [["L", "S"]]},
            "cuts of level 1 must be values in the order given",
        ),
        ({"order": SIZES, "cuts": [["S"], ["L"]]}, "'M' and 'L' are both 'S - XL' at level 1"),
        ({"order": SIZES, "cuts": [["S"], "L"]}, "order must list values, and cuts some of them"),
        ({"order": SIZES, "origin": 3}, "origin goes with widths"),
        ({"order": range(10_001)}, "order lists 10,001 values, the most is 10,000; write numbers"),
    ],
)
def test_an_order_that_is_none_is_refused(given_, message):
    with pytest.raises(InputError, match=message):
        Hierarchy.of(given_)


awkward = st.lists(
    st.sampled_from(["a", "b", "-", " - ", '"', "*", ",", "{", "null", "\\"]),
    min_size=1,
    max_size=4,
).map(lambda parts: "".join(parts).strip())


@given(st.lists(awkward.filter(bool), min_size=2, max_size=7, unique=True))
def test_no_two_ranges_of_an_order_read_alike(values):
    scale = Ranks(tuple(values))
    ends = combinations_with_replacement(range(len(values)), 2)
    found = [str(Interval(low, high + 1, scale)) for low, high in ends]
    assert len(set(found)) == len(found)
    assert "*" not in found
    for rank, value in enumerate(values):
        plain = " - " not in value and not value.startswith('"') and value != "*"
        assert (str(Interval(rank, rank + 1, scale)) == value) == plain


@pytest.mark.parametrize(
    ("values", "label"),
    [
        (["a", "b", "c"], "a - c"),
        (["a - b", "b", "c"], '"a - b" - c'),
        (["a -", "b", "- c"], '"a -" - "- c"'),
        (["a-b", "b", "c,d"], "a-b - c,d"),
        (["-", "b", "c"], "- - c"),
    ],
)
def test_values_that_hold_the_mark_are_quoted(values, label):
    assert Hierarchy.order(values, widths=[3]).labels("b")[0].scale.spelled(values) == label


@given(st.integers(2, 12), st.lists(st.integers(2, 3), max_size=3), st.data())
def test_levels_are_nested_and_hold_all_values(size, factors, data):
    values = data.draw(st.permutations([f"v{number}" for number in range(size)]))
    widths = [2]
    for factor in factors:
        widths.append(widths[-1] * factor)
    taxonomy = Hierarchy.order(values, widths=widths).over("size", values[:1])
    for level, width in zip(taxonomy.levels[1:], widths, strict=False):
        expected = [place // width for place in range(size)]
        assert level.groups.tolist() == expected
    for fine, coarse in pairwise(taxonomy.levels):
        assert fine.split_by(coarse) is None
    for level in taxonomy.levels[1:-1]:
        for label in level.labels:
            assert taxonomy.scale.spelled(label.entry()["values"][::-1]) == str(label)


def test_only_consecutive_values_are_a_range():
    scale = Ranks(tuple(SIZES))
    assert scale.spelled(["M", "S"]) == "S - M"
    assert scale.spelled(["M"]) == "M"
    assert scale.spelled(["S", "L"]) is None
    assert scale.spelled(["S", "S"]) is None
    assert scale.spelled(["S", "other"]) is None
    assert scale.spelled([]) is None


def test_a_value_in_the_other_unicode_form_is_no_stranger_without_a_word(tmp_path):
    (tmp_path / "town.csv").write_text("Zürich;CH\nGenève;CH\n")
    towns = Hierarchy.of("town.csv", tmp_path)
    with pytest.raises(InputError, match=r"town.csv are encoded otherwise \(NFC, NFD\): write"):
        towns.over("town", [unicodedata.normalize("NFD", "Zürich")], [9])
    with pytest.raises(InputError, match=r"; add them to .*town.csv"):
        towns.over("town", ["Bern"], [9])
    order = Hierarchy.order(["Genève", "Zürich"])
    with pytest.raises(InputError, match=r"accents in order are encoded otherwise \(NFC, NFD\)"):
        order.over("town", [unicodedata.normalize("NFD", "Zürich")], [9])


NFC, NFD = (unicodedata.normalize(form, "Genève") for form in ("NFC", "NFD"))


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        # All others would have what the study keeps, without a word.
        ({"keep": [NFC]}, [NFD, "Bern"]),
        ({"keep": [NFD, "Bern"]}, [NFC, "Bern"]),
        ({"suppress": True}, [NFC, NFD]),
        ({"prefixes": [2]}, [NFC, NFD]),
    ],
)
def test_values_that_no_eye_tells_apart_are_refused(rule, values):
    with pytest.raises(InputError) as error:
        Hierarchy.of(rule).over("town", values, [9, 2])
    assert "with accents in another form (NFC, NFD), so that no eye tells them apart" in str(error)
    assert str(error.value).endswith("; write them alike")


@pytest.mark.parametrize("spelling", [NFC, NFD])
def test_one_form_is_kept_as_it_is_written(spelling):
    town = Hierarchy.of({"keep": [spelling]}).over("town", [spelling, "Zürich"], [9, 9])
    assert spelling in town.levels[0].labels
    assert spelling in town.levels[1].labels
    both = Hierarchy.from_rows([(NFC, "west"), (NFD, "west"), ("Bern", "centre")])
    assert both.over("town", [NFC, NFD], [9, 9]).height == 2


def test_a_rare_value_in_two_forms_is_not_named():
    with pytest.raises(InputError) as error:
        Hierarchy.suppression().over("town", [NFC, NFD], [2, 3])
    assert "1 value, in 2 records (--show-values" in str(error.value)
    assert "Gen" not in str(error.value)
