"""Mean square error and mutual information as Bregman divergences: two functions, two laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from strategies import joints

from anonymizer.errors import InputError
from anonymizer.information.bregman import (
    NEGENTROPY,
    SQUARE,
    bregman,
    information_divergence,
    squared_error_divergence,
)

points = arrays(float, (5, 2), elements=st.floats(-100, 100))
laws = arrays(float, (4, 3), elements=st.floats(0.01, 1)).map(
    lambda p: p / p.sum(axis=1, keepdims=True)
)


@given(points, points)
def test_mean_square_error_is_the_divergence_of_squares(x, y):
    plain = sum((a - b) ** 2 for a, b in zip(x.ravel(), y.ravel(), strict=True)) / 5
    assert squared_error_divergence(x, y) == pytest.approx(plain, abs=1e-9)


@given(joints)
def test_mutual_information_is_the_divergence_of_negative_entropy(joint):
    n, rows, columns = int(joint.sum()), joint.sum(axis=1).tolist(), joint.sum(axis=0).tolist()
    plain = sum(
        c / n * math.log2(c * n / rows[i] / columns[j])
        for (i, j), c in np.ndenumerate(joint)
        if c > 0
    )
    assert information_divergence(joint) == pytest.approx(plain, abs=1e-9)


@given(points, points, laws, laws)
def test_of_all_points_the_mean_is_nearest(x, y, p, q):
    for generator, sample, others in ((SQUARE, x, y), (NEGENTROPY, p, q)):
        at_mean = bregman(generator, sample, sample.mean(axis=0)).mean()
        for other in others:
            assert bregman(generator, sample, other).mean() >= at_mean - 1e-9
        assert (bregman(generator, sample, others[: len(sample)]) >= -1e-9).all()


def test_a_law_that_rules_out_what_another_allows_is_infinitely_far():
    assert bregman(NEGENTROPY, [0.5, 0.5], [1.0, 0.0]) == math.inf
    assert bregman(NEGENTROPY, [1.0, 0.0], [0.5, 0.5]) == pytest.approx(1.0)
    assert bregman(NEGENTROPY, [[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0]).tolist() == [0.0, math.inf]


def test_what_has_no_divergence():
    with pytest.raises(InputError, match=r"shape \(1, 1\) and released ones of \(2, 1\)"):
        squared_error_divergence([[1.0]], [[1.0], [2.0]])
    with pytest.raises(InputError, match="joint must be a matrix of counts"):
        information_divergence([[0, 0]])
