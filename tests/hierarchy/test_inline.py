"""Rules as tables of keys: in a study's line, in a file, or as a mapping; and their limits."""

from decimal import Decimal
from pathlib import Path

import pytest

from anonymizer import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.partition import Limits
from anonymizer.hierarchy.reading import LIMITS, RULES
from anonymizer.tables.reading import parsed_toml


@pytest.fixture(autouse=True)
def education(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("education.csv").write_text("9th;school;*\nBachelors;college;*\n")
    Path("zcta.csv").write_text("zip,people\n02139,36434\n")


def test_a_mapping_is_the_hierarchy_that_its_rule_describes():
    assert Hierarchy.of({"widths": [5, 10], "origin": 2}) == Hierarchy.ranges([5, 10], origin=2)
    assert Hierarchy.of({"cuts": [18, 65]}) == Hierarchy.ranges(cuts=[[18, 65]])
    assert Hierarchy.of({"prefixes": (4, 3)}) == Hierarchy.prefixes([4, 3])
    assert Hierarchy.of({"suppress": True}) == Hierarchy.suppression()
    assert Hierarchy.of({"file": "education.csv"}) == Hierarchy.read("education.csv")


def test_paths_of_a_mapping_start_at_the_directory(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "age.toml").write_text("widths = [5]")
    found = Hierarchy.of({"file": "age.toml", "min-level": 1}, tmp_path / "deep")
    assert found == Hierarchy.ranges([5]).limited(min_level=1)


@pytest.mark.parametrize("name", RULES)
def test_the_example_of_every_rule_is_one(name):
    table = parsed_toml(f"rule = {{ {RULES[name].example} }}")["rule"]
    assert name in table
    assert Hierarchy.of(table).height >= 1


def test_a_rule_file_is_the_same_table(tmp_path):
    Path("age.toml").write_text("widths = [5, 10]\nmin-level = 1\nmax-level = 2\ngrid = [20, 40]\n")
    limits = Hierarchy.read("age.toml").limits
    assert limits == Limits(1, 2, (Decimal(20), Decimal(40)))
    Path("school.toml").write_text('file = "education.csv"\nmax-level = 1\n')
    assert Hierarchy.read("school.toml").limits == Limits(max_level=1)
    together = Hierarchy.of({"file": "age.toml", "max-level": 1, "grid": 3})
    assert together.limits == Limits(1, 1, 3)


def test_rule_files_do_not_refer_to_each_other():
    Path("loop.toml").write_text('file = "loop.toml"\n')
    with pytest.raises(InputError, match=r"^loop\.toml: a rule file may not refer to another one"):
        Hierarchy.read("loop.toml")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"width": [5]}, "unknown key 'width'; did you mean 'widths'?"),
        ({"widths": [5], "min_level": 1}, "unknown key 'min_level'; did you mean 'min-level'?"),
        ({"banana": [5]}, "unknown key 'banana'; known are widths, cuts, "),
        ({}, "give exactly one rule: widths, cuts, "),
        ({"grid": 5}, "give exactly one rule: widths, cuts, "),
        ({"widths": [5], "prefixes": [2]}, "widths and prefixes are two rules; leave one, such as"),
        ({"suppress": True, "origin": 2}, "origin goes with widths, such as { widths = [5, 10] }"),
        ({"widths": 5}, "widths must be a list, such as widths = [5]"),
        ({"widths": "5, 10"}, "widths must be a list, such as widths = [5, 10]"),
        ({"file": 5}, 'file must be a path in quotes, such as file = "education.csv"'),
        ({"file": "none.csv"}, "cannot read hierarchy none.csv"),
        ({"widths": [5], "min-level": 3}, "min-level = 3 is no level of this hierarchy; it has le"),
        ({"widths": [5], "max-level": 3}, "max-level = 3 is no level of this hierarchy; it has le"),
        ({"widths": [5], "max-level": -1}, "max-level = -1 must be a level, a whole number of at"),
        ({"widths": [5], "min-level": True}, "min-level = True must be a level"),
        ({"widths": [5], "min-level": "a"}, "min-level = 'a' must be a level"),
        (
            {"widths": [5, 10], "min-level": 2, "max-level": 1},
            "min-level = 2 is above max-level = 1; it must be at most that",
        ),
        ({"widths": [5], "grid": 0}, "grid = 0 must be a number of cut points of at least 1, or a"),
        ({"widths": [5], "grid": "ten"}, "such as grid = 100 or grid = [20, 40]"),
        ({"widths": [5], "grid": []}, "grid must list increasing cut points"),
        ({"widths": [5], "grid": [20, 20]}, "grid must list increasing cut points"),
        ({"widths": [5], "grid": ["a"]}, "cut points of grid must be numbers, not 'a'"),
        ({"widths": [5], "grid": [True]}, "cut points of grid must be numbers, not True"),
        ({"suppress": True, "grid": 5}, "grid is for ranges of numbers, which this hierarchy has"),
    ],
)
def test_tables_that_cannot_be(table, message):
    with pytest.raises(InputError) as error:
        Hierarchy.of(table)
    assert message in str(error.value).replace(str(Path.cwd()) + "/", "")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (5, "write age = { widths = [5] }"),
        ([5, 10], "write age = { widths = [5, 10] }"),
        ([1, 2, 4, 8, 16, 32], "write age = { widths = [1, 2, 4, 8, 16, ...] }"),
        (True, "write age = { suppress = true }"),
        (False, "not a bool; write age = { widths = [5, 10] }"),
        (["a"], "not a list; write age = { widths = [5, 10] }"),
        ("", "not an empty text; write age = { widths = [5, 10] }"),
        (None, "not a NoneType; write age = "),
    ],
)
def test_what_is_no_table_is_refused_by_the_right_form(given, message):
    with pytest.raises(InputError) as error:
        Hierarchy.of(given, attribute="age")
    assert message in str(error.value)


def test_limits_are_part_of_what_is_described():
    plain = Hierarchy.ranges(widths=[5, 10])
    assert plain.limited(max_level=3).describe() == {**plain.rule(), "max-level": 3}
    limited = plain.limited(min_level=1, max_level=2, grid=[20, 40.5])
    assert limited.describe() == {
        **plain.describe(),
        "min-level": 1,
        "max-level": 2,
        "grid": ["20", "40.5"],
    }
    assert plain.limited(grid=100).describe()["grid"] == 100
    assert plain.limited() == plain
    assert set(limited.limits.describe()) == set(LIMITS)
