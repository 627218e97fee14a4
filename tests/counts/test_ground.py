"""Tables counted at grounds where they lie, and refused where cells would be too many."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonymizer import Anonymizer, Hierarchy, InputError, KAnonymity, Plan
from anonymizer.counts.ground import COMBINATIONS, grounded, require_countable, rounded
from anonymizer.release.fitting import fitted
from anonymizer.tables.files import Format, describe_file
from anonymizer.tables.relations.embedded.files import opened
from anonymizer.tables.relations.frames import distinct_of_sample, relation_of
from tests.whole import read_table

RNG = np.random.default_rng(0)

QUANTILES = {"cuts": [[3000]], "ground": {"quantiles": 5}}

GROUNDS = {
    "birth": Hierarchy.calendar(["year"]).grounded("month"),
    "income": Hierarchy.ranges(widths=[5000]).grounded(1000),
    "zip": Hierarchy.prefixes([2]).grounded(3),
}

PEOPLE = pd.DataFrame(
    {
        "birth": [date(1980 + n % 3, 1 + n % 12, 1 + n % 28) for n in range(120)],
        "income": [None if n % 40 == 0 else 1000.0 * (n % 7) + n for n in range(120)],
        "zip": [f"{40000 + 37 * n % 3000}" for n in range(120)],
        "disease": ["x", "y", "z"] * 40,
        "note": range(120),
    }
)


def of_kind(kind, table=PEOPLE):
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    if kind == "duckdb":
        return pytest.importorskip("duckdb").connect().from_arrow(arrow)
    frame = pl.from_arrow(arrow)
    return {"pyarrow": arrow, "polars": frame, "lazy": frame.lazy()}[kind]


GIVEN = {"sensitive": "disease", "privacy": [KAnonymity(3)], "missing": "category"}


@pytest.fixture(scope="module")
def loaded():
    """An estimator fitted to the table in memory, and what it releases."""
    anonymizer = Anonymizer(quasi_identifiers=GROUNDS, **GIVEN)
    return anonymizer, anonymizer.fit_transform(PEOPLE)


@pytest.mark.parametrize("kind", ["polars", "lazy", "pyarrow", "duckdb"])
def test_a_table_is_counted_at_its_grounds_where_it_lies(kind, loaded):
    relation = relation_of(of_kind(kind))
    coarser, _ = grounded(relation, GROUNDS)
    months = {(day.year, day.month) for day in PEOPLE["birth"]}
    found = coarser.tally(["birth"])
    assert {(day.year, day.month) for day in found["birth"]} == months
    assert len(found.sizes) == len(months) < PEOPLE["birth"].nunique()
    assert {type(day) for day in found["birth"]} == {date}
    assert sorted(coarser.frame(["note"])["note"]) == [*range(120)]
    one, released = loaded
    other = Anonymizer(quasi_identifiers=GROUNDS, **GIVEN)
    carried = fitted(other, relation)
    carried.verify()
    for said in (
        "records",
        "suppressed",
        "classes",
        "levels",
        "recoding",
        "privacy",
        "hierarchies",
    ):
        assert getattr(carried.release, said) == getattr(one.release_, said)
    again = carried.table.frame([*released.columns]).sort_values("note", ignore_index=True)
    assert again.astype(str).equals(released.astype(str))
    assert carried.plan.recoded(relation).release.classes == one.release_.classes


def test_quantiles_are_those_of_all_records_where_the_table_lies():
    given = {**GROUNDS, "income": Hierarchy.of(QUANTILES)}
    anonymizers = [Anonymizer(given, "disease", [KAnonymity(3)], missing="drop") for _ in range(2)]
    released = anonymizers[0].fit_transform(PEOPLE)
    carried = fitted(anonymizers[1], relation_of(of_kind("polars")))
    carried.verify()
    plans = [each.hierarchies["income"] for each in (anonymizers[0].plan_, carried.plan)]
    assert plans[0].cuts == plans[1].cuts
    assert len(plans[0].cuts[0]) == 5
    again = carried.table.frame([*released.columns])
    assert again.astype(str).equals(released.reset_index(drop=True).astype(str))


def test_values_of_a_file_are_grounded_by_what_they_say():
    texts = pd.DataFrame({"age": ["21", "22 ", "29.0", "3e1", "?", "old"]})
    ages = {"age": Hierarchy.ranges(widths=[20]).grounded(10)}
    form = Format(parquet=False, missing_values=("?",))
    coarser, _ = grounded(relation_of(of_kind("polars", texts)), ages, form)
    found = coarser.tally(["age"])
    sizes = dict(zip(found["age"].astype(str), found.sizes.tolist(), strict=True))
    # the first text of each cell stands for it; what is no number stays what it is
    assert sizes == {"21": 3, "3e1": 1, "?": 1, "old": 1}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_counted_at_their_grounds(tmp_path, ending):
    path = tmp_path / f"people.{ending}"
    PEOPLE.to_csv(path, index=False) if ending == "csv" else PEOPLE.to_parquet(path)
    form = describe_file(path)
    given = {**GROUNDS, "income": Hierarchy.of(QUANTILES)}
    anonymizers = [Anonymizer(given, "disease", [KAnonymity(3)], missing="drop") for _ in range(2)]
    released = anonymizers[0].fit_transform(read_table(path, form, [*GROUNDS, "disease"]))
    with opened(path, form) as relation:
        assert abs(relation.estimate([*GROUNDS]) - 119) < 15
        carried = fitted(anonymizers[1], relation, form)
        carried.verify()
        again = carried.table.frame([*released.columns])
        assert carried.release.recoding == anonymizers[0].release_.recoding
        plan = anonymizers[0].plan_
        assert plan.recoded(relation, form).release.classes == carried.release.classes
    assert again.astype(str).equals(released.reset_index(drop=True).astype(str))


def test_a_column_that_is_coarse_already_stays_what_it_is():
    table = relation_of(of_kind("polars"))
    coarse = {"disease": Hierarchy.keep(["x", "y", "z"]).grounded(1)}
    assert grounded(table, coarse) == (table, coarse)


def test_a_plan_of_a_manifest_knows_its_grounds():
    anonymizer = Anonymizer(GROUNDS, "disease", [KAnonymity(3)], missing="category").fit(PEOPLE)
    assert isinstance(anonymizer.plan_, Plan)
    assert {n: h.ground for n, h in anonymizer.plan_.hierarchies.items()} == {
        "birth": "month",
        "income": "1000",
        "zip": 3,
    }


def test_too_many_combinations_are_refused_before_they_are_counted(monkeypatch):
    relation = relation_of(of_kind("polars"))
    columns = [*GROUNDS, "disease"]
    require_countable(relation, columns, GROUNDS)
    monkeypatch.setenv(COMBINATIONS.variable, "60")
    with pytest.raises(InputError) as raised:
        require_countable(relation, columns, GROUNDS)
    message = str(raised.value)
    assert (
        "distinct combinations of values, more than the 60 that are counted (of values, '"
        in message
    )
    assert "count one of them coarser, such as " in message
    assert "or set ANONYMIZER_MAX_COMBINATIONS in the environment" in message
    free = {name: Hierarchy.suppression() for name in GROUNDS}
    with pytest.raises(InputError, match="round these, or give them no role"):
        require_countable(relation, columns, free)
    with pytest.raises(InputError, match="60 that are counted"):
        fitted(Anonymizer(GROUNDS, "disease", [KAnonymity(3)], missing="category"), relation)
    monkeypatch.setenv(COMBINATIONS.variable, "119")
    require_countable(relation, ["disease"], GROUNDS)


@pytest.mark.parametrize("kind", ["polars", "lazy", "pyarrow", "duckdb"])
def test_estimates_of_distinct_combinations(kind):
    size = 30_000
    columns = {"a": RNG.integers(0, 300, size), "b 'c\"": RNG.integers(0, 40, size)}
    table = pd.DataFrame(columns | {"d": RNG.integers(0, 10, size)})
    exact = len(table[["a", "b 'c\""]].drop_duplicates())
    found = relation_of(of_kind(kind, table)).estimate(["a", "b 'c\""])
    assert abs(found - exact) < 0.15 * exact


def test_estimates_by_a_sample_are_between_what_it_has_and_all_records():
    sample = pd.DataFrame({"a": [*range(50), *[7] * 50]})
    assert distinct_of_sample(sample, ["a"], 100) == 50
    assert distinct_of_sample(sample, ["a"], 400) == 49 * 2 + 1
    assert distinct_of_sample(sample, ["a"], 10**6) == 49 * 100 + 1


def dates(*days):
    return pa.array([*days, None], pa.date32())


ROUNDED = {
    "months": (Hierarchy.calendar(["year"]).grounded("month"), dates(-800, -770, 0, 30, 31), True),
    "weeks": (Hierarchy.calendar(["week"]).grounded("week"), dates(-5, 0, 3, 4, 11), True),
    "hours": (
        Hierarchy.calendar(["day"]).grounded("hour"),
        pa.array([-1, 0, 3_599_999_999, 3_600_000_000, None], pa.timestamp("us")),
        True,
    ),
    "halves": (Hierarchy.calendar(["year"]).grounded("half-year"), dates(0, 180, 182), False),
    "wholes": (
        Hierarchy.ranges([50], origin=3).grounded(10),
        pa.array([-17, -8, -7, 2, 3, 12, 13, None]),
        True,
    ),
    "reals": (
        Hierarchy.ranges([50]).grounded(10),
        pa.array([-0.0, 9.99, -0.01, 10.0, float("nan"), None]),
        True,
    ),
    # 0.3 / 0.1 is below 3, so that DuckDB would put it into the range from 0.2.
    "tenths": (Hierarchy.ranges([1]).grounded(0.1), pa.array([0.25, 0.3, 0.35]), False),
    "large": (Hierarchy.ranges([50]).grounded(10), pa.array([2**63 - 1, -(2**63), 5]), False),
    "decimals": (
        Hierarchy.ranges([5]).grounded(0.5),
        pa.array([Decimal("0.49"), Decimal("0.50"), Decimal("-0.01")]),
        True,
    ),
}
"""Hierarchies, values, and whether DuckDB rounds them rightly."""


@pytest.mark.parametrize("case", ROUNDED)
def test_files_are_rounded_down_to_the_ground_where_that_is_right(case, tmp_path):
    hierarchy, values, rightly = ROUNDED[case]
    table = pa.table({"x": values, "n": range(len(values))})
    pq.write_table(table, tmp_path / "a.parquet")
    labels = [hierarchy.ground_of(value) for value in relation_of(table).frame(["x"])["x"]]
    with opened(tmp_path / "a.parquet", Format(True)) as stored:
        assert (rounded(stored, "x", hierarchy) is not stored) == rightly
        coarser, _ = grounded(stored, {"x": hierarchy})
        found = coarser.frame(["x", "n"]).sort_values("n")["x"]
        assert [hierarchy.ground_of(value) for value in found] == labels
        covered = {label for label in labels if label is not None}
        assert len(coarser.tally(["x"]).index) == len(covered) + (None in labels)
