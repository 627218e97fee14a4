"""What is handed out: proven as it is, whatever happens to its source, and of its values alone."""

import io
import itertools
import pickle
import warnings
from collections import Counter

import dask.dataframe
import duckdb
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest
from engines import spark_session
from lengths import LONG

from anonymizer import (
    Anonymizer,
    DifferentialPrivacy,
    FullDomain,
    InputError,
    KAnonymity,
    Pram,
    SafePub,
    TCloseness,
)
from anonymizer.tables.relations.frames import relation_of

RECORDS = 120
SECRET, UNUSED = "SECRETPILOT", "UNUSEDVALUE"
"""A value that one record has, which is suppressed or left out, and one that no record has."""


def suppressing(remove=True):
    recoding = FullDomain(suppression=0.1, remove=remove)
    return Anonymizer({"job": "suppress"}, "ill", [KAnonymity(5)], recoding=recoding)


def columns():
    """Columns with every role, of categories that list the secret value and the unused one."""
    rare = {7: SECRET}
    jobs = [rare.get(place, ["nurse", "clerk"][place // 2 % 2]) for place in range(RECORDS)]
    ill = [rare.get(place, ["flu", "cold", "none"][place % 3]) for place in range(RECORDS)]
    town = [rare.get(place, ["Delft", "Gouda"][place % 2]) for place in range(RECORDS)]
    return {"job": jobs, "ill": ill, "town": town}


def in_polars(lazy=False):
    table = polars.DataFrame(columns())
    listed = polars.Enum([UNUSED, *sorted({*table["job"], *table["ill"], *table["town"]})])
    table = table.with_columns(
        polars.all().cast(listed),
        tags=polars.concat_list(polars.col("town").cast(listed)),
        kind=polars.col("town").cast(polars.Categorical),
    )
    return table.lazy() if lazy else table


def in_duckdb():
    connection, frame = duckdb.connect(), pd.DataFrame(columns())
    listed = {UNUSED, *frame["job"], *frame["ill"], *frame["town"]}
    connection.execute(f"CREATE TYPE listed AS ENUM ({', '.join(map(repr, sorted(listed)))})")
    connection.register("frame", frame)
    connection.execute(
        "CREATE TABLE t AS SELECT job::listed AS job, ill::listed AS ill, town::listed AS town, "
        "[town::listed] AS tags, {'a': town::listed} AS kind FROM frame"
    )
    return connection.table("t")


def in_pandas(ordered=True):
    frame = pd.DataFrame(columns())
    listed = sorted({UNUSED, *frame["job"], *frame["ill"], *frame["town"]})
    kind = pd.CategoricalDtype(listed, ordered)
    frame["kind"] = frame["town"].astype(pd.ArrowDtype(pa.string())).astype("category")
    return frame.astype({"job": kind, "ill": kind, "town": kind})


def itself(part):
    return part


def in_dask():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = in_pandas()
        parts = [frame[:50], frame[:0], frame[50:]]
        return dask.dataframe.from_map(itself, parts, meta=frame[:0])


def in_arrow():
    return pa.table({name: pa.array(each).dictionary_encode() for name, each in columns().items()})


MADE = {
    "pandas": in_pandas,
    "polars": in_polars,
    "lazy": lambda: in_polars(lazy=True),
    "duckdb": in_duckdb,
    "dask": in_dask,
    "arrow": in_arrow,
}


def bytes_of(table, directory):
    """All that a receiver gets: schema, IPC, Parquet, and a pickle where there is one."""
    if isinstance(table, polars.LazyFrame):
        yield from (pickle.dumps(table), str(table.collect_schema()).encode())
        table = table.collect()
    if isinstance(table, polars.DataFrame):
        yield str(table.schema).encode()
        for write in (table.write_ipc, table.write_ipc_stream, table.write_parquet):
            held = io.BytesIO()
            write(held)
            yield held.getvalue()
        table = table.to_arrow()
    if isinstance(table, duckdb.DuckDBPyRelation):
        yield repr(table.types).encode()
        table.to_parquet(str(directory / "duck.parquet"), compression="uncompressed")
        table = table.to_arrow_table()
    if isinstance(table, dask.dataframe.DataFrame):
        yield pickle.dumps([table._meta, dict(table.dask)])
        table.to_parquet(str(directory / "dask"), compression=None, write_index=False)
        table = table.compute()
    if isinstance(table, pd.DataFrame):
        yield pickle.dumps(table)
        table.to_parquet(directory / "pandas.parquet", compression=None)
        table = pa.Table.from_pandas(table)
    yield table.schema.to_string().encode()
    held = io.BytesIO()
    with pa.ipc.new_stream(held, table.schema) as stream:
        stream.write_table(table)
    yield held.getvalue()
    pa.parquet.write_table(table, directory / "arrow.parquet", compression="none")
    yield from (file.read_bytes() for file in directory.rglob("*.parquet"))


@pytest.mark.parametrize("kind", MADE)
def test_types_list_no_value_of_records_that_are_left_out(kind, tmp_path):
    raw = MADE[kind]()
    everything = b"".join(bytes_of(raw, tmp_path))
    assert SECRET.encode() in everything  # the attacker finds what is there
    assert kind == "arrow" or UNUSED.encode() in everything
    [each.unlink() for each in tmp_path.rglob("*.parquet")]
    released = suppressing().fit_transform(raw)
    assert type(released) is type(raw)
    for content in bytes_of(released, tmp_path):
        assert SECRET.encode() not in content
        assert UNUSED.encode() not in content


@pytest.mark.parametrize("kind", ["polars", "duckdb"])
def test_categories_keep_their_order(kind):
    released = suppressing().fit_transform(MADE[kind]())
    shown = str(relation_of(released).type_of("town"))
    assert 0 < shown.index("Delft") < shown.index("Gouda")
    assert ("Enum" if kind == "polars" else "ENUM") in shown


@pytest.mark.parametrize("kind", ["polars", "lazy", "duckdb", "dask"])
def test_types_list_nothing_else_under_differential_privacy(kind, tmp_path):
    """One record must not change the output for sure, were it only in a type."""
    private = Anonymizer(
        {"job": "suppress"}, privacy=[DifferentialPrivacy(2, 0.01)], recoding=SafePub({"job": 0})
    )
    table = relation_of(MADE[kind]()).chosen(["job"]).native
    content = b"".join(bytes_of(private.fit_transform(table), tmp_path))
    assert b"nurse" in content
    assert UNUSED.encode() not in content
    assert SECRET.encode() not in content


@pytest.mark.parametrize("kind", ["polars", "lazy", "duckdb"])
def test_types_list_nothing_else_where_values_are_drawn(kind, tmp_path):
    drawn = Anonymizer({"job": "suppress"}, "ill", [TCloseness(0.7, "kl")], recoding=Pram(seed=1))
    table = drawn.fit_transform(MADE[kind]())
    assert relation_of(table).records == RECORDS
    assert UNUSED.encode() not in b"".join(bytes_of(table, tmp_path))


def ages(records=400):
    """A table whose rows come to be deleted: two values, of many records each."""
    ill = [["flu", "cold"][place % 2] for place in range(records)]
    return pd.DataFrame({"job": ["nurse", "clerk"] * (records // 2), "ill": ill})


def shown(table):
    frame = relation_of(table)
    return Counter(frame.frame(["job"])["job"])


def test_rows_deleted_afterwards_change_no_relation_that_was_handed_out(tmp_path):
    connection, frame = duckdb.connect(), ages()
    connection.register("frame", frame)
    connection.execute("CREATE TABLE t AS FROM frame")
    released = suppressing().fit_transform(connection.table("t"))
    before = Counter(row[0] for row in released.fetchall())
    connection.execute("DELETE FROM t WHERE job = 'nurse' AND rowid > 1").fetchall()
    assert connection.table("t").aggregate("count(*)").fetchall() == [(201,)]
    released.to_parquet(str(tmp_path / "released.parquet"))
    rows = duckdb.read_parquet(str(tmp_path / "released.parquet")).fetchall()
    assert Counter(row[0] for row in rows) == before == {"nurse": 200, "clerk": 200}
    connection.execute("DROP TABLE t").fetchall()
    assert len(released.fetchall()) == 400


def changing(kind, path):
    """A lazy table of a file or of parts that change, and what changes them."""
    frame = ages()
    left = frame[(frame["job"] == "clerk") | (frame.index < 2)]
    if kind == "lazy":
        frame.to_csv(path / "t.csv", index=False)
        return polars.scan_csv(path / "t.csv"), lambda: left.to_csv(path / "t.csv", index=False)
    if kind == "spark":
        frame.to_parquet(path / "t.parquet")
        table = spark_session().read.parquet(str(path / "t.parquet"))
        return table, lambda: left.to_parquet(path / "t.parquet")
    parts = {0: frame[:200], 1: frame[200:]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = dask.dataframe.from_map(lambda part: parts[part], [0, 1], meta=frame[:0])
    return table, lambda: parts.update({0: left[:100], 1: left[100:]})


@pytest.mark.parametrize("kind", ["lazy", "dask", pytest.param("spark", marks=pytest.mark.slow)])
def test_a_source_that_changes_afterwards_changes_no_table_that_was_handed_out(kind, tmp_path):
    table, change = changing(kind, tmp_path)
    estimator = suppressing()
    released = estimator.fit_transform(table)
    # Of Spark, where each takes seconds, at full length: what is applied is handed out alike.
    applied = released if kind == "spark" and not LONG else estimator.transform(table)
    assert shown(released) == shown(applied) == {"nurse": 200, "clerk": 200}
    change()
    assert shown(released) == shown(applied) == {"nurse": 200, "clerk": 200}


def volatile(kind):
    """A table that is another one whenever it is computed."""
    if kind == "duckdb":
        return duckdb.connect().sql(
            "SELECT floor(random() * 5)::INTEGER AS job, if(i % 2 = 0, 'flu', 'cold') AS ill "
            "FROM range(4000) r(i)"
        )
    times = itertools.count()
    if kind == "dask":
        frame = ages()
        return dask.dataframe.from_map(
            lambda _: frame.iloc[: 300 + 10 * next(times)], [0], meta=frame[:0]
        )
    frame = polars.from_pandas(ages()).lazy()
    return frame.map_batches(lambda batch: batch.head(300 + 10 * next(times)))


@pytest.mark.parametrize("kind", ["duckdb", "dask", "lazy"])
def test_a_table_that_is_another_one_each_time_is_refused(kind):
    with pytest.raises(InputError, match="the table changed while it was released"):
        suppressing().fit_transform(volatile(kind))


def test_what_has_been_handed_out_is_a_lazy_table_of_no_source(tmp_path):
    table, _ = changing("lazy", tmp_path)
    plan = suppressing().fit_transform(table).explain()
    assert "t.csv" not in plan
