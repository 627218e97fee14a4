"""Groups of listed hierarchies edited: by hand, and whatever is done levels stay nested."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.errors import InputError
from anonymizer.explorer.answers.generalized.groups import (
    moved,
    renamed,
    with_group,
    with_level,
    with_values,
    without_group,
    without_level,
)
from anonymizer.hierarchy import Hierarchy

ROWS = [
    ("1st", "low", "school", "*"),
    ("2nd", "low", "school", "*"),
    ("9th", "mid", "school", "*"),
    ("BA", "uni", "degree", "*"),
    ("MA", "uni", "degree", "*"),
]

ACTS = [
    moved,
    lambda rows, level, label, into: renamed(rows, level, label, into + "x"),
    lambda rows, level, label, into: with_group(rows, level, "new", [label, into]),
    lambda rows, level, label, into: without_group(rows, level, label),
    lambda rows, level, label, into: with_level(rows, level),
    lambda rows, level, label, into: without_level(rows, level),
]


def test_a_group_is_renamed_at_its_level_alone():
    assert renamed(ROWS, 2, "school", "low")[0] == ("1st", "low", "low", "*")
    with pytest.raises(InputError, match="move this one's members"):
        renamed(ROWS, 1, "low", "mid")
    with pytest.raises(InputError, match="needs a name"):
        renamed(ROWS, 1, "low", " ")
    with pytest.raises(InputError, match="needs a name"):
        renamed(ROWS, 1, "low", "*")
    with pytest.raises(InputError, match="choose a level between"):
        renamed(ROWS, 3, "*", "all")


def test_a_value_and_a_group_are_moved():
    assert moved(ROWS, 0, "9th", "uni")[2] == ("9th", "uni", "degree", "*")
    found = moved(ROWS, 1, "mid", "degree")
    assert found[2] == ("9th", "mid", "degree", "*")
    assert found[:2] == ROWS[:2]
    with pytest.raises(InputError, match="no such group"):
        moved(ROWS, 0, "9th", "nowhere")


def test_a_group_is_made_of_values_of_several_groups():
    found = with_group(ROWS, 1, "old", ["2nd", "9th"])
    assert [row[1] for row in found] == ["low", "old", "old", "uni", "uni"]
    crossing = with_group(ROWS, 1, "odd", ["9th", "BA"])
    assert crossing[3] == ("BA", "odd", "school", "*")
    with pytest.raises(InputError, match="choose some"):
        with_group(ROWS, 1, "old", [])
    with pytest.raises(InputError, match="another one"):
        with_group(ROWS, 1, "uni", ["1st"])


def test_a_group_is_taken_apart():
    found = without_group(ROWS, 1, "low")
    assert [row[1] for row in found] == ["1st", "2nd", "mid", "uni", "uni"]
    clash = [("low", "a", "*"), ("x", "low", "*")]
    with pytest.raises(InputError, match="rename that"):
        without_group(clash, 1, "a")


def test_levels_are_added_and_removed():
    more = with_level(ROWS, 1)
    assert more[0] == ("1st", "low", "low", "school", "*")
    assert without_level(more, 2) == ROWS
    with pytest.raises(InputError, match="highest"):
        with_level(ROWS, 3)
    with pytest.raises(InputError, match="choose a level between"):
        without_level(ROWS, 3)


def test_values_that_lack_stand_alone():
    assert with_values(ROWS, ["PhD", "MA"])[-1] == ("PhD", "PhD", "PhD", "*")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_is_done_it_is_a_hierarchy_of_the_same_values(data):
    rows = ROWS
    for _ in range(data.draw(st.integers(1, 6))):
        height = len(rows[0]) - 1
        level = data.draw(st.integers(0, height))
        label = data.draw(st.sampled_from([row[level] for row in rows]))
        into = data.draw(st.sampled_from([row[min(level + 1, height)] for row in rows]))
        try:
            rows = data.draw(st.sampled_from(ACTS))(rows, level, label, into)
        except (InputError, IndexError):
            continue
        assert [row[0] for row in rows] == [row[0] for row in ROWS]
        Hierarchy.from_rows(rows)
