"""Grounds: the level that values are counted at, and what stands for all that are alike there."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import TCloseness
from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.reading import of_rule, rule_alone

ROWS = [["a1", "a", "x"], ["a2", "a", "x"], ["b1", "b", "x"], ["c1", "c", "y"]]

numbers = st.integers(-50, 250) | st.decimals(-50, 250, places=2)
texts = st.text("0123456789ab", min_size=1, max_size=6)
days = st.integers(0, 40_000).map(lambda day: str(date(1900, 1, 1) + timedelta(day)))

KINDS = {
    "calendar": (Hierarchy.calendar(["year", "decade"]).grounded("month"), days),
    "instants": (Hierarchy.calendar(["day"]).grounded("hour"), st.datetimes().map(str)),
    "widths": (Hierarchy.ranges(widths=[20, 100], origin=5).grounded(4), numbers),
    "cuts": (Hierarchy.ranges(cuts=[[20, 80], [80]]).grounded([0, 20, 50, 80, 100]), numbers),
    "prefixes": (Hierarchy.prefixes([3, 1]).grounded(4), texts),
    "suffixes": (Hierarchy.suffixes([3, 1], mask="#").grounded(3), texts),
    "redact": (Hierarchy.redact([2, 4], side="left").grounded(1), texts),
    "keep": (Hierarchy.keep(["1", "2"], ["1"]).grounded(1), texts),
    "order": (
        Hierarchy.order(list("ABCDEFG"), widths=[4]).grounded(2),
        st.sampled_from("ABCDEFG"),
    ),
    "listed": (
        Hierarchy.from_rows(ROWS).grounded(1),
        st.sampled_from([row[0] for row in ROWS]),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_what_stands_for_a_cell_has_the_labels_of_every_value_in_it(kind, data):
    hierarchy, values = KINDS[kind]
    value, other = data.draw(values), data.draw(values)
    keys = [hierarchy.key(each) for each in (value, other)]
    cells = [hierarchy.cell(key) for key in keys]
    rows = [hierarchy.labels_of(key) for key in keys]
    assert hierarchy.labels_of(cells[0]) == rows[0]
    below = range(1, hierarchy.height)
    assert (*(hierarchy.label_at(level, keys[0]) for level in below), hierarchy.top) == rows[0]
    assert hierarchy.cell(cells[0]) == cells[0]
    assert (cells[0] == cells[1]) == (str(rows[0][0]) == str(rows[1][0]))
    taxonomy = hierarchy.over("a", [value, other, None])
    assert (taxonomy.encode([value])[0] == taxonomy.encode([other])[0]) == (cells[0] == cells[1])
    label = taxonomy.levels[0].labels[taxonomy.encode([value])[0]]
    assert str(label) == str(rows[0][0])  # the value itself is nowhere


@pytest.mark.parametrize("kind", KINDS)
def test_a_ground_is_part_of_the_rule_and_read_again(kind):
    hierarchy, _ = KINDS[kind]
    assert hierarchy.describe()["ground"] is not None
    assert hierarchy.limits.min_level == hierarchy.limits.ground == 1
    rule = rule_alone(hierarchy)
    assert (rule is None) == (kind in ("keep", "order", "listed"))
    if rule is not None:
        assert of_rule(rule).describe() == hierarchy.describe()


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ({"calendar": ["year"], "ground": "month"}, ["2024-03", "2024", "*"]),
        ({"calendar": ["month", "year"], "ground": "month"}, ["2024-03", "2024", "*"]),
    ],
)
def test_a_ground_that_is_no_level_yet_becomes_the_first(given, labels):
    hierarchy = Hierarchy.of(given)
    assert [str(label) for label in hierarchy.labels("2024-03-05")] == labels
    assert Hierarchy.of({**given, "max-level": 2}).limits.max_level == 2


def test_a_level_of_a_table_is_a_ground(tmp_path):
    path = tmp_path / "code.csv"
    path.write_text("".join(f"{';'.join(row)};*\n" for row in ROWS))
    hierarchy = Hierarchy.of({"file": str(path), "ground": 2, "min-level": 1})
    assert hierarchy.limits.min_level == 2
    taxonomy = hierarchy.over("code", ["a2", "b1", "c1"])
    assert taxonomy.encode(["a1", "a2", "b1", "c1"]).tolist() == [0, 0, 0, 3]
    assert not Hierarchy.from_rows([["1", "0-4"], ["7", "5-9"]]).grounded(1).ordered


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"calendar": ["month"], "ground": "year"}, "a month is finer; give ground = 'month'"),
        ({"calendar": ["month"], "ground": "days"}, "is no unit of a calendar"),
        ({"calendar": ["month"], "ground": "week"}, "a week may be in two units of a month"),
        ({"widths": [1500], "ground": 1000}, "would divide its cells; give a ground that 1500"),
        ({"widths": [1000], "ground": 2000}, "leave that width out"),
        ({"widths": [1000], "ground": "month"}, "must be a width above 0, such as ground = 1000"),
        ({"widths": [1000], "ground": True}, "must be a width above 0"),
        ({"cuts": [20, 40], "ground": [10, 20]}, "the cut 40 of level 1 would divide a cell"),
        ({"cuts": [20], "ground": 10}, "must list up to 1,024 cut points"),
        ({"cuts": [0], "ground": [*range(1025)]}, "must list up to 1,024 cut points"),
        ({"prefixes": [3], "ground": 2}, "would divide its codes; give ground = 3"),
        ({"redact": [3], "ground": 4}, "would divide its codes; give ground = 3"),
        ({"prefixes": [3], "ground": "3"}, "must be a length, such as ground = 3"),
        ({"order": ["a", "b", "c", "d"], "widths": [3], "ground": 2}, "no multiple of 2"),
        ({"keep": ["a"], "ground": 2}, "must be a level of this hierarchy below the highest one"),
        ({"suppress": True, "ground": 1}, "no level that values could be counted at"),
        ({"widths": [5], "ground": 5, "max-level": 0}, "max-level = 0 is below the ground"),
    ],
)
def test_grounds_that_cannot_be_counted_at(given, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        Hierarchy.of(given)


def test_the_hierarchy_of_sensitive_values_has_no_ground():
    hierarchy = Hierarchy.from_rows(ROWS).grounded(1)
    with pytest.raises(
        InputError, match="a ground is for quasi-identifiers, not for the hierarchy"
    ):
        TCloseness(0.2, distance="hierarchical", hierarchy=hierarchy)
