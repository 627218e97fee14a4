"""Parquet read a column at a time: as if it had been read whole and admitted."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anonymizer.counts.counting import open_columns
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.risk import refined_by
from anonymizer.tables import engine
from anonymizer.tables.files import Format, ParquetColumns
from anonymizer.tables.files import parquet as columnar
from tests.whole import read_table

DAY = dt.date(2020, 2, 28)
KINDS = {
    "text": (pa.string(), ["x", " x", "x ", "y", "", "  ", "?", "7", "7.0", "é", "\u3000z"]),
    "large text": (pa.large_string(), ["x", " x", "y", "?"]),
    "plain text": (pa.string(), ["x", "y", "z"]),
    "bytes": (pa.binary(), [b"x", b" x", b"?"]),
    "small": (pa.int8(), [-128, 127, 7, 0, 1]),
    "unsigned": (pa.uint8(), [0, 200, 255, 7]),
    "number": (pa.int64(), [7, 8, 9, 20]),
    "big": (pa.int64(), [2**63 - 1, 2**53, 2**53 + 1, -(2**63)]),
    "bigger": (pa.uint64(), [2**64 - 1, 2**64 - 2, 2**63]),
    "real": (pa.float64(), [0.1, 0.1 + 2**-56, 7.0, 1e300]),
    "odd": (pa.float64(), [0.0, -0.0, float("nan"), 7.0]),
    "nan": (pa.float32(), [float("nan"), 7.0]),
    "truth": (pa.bool_(), [True, False]),
    "date": (pa.date32(), [DAY, DAY + dt.timedelta(2), dt.date(1, 1, 1)]),
    "near date": (pa.date32(), [DAY, DAY + dt.timedelta(2)]),
    "moment": (pa.timestamp("us", "UTC"), [0, 1, 2**40]),
    "while": (pa.duration("s"), [0, 1]),
    "decimal": (pa.decimal128(5, 2), [Decimal("1.00"), Decimal("1.01"), Decimal("7.00")]),
    "nothing": (pa.null(), [None]),
    "words": (pa.dictionary(pa.int8(), pa.string()), ["x", " x", "y", "", "?"]),
    "digits": (pa.dictionary(pa.int32(), pa.int64()), [7, 2**60, 2**60 + 1]),
}
if hasattr(pa, "string_view"):  # since pyarrow 16
    KINDS["text view"] = (pa.string_view(), ["x", " x", "y", "?"])
MISSING = ["error", "drop", "category"]


def table_of(rng: np.random.Generator, names: list[str], records: int) -> pa.Table:
    """Columns of some kinds, in some of which values are missing."""
    columns = {}
    for name in names:
        kind, values = KINDS[name]
        drawn = [values[place] for place in rng.integers(0, len(values), records)]
        lacks = rng.random(records) < rng.choice([0, 0, 0.2])
        chosen = [None if absent else value for value, absent in zip(drawn, lacks, strict=True)]
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        column = pa.array(chosen, plain)
        columns[name] = column.dictionary_encode() if plain != kind else column
    return pa.table(columns)


def whole(path, form, schema):
    return schema.admit(read_table(path, form, schema.columns))


def outcome(read, path, form, schema):
    try:
        return read(path, form, schema), ""
    except InputError as error:
        return None, str(error)


def values_of(column: pd.Series) -> list[str | None]:
    """Each record's value, exactly; None for a missing one."""
    codes, values = engine.distinct(column)
    shown = [repr(values[code]) for code in codes]
    lacking = engine.missing(column)
    return [None if lacks else one for one, lacks in zip(shown, lacking, strict=True)]


def same_classes(one: np.ndarray, other: np.ndarray) -> bool:
    return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=4, unique=True),
    st.integers(0, 40),
    st.sampled_from(MISSING),
    st.sampled_from([(), ("?", "7"), ("1.00", "x", "True")]),
)
@example(0, ["nothing", "text"], 21, "category", ())
def test_as_if_read_whole(tmp_path_factory, seed, names, records, missing, missing_values):
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.getbasetemp() / "t.parquet"
    listed = bool(rng.integers(2))
    rows = int(rng.choice([1, 7, 100]))
    pq.write_table(table_of(rng, names, records), path, row_group_size=rows, use_dictionary=listed)
    form = Format(parquet=True, missing_values=missing_values)
    schema = Schema(tuple(names), (), missing=missing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columnar, "BATCH", int(rng.choice([3, 1000])))
        expected, refused = outcome(whole, path, form, schema)
        found, message = outcome(open_columns, path, form, schema)
        assert message == refused
        if expected is None:
            return
        assert len(found) == len(expected)
        for name in names:
            column = found[name]
            assert values_of(column) == values_of(expected[name])
            assert column.index.equals(expected.index)
            assert column.name == name
            one, other = engine.distinct(column), engine.distinct(expected[name])
            assert len(one[1]) == len(other[1])
            assert same_classes(one[0], other[0])
        one, other = refined_by(found, names), refined_by(expected, names)
        assert one.classes == other.classes
        assert same_classes(one.class_of, other.class_of)


def written(directory, **columns) -> ParquetColumns:
    path = directory / "t.parquet"
    pq.write_table(pa.table(columns), path)
    return ParquetColumns(path, Format(parquet=True))


@pytest.mark.parametrize(
    ("number", "kind"),
    [(1, np.int8), (126, np.int8), (127, np.int16), (32_766, np.int16), (32_767, np.int32)],
)
@pytest.mark.parametrize("convert", [list, lambda values: [str(value) for value in values]])
def test_codes_are_as_small_as_they_can_be(tmp_path, number, kind, convert):
    values = convert(range(number))
    column = written(tmp_path, a=[*values, None, *values])["a"]
    assert column.array.codes.dtype == kind
    assert column.cat.categories.tolist() == values
    codes, bound = engine.numbered(column)
    assert bound == number + 1
    assert codes.tolist() == [*range(number), number, *range(number)]


@pytest.mark.parametrize("shift", [0, -5, 2**40])
def test_batches_that_start_elsewhere(tmp_path, monkeypatch, shift):
    monkeypatch.setattr(columnar, "BATCH", 2)
    numbers = [20, None, 7, None, None, None, 9, 8, 20, 20]
    moved = [None if number is None else number + shift for number in numbers]
    column = written(tmp_path, a=pa.array(moved, pa.int64()))["a"]
    assert column.cat.categories.tolist() == [20 + shift, 7 + shift, 9 + shift, 8 + shift]
    assert column.array.codes.tolist() == [0, -1, 1, -1, -1, -1, 2, 3, 0, 0]


def test_numbers_far_apart_are_told_apart(tmp_path):
    numbers = [2**62, 2**62 + 1, -(2**62), 2**62]
    column = written(tmp_path, a=numbers)["a"]
    assert column.tolist() == numbers
    assert column.array.codes.tolist() == [0, 1, 2, 0]


def test_only_the_column_that_is_asked_for_is_read(tmp_path, monkeypatch):
    table = written(tmp_path, **{"a": [1, 2], "a.b": [3, 3], "b": ["x", "y"]})
    assert table.columns == ("a", "a.b", "b")
    monkeypatch.setattr(pq.ParquetFile, "read", None)
    assert table["a"].tolist() == [1, 2]
    assert table["a.b"].tolist() == [3, 3]
    assert table["b"].tolist() == ["x", "y"]


def test_statistics_save_looking_for_missing_values(tmp_path, monkeypatch):
    table = written(
        tmp_path,
        a=[1, 2],
        b=["x", "y"],
        c=[0.5, 1.0],
        d=[1, None],
        e=["x", " "],
        f=["x", None],
        g=["x", "\u3000"],
    )
    assert [name for name in table.columns if table.never_missing(name)] == ["a", "b"]
    declared = ParquetColumns(table.path, Format(True, missing_values=("y ", "z", "w", "?")))
    assert [name for name in declared.columns if declared.never_missing(name)] == ["a", "b"]
    for text in ("x", "y", "1"):
        declared = ParquetColumns(table.path, Format(True, missing_values=(text,)))
        names = [name for name in declared.columns if declared.never_missing(name)]
        assert names == (["b"] if text == "1" else ["a"])
    monkeypatch.setattr(ParquetColumns, "__getitem__", None)
    assert len(open_columns(table.path, table.form, Schema(("a", "b"), ()))) == 2


def test_a_file_without_statistics_is_looked_through(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1, None]}), path, write_statistics=False)
    with pytest.raises(InputError, match="'a' misses the value of 1 of 2 records"):
        open_columns(path, Format(parquet=True), Schema(("a",), ()))


def test_what_is_left_out_leaves_no_trace(tmp_path):
    table = written(tmp_path, a=["x", None, "z"], b=[1, 2, None], c=["p", "q", "r"])
    left = open_columns(table.path, table.form, Schema(("a", "b"), (), missing="drop"))
    assert len(left) == 1
    assert left["c"].tolist() == ["p"]
    assert left["c"].index.tolist() == [0]
    assert engine.distinct(left["c"])[1] == ["p"]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (Schema(("ages",), ()), r"t\.parquet: the table has no column 'ages'.*'age'"),
        (Schema(("age",), (), ("nam",)), "the table has no column 'nam'.*'name'"),
        (Schema(("list",), ()), "'list' holds values that cannot be told apart"),
    ],
)
def test_columns_that_cannot_be(tmp_path, schema, message):
    table = written(tmp_path, age=[1], name=["x"], list=[[1]])
    with pytest.raises(InputError, match=message) as found:
        refined_by(open_columns(table.path, table.form, schema), schema.quasi_identifiers)
    with pytest.raises(InputError) as expected:
        whole(table.path, table.form, schema)
    assert str(found.value) == str(expected.value)


def test_an_absent_column_is_named(tmp_path):
    with pytest.raises(InputError, match="the table has no column 'b'"):
        _ = written(tmp_path, a=[1])["b"]


def test_an_index_without_a_name_is_no_column(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"age": [30, 41]}, index=[7, 3]).to_parquet(path)
    table = ParquetColumns(path, Format(parquet=True))
    assert table.columns == ("age",)
    assert table["age"].index.tolist() == [0, 1]


def test_damaged_files_are_refused_or_read(tmp_path):
    table = written(tmp_path, a=["x", "y"] * 50, b=list(range(100)))
    content = table.path.read_bytes()
    schema = Schema(("a", "b"), (), missing="category")
    for cut in [0, 3, len(content) // 2, len(content) - 1]:
        table.path.write_bytes(content[:cut])
        with pytest.raises(InputError, match=r"cannot read .*t\.parquet: it is damaged"):
            open_columns(table.path, table.form, schema)
    refused = 0
    for place in range(0, len(content), 7):
        flipped = bytearray(content)
        flipped[place] ^= 0x10
        table.path.write_bytes(flipped)
        try:
            found = open_columns(table.path, table.form, schema)
            assert len(found["a"]) == len(found["b"]) == len(found)
        except InputError:
            refused += 1
    assert refused > 10
