from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import SENSITIVE, nested_rows, problem_of, tables

from anonymizer import Hierarchy, InputError
from anonymizer.counts.counting import recount
from anonymizer.counts.counts import Counts
from anonymizer.counts.pairs import row_keys
from anonymizer.counts.schema import Schema
from anonymizer.hierarchy import Partition
from anonymizer.tables import engine


def histogram(counts: Counts) -> list[list[int]]:
    return sorted(map(sorted, counts.joint[SENSITIVE].tolist()))


def test_recoding_merges_classes():
    counts = Counts.of(
        ("a",),
        np.array([[0], [1], [2]]),
        np.array([1, 3, 4]),
        {SENSITIVE: np.array([[1, 0], [2, 1], [0, 4]])},
    )
    merged = counts.recode({"a": Partition.of(["x", "x", "y"])})
    assert merged.cells.tolist() == [[0], [2]]
    assert merged.joint[SENSITIVE].tolist() == [[3, 1], [0, 4]]
    assert merged.sizes.tolist() == [4, 4]
    assert merged.records == 8


@given(st.data())
def test_recoding_equals_a_pandas_group_by(data):
    table = data.draw(tables(2))
    hierarchies = {
        name: data.draw(nested_rows(sorted(set(table[name])))) for name in table.columns[:-1]
    }
    problem = problem_of(table, {n: Hierarchy.from_rows(r) for n, r in hierarchies.items()}, [])
    for node in problem.lattice:
        coarse = table.assign(
            **{
                name: table[name].map(
                    {row[0]: (*row, "*")[min(level, len(row))] for row in hierarchies[name]}
                )
                for name, level in zip(hierarchies, node, strict=True)
            }
        )
        expected = coarse.groupby([*hierarchies, SENSITIVE]).size().unstack(fill_value=0)
        assert histogram(problem.at(node)) == sorted(map(sorted, expected.to_numpy().tolist()))


@given(st.data())
def test_rolling_up_equals_counting_anew(data):
    table = data.draw(tables(2))
    problem = problem_of(
        table,
        {n: Hierarchy.from_rows(data.draw(nested_rows(sorted(set(table[n]))))) for n in "ab"},
        [],
    )
    node = data.draw(st.sampled_from(list(problem.lattice)))
    below = data.draw(
        st.sampled_from([n for n in problem.lattice if all(map(int.__le__, n, node))])
    )
    rolled, direct = problem.at(node, problem.at(below)), problem.at(node)
    assert rolled.cells.tolist() == direct.cells.tolist()
    assert rolled.joint[SENSITIVE].tolist() == direct.joint[SENSITIVE].tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_row_keys_are_exact_even_where_digits_would_overflow(seed, columns):
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 2**20, (50, columns))
    cells = np.vstack([cells, cells[::2]])
    keys = row_keys(cells)
    for i, j in rng.integers(0, len(cells), (200, 2)):
        assert (keys[i] == keys[j]) == (cells[i] == cells[j]).all()
    assert [tuple(row) for row in cells[np.argsort(keys, kind="stable")].tolist()] == sorted(
        map(tuple, cells.tolist())
    )


@given(tables(3))
def test_a_tally_counts_every_combination(table):
    tally = engine.tally(table, list(table.columns))
    combinations, sizes = tally.combinations, tally.sizes
    expected = Counter(map(tuple, table.to_numpy().tolist()))
    rows = map(tuple, combinations.to_numpy().tolist())
    assert dict(zip(rows, sizes.tolist(), strict=True)) == expected


def test_missing_values_are_counted_as_one_value():
    table = pd.DataFrame({"a": ["x", None, np.nan, "x"], SENSITIVE: ["1", "1", "1", None]})
    assert sorted(engine.tally(table, ["a", SENSITIVE]).sizes) == [1, 1, 2]
    assert len(recount(table, Schema(("a",), (SENSITIVE,), missing="category"))) == 2


@given(tables(2), st.integers(0, 99))
def test_counts_do_not_depend_on_the_order_of_records(table, seed):
    def counted(rows):
        return problem_of(rows, {name: Hierarchy.suppression() for name in "ab"}, []).counts

    first, second = counted(table), counted(table.sample(frac=1, random_state=seed))
    assert first.cells.tolist() == second.cells.tolist()
    assert first.joint[SENSITIVE].tolist() == second.joint[SENSITIVE].tolist()


@given(tables(2), st.integers(0, 99))
def test_shuffling_keeps_sizes_and_margins(table, seed):
    counts = problem_of(table, {name: Hierarchy.suppression() for name in "ab"}, []).counts
    dealt = counts.shuffled(np.random.default_rng(seed))
    before, after = counts.about(SENSITIVE), dealt.about(SENSITIVE)
    assert before.sizes.tolist() == after.sizes.tolist()
    assert before.margin.tolist() == after.joint.sum(axis=0).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((), ("w",)), "at least one quasi-identifier"),
        ((("a",), ("a",)), "'a' has more than one role"),
        ((("a",), ("w",), ("w",)), "'w' has more than one role"),
        ((("a",), ("w",), (), "dorp"), "did you mean 'drop'"),
    ],
)
def test_a_schema_that_cannot_be(arguments, message):
    with pytest.raises(InputError, match=message):
        Schema(*arguments)


def test_many_values_in_few_cells_are_counted():
    """Rows of the tally, 30,000, times values would be 9e8 cells; those of the counts are 2."""
    numbers = np.arange(30_000)
    table = pd.DataFrame({"sex": numbers % 2, "income": numbers})
    schema = Schema(("sex",), ("income",))
    counts = recount(table, schema)
    assert counts.cells.tolist() == [[0], [1]]
    assert counts.sizes.tolist() == [15_000, 15_000]
    assert counts.joint["income"].shape == (2, 30_000)
    assert (counts.joint["income"].sum(axis=0) == 1).all()
