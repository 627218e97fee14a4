from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy, showing_values


def labels(hierarchy, values):
    """The labels of each value, level by level."""
    taxonomy = hierarchy.over("age", values)
    codes = taxonomy.encode(values)
    found = [[level.labels[level.groups[code]] for code in codes] for level in taxonomy.levels]
    return [[None if label is None else str(label) for label in each] for each in found]


def read(directory, text, name="age.csv"):
    path = directory / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Hierarchy.read(path)


# Ranges


def test_ranges_of_widths_by_hand():
    assert labels(Hierarchy.ranges(widths=[25, 50]), [24, 25, 49, 50, 99]) == [
        ["24", "25", "49", "50", "99"],
        ["[0, 25)", "[25, 50)", "[25, 50)", "[50, 75)", "[75, 100)"],
        ["[0, 50)", "[0, 50)", "[0, 50)", "[50, 100)", "[50, 100)"],
        ["*", "*", "*", "*", "*"],
    ]


def test_widths_give_a_level_each_between_the_value_and_the_star():
    hierarchy = Hierarchy.ranges(widths=[25, 50])
    assert hierarchy.height == 3
    assert len(hierarchy.over("age", [1, 2]).levels) == 4


@pytest.mark.parametrize(
    ("width", "origin", "value", "label"),
    [
        (10, 0, -1, "[-10, 0)"),
        (10, 0, -10, "[-10, 0)"),
        (10, 0, -10.5, "[-20, -10)"),
        (10, 0, 0, "[0, 10)"),
        (10, 5, 4, "[-5, 5)"),
        (10, 5, 5, "[5, 15)"),
        (10, -3, 7, "[7, 17)"),
        (0.1, 0, 0.3, "[0.3, 0.4)"),
        (0.1, 0, "0.30", "[0.3, 0.4)"),
        (0.1, 0, -0.3, "[-0.3, -0.2)"),
        (2.5, 0.5, 3, "[3, 5.5)"),
        (100, 0, "1E+2", "[100, 200)"),
    ],
)
def test_a_range_holds_its_lower_end(width, origin, value, label):
    hierarchy = Hierarchy.ranges(widths=[width], origin=origin)
    assert labels(hierarchy, [value])[1] == [label]


def test_ranges_between_cuts_by_hand():
    hierarchy = Hierarchy.ranges(cuts=[[18, 30, 65], [30]])
    assert labels(hierarchy, [17, 18, 29, 30, 64.5, 65])[1:] == [
        ["(-inf, 18)", "[18, 30)", "[18, 30)", "[30, 65)", "[30, 65)", "[65, inf)"],
        ["(-inf, 30)", "(-inf, 30)", "(-inf, 30)", "[30, inf)", "[30, inf)", "[30, inf)"],
        ["*"] * 6,
    ]


decimals = st.decimals(-(10**6), 10**6, places=3)


@given(decimals, st.decimals("0.001", 10**4, places=3), st.integers(1, 9), decimals)
def test_ranges_agree_with_exact_fractions(value, width, times, origin):
    hierarchy = Hierarchy.ranges(widths=[width, width * times], origin=origin)
    for found, size in zip(hierarchy.labels(value), [width, width * times], strict=False):
        steps = floor((Fraction(value) - Fraction(origin)) / Fraction(size))
        assert Fraction(found.low) == Fraction(origin) + steps * Fraction(size)
        assert found.high - found.low == size
        assert found.low <= value < found.high


@given(st.lists(decimals, min_size=1, max_size=6, unique=True).map(sorted), decimals)
def test_a_number_lies_between_its_cuts(cuts, value):
    found = Hierarchy.ranges(cuts=[cuts]).labels(value)[0]
    assert found.low == max((cut for cut in cuts if cut <= value), default=None)
    assert found.high == min((cut for cut in cuts if cut > value), default=None)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"widths": [10, 25]}, r"level 2 is not nested: '20' and '25' are both '\[20, 30\)' at le"),
        ({"widths": [5, 10, 15]}, r"level 3 is not nested: '10' and '15' are both '\[10, 20\)'"),
        ({"widths": [50, 25]}, r"level 2 is not nested: '0' and '25' are both '\[0, 50\)'"),
        ({"widths": [10, 25], "origin": 3}, r"not nested: '23' and '28' are both '\[23, 33\)'"),
        ({"cuts": [[10, 20], [15]]}, r"level 2 is not nested: '10' and '15' are both '\[10, 20\)'"),
        ({"cuts": [[10], [5]]}, r"level 2 is not nested: '4' and '5' are both '\(-inf, 10\)'"),
        ({}, "either widths or cuts"),
        ({"widths": [5], "cuts": [[5]]}, "either widths or cuts"),
        ({"widths": [0]}, "must be above 0"),
        ({"widths": [-5]}, "must be above 0"),
        ({"cuts": [[20, 10]]}, "cuts of level 1 must be increasing"),
        ({"cuts": [[10, 20], []]}, "cuts of level 2 must be increasing"),
        ({"cuts": [[10, 10]]}, "cuts of level 1 must be increasing"),
    ],
)
def test_ranges_that_cannot_be(rule, message):
    with pytest.raises(InputError, match=message):
        Hierarchy.ranges(**rule)


@pytest.mark.parametrize("value", ["young", "", "inf", float("inf"), True, "12-17"])
def test_ranges_are_of_numbers(value):
    with pytest.raises(
        InputError, match=r"column 'age' holds 1 value, .* where ranges need numbers"
    ):
        Hierarchy.ranges(widths=[5]).over("age", [1, value])


@pytest.mark.parametrize("value", ["1e30", "1e999999", 1e30])
def test_a_number_out_of_all_bounds_is_refused_or_ranged(value):
    try:
        found = labels(Hierarchy.ranges(widths=[5]), [1, value])
    except InputError:
        return
    assert found[1][0] == "[0, 5)"


# Prefixes and suppression


def test_prefixes_by_hand():
    assert labels(Hierarchy.prefixes([4, 2]), ["47906", "47302", "4", 47906]) == [
        ["47906", "47302", "4", "47906"],
        ["4790*", "4730*", "4", "4790*"],
        ["47***", "47***", "4", "47***"],
        ["*"] * 4,
    ]


@pytest.mark.parametrize("lengths", [[], [0], [2, 2], [2, 4], [3, 0]])
def test_prefixes_must_fall(lengths):
    with pytest.raises(InputError, match="falling whole lengths of at least 1"):
        Hierarchy.prefixes(lengths)


def test_suppression_keeps_all_or_nothing():
    assert labels(Hierarchy.suppression(), ["f", "m"]) == [["f", "m"], ["*", "*"]]


# Values


@pytest.mark.parametrize(
    "hierarchy",
    [
        Hierarchy.from_rows([["38", "low"], ["39", "high"]]),
        Hierarchy.ranges(widths=[10]),
        Hierarchy.prefixes([1]),
        Hierarchy.suppression(),
    ],
)
def test_one_value_however_written(hierarchy):
    values = [38, 39, "39", 39.0, " 39", "39 ", np.int8(39), np.float64(39), Decimal(39)]
    codes = hierarchy.over("age", values).encode(values)
    assert set(codes[1:]) == {codes[1]} != {codes[0]}


def test_a_value_that_was_not_there_has_no_code():
    assert Hierarchy.ranges(widths=[5]).over("age", [1]).encode([1, 2, "x", None]).tolist() == [
        0,
        -1,
        -1,
        -1,
    ]


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan])
@pytest.mark.parametrize(
    "hierarchy",
    [
        Hierarchy.from_rows([["1", "low"], ["2", "high"]]),
        Hierarchy.ranges(widths=[5, 10]),
        Hierarchy.prefixes([3, 1]),
        Hierarchy.suppression(),
    ],
)
def test_a_missing_value_is_one_of_its_own_and_star_at_the_top_alone(hierarchy, missing):
    found = labels(hierarchy, [1, missing, 2])
    assert [level[1] for level in found[1:]] == [None] * (hierarchy.height - 1) + ["*"]
    assert len(set(found[0])) == 3


@pytest.mark.parametrize("top", ["any", "*"])
def test_a_missing_value_joins_the_others_at_the_top_alone(top):
    taxonomy = Hierarchy.from_rows([["1", "x", top], ["2", "y", top]]).over("age", ["1", None])
    assert len(taxonomy.levels[1]) == 3
    assert len(taxonomy.levels[-1]) == 1


# Tables


def test_a_table_by_hand():
    hierarchy = Hierarchy.from_rows([["nurse", "health"], ["vet", "health"], ["smith", "craft"]])
    assert labels(hierarchy, ["smith", "vet", "nurse"]) == [
        ["smith", "vet", "nurse"],
        ["craft", "health", "health"],
        ["*", "*", "*"],
    ]


@pytest.mark.parametrize(
    ("rows", "height"),
    [
        ([["a"], ["b"]], 1),
        ([["a", "*"], ["b", "*"]], 1),
        ([["a", "x"], ["b", "y"]], 2),
        ([["a", "x", "any"], ["b", "y", "any"]], 2),
    ],
)
def test_a_table_ends_in_one_group(rows, height):
    hierarchy = Hierarchy.from_rows(rows)
    assert hierarchy.height == height
    assert len(set(labels(hierarchy, [row[0] for row in rows])[-1])) == 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [["1", "x", "A"], ["2", "x", "B"]],
            "level 2 is not nested: '1' and '2' are both 'x' at level 1 but fall apart at level 2",
        ),
        (
            [["1", "x", "A", "p"], ["2", "y", "A", "q"]],
            "level 3 is not nested: '1' and '2' are both 'A' at level 2",
        ),
        ([["1", "x"], ["1", "y"]], "value '1' stands twice, with different labels"),
        ([["1", "x"], [1.0, "y"]], "value '1' stands twice"),
        ([["1", "x"], ["2"]], "row 2 has 1 columns, the first has 2"),
        ([], "at least one row"),
        ([[]], "at least one row"),
    ],
)
def test_tables_that_cannot_be(rows, message):
    with pytest.raises(InputError, match=message):
        Hierarchy.from_rows(rows)


def test_a_value_twice_with_the_same_labels_is_one():
    hierarchy = Hierarchy.from_rows([["1", "x"], [" 1", "x"], ["2", "y"]])
    assert labels(hierarchy, ["1", "2"])[1] == ["x", "y"]


@st.composite
def nested_rows(draw):
    values = draw(
        st.lists(st.text("ab1. é", min_size=1, max_size=4), min_size=1, unique_by=str.strip)
    )
    groups, size = list(range(len(values))), max(5, len(values))
    rows = [[value] for value in values]
    for level in range(draw(st.integers(0, 3))):
        merge = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))
        groups = [merge[group] for group in groups]
        for row, group in zip(rows, groups, strict=True):
            row.append(f"{level}-{group}")
    return rows


@given(nested_rows(), st.randoms(use_true_random=False))
def test_every_level_coarsens_the_one_before_in_whatever_order(rows, random):
    values = [row[0] for row in rows]
    found = labels(Hierarchy.from_rows(rows), values)
    for fine, coarse in pairwise(found):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))
    assert len(set(found[0])) == len(values)
    assert len(set(found[-1])) == 1

    shuffled, others = list(rows), list(values)
    random.shuffle(shuffled)
    random.shuffle(others)
    again = labels(Hierarchy.from_rows(shuffled), others)
    by_value = [dict(zip(others, level, strict=True)) for level in again]
    assert [[level[value] for value in values] for level in by_value] == found


@given(st.lists(st.tuples(*[st.sampled_from("xyz")] * 3), min_size=1, max_size=6))
def test_a_table_is_refused_just_when_a_level_tears_the_one_before(columns):
    rows = [[str(number), *row] for number, row in enumerate(columns)]
    torn = any(
        len({row[level + 1] for row in columns if row[level] == label}) > 1
        for level in range(2)
        for label in "xyz"
    )
    if torn:
        with pytest.raises(InputError, match=r"level [23] is not nested"):
            Hierarchy.from_rows(rows)
    else:
        assert Hierarchy.from_rows(rows).height in (3, 4)


# Files


PLAIN = "1;low;any\n2;low;any\n30;high;any\n"
EXPECTED = [["1", "2", "30"], ["low", "low", "high"], ["any"] * 3]


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "age;level 1;level 2\n" + PLAIN,
        "value;level1;level2\n" + PLAIN,
        "Years;band;all\n" + PLAIN,
        PLAIN.replace(";", ","),
        PLAIN.replace(";", "\t"),
        PLAIN.replace(";", "|"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.rstrip("\n"),
        "\ufeff" + PLAIN,
        "\ufeffage;a;b\r\n" + PLAIN.replace("\n", "\r\n"),
        "\n" + PLAIN.replace("\n", "\n\n"),
        PLAIN.replace(";", " ; "),
        PLAIN.replace("low", '"low"'),
    ],
)
def test_a_table_file_however_written(tmp_path, text):
    assert labels(read(tmp_path, text), ["1", "2", "30"]) == EXPECTED


def test_a_quoted_label_may_hold_the_separator(tmp_path):
    hierarchy = read(tmp_path, '1,"low, very",*\n2,high,*\n')
    assert labels(hierarchy, ["1", "2"])[1] == ["low, very", "high"]


@pytest.mark.parametrize("label", ["a\nb", "a\u2028b", "a\x0cb"])
def test_a_label_may_hold_a_line_break(tmp_path, label):
    hierarchy = read(tmp_path, f'1,"{label}",*\n2,"{label}",*\n')
    assert labels(hierarchy, ["1", "2"])[1] == [label, label]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the hierarchy file is empty"),
        (" \n\n", "the hierarchy file is empty"),
        ("1;a;*\n2;b\n3;c;*\n", "row 2 has 2 columns, the first has 3"),
        ("1;a;*\n1;b;*\n", "value '1' stands twice, with different labels"),
        ("1;a;*\n2;;*\n", "row 2 has no label at level 1; an empty one would pass for a missing"),
        ("1;x;A\n2;x;B\n", "level 2 is not nested: '1' and '2' are both 'x' at level 1"),
        (b"1;gr\xfcn\n", "it is not UTF-8 text"),
        ("1;" + "x" * 200_000 + "\n2;y\n", r"age\.csv"),
    ],
)
def test_table_files_that_cannot_be(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as error:
        read(tmp_path, text)
    assert str(tmp_path / "age.csv") in str(error.value)


@pytest.mark.parametrize("name", ["none.csv", "none.toml", ".", "a\0b"])
def test_a_file_that_cannot_be_read(tmp_path, name):
    with pytest.raises(InputError, match="cannot read hierarchy"):
        Hierarchy.read(tmp_path / name)


def test_a_value_the_file_lacks_is_named_with_the_file_where_five_records_have_it(tmp_path):
    hierarchy = read(tmp_path, PLAIN)
    message = r"column 'age' holds 2 values, in 12 records \('31', 'x'\) that "
    with pytest.raises(InputError, match=message) as e:
        hierarchy.over("age", ["1", "31", "x"], [1, 7, 5])
    assert f"add them to {tmp_path / 'age.csv'}" in str(e.value)


@pytest.mark.parametrize(
    "hierarchy", [Hierarchy.from_rows([["1", "x"]]), Hierarchy.ranges(widths=[5])]
)
def test_a_value_of_few_records_is_counted_and_named_on_request(hierarchy):
    def refused(*sizes):
        with pytest.raises(InputError) as error:
            hierarchy.over("age", ["1", "CANAGE", "often", " CANAGE "], sizes or None)
        return str(error.value)

    hidden = "--show-values (in Python, showing_values()) names what fewer than 5 records have"
    assert f"holds 2 values, in 9 records ('often'; {hidden})" in refused(1, 2, 5, 2)
    assert f"holds 2 values, in 3 records ({hidden})" in refused()
    assert "('CANAGE', 'often')" in refused(1, 2, 5, 3)  # as one text: five records
    with showing_values():
        assert "holds 2 values, in 9 records ('CANAGE', 'often')" in refused(1, 2, 5, 2)
    assert "CANAGE" not in refused(1, 2, 5, 2)


def test_no_more_than_three_values_are_named():
    with pytest.raises(InputError, match=r"in 25 records \('a', 'b', 'c', \.\.\.\) that"):
        Hierarchy.from_rows([["1", "x"]]).over("age", list("abcde"), [5] * 5)


class Torn(Hierarchy):
    """Level 2 tells apart what level 1 did not."""

    height = 3

    def label_at(self, level, key):
        return "all" if level == 1 else str(key)

    def rule(self):
        return {}


def test_levels_that_are_not_nested_over_a_column_name_no_value():
    shown = (
        r"level 2 is not nested: two values that --show-values .* names share a label at level 1"
    )
    with pytest.raises(InputError, match=shown) as error:
        Torn().over("q", ["MARKER", "other"])
    assert "MARKER" not in str(error.value)
    named = "'MARKER' and 'other' are both 'all' at level 1 but fall apart"
    with showing_values(), pytest.raises(InputError, match=named):
        Torn().over("q", ["MARKER", "other"])


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("widths = [25, 50]", 30, ["30", "[25, 50)", "[0, 50)", "*"]),
        ("widths = [10]\norigin = 5", 30, ["30", "[25, 35)", "*"]),
        ("widths = [0.1]", 0.3, ["0.3", "[0.3, 0.4)", "*"]),
        ("cuts = [18, 65]", 30, ["30", "[18, 65)", "*"]),
        ("cuts = [[18, 65], [18]]", 30, ["30", "[18, 65)", "[18, inf)", "*"]),
        ("prefixes = [4, 2]", "47906", ["47906", "4790*", "47***", "*"]),
        ("suppress = true", "x", ["x", "*"]),
    ],
)
def test_a_rule_file_by_hand(tmp_path, text, value, expected):
    hierarchy = read(tmp_path, text, "age.toml")
    assert [level[0] for level in labels(hierarchy, [value])] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("width = [25]", "unknown key 'width'; did you mean 'widths'"),
        ("banana = 1", "unknown key 'banana'; known are widths, cuts, prefixes, "),
        ("widths = [25]\ncuts = [1]", r"widths and cuts are two rules; leave one, such as \{ wid"),
        (
            "origin = 3",
            r"give exactly one rule: widths, cuts, .*; such as \{ widths = \[5, 10\] \}",
        ),
        ("cuts = [1]\norigin = 3", "origin goes with widths"),
        ("widths = 25", r"widths must be a list, such as widths = \[25\]$"),
        ("prefixes = 3", "prefixes must be a list"),
        ("suppress = false", "suppress can only be true"),
        ("suppress = 1", "suppress can only be true"),
        ("widths = []", r"widths must be a list, such as widths = \[5, 10\]"),
        ("cuts = []", "cuts must be a list, such as cuts = "),
        ("widths = ['wide']", "must be (numbers, not|a list of numbers)"),
        ("widths = [true]", "must be (numbers, not|a list of numbers)"),
        ("widths = [nan]", "must be (numbers, not|a list of numbers)"),
        ("widths = [5]\norigin = '3'", "must be (numbers, not|a list of numbers)"),
        ("cuts = ['a']", "must be (numbers, not|a list of numbers)"),
        ("cuts = [[10, 20], 20]", "must be (numbers, not|a list of numbers)"),
        ("cuts = [20, [10]]", "must be (numbers, not|a list of numbers)"),
        ("prefixes = [2.0]", "falling whole lengths"),
        ("prefixes = [true]", "falling whole lengths"),
        ("prefixes = [2, 3]", "falling whole lengths"),
        ("widths = [10, 25]", "level 2 is not nested: '20' and '25'"),
        ("widths = [10", "not a TOML file"),
        ("", "is empty"),
    ],
)
def test_rule_files_that_cannot_be(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as error:
        read(tmp_path, text, "age.toml")
    assert str(tmp_path / "age.toml") in str(error.value)


def test_what_a_study_states_becomes_a_hierarchy(tmp_path):
    (tmp_path / "zip.toml").write_text("prefixes = [1]")
    known = Hierarchy.suppression()
    assert Hierarchy.of(known) is known
    assert Hierarchy.of("suppress").describe() == {"suppress": True}
    assert Hierarchy.of("zip.toml", tmp_path).describe() == {"prefixes": [1]}
    with pytest.raises(InputError, match=r"write age = \{ widths = \[3\] \}$"):
        Hierarchy.of(3, attribute="age")


# What a manifest may show


def test_values_that_only_the_table_holds_are_not_described_once_hidden():
    taxonomy = Hierarchy.prefixes([1]).over("zip", ["47906", "47302", None])
    four, missing = {"label": "4****", "masked": [1, 5]}, {"label": None}
    assert taxonomy.describe(taxonomy.levels[1], {"4****", None}) == [four, missing]
    assert taxonomy.describe(taxonomy.levels[1], {None}) == [missing]  # nobody in 4 is left
    assert taxonomy.describe(taxonomy.levels[2], {"*"}) == [{"label": "*"}]


def test_values_that_the_steward_listed_are_described():
    taxonomy = Hierarchy.from_rows([["f", "x"], ["m", "x"]]).over("sex", ["f"])
    assert taxonomy.describe(taxonomy.levels[1], set()) == [{"label": "x", "values": ["f", "m"]}]


def test_a_missing_value_that_is_hidden_is_not_described():
    rows = [["1", "low", "any"], ["2", "high", "any"]]
    taxonomy = Hierarchy.from_rows(rows).over("a", ["1", None])
    low, high = {"label": "low", "values": ["1"]}, {"label": "high", "values": ["2"]}
    missing = {"label": None, "values": []}
    assert taxonomy.describe(taxonomy.levels[1], {"low"}) == [low, high]
    assert taxonomy.describe(taxonomy.levels[1], {"low", None}) == [low, high, missing]
    assert taxonomy.describe(taxonomy.levels[2], {"any"}) == [
        {"label": "any", "values": ["1", "2"]}
    ]
    each = [{"label": "1", "values": ["1"]}, {"label": "2", "values": ["2"]}]
    assert taxonomy.describe(taxonomy.levels[0], {"1"}) == each


def test_listed_values_are_described_as_the_file_writes_them_unless_released():
    taxonomy = Hierarchy.from_rows([["1", "x"], ["2", "x"], ["3", "x"]]).over("a", [1.0, 2.0])
    described = taxonomy.describe(taxonomy.levels[0], {"1"})
    assert [group["label"] for group in described] == ["1.0", "2", "3"]
