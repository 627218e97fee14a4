"""Counts of very many sensitive values: sparse histograms, made, merged and dealt out."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from strategies import SENSITIVE, sparse_counts, sparse_joints, tables

from anonymizer import Hierarchy
from anonymizer.counts import pairs
from anonymizer.counts.counting import classes_of, recount
from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.hierarchy import Partition
from anonymizer.tables import engine


def as_lists(counts: Counts) -> dict[str, object]:
    """All that counts hold, sparse histograms as arrays; these are canonical."""
    joint = {}
    for name, each in counts.joint.items():
        if not isinstance(each, np.ndarray):
            assert each.has_canonical_format
            assert each.data.all()
            assert each.dtype == np.int64
            each = each.toarray()
        joint[name] = each.tolist()
    people = None if counts.population is None else counts.population.tolist()
    margins = {name: margin.tolist() for name, margin in counts.margins.items()}
    return {
        "cells": counts.cells.tolist(),
        "sizes": counts.sizes.tolist(),
        "joint": joint,
        "margins": margins,
        "records": counts.records,
        "values": counts.values,
        "population": people,
    }


def both(make):
    """What a function makes of arrays and of sparse histograms."""
    with sparse_counts():
        sparse = make()
    return make(), sparse


def is_sparse(counts: Counts) -> bool:
    return all(isinstance(each, csr_array) for each in counts.joint.values())


@st.composite
def some_counts(draw):
    """Counts of a table of two quasi-identifiers, and the same with sparse histograms."""
    joint = draw(sparse_joints)
    place = st.lists(st.integers(0, 3), min_size=len(joint), max_size=len(joint))
    cells = np.column_stack([draw(place), draw(place)])
    people = joint.sum(axis=1) + 2
    values = {SENSITIVE: tuple("abcd"[: joint.shape[1]])}

    def make(histograms):
        given = {SENSITIVE: histograms}
        return Counts.of(("a", "b"), cells, joint.sum(axis=1), given, values, (), people)

    with sparse_counts():
        sparse = make(csr_array(joint))
    assert is_sparse(sparse)
    return make(joint), sparse


@given(some_counts(), st.data())
def test_sparse_counts_are_merged_chosen_and_recoded_as_arrays_are(counts, data):
    dense, sparse = counts
    assert as_lists(dense) == as_lists(sparse)
    some = st.lists(st.booleans(), min_size=len(dense), max_size=len(dense))
    mask = np.array(data.draw(some))
    groups = data.draw(st.lists(st.integers(0, 1), min_size=4, max_size=4))
    number = st.lists(st.integers(0, 2), min_size=len(dense), max_size=len(dense))
    class_of = np.array(data.draw(number))
    partition = Partition.of([str(group) for group in groups])
    for change in (
        lambda each: each.recode({"b": partition}),
        lambda each: each.project(("b",)),
        lambda each: each.project(()),
        lambda each: each.select(mask),
        lambda each: each.select(np.flatnonzero(mask)[::-1]),
        lambda each: each.merge(mask),
        lambda each: each.grouped(class_of),
        lambda each: each.shuffled(np.random.default_rng(3)),
        lambda each: each.dense,
    ):
        with sparse_counts():
            assert as_lists(change(sparse)) == as_lists(change(dense))
    about = sparse.about(SENSITIVE)
    assert len(about) == len(dense)
    assert about.sizes.tolist() == dense.sizes.tolist()
    assert about.shares.tolist() == dense.about(SENSITIVE).shares.tolist()
    with sparse_counts():
        assert about.occupied.sizes.tolist() == dense.about(SENSITIVE).occupied.sizes.tolist()


@given(tables(2), st.booleans())
def test_tables_are_counted_alike(table, with_people):
    schema = Schema(("a", "b"), (SENSITIVE,))
    people = pd.concat([table, table])[["a", "b"]].assign(a="0") if with_people else None
    everybody = None if people is None else pd.concat([table[["a", "b"]], people])

    def counted():
        tally = engine.tally(table, schema.columns)
        others = None if everybody is None else engine.tally(everybody, ("a", "b"))
        hierarchies = {name: Hierarchy.suppression() for name in "ab"}
        taxonomies = taxonomies_of(tally, hierarchies, others)
        return schema.counts(tally, taxonomies, others)

    for make in (
        counted,
        lambda: recount(table, schema, everybody),
        lambda: classes_of(table, schema, everybody)[0],
        lambda: classes_of(engine.tally(table, schema.columns), schema)[0],
    ):
        dense, sparse = both(make)
        assert is_sparse(sparse)
        assert as_lists(dense) == as_lists(sparse)


@pytest.mark.parametrize(
    ("classes", "values", "occurring", "array"),
    [
        (2000, 2000, 0, True),  # few
        (2001, 2000, 0, False),
        (1_000_000, 64, 0, True),  # of few values
        (1_000_000, 65, 0, False),
        (3_200_000, 64, 0, False),  # too many of them all the same
        (20_000, 1000, 2_500_000, True),  # nearly full
        (20_000, 1000, 2_499_999, False),
    ],
)
def test_what_is_an_array(classes, values, occurring, array):
    assert pairs.as_array(classes, values, occurring) == array


def test_dealing_sparse_counts_out_is_the_law_of_permuted_records():
    """Of 3 records of one value, of 4, two classes of 2 get 1 or 2 in 1 of 2 deals each."""
    rng = np.random.default_rng(5)
    joint = csr_array(np.array([[2, 0], [1, 1]]))
    with sparse_counts():
        dealt = [pairs.dealt_out(joint, rng).toarray() for _ in range(2000)]
    assert {tuple(map(tuple, each.tolist())) for each in dealt} == {
        ((2, 0), (1, 1)),
        ((1, 1), (2, 0)),
    }
    assert np.mean([each[0, 0] == 2 for each in dealt]) == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize("at_once", [1, 2, 5, 7, 1000])
def test_sparse_counts_are_dealt_out_a_few_classes_at_a_time(monkeypatch, at_once):
    joint = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 1], [4, 0, 0], [0, 0, 0]])
    whole = pairs.dealt_out(csr_array(joint), np.random.default_rng(2))
    monkeypatch.setattr(pairs, "RECORDS_AT_ONCE", at_once)
    with sparse_counts():
        dealt = pairs.dealt_out(csr_array(joint), np.random.default_rng(2))
    assert dealt.has_canonical_format
    assert dealt.toarray().tolist() == whole.tolist()
    assert dealt.sum(axis=1).tolist() == joint.sum(axis=1).tolist()


def test_records_are_permuted_alike_as_an_array_and_as_pairs(monkeypatch):
    joint = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 1], [4, 0, 0]])
    whole = pairs.permuted(joint, np.random.default_rng(2))
    monkeypatch.setattr(pairs, "FEW_CELLS", 0)
    monkeypatch.setattr(pairs, "PAIRS_APART", 1)
    dealt = pairs.permuted(joint, np.random.default_rng(2))
    assert isinstance(dealt, csr_array)
    assert isinstance(whole, np.ndarray)
    assert dealt.has_canonical_format
    assert dealt.toarray().tolist() == whole.tolist()
    for axis in (0, 1):
        assert whole.sum(axis=axis).tolist() == joint.sum(axis=axis).tolist()


def test_memory_grows_with_the_pairs_that_occur():
    """Of 200,000 cells and 10,000 values, 16 GB as an array."""
    rng = np.random.default_rng(1)
    cells, values, rows = 200_000, 10_000, 300_000
    cell_of = np.concatenate([np.arange(cells), rng.integers(0, cells, rows - cells)])
    codes = np.concatenate([np.arange(values), rng.integers(0, values, rows - values)])
    sizes = rng.integers(1, 4, rows)
    tracemalloc.start()
    try:
        joint = pairs.tabulated(cell_of, codes, sizes, (cells, values))
        of_cells = np.bincount(cell_of, sizes).astype(np.int64)
        places = np.column_stack(np.divmod(np.arange(cells), 500))
        counts = Counts.of(("a", "b"), places, of_cells, {SENSITIVE: joint})
        halves = Partition.of([str(number // 2) for number in range(500)])
        recoded = counts.recode({"b": halves})
        dealt = counts.shuffled(rng)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 * 2**20
    assert all(is_sparse(each) for each in (counts, recoded, dealt))
    assert len(recoded) == cells // 2
    for each in (counts, recoded, dealt):
        about = each.about(SENSITIVE)
        assert about.joint.sum(axis=0).tolist() == np.bincount(codes, sizes).tolist()
        assert about.sizes.tolist() == each.sizes.tolist()
