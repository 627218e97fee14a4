"""Counting tables: against pandas' own group-by, whatever the columns, the blocks and the keys."""

from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import NUMPY

from anonymizer.errors import InputError
from anonymizer.kernels import NATIVE
from anonymizer.tables import engine, numbering


@st.composite
def columns(draw):
    """A table of texts, numbers and categories, some values missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.integers(1, 40))
    texts = pd.Series(rng.choice(["x", "y", None], size), dtype=object)
    numbers = pd.Series(rng.integers(0, 3, size)).astype(float).mask(rng.random(size) < 0.2)
    codes = rng.integers(-draw(st.integers(0, 1)), 3, size)
    kinds = pd.Series(pd.Categorical.from_codes(codes, ["r", "s", "never", "t"][:3]))
    return pd.DataFrame({"a": texts, "b": numbers, "c": kinds})


def assert_grouped(table):
    group, first = engine.grouped(table, ["a", "b", "c"])
    expected = table.groupby(["a", "b", "c"], dropna=False, sort=False, observed=True).ngroup()
    assert group.tolist() == expected.tolist()
    assert first.tolist() == [group.tolist().index(number) for number in range(len(first))]
    assert len(first) == len(set(group))


@given(columns(), st.integers(1, 50))
def test_combinations_are_those_of_a_group_by(table, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "BLOCK", block)
        assert_grouped(table)


@given(columns(), st.integers(1, 60))
def test_keys_are_renumbered_before_they_overflow(table, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "MOST_KEYS", most)
        assert_grouped(table)


@given(columns())
def test_a_tally_counts_every_record_once(table):
    counted = engine.tally(table, ["c", "a"])
    assert counted.sizes.sum() == len(table)
    again = counted.combinations.loc[np.repeat(np.arange(len(counted.sizes)), counted.sizes)]
    sizes = table.groupby(["c", "a"], dropna=False, observed=True).size()
    assert again.groupby(["c", "a"], dropna=False, observed=True).size().equals(sizes)


@pytest.mark.parametrize("kernel", [NUMPY, NATIVE], ids=lambda kernel: kernel.name)
@given(columns(), st.integers(1, 50))
def test_categories_are_counted_alike(kernel, table, block):
    kinds = table.astype({"a": "category", "b": "category"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "BLOCK", block)
        patch.setattr(engine, "NATIVE", kernel)
        counted = engine.tally(kinds, ["c", "a", "b"])
    assert counted.combinations.dtypes.tolist() == kinds[["c", "a", "b"]].dtypes.tolist()
    by = {"by": ["c", "a", "b"], "dropna": False, "observed": True}
    found = counted.combinations.assign(n=counted.sizes).groupby(**by)["n"]
    assert found.size().max() == 1
    pd.testing.assert_series_equal(
        found.sum(), kinds.groupby(**by).size(), check_names=False, check_dtype=False
    )


@pytest.mark.parametrize("kernel", [NUMPY, NATIVE], ids=lambda kernel: kernel.name)
@given(st.lists(st.lists(st.integers(-(2**62), 2**62) | st.integers(0, 9), max_size=40)))
def test_keys_are_counted(kernel, blocks):
    arrays = [np.array(block, np.int64) for block in [*blocks, [7]]]
    keys, times = kernel.distinct(iter(arrays))
    counted = dict(zip(keys.tolist(), times.tolist(), strict=True))
    assert counted == Counter(np.concatenate(arrays).tolist())


def test_categories_that_no_record_has_are_no_values():
    column = pd.Series(pd.Categorical(["b", None, "b"], categories=["a", "b"]), name="x")
    codes, values = engine.distinct(column)
    assert codes.tolist() == [0, 1, 0]
    assert values == ["b", None]


def test_numbers_in_several_chunks_stay_numbers():
    chunks = pa.chunked_array([pa.array([None, 1]), pa.array([2, 1])])
    codes, values = engine.distinct(pd.Series(pd.arrays.ArrowExtensionArray(chunks)))
    assert codes.tolist() == [0, 1, 2, 1]
    assert values[1:] == [1, 2]


def test_more_categories_than_a_byte_holds():
    column = pd.Series(pd.Categorical([f"{i:03}" for i in range(126)] + [None]))
    group, first = engine.grouped(pd.DataFrame({"x": column}), ["x"])
    assert group.tolist() == first.tolist() == list(range(127))


def test_values_that_cannot_be_told_apart():
    with pytest.raises(InputError, match="'x' holds values that cannot be told apart"):
        engine.grouped(pd.DataFrame({"x": [[1], [2]]}), ["x"])


def test_a_table_and_its_tally():
    frame = pd.DataFrame({"a": ["x", "y ", None, "x"]})
    for table in (frame, engine.Tally(frame, np.ones(4, np.int64))):
        assert engine.rows_of(table) is frame
        assert sorted(engine.tally(table, ["a"]).sizes) == [1, 1, 2]
        assert engine.stripped(table["a"]).isna().tolist() == [False, False, True, False]
        assert engine.all_equal(table, ["a"], "x").tolist() == [True, False, False, True]
        assert engine.missing_values(table, ["a"]) == {"a": 1}
        assert engine.records(engine.drop_missing(table, ["a"])) == 3


@pytest.mark.parametrize("table", [[1, 2], {"a": [1]}, np.zeros((2, 2)), None])
def test_what_is_no_table_is_refused(table):
    kind = type(table).__name__
    with pytest.raises(InputError, match=f"must be a pandas DataFrame, not a {kind}; convert it"):
        engine.records(table)
