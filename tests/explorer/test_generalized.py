"""What a hierarchy makes of its column, by hand and by pandas; rules of studies; files."""

from decimal import Decimal

import pandas as pd
import pytest
from explorer.conftest import small_study

from anonymizer.errors import InputError
from anonymizer.explorer.answers.counted import Counter
from anonymizer.explorer.answers.generalized.hierarchies import (
    classes_by_level,
    generalized_of,
    level_now,
    listed_of,
    records_of_numbers,
    rows_in,
    rule_in,
    with_limits,
)
from anonymizer.explorer.answers.outcome import outcome_of
from anonymizer.explorer.session.contents import with_rule
from anonymizer.explorer.session.hierarchies import kept_rows, saved_rows, saved_rule
from anonymizer.explorer.session.session import Session
from anonymizer.hierarchy import Hierarchy
from anonymizer.release.study import Study

ROWS = [("Rome", "South", "*"), ("Oslo", "North", "*")]


@pytest.fixture
def counted(tmp_path):
    return Counter().counted(Study(small_study(tmp_path)))


def test_the_tree_by_hand(counted):
    found = generalized_of(counted, "age")
    lines = [(each.level, each.label, each.records, each.values) for each in found.groups]
    assert lines[:4] == [
        (3, "*", 12, 12),
        (2, "[20, 40)", 8, 8),
        (1, "[20, 30)", 4, 4),
        (0, "21", 1, 1),
    ]
    assert found.groups[3].parent == 2
    assert [use.groups for use in found.levels] == [12, 3, 2, 1]
    assert found.span == (Decimal(21), Decimal(44))
    assert found.labels_at(1) == ["[20, 30)", "[30, 40)", "[40, 50)"]
    assert len(records_of_numbers(found)) == 12


def test_the_largest_groups_are_shown_with_what_they_are_in(counted):
    found = generalized_of(counted, "age")
    assert [found.groups[place].label for place in found.shown("", 3)] == [
        "*",
        "[20, 40)",
        "[40, 60)",
    ]
    assert [found.groups[place].label for place in found.shown("44", 9)] == [
        "*",
        "[40, 60)",
        "[40, 50)",
        "44",
    ]
    assert {found.groups[place].level for place in found.shown("", 99, 1)} == {1, 2, 3}


def test_classes_by_level_as_pandas_counts_them(counted, tmp_path):
    outcome = outcome_of(counted)
    table = pd.read_csv(tmp_path / "people.csv")
    levels, cities = level_now(outcome, "age"), level_now(outcome, "city")
    assert levels is not None
    city = table["city"] if cities == 0 else pd.Series("*", table.index)
    found = classes_by_level(outcome, "age")
    for level, age in enumerate(
        [table["age"], table["age"] // 10, table["age"] // 20, pd.Series(0, table.index)]
    ):
        sizes = pd.DataFrame({"age": age, "city": city}).value_counts()
        assert (found[level].classes, found[level].smallest) == (len(sizes), sizes.min())


def test_a_hierarchy_that_lacks_values_says_which(tmp_path):
    path = small_study(tmp_path)
    (tmp_path / "city.csv").write_text("Rome;*\nParis;*\n")
    path.write_text(path.read_text().replace('"suppress"', '"city.csv"'))
    found = generalized_of(Counter().counted(Study(path)), "city")
    assert found.lacking == {"Oslo": 5}
    assert found.groups == ()
    with pytest.raises(InputError, match="does not cover"):
        listed_of(found)


def test_a_rule_becomes_a_table_of_labels(counted):
    found = generalized_of(counted, "city")
    assert sorted(listed_of(found)) == [("Oslo", "*"), ("Rome", "*")]
    assert rows_in(found.hierarchy) is None


def test_rules_of_studies_are_read(tmp_path):
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "age.toml").write_text("widths = [5, 10]\nmax-level = 2\n")
    (tmp_path / "h" / "list.toml").write_text('file = "age.csv"\n')
    assert rule_in("suppress", tmp_path) == {"suppress": True}
    assert rule_in("h/age.toml", tmp_path) == {"widths": [5, 10], "max-level": 2}
    assert rule_in({"file": "h/age.toml", "max-level": 1}, tmp_path)["max-level"] == 1
    assert rule_in("h/list.toml", tmp_path) == {"file": "h/age.csv"}
    with pytest.raises(InputError, match="no hierarchy"):
        rule_in(3, tmp_path)


def test_limits_that_a_rule_has_no_levels_for_go(tmp_path):
    rule = {"widths": [5], "max-level": 3, "min-level": 1}
    assert with_limits(rule, tmp_path) == {"widths": [5], "min-level": 1}
    with pytest.raises(InputError, match="multiple"):
        with_limits({"widths": [5, 7]}, tmp_path)


def test_tables_are_kept_by_their_content_and_undone(tmp_path):
    session = Session(small_study(tmp_path))
    first = kept_rows(session, "city", ROWS)
    second = kept_rows(session, "city", [("Rome", "*"), ("Oslo", "*")])
    assert first != second
    assert first == kept_rows(session, "city", ROWS)
    session.take("city", lambda content: with_rule(content, "city", first))
    session.take("city", lambda content: with_rule(content, "city", second))
    session.undo()
    assert rows_in(session.study().hierarchies["city"]) == ROWS


def test_a_first_row_is_never_taken_for_a_header(tmp_path):
    session = Session(small_study(tmp_path))
    rows = [("value", "a", "*"), ("1", "b;c", "*"), ("2", 'say "x"', "*")]
    path = kept_rows(session, "odd/name", rows)
    assert rows_in(Hierarchy.read(tmp_path / path)) == rows


def test_files_are_saved_next_to_the_study_and_replaced_only_when_told(tmp_path):
    session = Session(small_study(tmp_path))
    path = saved_rows(session, "city", ROWS, replace=False)
    assert path == "hierarchies/city.csv"
    assert rows_in(Hierarchy.read(tmp_path / path)) == ROWS
    with pytest.raises(InputError, match="tick Replace"):
        saved_rows(session, "city", ROWS[:1], replace=False)
    saved_rows(session, "city", ROWS[:1], replace=True)
    assert len(rows_in(Hierarchy.read(tmp_path / path))) == 1
    rule = saved_rule(session, "age", {"widths": [5, 10]}, replace=False)
    assert Hierarchy.read(tmp_path / rule).height == 3
