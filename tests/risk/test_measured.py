"""A table that is counted where it lies is measured as the same records held one by one."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer import InputError, KAnonymity
from anonymizer.counts.schema import MISSING, Missing, Schema
from anonymizer.profiling import profile
from anonymizer.profiling.profile import Raw
from anonymizer.release.place import Place
from anonymizer.risk import assess, detect, itpr, rank, undeclared
from anonymizer.risk.assessment import Assessment, assess_columns
from anonymizer.risk.check import check, check_measured
from anonymizer.risk.file import Subject, assess_file
from anonymizer.risk.measured import MeasuredTable
from anonymizer.tables import engine
from anonymizer.tables.files import Format, describe_file

ROLES = KNOWN, SENSITIVE = ("age", "town"), ("w",)
PARQUET = Format(True)


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Texts with blanks, several spellings and gaps, numbers, and columns without a role."""
    size = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = {
        "age": rng.choice([20.0, 30.0, 40.5, np.nan], size),
        "town": rng.choice(["a", "a ", "b", None], size),
        "w": rng.choice(["flu", "Flu", "cold", "1", "1.0", None], size),
        "note": rng.choice(["x", "y"], size),
        "id": np.arange(size) // draw(st.integers(1, 2)),
    }
    table = pd.DataFrame({name: pd.Series(column) for name, column in columns.items()})
    return table.drop(columns=draw(st.sampled_from(["id", "none"])), errors="ignore")


def near(found: object, expected: object) -> bool:
    """Equal but for the last digits of numbers, which sums in another order differ by."""
    if isinstance(expected, dict) and isinstance(found, dict):
        same = [*map(str, found)] == [*map(str, expected)]
        return same and all(map(near, found.values(), expected.values()))
    if isinstance(expected, list) and isinstance(found, list):
        return len(found) == len(expected) and all(map(near, found, expected))
    return found == (pytest.approx(expected) if isinstance(expected, float) else expected)


def listed(result: object) -> object:
    return json.loads(json.dumps(result.to_dict(), default=str))  # type: ignore[attr-defined]


@settings(max_examples=12)
@given(tables(), st.sampled_from(MISSING))
def test_check_and_risk_of_a_table_where_it_lies(
    tmp_path_factory: pytest.TempPathFactory, table: pd.DataFrame, missing: Missing
) -> None:
    path = tmp_path_factory.mktemp("table") / "table.parquet"
    table.to_parquet(path)
    schema, models, held = Schema(KNOWN, SENSITIVE, missing=missing), [KAnonymity(2)], clean(table)
    with Place(path, PARQUET).opened(()) as stored:
        try:
            expected = listed(check(held, KNOWN, SENSITIVE, models, missing))
        except InputError as error:
            with pytest.raises(InputError, match=re.escape(str(error))):
                MeasuredTable.stored(stored, schema, PARQUET, respell=False)
            return
        measured = MeasuredTable.stored(stored, schema, PARQUET, respell=False)
        assert near(listed(check_measured(measured, schema, models)), expected)
        others = undeclared(measured.rest, [*table.columns], KNOWN, SENSITIVE)
        measured = MeasuredTable.stored(stored, schema, PARQUET, respell=True)
    assessment, of_records = assess_columns(measured.table, schema), assess(held, *ROLES, missing)
    assert near(listed(assessment), listed(of_records))
    assert classes(assessment) == pytest.approx(classes(of_records))
    held = schema.admit(held)
    assert near(listed(others), listed(undeclared(held, [*table.columns], *ROLES)))


def clean(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(**{name: table[name].str.strip() for name in ("town", "w")})


def classes(assessment: Assessment) -> np.ndarray:
    """The figures of the classes, in an order of their own."""
    figures = assessment.by_class().to_numpy(float).round(9)
    return figures[np.lexsort(figures.T)]


@given(tables())
def test_subsets_of_counted_columns(table: pd.DataFrame) -> None:
    names = ["age", "town", "note"]
    counted = engine.tally(table, [*names, "w"])
    ranked = rank(counted, names, SENSITIVE, 2)
    assert near(listed(ranked), listed(rank(table, names, SENSITIVE, 2)))
    found = detect(counted, names, 3, 0.1)
    assert [vars(each) for each in found] == [vars(each) for each in detect(table, names, 3, 0.1)]
    for about in (None, "w"):
        assert itpr(counted, names, about) == pytest.approx(itpr(table, names, about))
        assert itpr(counted, ["age"], about) == pytest.approx(itpr(table, ["age"], about))


def test_records_have_the_risk_of_their_class(tmp_path: Path) -> None:
    people = pd.DataFrame({"age": [30, 20, 30, None, 20, 30], "w": list("xyzxyx")})
    people.to_csv(tmp_path / "people.csv", index=False)
    subject = Subject.of_names(tmp_path / "people.csv", ["age"], ["w"], missing="drop")
    found = assess_file(subject, details="record").details
    assert found is not None
    assert found.index.tolist() == [1, 2, 3, 5, 6]
    assert found["records"].tolist() == [3, 2, 3, 2, 3]
    assert found["posterior(w)"].tolist() == pytest.approx([2 / 3, 1, 1 / 3, 1, 2 / 3])
    by_class = assess_file(subject, details="class").details
    assert by_class is not None
    ages = by_class["value(age)"].loc[found["class"]]
    assert ages.tolist() == ["30.0", "20.0", "30.0", "20.0", "30.0"]


def test_what_memory_would_not_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANONYMIZER_MAX_COMBINATIONS", "40")
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": np.arange(300) % 30, "zip": rng.permutation(300)})
    people.to_parquet(tmp_path / "people.parquet")
    subject = Subject.of_names(tmp_path / "people.parquet", ["age"])
    assert assess_file(subject).assessment.classes.classes == 30
    with pytest.raises(InputError, match=r"of records.* has 300, more than the 40 .* set ANONYM"):
        assess_file(subject, details="record")
    with pytest.raises(InputError, match="columns whose sets are measured have about"):
        assess_file(subject, 2)
    with pytest.raises(InputError, match="the columns with a role have about"):
        assess_file(Subject.of_names(tmp_path / "people.parquet", ["age", "zip"]))


def test_lists_are_skipped_where_they_lie(tmp_path: Path) -> None:
    path, lists = tmp_path / "a.parquet", {"age": [1, 1, 2], "tags": [[1], [], [2]]}
    parquet.write_table(pa.table(lists), path)
    found = assess_file(Subject.of_names(path, ["age"]))
    assert found.undeclared.skipped == ("tags",)
    with pytest.raises(InputError, match="'tags' holds values that cannot be told apart"):
        assess_file(Subject.of_names(path, ["tags"]))


def test_other_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    polars = pytest.importorskip("polars")
    people = pd.DataFrame({"age": [1, 1, 2, 2, 2], "w": list("xyxyy"), "id": range(5)})
    for measure in (check, assess):
        expected = listed(measure(people, "age", "w"))
        assert near(listed(measure(polars.from_pandas(people), "age", "w")), expected)


def test_a_profile_of_columns_where_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More records than are profiled in memory: counted, and compared by some of them."""
    rng = np.random.default_rng(3)
    town = rng.integers(0, 12, 4000)
    table = pd.DataFrame(
        {
            "id": [f"p{place}" for place in range(4000)],
            "age": rng.integers(18, 90, 4000),
            "town": np.array([f"town {each}" for each in range(12)])[town],
            "code": town + 100,
            "diagnosis": rng.choice(["flu", " flu", "cold", "?", ""], 4000),
        }
    )
    table.to_csv(tmp_path / "people.csv", index=False)
    with Place(tmp_path / "people.csv", describe_file(tmp_path / "people.csv")).opened(
        ()
    ) as stored:
        held, form = Raw.stored(stored, PARQUET)
        monkeypatch.setattr(sys.modules[Raw.__module__], "HELD", 1000)
        counted, same = Raw.stored(stored, PARQUET)
        assert (form, form.missing_values) == (same, ("?",))
        expected, found = profile(held), profile(counted)
        assert found.columns == expected.columns
        assert (found.records, found.compared, found.combinations) == (
            (4000, 1000, expected.combinations)
        )
        monkeypatch.setenv("ANONYMIZER_MAX_COMBINATIONS", "500")
        counted, _ = Raw.stored(stored, PARQUET)
        assert counted.columns["id"] is None
        assert profile(counted).share_alone == pytest.approx(expected.share_alone)
