"""Columns that have the names of what the library counts, numbers and adds itself."""

import json
import sqlite3
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from engines import KINDS, records_of

from anonymizer import (
    Anonymizer,
    EntropyLDiversity,
    InputError,
    KAnonymity,
    MergedCells,
    check,
)
from anonymizer.counts.persons import (
    HOUSEHOLD,
    MEMBER,
    PERSON,
    SOMEBODY,
    by_item,
    by_persons,
    of_column,
    of_items,
)

UNITS = ("person", "household", "member", "somebody")
ROLES = ("age", "sex", "w", "who", "other")
NAMES = (
    ("class", "person", "household", "member", "somebody"),
    ("n", "place", "person", "household", "class"),
    ("h", "class", "n", "person", "rowid"),
    ("records", "select", "class", "order", "anonymizer_records_"),
)
"""Names of the columns with these roles."""


def visits() -> pd.DataFrame:
    """By records everybody of 20 and 30 has hiv or flu as often; by persons flu is one's alone."""
    rows = [(age, "FM"[n % 2], "hiv", f"p{age}{n}", n) for age in (20, 30) for n in range(4)]
    rows += [(age, "FM"[n % 2], "flu", f"q{age}", n) for age in (20, 30) for n in range(4)]
    return pd.DataFrame(rows, columns=[*ROLES])


def test_no_two_names_of_counts_are_one():
    attributes = [*UNITS, "", "unit", "persons", "item", "a"]
    ways = [PERSON, HOUSEHOLD, MEMBER, SOMEBODY, *attributes]
    ways += [by_persons(name) for name in attributes]
    ways += [by_item(name, item) for name in attributes for item in attributes]
    assert len({*ways}) == len(ways)
    assert of_column(by_item("", "flu")) == ""
    for name in attributes:
        assert of_column(by_persons(name)) == name
        assert of_items(name, ways) == tuple(by_item(name, item) for item in attributes)


@pytest.mark.parametrize("name", ["w", *UNITS])
def test_persons_are_counted_whatever_the_attribute_is_called(name):
    """4 persons of 5 have hiv: 2^H(4/5) = 1.65, though 4 of 8 records have it."""
    table = visits().rename(columns={"w": name})
    models = [EntropyLDiversity(1.7)]
    assert check(table, "age", name, models).satisfied
    found = check(table, "age", name, models, person="who")
    assert found.sensitive[name]["entropy_l"] == pytest.approx(1.6494, abs=1e-4)
    assert found.violating_records == [16]


def test_a_name_with_a_nul_character_is_refused():
    table = visits().rename(columns={"w": "w\0flu"})
    with pytest.raises(InputError, match="has a NUL character; rename it"):
        check(table, "age", "w\0flu")


def _study(names: dict[str, str], file: str) -> str:
    quoted = {role: json.dumps(name) for role, name in names.items()}
    return f"""
[data]
path = "{file}"
person = {quoted["who"]}
[quasi-identifiers]
{quoted["age"]} = {{ widths = [10, 20] }}
{quoted["sex"]} = "suppress"
[sensitive]
attributes = [{quoted["w"]}]
[[privacy]]
model = "entropy-l-diversity"
l = 1.6
[[privacy]]
model = "k-anonymity"
k = 3
"""


def _released(folder: Path) -> list[tuple[str, ...]]:
    (path,) = folder.glob("released.*")
    table = pd.read_csv(path, dtype=str) if path.suffix == ".csv" else pd.read_parquet(path)
    return sorted(tuple(map(str, row)) for row in table.itertuples(index=False, name=None))


@pytest.mark.parametrize("form", ["csv", "parquet", "sqlite"])
def test_files_are_released_whatever_their_columns_are_called(run, tmp_path, form):
    found = []
    for number, names in enumerate((ROLES, NAMES[["csv", "parquet", "sqlite"].index(form)])):
        place = tmp_path / str(number)
        place.mkdir()
        table = visits().rename(columns=dict(zip(ROLES, names, strict=True)))
        if form == "csv":
            table.to_csv(place / "t.csv", index=False)
        elif form == "parquet":
            table.to_parquet(place / "t.parquet")
        else:
            with sqlite3.connect(place / "t.sqlite") as base:
                table.to_sql("people", base, index=False)
            base.close()
        text = _study(dict(zip(ROLES, names, strict=True)), f"t.{form}")
        (place / "s.toml").write_text(text)
        for command in (
            ("run", place / "s.toml", "-o", place / "r"),
            ("verify", place / "r", "--original", place / f"t.{form}"),
            ("apply", place / "r", place / f"t.{form}", "-o", place / "r2"),
        ):
            code, _, err = run(*command)
            assert code == 0, (names, err)
        assert _released(place / "r") == _released(place / "r2")
        found.append(_released(place / "r"))
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("kind", ["duckdb", "pandas"])
def test_tables_in_python_are_released_whatever_their_columns_are_called(kind):
    found = []
    for names in (ROLES, NAMES[3]):
        age, sex, w, who, _ = names
        table = visits().rename(columns=dict(zip(ROLES, names, strict=True)))
        given = (
            table
            if kind == "pandas"
            else KINDS[kind](pa.Table.from_pandas(table, preserve_index=False))
        )
        anonymizer = Anonymizer(
            {age: {"widths": [10, 20]}, sex: "suppress"}, w, [EntropyLDiversity(1.6)], person=who
        )
        released = anonymizer.fit_transform(given)
        found.append(sorted(map(str, records_of(released))))
    assert all(each == found[0] for each in found)


def test_a_class_of_a_school_is_a_quasi_identifier_of_the_report_and_of_boxes(run, tmp_path):
    table = visits().rename(columns={"sex": "class"})
    table.to_csv(tmp_path / "t.csv", index=False)
    text = _study({**dict(zip(ROLES, ROLES, strict=True)), "sex": "class"}, "t.csv")
    (tmp_path / "s.toml").write_text(text + '[recoding]\nmethod = "boxes"\n')
    assert run("run", tmp_path / "s.toml", "-o", tmp_path / "r")[0] == 0
    code, _, err = run("audit", tmp_path / "r", "--against", tmp_path / "t.csv")
    assert code in (0, 3), err
    assert run("report", tmp_path / "r", "-o", tmp_path / "r.md")[0] == 0
    assert "age, class" in (tmp_path / "r.md").read_text()


@pytest.mark.parametrize("role", ["sex", "w", "other"])
def test_a_column_that_would_number_classes_is_refused_by_name(role):
    table = visits().rename(columns={role: "class"})
    sex, w = ("class" if role == each else each for each in ("sex", "w"))
    merged = Anonymizer(
        {"age": {"widths": [10]}, sex: "suppress"}, w, [KAnonymity(2)], MergedCells()
    )
    with pytest.raises(InputError, match="a column 'class', which is the name of the column that"):
        merged.fit_transform(table)
