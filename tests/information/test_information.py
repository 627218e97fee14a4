import numpy as np
import pytest
from hypothesis import given
from strategies import joints

from anonymizer.information.entropy import (
    divergence,
    entropy,
    mutual_information,
    partition_information,
    specific_information,
    surprise,
    weighted_uncertainty_reduction,
)
from anonymizer.kernels.terms import xlogx


def test_hand_worked_table_of_two_classes():
    joint = [[3, 1], [1, 3]]  # H(1/4) = 0.811278, prior 1/2
    assert entropy(joint) == pytest.approx([0.8112781244591328] * 2, abs=1e-12)
    assert surprise(joint) == pytest.approx([0.1887218755408672] * 2, abs=1e-12)
    assert specific_information(joint) == pytest.approx([0.1887218755408672] * 2, abs=1e-12)
    assert mutual_information(joint) == pytest.approx(0.1887218755408672, abs=1e-12)


def test_specific_information_may_be_negative():
    joint = np.array([[1, 1], [98, 0]])
    assert specific_information(joint)[0] == pytest.approx(entropy([99, 1]) - 1)
    assert specific_information(joint)[0] < 0


def test_edge_cases():
    assert xlogx([0, 1]).tolist() == [0, 0]
    assert entropy([0, 0]) == 0
    assert entropy([7]) == 0
    assert divergence([0, 0], [1, 1]) == 0
    assert divergence([1, 1], [1, 0]) == np.inf
    assert mutual_information(np.zeros((2, 3))) == 0
    assert surprise([[0, 0], [2, 2]]).tolist() == [0, 0]


@pytest.mark.parametrize("values", [2, 3, 5, 7, 11, 100])
def test_a_uniform_class_has_log_m_bits(values):
    assert 2 ** entropy(np.full(values, 37)) == pytest.approx(values, abs=1e-12)


@given(joints)
def test_i1_i2_and_i3_average_to_mutual_information(joint):
    weight = joint.sum(axis=1) / joint.sum()
    expected = mutual_information(joint)
    for one_symbol in (surprise, specific_information, weighted_uncertainty_reduction):
        assert weight @ one_symbol(joint) == pytest.approx(expected, abs=1e-9)


@given(joints)
def test_i4_is_the_information_of_the_two_class_partition(joint):
    total = joint.sum(axis=0)
    for row, value in zip(joint, partition_information(joint), strict=True):
        assert value == pytest.approx(mutual_information([row, total - row]), abs=1e-9)


@given(joints)
def test_merging_classes_never_gains_information(joint):
    merged = np.vstack([joint[0] + joint[1], joint[2:]])
    assert mutual_information(merged) <= mutual_information(joint) + 1e-12


@given(joints)
def test_bounds(joint):
    assert (surprise(joint) >= 0).all()
    assert (entropy(joint) <= np.log2(joint.shape[1]) + 1e-12).all()
    assert 0 <= mutual_information(joint) <= entropy(joint.sum(axis=0)) + 1e-12
