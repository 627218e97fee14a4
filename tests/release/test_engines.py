"""The same counts and the same release from every library that holds a table."""

import pickle
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines import KINDS, records_of
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import Anonymizer, FullDomain, Hierarchy, InputError, KAnonymity, VariableRange
from anonymizer.tables.files.parquet import exact_frame
from anonymizer.tables.relations.frames import relation_of
from anonymizer.tables.relations.relation import Moves

BIG = 2**53


def people(records=120):
    """A table by hand: missing values, unicode, categories, big numbers, truth values, dates."""
    place = range(records)
    town = pa.array([["Zürich", "大阪", "a'b\"c", None][i % 4] for i in place])
    columns = {
        "name": pa.array([f"person {i}" for i in place]),
        "age": pa.array([20 + i % 40 for i in place], pa.int32()),
        "town": town.dictionary_encode(),
        "code": pa.array([BIG + i % 3 for i in place], pa.int64()),
        "member": pa.array([[True, False, None][i % 3] for i in place]),
        "born": pa.array([date(1950 + i % 5, 1, 1 + i % 28) for i in place]),
        "weight": pa.array([[0.0, -0.0, float("nan"), None, 0.5][i % 5] for i in place]),
        "price": pa.array([Decimal(i % 4) / 4 for i in place], pa.decimal128(5, 2)),
        "ill": pa.array([["flu", "cold", "none"][i * 7 % 3] for i in place]),
        "note": pa.array([f"{i // 6}" for i in place]),
    }
    return pa.table(columns)


def anonymizer(recoding=None, **options):
    roles = {
        "age": Hierarchy.ranges(widths=[5, 10, 20]),
        **dict.fromkeys(["town", "code", "member", "weight", "price"], "suppress"),
        "born": Hierarchy.calendar(["year"]),
    }
    recoding = recoding or FullDomain(suppression=0.1)
    given = {"identifiers": ["name"], "missing": "category", "recoding": recoding, **options}
    return Anonymizer(roles, "ill", [KAnonymity(4)], **given)


def shown(release):
    """All that is reported of a release, but for the order of records: not all tables have one."""
    found = release.to_dict()
    found["warnings"] = [each for each in found["warnings"] if each["code"] != "telling-order"]
    return found


def typed(table):
    """The types of the columns of a table."""
    return dict(relation_of(table).table.collect_schema())


@pytest.fixture(params=list(KINDS))
def held(request):
    return KINDS[request.param]


RECODINGS = {
    "removed": FullDomain(suppression=0.1, remove=True),
    "ranges": VariableRange(),
}


@pytest.mark.parametrize("name", RECODINGS)
def test_a_release_is_that_of_pandas(held, name):
    table = people()
    ours = anonymizer(RECODINGS[name])
    expected = ours.fit_transform(exact_frame(table))
    given = held(table)
    theirs = anonymizer(RECODINGS[name])
    released = theirs.fit_transform(given)
    assert type(released) is type(given)
    assert records_of(released) == records_of(expected)
    assert shown(theirs.release_) == shown(ours.release_)
    again = theirs.transform(given)
    assert records_of(again) == records_of(expected)
    assert typed(again)["note"] == typed(given)["note"]
    assert "name" not in typed(again)


def test_values_are_drawn_for_as_many_records_as_counted(held):
    table = pa.table({"id": range(90), "a": ["x", "y", None] * 30})
    relation = relation_of(held(table))
    raw = relation.tally(["a"])
    of, records = np.array([0, 1, 2, 0]), np.array([10, 30, 29, 20])
    released = pd.DataFrame({"a": ["p", "q", "r", "s"]})
    drawn = relation.recoded(Moves(raw, released, of, records, ("a", "id"), shuffled=True))
    frame = drawn.frame(["id", "a"])
    assert frame["a"].value_counts().to_dict() == {"p": 10, "s": 20, "q": 30, "r": 29}
    was = pd.Series(["x", "y", None] * 30)[frame["id"].tolist()]
    of_value = {"p": raw["a"][0], "s": raw["a"][0], "q": raw["a"][1], "r": raw["a"][2]}
    assert [str(each) for each in was] == [str(of_value[each]) for each in frame["a"]]
    assert frame["id"].tolist() != sorted(frame["id"])
    assert records_of(drawn.native) == records_of(drawn.native)  # the same whenever computed


@given(st.lists(st.sampled_from([0.0, -0.0, 0.5, float("nan"), None]), min_size=1, max_size=8))
def test_numbers_are_equal_by_value_and_missing_ones_are_one(values):
    table = pa.table({"x": pa.array(values, pa.float64())})
    expected = pd.Series(values, dtype=float).value_counts(dropna=False).sort_index()
    for make in (KINDS["arrow"], KINDS["polars"], KINDS["duckdb"]):
        tally = relation_of(make(table)).tally(["x"])
        assert tally.sizes.tolist() == expected.tolist()


def test_keys_are_numbered_anew_before_they_overflow(held, monkeypatch):
    monkeypatch.setattr("anonymizer.tables.relations.frames.MOST_KEYS", 5)
    released = anonymizer().fit_transform(held(people()))
    assert records_of(released) == records_of(anonymizer().fit_transform(exact_frame(people())))


def test_records_keep_their_order_where_there_is_one():
    table = people(400)
    expected = anonymizer().fit_transform(exact_frame(table))["note"].tolist()
    for make in (KINDS["arrow"], KINDS["polars"], KINDS["lazy"]):
        released = anonymizer().fit_transform(make(table))
        assert relation_of(released).frame(["note"])["note"].tolist() == expected


def test_nothing_of_removed_records_stays_with_a_table_of_arrow():
    table = people().append_column("list", [[[f"secret {i}"] for i in range(120)]])
    kept = pa.table({"age": [30] * 119 + [99], "list": table["list"]})
    policy = Anonymizer(
        {"age": "suppress"}, (), [KAnonymity(5)], recoding=FullDomain(suppression=0.1, remove=True)
    )
    released = policy.fit_transform(kept.replace_schema_metadata({"owner": "secret"}))
    assert released.num_rows in (119, 120)
    assert not released.schema.metadata
    if released.num_rows == 119:
        assert b"secret 119" not in pickle.dumps(released)


@pytest.mark.parametrize("kind", ["lazy", "duckdb", "dask"])
def test_what_needs_rows_in_their_order_is_refused(kind):
    table = KINDS[kind](people())
    with pytest.raises(InputError, match="verify = False gives every row in its order, which a"):
        anonymizer(verify=False).fit(table)
    without = relation_of(table).chosen(["age", "town"]).native
    ages = Anonymizer({"age": "suppress"}, "ill", [KAnonymity(4)])
    with pytest.raises(InputError, match="y has the values of its records, in their order"):
        ages.fit(without, people()["ill"])


def test_values_that_cannot_be_told_apart_are_refused(held):
    table = pa.table({"age": [[1], [2]]})
    with pytest.raises(InputError, match="'age' holds values that cannot be told apart"):
        Anonymizer({"age": "suppress"}, (), [KAnonymity(2)]).fit(held(table))


def test_errors_of_an_engine_show_no_value():
    import duckdb

    table = duckdb.connect().sql("select ('secret' || range)::int as age from range(3)")
    with pytest.raises(InputError, match="DuckDB could not compute the table") as error:
        Anonymizer({"age": "suppress"}, (), [KAnonymity(2)]).fit(table)
    assert "secret" not in str(error.value)
    assert error.value.__cause__ is None


def test_a_table_of_dask_stays_one():
    table = people().select(["age", "ill", "note"])
    policy = Anonymizer({"age": Hierarchy.ranges(widths=[20])}, "ill", [KAnonymity(4)])
    released = policy.fit_transform(KINDS["dask"](table))
    assert type(released).__module__.startswith("dask")
    assert records_of(released) == records_of(policy.fit_transform(exact_frame(table)))
