"""Noise for numbers: closed forms against Monte Carlo, a semidefinite program and a fine grid."""

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import norm

from anonymizer.channels import (
    GaussianModel,
    gaussian_channel,
    gaussian_rate,
    privacy_distortion,
    quadratic_gaussian_bound,
    squared,
)
from anonymizer.errors import InputError


def some_model(seed, n=3):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, n))
    s, b = a @ a.T + 0.2 * np.eye(n), rng.normal(size=n)
    return GaussianModel(rng.normal(size=n), s, b, float(b @ s @ b) + rng.uniform(0.1, 2))


def hidden_at_most(s, b, limit):
    """max b'Eb, 0 <= E <= S, tr E <= D: a semidefinite program, by Clarabel."""
    n = len(b)
    pairs = [(i, j) for j in range(n) for i in range(j + 1)]
    weight = np.array([1.0 if i == j else np.sqrt(2) for i, j in pairs])
    upper = lambda m: np.array([m[i, j] for i, j in pairs]) * weight  # noqa: E731
    cost = -upper(np.outer(b, b))
    eye, trace = np.eye(len(pairs)), upper(np.eye(n))[None]
    rows = sparse.csc_matrix(np.vstack([trace, -eye, eye]))
    right = np.concatenate([[limit], np.zeros(len(pairs)), upper(s)])
    cones = [
        clarabel.NonnegativeConeT(1), clarabel.PSDTriangleConeT(n), clarabel.PSDTriangleConeT(n),
    ]  # fmt: skip
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    zero = sparse.csc_matrix((len(pairs), len(pairs)))
    return -clarabel.DefaultSolver(zero, cost, rows, right, cones, settings).solve().obj_val


# Scalars


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_the_published_rule(share):
    rho, variance = 0.95, 4.0
    found = GaussianModel.of_scalar(1.0, variance, rho).mechanism(
        distortion_limit=share * variance, unit="nats"
    )
    assert found.gain[0, 0] == pytest.approx(1 - share)
    assert found.noise[0, 0] == pytest.approx(share * (1 - share) * variance)
    assert found.distortion == pytest.approx(share * variance)
    assert found.leakage == pytest.approx(-0.5 * np.log(1 - (1 - share) * rho**2))
    assert found.slope == pytest.approx(2 * variance * (1 / rho**2 - 1 + share))
    bits = GaussianModel.of_scalar(1.0, variance, rho).mechanism(distortion_limit=share * variance)
    assert bits.leakage == pytest.approx(found.leakage / np.log(2))
    assert bits.slope == pytest.approx(found.slope * np.log(2))


def test_rates_of_scalars():
    rates = gaussian_rate([0, 0.5, 2, 9], variance=2, correlation=0.6, unit="nats")
    expected = [-0.5 * np.log(1 - 0.36), -0.5 * np.log(1 - 0.75 * 0.36), 0, 0]
    assert rates == pytest.approx(expected)
    assert gaussian_rate([0, 0.25], 1).tolist() == [np.inf, 1.0]


def test_the_quadratic_gaussian_bound_is_met_by_a_normal_law():
    entropy = 0.5 * np.log2(2 * np.pi * np.e * 9)
    found = quadratic_gaussian_bound(
        [0.2, 1, 3], entropy=entropy, correlation=0.7, deviation=3, variance=2, linear=True
    )
    assert found == pytest.approx(gaussian_rate([0.2, 1, 3], 2, 0.7))


def test_the_ends():
    model = some_model(1)
    nothing = model.mechanism(distortion_limit=1e6)
    assert (nothing.leakage, nothing.slope) == (pytest.approx(0, abs=1e-12), None)
    assert nothing.distortion == pytest.approx(model.most)
    same = model.mechanism(leakage_limit=0)
    assert same.distortion == pytest.approx(model.most)
    exact = model.mechanism(distortion_limit=0, unit="nats")
    assert np.allclose(exact.gain, np.eye(3))
    assert exact.leakage == pytest.approx(model.information)
    assert model.mechanism(leakage_limit=99).distortion == 0
    certain = GaussianModel.of_scalar(0, 1, 1)
    assert certain.mechanism(distortion_limit=0).leakage == np.inf
    unrelated = GaussianModel.of_scalar(0, 1, 0)
    assert unrelated.mechanism(distortion_limit=0.5).distortion == 0
    assert unrelated.mechanism(leakage_limit=1).leakage == 0


# Vectors


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.2, 0.6, 0.9])
def test_no_error_hides_more(seed, share):
    model = some_model(seed)
    limit = share * model.most
    found = model.mechanism(distortion_limit=limit, unit="nats")
    b, s, e = model.regression, model.covariance, found.error
    assert b @ e @ b == pytest.approx(hidden_at_most(s, b, limit), rel=1e-6)
    assert np.linalg.eigvalsh(e).min() >= -1e-9
    assert np.linalg.eigvalsh(s - e).min() >= -1e-9
    assert found.distortion <= limit * (1 + 1e-12)
    back = model.mechanism(leakage_limit=found.leakage, unit="nats")
    assert back.distortion == pytest.approx(found.distortion, rel=1e-6)
    step = 1e-4 * model.most
    sides = [
        model.mechanism(distortion_limit=limit + way * step, unit="nats").leakage for way in (-1, 1)
    ]
    assert found.slope == pytest.approx(2 * step / (sides[0] - sides[1]), rel=1e-3)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 0.95))
def test_no_random_error_hides_more(seed, share):
    model = some_model(seed, n=2)
    found = model.mechanism(distortion_limit=share * model.most)
    rng = np.random.default_rng(seed)
    hidden = model.regression @ found.error @ model.regression
    root = np.linalg.cholesky(model.covariance)
    for _ in range(30):
        v = rng.normal(size=(2, 2))
        q, _ = np.linalg.qr(v)
        e = root @ q @ np.diag(rng.random(2)) @ q.T @ root.T  # 0 <= E <= S
        e *= min(1, share * model.most / np.trace(e))
        assert model.regression @ e @ model.regression <= hidden * (1 + 1e-9)


def test_the_mechanism_does_what_it_says():
    model = some_model(2)
    found = model.mechanism(distortion_limit=0.4 * model.most, unit="nats")
    rng = np.random.default_rng(0)
    x = rng.multivariate_normal(model.mean, model.covariance, 200_000)
    rest = model.variance - model.explained
    w = x @ model.regression + rng.normal(0, np.sqrt(rest), len(x))
    y = found.apply(x, rng)
    assert ((x - y) ** 2).sum(axis=1).mean() == pytest.approx(found.distortion, rel=0.01)
    assert np.abs(np.cov((x - y).T) - found.error).max() < 0.02
    assert np.abs(y.mean(axis=0) - model.mean).max() < 0.02
    c = np.cov(np.c_[y, w].T)
    leaked = c[:3, 3] @ np.linalg.pinv(c[:3, :3], rcond=1e-6) @ c[:3, 3] / c[3, 3]
    assert -0.5 * np.log(1 - leaked) == pytest.approx(found.leakage, abs=0.005)
    fitted = GaussianModel.fit(x, w)
    assert fitted.covariance == pytest.approx(model.covariance, abs=0.1)
    assert fitted.regression == pytest.approx(model.regression, abs=0.02)
    assert fitted.information == pytest.approx(model.information, abs=0.01)


@pytest.mark.parametrize("limit", [1e-9, 0.3, 0.7, 5.0, 50.0, 300.0])
def test_a_leakage_limit_is_met_where_w_is_a_function_of_x(limit):
    b = np.array([1.0, -2.0])
    model = GaussianModel(np.zeros(2), np.eye(2), b, 5.0)
    found = model.mechanism(leakage_limit=limit, unit="nats")
    assert found.leakage == pytest.approx(limit, rel=1e-6)
    assert b @ found.error @ b == pytest.approx(5 * np.exp(-2 * limit), rel=1e-6)


def test_a_list_of_numbers_stays_one():
    found = GaussianModel.of_scalar(5, 2, 0.5).mechanism(distortion_limit=1)
    y = found.apply([1.0, 2.0, 3.0], np.random.default_rng(0))
    assert y.shape == (3,)
    assert (y == found.apply([1.0, 2.0, 3.0], np.random.default_rng(0))).all()
    fitted = GaussianModel.fit([1.0, 2.0, 4.0, 3.0], [1.0, 2.0, 5.0, 3.0])
    assert fitted.mean.tolist() == [2.5]


# On a grid


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_the_best_channel_of_a_fine_grid_is_the_rule(share):
    rho, x = 0.95, np.linspace(-5, 5, 51)
    a, b = np.meshgrid(x, x, indexing="ij")
    joint = np.exp(-(a**2 - 2 * rho * a * b + b**2) / (2 * (1 - rho**2)))
    slope = 2 * (1 / rho**2 - 1 + share)
    best = privacy_distortion(joint, squared(x), slope=slope, tolerance=1e-5, unit="nats")
    closed = share + slope * gaussian_rate(share, 1, rho, "nats")[0]
    assert best.cost == pytest.approx(closed, abs=5e-5)
    assert best.distortion == pytest.approx(share, abs=1e-2)
    rule, p = gaussian_channel(x, x, 0, 1, share), joint.sum(axis=1) / joint.sum()
    # Rounding to cells adds a 12th of their width squared.
    assert p @ (rule * squared(x)).sum(axis=1) == pytest.approx(share + 0.04 / 12, abs=2e-4)


def test_cells_are_those_of_the_normal_law():
    found = gaussian_channel([0.0, 1.0], [0, 1, 3], 0.5, 4.0, 0.25)
    for row, center in zip(found, (0.125, 0.875), strict=True):
        cdf = norm.cdf([0.5, 2.0], center, np.sqrt(0.75))
        assert row == pytest.approx([cdf[0], cdf[1] - cdf[0], 1 - cdf[1]], abs=1e-15)


def test_tails_keep_their_digits():
    x = np.arange(-40.0, 41)
    found = gaussian_channel(x, x, 0, 2.0, 0.5)
    assert found[:, ::-1][::-1] == pytest.approx(found, rel=1e-9)
    far = found[40, 60]  # 19.5 to 20.5 of a law of variance 1/2
    assert far == pytest.approx(norm.sf(19.5 * np.sqrt(2)) - norm.sf(20.5 * np.sqrt(2)), rel=1e-9)
    assert 0 < far < 1e-160
    assert np.abs(found.sum(axis=1) - 1).max() <= 2.3e-16


def test_no_noise_is_rounding_and_all_noise_is_the_mean():
    grid = [4.0, 0.0, 2.0]
    none = gaussian_channel([-9, 0.9, 1.0, 1.1, 50], grid, 2.6, 1, 0)
    assert none.argmax(axis=1).tolist() == [1, 1, 2, 2, 0]
    every = gaussian_channel([-9, 50], grid, 2.6, 1, 1)
    assert every.tolist() == [[0, 0, 1], [0, 0, 1]]
    assert gaussian_channel([1, 2], [7], 0, 1, 0.5).tolist() == [[1], [1]]


# Errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.mechanism(), "give exactly one of distortion_limit, leakage_limit"),
        (
            lambda m: m.mechanism(distortion_limit=-1),
            "distortion_limit = -1 must be a finite number of at least 0",
        ),
        (lambda m: m.mechanism(leakage_limit="a"), "leakage_limit = 'a' must be a finite number"),
        (lambda m: m.mechanism(leakage_limit=1, unit="x"), "unit = 'x' is none of"),
        (lambda m: m.mechanism(distortion_limit=1).apply([[1.0]], None), "x has 1 columns, but"),
        (lambda m: m.mechanism(distortion_limit=1).apply(["a"], None), "x must hold numbers"),
        (
            lambda m: GaussianModel.of_scalar(0, -1, 0),
            "variance = -1 must be a finite number above 0",
        ),
        (
            lambda m: GaussianModel.of_scalar(0, 1, 2),
            "correlation = 2 must be a finite number .*at most 1",
        ),
        (lambda m: GaussianModel([0], [[1, 0], [0, 1]], [1], 1), "are of 1, .2, 2. and 1 numbers"),
        (lambda m: GaussianModel([0], [[1]], [2], 1), "less than that of its regression"),
        (lambda m: GaussianModel([0, 0], [[1, 2], [3, 9]], [0, 0], 1), "covariance is not symm"),
        (lambda m: GaussianModel([0, 0], [[1, 2], [2, 1]], [0, 0], 1), "linear in each other"),
        (lambda m: GaussianModel.fit([[1, 1], [2, 2], [4, 4]], [1, 2, 3]), "linear in each other"),
        (lambda m: GaussianModel.fit([[1, 5], [2, 5]], [1, 2]), "column 1 of X is constant"),
        (lambda m: GaussianModel.fit([1, 2], [3, 3]), "w is constant"),
        (lambda m: GaussianModel.fit([1, 2], [3]), "x has 2 records and w 1"),
        (lambda m: GaussianModel.fit([1], [3]), "x holds 1 records; at least 2"),
        (lambda m: GaussianModel.fit([1, float("nan")], [3, 4]), "x holds values that are no fin"),
        (lambda m: gaussian_rate(-1, 1), "distortion holds negative numbers"),
        (lambda m: gaussian_channel([1], [1, 1], 0, 1, 0.5), "grid holds a value twice"),
        (
            lambda m: gaussian_channel([1], [1], 0, 1, 1.5),
            "share = 1.5 must be a finite number .*at most 1",
        ),
        (
            lambda m: gaussian_channel([1], [1], 0, 0, 0.5),
            "variance = 0 must be a finite number above 0",
        ),
        (lambda m: gaussian_channel([], [1], 0, 1, 0.5), "values must be a list of numbers"),
        (lambda m: gaussian_channel(np.zeros(50_000), range(50_000), 0, 1, 0.5), "GiB"),
    ],
)
def test_what_cannot_be_asked(call, message):
    with pytest.raises(InputError, match=message):
        call(some_model(0))
