"""Counts in a file: what they add up to, what is read back, and what is refused."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import InputError
from anonymizer.tables import engine
from anonymizer.tables.counts_file import added, as_texts, compared, read_counts, write_counts

VALUES = st.sampled_from(["a", "b", "", "nan", "ü", "1", "1.0", None, 1, 1.0, 2.5, True, -0.0])
TABLES = st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=8)


def tally(rows, names=("x", "y")):
    return engine.tally(pd.DataFrame(rows, columns=[*names], dtype=object), [*names])


def listed(counts):
    rows = counts.combinations.astype(object).itertuples(index=False, name=None)
    texts = [tuple(None if pd.isna(value) else value for value in row) for row in rows]
    return dict(zip(texts, counts.sizes.tolist(), strict=True))


def test_by_hand():
    north = tally([("a", 1), ("a", 1), ("b", None)])
    south = tally([("a", "1"), ("b", 2.0), ("b", None)])
    assert listed(added([north, south])) == {("a", "1"): 3, ("b", "2"): 1, ("b", None): 2}
    combinations, sizes = compared([north, south])
    assert len(combinations) == 3
    assert sorted(map(tuple, sizes.T)) == [(0, 1), (1, 1), (2, 1)]


def test_equal_instants_and_numbers_are_one_text():
    instants = ["2020-01-01T01:00:00+01:00", datetime(2020, 1, 1, tzinfo=UTC)]
    counts = as_texts(tally([(instant, 0.0) for instant in instants]))
    assert set(counts["x"]) == {"2020-01-01 00:00:00+00:00"}
    assert set(counts["y"]) == {"0"}


@given(TABLES, TABLES)
def test_counts_of_parts_add_up_to_those_of_the_union(north, south):
    whole = added([tally(north), tally(south)])
    assert listed(whole) == listed(added([tally([*north, *south])]))
    assert engine.records(whole) == len(north) + len(south)


@given(rows=TABLES)
def test_a_file_reads_back_and_forgets_the_order(tmp_path_factory, rows):
    place = tmp_path_factory.mktemp("counts")
    write_counts(place / "one", tally(rows, ("x", "records")), {"of": "ü"})
    write_counts(place / "two", tally(rows[::-1], ("x", "records")), {"of": "ü"})
    counts, about = read_counts(place / "one")
    assert about == {"of": "ü"}
    assert listed(counts) == listed(added([tally(rows, ("x", "records"))]))
    assert (place / "one").read_bytes() == (place / "two").read_bytes()


@pytest.mark.parametrize(
    ("sizes", "texts", "complaint"),
    [
        ([1, 0], ["a", "b"], "was damaged: every combination"),
        ([1, -1], ["a", "b"], "was damaged: every combination"),
        ([1, None], ["a", "b"], "was damaged: every combination"),
        ([1, 1], ["a", "a"], "was damaged: every combination"),
        ([2**62, 2**62], ["a", "b"], "was damaged: every combination"),
        ([1.0, 2.0], ["a", "b"], "holds no counts"),
        ([1, 2], [1, 2], "holds no counts"),
    ],
)
def test_damaged_counts_are_refused(tmp_path, sizes, texts, complaint):
    table = pa.table({"x": texts, "records": sizes})
    table = table.replace_schema_metadata({b"anonymizer": b"{}"})
    pyarrow.parquet.write_table(table, tmp_path / "bad.counts")
    with pytest.raises(InputError, match=complaint):
        read_counts(tmp_path / "bad.counts")


@pytest.mark.parametrize("metadata", [{}, {b"anonymizer": b"["}, {b"anonymizer": b"[]"}])
def test_other_parquet_is_no_counts(tmp_path, metadata):
    table = pa.table({"x": ["a"], "records": np.array([1])}).replace_schema_metadata(metadata)
    pyarrow.parquet.write_table(table, tmp_path / "other")
    with pytest.raises(InputError, match="holds no counts; `anonymizer count` writes such files"):
        read_counts(tmp_path / "other")
