"""Jointly normal vectors: their information, the bottleneck in closed form, synthetic values."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from anonymizer.channels import (
    gaussian_bottleneck,
    gaussian_correlation,
    gaussian_information,
    gaussian_rate,
    synthetic_values,
)
from anonymizer.errors import InputError

LOG2 = np.log(2)


def covariance_of(seed, n):
    a = np.random.default_rng(seed).normal(size=(n, n))
    return a @ a.T + 0.5 * np.eye(n)


def by_determinants(s, n):
    """I in bits of the first n variables and the others: 1/2 log2 |U| |V| / |(U, V)|."""
    dets = [np.linalg.det(part) for part in (s[:n, :n], s[n:, n:], s)]
    return 0.5 * np.log2(dets[0] * dets[1] / dets[2])


def told(s, n, gain, noise):
    """I in bits of gain X + noise with X, and with Y, plain determinants; the noise has none 0."""
    within = gain @ s[:n, :n] @ gain.T + noise
    given_y = s[:n, :n] - s[:n, n:] @ np.linalg.inv(s[n:, n:]) @ s[n:, :n]
    det = np.linalg.det
    return (
        0.5 * np.log2(det(within) / det(noise)),
        0.5 * np.log2(det(within) / det(gain @ given_y @ gain.T + noise)),
    )


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3))
def test_information_of_vectors_is_that_of_determinants(seed, n, m):
    s = covariance_of(seed, n + m)
    p = gaussian_correlation(s, n)
    assert p.shape == (n, m)
    found = gaussian_information(p)
    assert found == pytest.approx(by_determinants(s, n), abs=1e-9)
    assert gaussian_information(p.T, "nats") == pytest.approx(found * LOG2)


def test_information_by_hand():
    assert gaussian_information(0.6) == pytest.approx(-np.log2(0.8))
    assert gaussian_information(-0.6) == gaussian_information([[0.6]])
    assert gaussian_information(0) == 0
    assert gaussian_information([[0.6, 0], [0, 1]]) == np.inf
    # Not symmetric: P P' and P' P have the same determinant of I - P P'.
    assert gaussian_information([[0.6, 0.0, 0.0], [0, 0, 0.5]]) == pytest.approx(
        -np.log2(0.8) - 0.5 * np.log2(0.75)
    )


@pytest.mark.parametrize(
    ("correlation", "message"),
    [
        (1.2, "singular value of 1.2, more than 1"),
        ([[0.8, 0.8], [0.8, 0.8]], "singular value of 1.6"),
        ([0.5, 0.5], r"a number or a matrix \(n, m\), not an array of \(2,\)"),
        ([["x"]], "correlation must hold numbers"),
        ([[np.nan]], "correlation"),
    ],
)
def test_what_is_no_correlation(correlation, message):
    with pytest.raises(InputError, match=message):
        gaussian_information(correlation)


S = covariance_of(3, 5)


@pytest.mark.parametrize("limits", [{"rate_limit": 0.4}, {"rate_limit": 6.0}])
def test_no_linear_channel_is_better(limits):
    """The Lagrangian rate - beta relevance of T = A X + N(0, I), minimised numerically over A."""
    found = gaussian_bottleneck(S, 3, **limits)
    cost = lambda a: np.dot(told(S, 3, a.reshape(3, 3), np.eye(3)), [1, -found.beta])  # noqa: E731
    starts = np.random.default_rng(0).normal(size=(4, 9))
    best = min(minimize(cost, start, tol=1e-10).fun for start in starts)
    assert found.rate - found.beta * found.relevance == pytest.approx(best, abs=1e-5)
    assert found.rate == pytest.approx(limits["rate_limit"])


@given(st.integers(0, 10**6), st.floats(0.05, 8))
def test_both_models_meet_and_the_mechanism_is_what_is_said(seed, rate):
    s = covariance_of(seed, 5)
    found = gaussian_bottleneck(s, 2, rate_limit=rate)
    assert found.rate == pytest.approx(rate)
    assert found.information == pytest.approx(by_determinants(s, 2), abs=1e-9)
    back = gaussian_bottleneck(s, 2, relevance_loss_limit=found.loss)
    assert back.rate == pytest.approx(rate, rel=1e-4)
    assert back.shares == pytest.approx(found.shares, rel=1e-4)
    if found.shares.max() < 0.999:
        m = found.mechanism
        assert told(s, 2, m.gain, m.noise) == pytest.approx((rate, found.relevance), abs=1e-6)


def test_scalars_and_ends():
    s = [[4.0, 1.2], [1.2, 1.0]]  # a correlation of 0.6
    found = gaussian_bottleneck(s, 1, rate_limit=1, mean=[10.0])
    assert found.shares == pytest.approx([0.25])  # the normalized distortion 2^-2R
    assert found.relevance == pytest.approx(gaussian_rate(0.25, 1.0, 0.6)[0])
    # X' = (1 - d) X + d mu + N(0, d (1 - d) 4), the rule of model 1.
    m = found.mechanism
    assert (m.gain[0, 0], m.noise[0, 0]) == pytest.approx((0.75, 0.75))
    assert m.distortion == pytest.approx(1.0)
    assert gaussian_bottleneck(s, 1, rate_limit=0).relevance == 0
    assert gaussian_bottleneck(s, 1, relevance_loss_limit=9).rate == 0
    whole = gaussian_bottleneck(s, 1, relevance_loss_limit=0)
    assert (whole.rate, whole.loss, whole.beta) == (np.inf, 0, np.inf)
    assert gaussian_bottleneck(np.eye(2), 1, rate_limit=3).rate == 0  # nothing to tell of


def test_synthetic_numbers_are_in_their_unit():
    s, rng = np.array([[4.0, 1.2], [1.2, 1.0]]), np.random.default_rng(1)
    x = rng.multivariate_normal([50, 0], s, size=40_000)
    found = gaussian_bottleneck(s, 1, rate_limit=1, mean=[50])
    drawn = found.apply(x[:, 0], rng)
    assert drawn.shape == (40_000,)
    assert (drawn.mean(), drawn.var()) == pytest.approx((50, 3), abs=0.06)
    assert -np.log2(1 - np.corrcoef(drawn, x[:, 1])[0, 1] ** 2) / 2 == pytest.approx(
        found.relevance, abs=0.01
    )


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (S, {}, "give exactly one of rate_limit, relevance_loss_limit"),
        (S, {"rate_limit": -1}, "rate_limit = -1 must be"),
        (S[:3], {"rate_limit": 1}, r"square matrix, not one of \(3, 5\)"),
        ([[1, 0.2], [0.4, 1]], {"rate_limit": 1}, "covariance is not symmetric"),
        ([[1, 1], [1, 1]], {"rate_limit": 1}, r"I\(X;Y\) is infinite"),
        ([[1, 2], [2, 1]], {"rate_limit": 1}, "singular value of 2, more than 1"),
        (S, {"rate_limit": 1, "mean": [0]}, "mean has 1 numbers, but X has 3 variables"),
    ],
)
def test_what_is_no_model(given, options, message):
    first = 3 if len(given) == 5 else 1
    with pytest.raises(InputError, match=message):
        gaussian_bottleneck(given, first, **options)


def test_synthetic_categories_are_values():
    rng = np.random.default_rng(0)
    x = pd.Series(["a", "b", None] * 2000, index=range(5, 6005), name="city", dtype="category")
    w = (x == "a").astype(int)
    drawn = synthetic_values(x, w, rate_limit=0.3, rng=rng)
    assert (drawn.name, drawn.dtype) == ("city", x.dtype)
    assert drawn.index.equals(x.index)
    assert drawn.value_counts(normalize=True, dropna=False).to_numpy() == pytest.approx(
        1 / 3, abs=0.03
    )
    before, after = (each.astype(object).fillna("none").to_numpy() for each in (x, drawn))
    joint = pd.crosstab(before, after).to_numpy() / len(x)
    assert (joint * np.log2(np.where(joint, joint, 1 / 9) * 9)).sum() < 0.3 + 0.01
    everything = synthetic_values(list("aab"), [0, 0, 1], rate_limit=5, rng=rng)
    assert everything.tolist() == list("aab")
    with pytest.raises(InputError, match="3 values and 2 sensitive ones"):
        synthetic_values(list("aab"), [0, 1], rate_limit=1, rng=rng)
