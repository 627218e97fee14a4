"""Epsilon and the information about a database: definition, bound, tightness, no converse."""

from math import exp, inf, log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import InputError
from anonymizer.information.mechanism import database_information, mechanism_epsilon, theta

COUNTS = st.integers(2, 4).flatmap(
    lambda answers: st.lists(
        st.lists(st.integers(1, 50), min_size=answers, max_size=answers), min_size=2, max_size=4
    )
)


def surprise(own: list[float], mean: list[float]) -> float:
    return sum(p * log2(p / q) for p, q in zip(own, mean, strict=True) if p)


@given(COUNTS, st.data())
def test_definitions_and_bound(counts, data):
    rows = [[n / sum(row) for n in row] for row in counts]
    raw = data.draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    prior = [n / sum(raw) for n in raw]
    mean = [
        sum(p * row[s] for p, row in zip(prior, rows, strict=True)) for s in range(len(rows[0]))
    ]
    bits = database_information(rows, prior)
    epsilon = mechanism_epsilon(rows)
    assert bits == pytest.approx(surprise(rows[0], mean), abs=1e-9)
    assert epsilon == pytest.approx(
        max(abs(log(p / q)) for row in rows for p, q in zip(rows[0], row, strict=True))
    )
    assert bits <= theta(epsilon, prior[0]) + 1e-9
    assert theta(epsilon, prior[0]) <= theta(epsilon) + 1e-12
    assert theta(epsilon) <= epsilon * log2(exp(1)) + 1e-12


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("own", [0.0, 0.3, 1.0])
def test_randomized_response_attains_the_bound(epsilon, own):
    likely = exp(epsilon) / (1 + exp(epsilon))
    response = [[likely, 1 - likely], [1 - likely, likely]]
    bits = database_information(response, [own, 1 - own])
    assert bits == pytest.approx(theta(epsilon, own), abs=1e-9)


@pytest.mark.parametrize(("epsilon", "own"), [(1.0, 0.25), (2.0, 0.0)])
def test_no_mechanism_of_a_grid_tells_more(epsilon, own):
    grid = np.linspace(0.001, 0.999, 400)
    p, q = (axis.ravel() for axis in np.meshgrid(grid, grid))
    allowed = (abs(np.log(p / q)) <= epsilon) & (abs(np.log((1 - p) / (1 - q))) <= epsilon)
    p, q = p[allowed], q[allowed]
    mean = own * p + (1 - own) * q
    bits = p * np.log2(p / mean) + (1 - p) * np.log2((1 - p) / (1 - mean))
    assert 0.95 * theta(epsilon, own) <= bits.max() <= theta(epsilon, own) + 1e-12


def test_little_information_bounds_no_epsilon():
    delta = 1e-6
    mechanism = [[1 - delta, delta], [1.0, 0.0]]
    assert mechanism_epsilon(mechanism) == inf
    assert 0 < database_information(mechanism, [0.5, 0.5]) <= delta
    assert database_information(mechanism, [0.0, 1.0]) == inf


def test_a_large_epsilon_overflows_nothing():
    assert theta(5000.0, 0.5) == pytest.approx(1.0)
    assert theta(5000.0) == pytest.approx(5000 * log2(exp(1)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mechanism_epsilon([[0.5, 0.6]]), "mechanism is no distribution"),
        (lambda: mechanism_epsilon([0.5, 0.5]), "mechanism has shape"),
        (lambda: database_information([[1.0]], [0.5, 0.5]), "prior has 2 chances"),
        (lambda: database_information([[1.0]], [0.5]), "prior is no distribution"),
        (lambda: theta(-1), "epsilon is -1: give a finite number of nats"),
        (lambda: theta(1, own=2), "own, p"),
    ],
)
def test_errors(call, message):
    with pytest.raises(InputError, match=message):
        call()
