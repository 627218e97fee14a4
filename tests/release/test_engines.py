"""The same counts and the same release from every library that holds a table."""

import itertools
import pickle
from collections import Counter
from datetime import date, time
from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from engines import KINDS, records_of
from lengths import LONG

from anonymizer import (
    Anonymizer,
    Bottleneck,
    Boxes,
    FullDomain,
    Hierarchy,
    InputError,
    KAnonymity,
    Noise,
    Pram,
    VariableRange,
)
from anonymizer.release.fitting import fitted
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


def shown(release, ordered=False):
    """All that is reported of a release; where there is no order, nothing is said of it."""
    found = release.steward_manifest.to_dict()
    if not ordered:
        found["warnings"] = [w for w in found["warnings"] if w["code"] != "telling-order"]
    return found


def typed(table):
    """The types of the columns of a table."""
    return dict(relation_of(table).table.collect_schema())


@pytest.fixture(params=list(KINDS))
def held(request):
    return KINDS[request.param]


RECODINGS = {
    "suppressed": FullDomain(suppression=0.1),
    "removed": FullDomain(suppression=0.1, remove=True),
    "ranges": VariableRange(),
    "boxes": Boxes(),
}
ALL = (
    [*itertools.product(KINDS, RECODINGS)]
    if LONG
    else [
        ("arrow", "removed"),
        ("polars", "ranges"),
        ("lazy", "boxes"),
        ("duckdb", "removed"),
        ("dask", "suppressed"),
        ("spark", "removed"),
    ]
)
"""Libraries and recodings: how a table is recoded does not depend on how its labels were found."""


@cache
def expected(name):
    """The release of pandas, by the name of the recoding: its records, and what is reported."""
    ours = anonymizer(RECODINGS[name])
    return records_of(ours.fit_transform(exact_frame(people()))), ours.release_


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), ALL)
def test_a_release_is_that_of_pandas(kind, name):
    records, release = expected(name)
    table = KINDS[kind](people())
    theirs = anonymizer(RECODINGS[name])
    released = theirs.fit_transform(table)
    assert type(released) is type(table)
    assert records_of(released) == records
    assert shown(theirs.release_) == shown(release)
    assert "name" not in typed(released)
    assert typed(released)["note"] == typed(table)["note"]
    if kind != "spark":  # as any other, in seconds
        assert records_of(theirs.transform(table)) == records


@pytest.mark.parametrize("kind", ["arrow", "polars", "duckdb", "dask"])
def test_zeros_times_and_missing_numbers_are_alike_in_every_role(kind):
    """The order of sensitive values, too, by which they are shuffled to see what chance keeps."""
    numbers = [-0.0, 1.0, None, -2.0, float("nan"), 1.0, 3.0]
    columns = {
        "at": pa.array([time(hour=i % 3, microsecond=i % 2) for i in range(70)]),
        "x": pa.array([numbers[i % 7] for i in range(70)], pa.float32()),
        "y": pa.array([numbers[i // 3 % 7] for i in range(70)]),
    }
    table = pa.table(columns)
    ours, theirs = (
        Anonymizer({"at": "suppress", "x": "suppress"}, "y", [KAnonymity(4)], missing="category")
        for _ in range(2)
    )
    ours.fit(exact_frame(table))
    theirs.fit(KINDS[kind](table))
    assert shown(theirs.release_) == shown(ours.release_)
    assert "00:00:00.000001" in str(theirs.release_.recoding)


def test_values_are_drawn_for_as_many_records_as_counted(held):
    table = pa.table({"id": range(90), "a": ["x", "y", None] * 30})
    relation = relation_of(held(table))
    raw = relation.tally(["a"])
    of, records = np.array([0, 1, 2, 0]), np.array([10, 30, 29, 20])
    released = pd.DataFrame({"a": ["p", "q", "r", "s"]})
    drawn = relation.recoded(Moves(raw, released, of, records, ("a", "id"))).shuffled()
    frame = drawn.frame(["id", "a"])
    assert frame["a"].value_counts().to_dict() == {"p": 10, "s": 20, "q": 30, "r": 29}
    was = pd.Series(["x", "y", None] * 30)[frame["id"].tolist()]
    of_value = {"p": raw["a"][0], "s": raw["a"][0], "q": raw["a"][1], "r": raw["a"][2]}
    assert [str(each) for each in was] == [str(of_value[each]) for each in frame["a"]]
    assert frame["id"].tolist() != sorted(frame["id"])
    again = drawn.frame(drawn.columns)  # the same whenever computed
    assert records_of(again) == records_of(frame[[*drawn.columns]])


def test_records_are_shuffled_anew_each_time(held):
    """By a seed of their own, so that who has one order learns nothing of the next."""
    note = [f"n{i % 7}" for i in range(400)]
    relation = relation_of(held(pa.table({"id": range(400), "note": note})))
    orders = []
    for _ in range(2):
        shuffled = relation.shuffled()
        frame = shuffled.frame(["id", "note"])
        orders.append(frame["id"].tolist())
        assert sorted(orders[-1]) == [*range(400)]
        assert frame["note"].tolist() == [note[i] for i in orders[-1]]
        assert records_of(shuffled.frame(["id", "note"])) == records_of(frame)
        assert ascents(orders[-1]) < 260  # of 399 half ascend, give or take 6
    moves = sum(one == other for one, other in zip(*orders, strict=True))
    assert moves < 20  # one stays, on average


def test_spark_puts_no_maps_in_order():
    maps = pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64()))
    relation = relation_of(KINDS["spark"](pa.table({"id": [1, 2], "of": maps})))
    with pytest.raises(InputError, match=r"'of' holds maps.* or leave engine out of \[data\]"):
        relation.shuffled()


def ascents(order: list[int]) -> int:
    return sum(one < other for one, other in itertools.pairwise(order))


DRAWN = [
    ("arrow", Noise(grid={"age": 1})),
    ("polars", Bottleneck()),
    ("lazy", Pram()),
    ("duckdb", Pram()),
    ("dask", Pram()),
    ("spark", Pram()),
]


@pytest.mark.parametrize(("kind", "recoding"), DRAWN)
def test_what_is_drawn_has_the_margins_that_were_proven(kind, recoding):
    table = people().select(["age", "ill", "note"])
    ages = Anonymizer({"age": "suppress"}, "ill", [KAnonymity(4)], recoding=recoding)
    drawn = fitted(ages, relation_of(KINDS[kind](table)))
    proven = Counter()
    for row, size in zip(rows_of(drawn.records.combinations), drawn.records.sizes, strict=True):
        proven[row] += int(size)
    found = drawn.table.frame(["age", "ill", "note"])
    assert Counter(rows_of(found[["age", "ill"]])) == proven
    given = exact_frame(table)
    assert sorted(rows_of(found[["ill", "note"]])) == sorted(rows_of(given[["ill", "note"]]))
    assert sorted(rows_of(found)) != sorted(rows_of(given))


def rows_of(frame):
    return [tuple(map(str, row)) for row in frame.astype(object).itertuples(index=False)]


def test_numbers_are_equal_by_value_and_missing_ones_are_one(held):
    values = [0.0, -0.0, 0.5, float("nan"), None, -0.5, 2.0**53] * 2
    tally = relation_of(held(pa.table({"x": pa.array(values, pa.float64())}))).tally(["x"])
    plain = tally["x"].astype(object).where(tally["x"].notna(), None)
    found = dict(zip(plain, tally.sizes.tolist(), strict=True))
    assert found == {0.0: 4, 0.5: 2, -0.5: 2, 2.0**53: 2, None: 4}
    assert not any(value is not None and np.signbit(value) for value in found if value == 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS] if LONG else ["arrow", "dask"])
def test_keys_are_numbered_anew_before_they_overflow(kind, monkeypatch):
    monkeypatch.setattr("anonymizer.tables.relations.frames.MOST_KEYS", 5)
    released = anonymizer().fit_transform(KINDS[kind](people()))
    assert records_of(released) == expected("suppressed")[0]


@pytest.mark.parametrize("kind", ["arrow", "polars", "lazy"])
def test_records_keep_their_order_where_there_is_one(kind):
    table = people().sort_by("age")
    ours, theirs = anonymizer(), anonymizer()
    notes = ours.fit_transform(exact_frame(table))["note"].tolist()
    released = theirs.fit_transform(KINDS[kind](table))
    assert relation_of(released).frame(["note"])["note"].tolist() == notes
    assert shown(theirs.release_, ordered=True) == shown(ours.release_, ordered=True)
    assert "telling-order" in str(theirs.release_.warnings)


def test_nothing_of_removed_records_stays_with_a_table_of_arrow():
    lists = pa.array([[f"secret {i}"] for i in range(120)])
    table = pa.table({"age": [30] * 119 + [99], "list": lists})
    policy = Anonymizer(
        {"age": "suppress"}, (), [KAnonymity(5)], recoding=FullDomain(suppression=0.1, remove=True)
    )
    released = policy.fit_transform(table.replace_schema_metadata({"owner": "secret 119"}))
    assert set(released["age"].to_pylist()) == {30}
    assert not released.schema.metadata
    pickled = pickle.dumps(released)
    assert b"secret 118" in pickled
    assert b"secret 119" not in pickled


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
