"""Functions of histograms give the same of an array and of a sparse matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from strategies import sparse_joints

from anonymizer import InputError
from anonymizer.information import matrices
from anonymizer.information.entropy import (
    divergence,
    entropy,
    entropy_grassberger,
    entropy_miller_madow,
    mutual_information,
    mutual_information_miller_madow,
    partition_information,
    specific_information,
    surprise,
    weighted_uncertainty_reduction,
)

MEASURES = [
    entropy,
    entropy_miller_madow,
    entropy_grassberger,
    mutual_information,
    mutual_information_miller_madow,
    partition_information,
    specific_information,
    surprise,
    weighted_uncertainty_reduction,
]


@pytest.mark.parametrize("measure", MEASURES)
@given(joint=sparse_joints)
def test_measures_are_the_same_of_both_kinds(measure, joint):
    np.testing.assert_allclose(measure(csr_array(joint)), measure(joint), rtol=0, atol=1e-12)


@given(sparse_joints, st.data())
def test_divergence_is_the_same_of_both_kinds(joint, data):
    """Infinite where a class has a value that the prior excludes."""
    values = joint.shape[1]
    prior = data.draw(st.lists(st.integers(0, 3), min_size=values, max_size=values).filter(any))
    np.testing.assert_allclose(
        divergence(csr_array(joint), prior), divergence(joint, prior), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    "count",
    [matrices.occurring, matrices.largest, matrices.likeliest],
    ids=lambda each: each.__name__,
)
@given(joint=sparse_joints)
def test_counts_are_the_same_of_both_kinds(count, joint):
    assert count(csr_array(joint)).tolist() == count(joint).tolist()


@given(sparse_joints, st.integers(0, 6))
def test_rarer_values_are_the_same_of_both_kinds(joint, rank):
    by_hand = [sum(sorted(row, reverse=True)[rank:]) for row in joint.tolist()]
    assert matrices.rarer(joint, rank).tolist() == by_hand
    assert matrices.rarer(csr_array(joint), rank).tolist() == by_hand


@given(sparse_joints, st.data())
def test_some_values_are_the_same_of_both_kinds(joint, data):
    values = joint.shape[1]
    some = np.array(data.draw(st.lists(st.booleans(), min_size=values, max_size=values)))
    sparse = csr_array(joint)
    assert matrices.having(sparse, some).tolist() == matrices.having(joint, some).tolist()
    left = matrices.without(sparse, some)
    assert left.has_canonical_format
    assert left.data.all()
    assert left.toarray().tolist() == matrices.without(joint, some).tolist()
    assert sparse.toarray().tolist() == joint.tolist()  # it is not changed
    for found, expected in zip(matrices.pairs_of(sparse), matrices.pairs_of(joint), strict=True):
        assert found.tolist() == expected.tolist()


@given(sparse_joints, st.data())
def test_the_largest_number_of_a_value_that_a_class_lacks(joint, data):
    values = joint.shape[1]
    numbers = st.lists(st.integers(-3, 3), min_size=values, max_size=values)
    of_value = np.array(data.draw(numbers), float)
    expected = np.where(joint > 0, -np.inf, of_value).max(axis=1)
    found = matrices.largest_lacking(csr_array(joint), of_value)
    assert found.tolist() == expected.tolist()


def test_blocks_are_few_classes_at_a_time(monkeypatch):
    joint = np.arange(35).reshape(7, 5)
    monkeypatch.setattr(matrices, "AT_ONCE", 3 * 5 * 8)
    found = [(part.start, rows.tolist()) for part, rows in matrices.blocks(csr_array(joint))]
    assert [start for start, _ in found] == [0, 3, 6]
    assert [row for _, rows in found for row in rows] == joint.tolist()
    assert len(list(matrices.blocks(joint))) == 1


def test_what_is_too_large_for_an_array_is_refused():
    joint = csr_array(([1], ([0], [0])), shape=(20_000, 10_000))
    assert matrices.too_large(joint)
    with pytest.raises(InputError, match=r"'income' has 10,000 distinct values.* 20,000 comb"):
        matrices.dense(joint, "income")
    assert not matrices.too_large(joint[:100])
    assert matrices.dense(joint[:100]).shape == (100, 10_000)
