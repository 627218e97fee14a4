"""Types of columns: those with a role are of types whose equal values are alike; others pass."""

import warnings
from collections import Counter
from decimal import Decimal
from itertools import product
from uuid import UUID

import dask.dataframe
import duckdb
import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from engines import KINDS, spark_session
from lengths import at_length

from anonymizer import Anonymizer, FullDomain, InputError, KAnonymity
from anonymizer.release.publish import publish
from anonymizer.release.study import Study
from anonymizer.tables.relations.frames import relation_of
from anonymizer.tables.relations.relation import NotToldApartError

RECORDS = 60


def policy(attribute):
    return Anonymizer(
        {attribute: "suppress"},
        "d",
        [KAnonymity(5)],
        recoding=FullDomain(suppression=0.1, remove=True),
        missing="category",
    )


def columns(odd):
    """A column of some type, next to others of texts; the last record has a rare value."""
    ill = [["flu", "cold", "none"][place % 3] for place in range(RECORDS)]
    return {"odd": odd, "job": ["nurse"] * (RECORDS - 1) + ["pilot"], "d": ill}


def of_arrow(value, kind):
    return pa.array([value] * RECORDS, kind)


def extension(kind, value):
    return pa.ExtensionArray.from_storage(kind, of_arrow(value, kind.storage_type))


ARROW = {
    "halffloat": of_arrow(np.float16(1.5), pa.float16()),
    "month_day_nano_interval": of_arrow(pa.MonthDayNano([1, 2, 3]), pa.month_day_nano_interval()),
    "extension<arrow.uuid>": extension(pa.uuid(), UUID(int=1).bytes),
    "extension<arrow.json>": extension(pa.json_(), "{}"),
    "extension<arrow.bool8>": extension(pa.bool8(), 1),
    "list<item: int64>": of_arrow([1], pa.list_(pa.int64())),
    "struct<a: int64>": of_arrow({"a": 1}, pa.struct({"a": pa.int64()})),
    "map<string, int64>": of_arrow([("a", 1)], pa.map_(pa.string(), pa.int64())),
    "sparse_union<0: int64=0>": pa.UnionArray.from_sparse(
        of_arrow(0, pa.int8()), [of_arrow(1, pa.int64())]
    ),
    "dictionary<values=list<item: int64>, indices=int8, ordered=0>": pa.DictionaryArray.from_arrays(
        of_arrow(0, pa.int8()), pa.array([[1]])
    ),
}


def database(expression):
    return duckdb.connect().sql(
        f"SELECT {expression} AS odd, if(i = 59, 'pilot', 'nurse') AS job, "
        "['flu', 'cold', 'none'][1 + i % 3] AS d FROM range(60) r(i)"
    )


DUCKDB = {
    "UNION(a INTEGER, b VARCHAR)": "1::UNION(a INTEGER, b VARCHAR)",
    "VARIANT": "1::VARIANT",
    "INTEGER[]": "[1]",
    "STRUCT(a INTEGER)": "{'a': 1::INTEGER}",
    "GEOMETRY": "'POINT(1 2)'::GEOMETRY",
    "ENUM": "['a'::ENUM('a', 'secret')]",
}
POLARS = {
    "Float16": polars.Series([1.5] * RECORDS, dtype=polars.Float16),
    "Object": polars.Series([object()] * RECORDS, dtype=polars.Object),
    "List(Int64)": polars.Series([[1]] * RECORDS),
    "Struct": polars.Series([{"a": "a"}] * RECORDS, dtype=polars.Struct({"a": polars.Enum(["a"])})),
}
DASK = {
    "complex128": pd.Series([1j] * RECORDS),
    "float16": pd.Series([1.5] * RECORDS, dtype="float16"),
    "period[D]": pd.Series(pd.period_range("2020", periods=1, freq="D").repeat(RECORDS)),
    "Sparse[int64, 0]": pd.Series([1] * RECORDS, dtype="Sparse[int]"),
}


def partitioned(column):
    frame = pd.DataFrame(columns(column))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dask.dataframe.from_map(lambda part: part, [frame[:30], frame[30:]], meta=frame[:0])


CASES = [
    *(("Arrow", kind, lambda odd=odd: pa.table(columns(odd))) for kind, odd in ARROW.items()),
    *(("DuckDB", kind, lambda odd=odd: database(odd)) for kind, odd in DUCKDB.items()),
    *(
        ("Polars", kind, lambda odd=odd: polars.DataFrame(columns(odd)))
        for kind, odd in POLARS.items()
    ),
    *(("Dask", kind, lambda odd=odd: partitioned(odd)) for kind, odd in DASK.items()),
]


@pytest.mark.parametrize(("library", "kind", "made"), CASES, ids=[f"{a} {b}" for a, b, _ in CASES])
def test_a_type_that_is_not_listed_has_no_role_and_passes_without_one(library, kind, made):
    with pytest.raises(NotToldApartError) as error:
        policy("odd").fit_transform(made())
    message = "column 'odd' holds values that cannot be told apart, of type"
    assert str(error.value).startswith(f"{message} {kind}; cast it, such as to text: ")
    assert "secret" not in str(error.value)
    released = relation_of(policy("job").fit_transform(made()))
    assert {*released.columns} == {"odd", "job", "d"}
    assert released.records == RECORDS - 1


@pytest.mark.slow
def test_a_type_of_spark_that_is_not_listed_has_no_role():
    odd = {
        "VariantType()": "parse_json(CASE WHEN id = 7 THEN '1.0' ELSE '1' END)",
        "YearMonthIntervalType(1, 1)": "INTERVAL 12 MONTH",
        "ArrayType(IntegerType(), False)": "array(1)",
    }
    columns = ", ".join(f"{each} AS odd{place}" for place, each in enumerate(odd.values()))
    table = spark_session().sql(
        f"SELECT {columns}, IF(id = 59, 'pilot', 'nurse') AS job, "
        "element_at(array('flu', 'cold', 'none'), CAST(1 + id % 3 AS INT)) AS d FROM range(60)"
    )
    for place, kind in enumerate(odd):
        with pytest.raises(NotToldApartError, match=f"column 'odd{place}' holds values") as error:
            policy(f"odd{place}").fit_transform(table)
        assert f"of type {kind}; cast it" in str(error.value)
    assert policy("job").fit_transform(table).count() == RECORDS - 1


@pytest.mark.parametrize("role", ["odd", "job"])
def test_a_type_that_no_other_library_has_is_refused_by_name(role):
    negative = of_arrow(Decimal(100), pa.decimal128(5, -2))
    with pytest.raises(InputError, match=r"'odd' is of type decimal128\(5, -2\), which cannot be"):
        policy(role).fit_transform(pa.table(columns(negative)))


@pytest.mark.parametrize("equal", [(1, 1.0), (Decimal("1"), Decimal("1.0")), (True, 1)])
def test_equal_objects_of_python_that_are_written_otherwise_have_no_role(equal):
    values = [equal[0]] * (RECORDS - 1) + [equal[1]]
    with dask.config.set({"dataframe.convert-string": False}):
        table = partitioned(pd.Series(values, dtype=object))
        with pytest.raises(InputError, match=r"'odd' holds values that|could not compute"):
            policy("odd").fit_transform(table)


LISTED = {
    "bit": pa.array([True, None] * 30),
    "whole": pa.array([1, 2] * 30, pa.uint8()),
    "decimal": pa.array([Decimal("1.50"), Decimal("-2.25")] * 30, pa.decimal128(5, 2)),
    "float": pa.array([1.5, None] * 30, pa.float32()),
    "text": pa.array(["a", "A"] * 30),
    "bytes": pa.array([b"\xff", b"\\x41"] * 30),
    "day": pa.array([0, 1] * 30, pa.int32()).cast(pa.date32()),
    "instant": pa.array([0, 1] * 30, pa.timestamp("us", "UTC")),
    "label": pa.array(["a", "b"] * 30).dictionary_encode(),
}


EVERY, FEW = ["arrow", "polars", "duckdb"], ["lazy", "dask"]
COUNTED = [*product(EVERY, LISTED), *product(FEW, [*LISTED][:: at_length(3, 1)])]
"""Libraries and types: what is counted by one of the first is as by itself."""


@pytest.mark.parametrize(("kind", "name"), COUNTED)
def test_listed_types_are_counted_by_value_in_every_library(kind, name):
    table = KINDS[kind](pa.table(columns(LISTED[name])))
    released = relation_of(policy("odd").fit_transform(table)).frame(["odd"])["odd"]
    expected = Counter(None if pd.isna(each) else each for each in LISTED[name].to_pylist())
    found = Counter(None if pd.isna(each) else each for each in released)
    assert found == expected


@pytest.mark.parametrize("role", ["odd", "job"])
@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("string_view[pyarrow]", of_arrow("a", pa.string_view())),
        (
            "run_end_encoded<run_ends: int64, values: string>[pyarrow]",
            pa.RunEndEncodedArray.from_arrays(pa.array([RECORDS]), pa.array(["a"])),
        ),
    ],
)
def test_a_type_that_pandas_holds_and_cannot_take_is_refused_by_name(role, kind, column):
    held = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([column])))
    with pytest.raises(InputError, match="column 'odd' ") as error:
        policy(role).fit_transform(pd.DataFrame(columns(held)))
    if role == "job":
        assert f"is of type {kind}, of which pandas takes no records; cast it" in str(error.value)


STUDY = """
[data]
path = "t.parquet"
missing = "category"
[quasi-identifiers]
{role} = "suppress"
[sensitive]
attributes = ["d"]
[[privacy]]
model = "k-anonymity"
k = 5
[recoding]
method = "full-domain"
suppression = 0.1
remove = true
[output]
file = "released.parquet"
"""
IN_FILES = {
    "half": of_arrow(np.float16(1.5), pa.float16()),
    "uuid": extension(pa.uuid(), UUID(int=1).bytes),
    "json": extension(pa.json_(), "{}"),
    "small decimal": of_arrow(Decimal("1.50"), pa.decimal32(5, 2)),
    "bool8": extension(pa.bool8(), 1),
    "list": of_arrow([1], pa.list_(pa.int64())),
}


@pytest.mark.parametrize("kind", IN_FILES)
def test_odd_types_of_files_are_counted_or_refused_and_always_pass(kind, tmp_path):
    parquet.write_table(pa.table(columns(IN_FILES[kind])), tmp_path / "t.parquet")
    for role in ("odd", "job"):
        study = Study.parsed(STUDY.format(role=role), tmp_path / "study.toml")
        if role == "odd" and kind in ("bool8", "list"):
            with pytest.raises(NotToldApartError, match="'odd' holds values that cannot be told"):
                publish(study, tmp_path / role)
            continue
        publish(study, tmp_path / role)
        released = parquet.read_table(tmp_path / role / "released.parquet")
        assert released.num_rows == (RECORDS if role == "odd" else RECORDS - 1)
