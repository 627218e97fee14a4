"""The exported SQL, run in DuckDB on the raw table, gives the very same release."""

from collections import Counter
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from releases import KINDS, Kind, fixed_at, release_of

from anonymizer import InputError
from anonymizer.release.export import source_of, sql_of

DIRECT = (
    "suppressed and kept",
    "suppressed and removed",
    "kept values",
    "masked codes",
    "boxes",
    "missing as a category, cut",
    "missing and dropped",
)


def rows(table: pd.DataFrame) -> Counter:
    """The rows of a table as texts, without an order."""
    return Counter(
        tuple("" if pd.isna(value) else str(value) for value in row)
        for row in table.itertuples(index=False, name=None)
    )


def read(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def run(release: Path, raw: pd.DataFrame) -> tuple[pd.DataFrame, list]:
    """The table that the SQL of a release makes of a raw one, and the classes that break k."""
    connection = duckdb.connect(config={"threads": 1})
    connection.register("people", raw)
    made, *recount = sql_of(source_of(release), "people", "released").rsplit(";\n\n", 1)
    connection.execute(made)
    broken = connection.execute(recount[0]).fetchall() if "SELECT" in recount[0] else []
    return connection.execute("SELECT * FROM released").df(), broken


@pytest.mark.parametrize("name", DIRECT)
def test_the_very_same_release(tmp_path: Path, name: str) -> None:
    release = release_of(KINDS[name], tmp_path)
    found, broken = run(release, read(tmp_path / f"people.{KINDS[name].suffix}"))
    released = read(next(release.glob("released.*")))
    assert list(found.columns) == list(released.columns)
    assert rows(found) == rows(released)
    assert not broken


@pytest.mark.parametrize("name", ["differential privacy"])
def test_what_is_drawn_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="drawn at random"):
        source_of(release_of(KINDS[name], tmp_path))


def test_names_are_quoted(tmp_path: Path) -> None:
    release = release_of(Kind(fixed_at(1)), tmp_path)
    text = sql_of(source_of(release), 'a"; DROP TABLE b; --', "released")
    assert '"a""; DROP TABLE b; --" AS t' in text
