"""Probabilistic information loss, what keeps mean and covariance, and bounds in closed form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import trapezoid

from anonymizer.channels import (
    moments_kept,
    mutual_information_bound,
    pil,
    privacy_distortion,
    probabilistic_loss,
    quadratic_gaussian_bound,
    squared,
)
from anonymizer.errors import InputError


def drawn(rng, records, samples=1):
    """Skewed and correlated: x exponential, y = 0.6 x + noise; shape (samples, records, 2)."""
    x = rng.exponential(size=(samples, records))
    return np.stack([x, 0.6 * x + rng.normal(size=x.shape)], axis=2)


# pil


def test_one_statistic():
    assert pil(3, 3, 0.5) == 0
    assert pil(0, 1.959964, 1) == pytest.approx(0.95, abs=1e-6)
    assert pil(0, -1.959964, 1) == pytest.approx(0.95, abs=1e-6)
    assert (pil(1, 1, 0), pil(1, 1.001, 0)) == (0, 1)


def test_nothing_lost():
    x = drawn(np.random.default_rng(0), 300)[0]
    found = probabilistic_loss(x, x)
    assert found.average == 0
    assert not found.approximate
    assert np.isnan(np.diag(found.covariance)).all()


def test_a_fresh_sample_is_uniform():
    rng = np.random.default_rng(1)
    large = drawn(rng, 10_000)[0]
    found = [probabilistic_loss(large, y, population=False) for y in drawn(rng, 500, 150)]
    for statistic in (
        [f.mean[0] for f in found],
        [f.variance[1] for f in found],
        [f.covariance[0, 1] for f in found],
        [f.correlation[0, 1] for f in found],
        [f.quantiles[1, 0] for f in found],
    ):
        assert stats.kstest(statistic, "uniform").pvalue > 0.005


def test_two_samples():
    rng = np.random.default_rng(2)
    pairs = drawn(rng, 400, 600).reshape(300, 2, 400, 2)
    means = {
        population: np.mean([
            probabilistic_loss(x, y, quantiles=(), population=population).mean for x, y in pairs
        ])
        for population in (True, False)
    }  # fmt: skip
    assert means[True] == pytest.approx(2 / np.pi * np.arctan(np.sqrt(2)), abs=0.03)  # 0.608
    assert means[False] == pytest.approx(0.5, abs=0.03)


def test_noise_is_seen_in_the_variance_and_not_in_the_covariance():
    rng = np.random.default_rng(3)
    x = drawn(rng, 4000)[0]
    noisy = x + rng.normal(0, 0.7, x.shape)
    found = probabilistic_loss(x, noisy)
    assert found.variance.min() > 0.999
    assert found.covariance[0, 1] < 0.9
    assert found.correlation[0, 1] > 0.999
    kept = moments_kept(x, noisy)
    assert (kept.mean, kept.covariance) == (True, False)
    assert kept.covariance_deviation == pytest.approx(0.49, abs=0.05)


def test_hand_worked():
    x, y = np.arange(1.0, 6), np.arange(1.0, 6) + 1
    found = probabilistic_loss(x, y, quantiles=())
    assert found.mean.tolist() == [pytest.approx(pil(3, 4, 2 / 5))]
    assert found.variance.tolist() == [0]
    assert found.quantiles.shape == (0, 1)
    assert found.approximate
    scaled = probabilistic_loss(x, 2 * x, quantiles=())
    # m2 = 2, m4 = 6.8: Var of the sample variance (6.8 - 4 * 2 / 4) / 5
    assert scaled.variance.tolist() == [pytest.approx(pil(2.5, 10, (6.8 - 4 * 2 / 4) / 5))]


def test_the_variance_of_a_correlation_of_normal_columns():
    # (1 - r^2)^2 / n
    rng = np.random.default_rng(4)
    x = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 200_000)
    y = x[:1000]
    shift = np.corrcoef(y.T)[0, 1] - np.corrcoef(x.T)[0, 1]
    expected = pil(0, shift, (1 - 0.36) ** 2 / 1000)
    assert probabilistic_loss(x, y).correlation[0, 1] == pytest.approx(expected, abs=0.01)


def test_a_constant_column():
    x = np.c_[np.ones(200), np.arange(200.0)]
    found = probabilistic_loss(x, x + np.array([0, 1]))
    assert found.mean[0] == found.variance[0] == found.correlation[0, 1] == 0
    assert probabilistic_loss(x, x + np.array([1, 0])).mean[0] == 1
    assert probabilistic_loss(x, x + np.array([1, 0])).quantiles[:, 0].tolist() == [1, 1, 1]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 100), st.floats(-50, 50))
def test_units_do_not_matter(seed, scale, shift):
    rng = np.random.default_rng(seed)
    x, y = drawn(rng, 60, 2)
    here, there = probabilistic_loss(x, y), probabilistic_loss(scale * x + shift, scale * y + shift)
    for name in ("mean", "variance", "covariance", "correlation", "quantiles"):
        before, after = getattr(here, name), getattr(there, name)
        assert after == pytest.approx(before, abs=1e-6, nan_ok=True)
        assert ((before[~np.isnan(before)] >= 0) & (before[~np.isnan(before)] <= 1)).all()


# Mean and covariance


@pytest.mark.parametrize("unit", [1e-90, 1e90])
def test_numbers_of_any_size(unit):
    x = drawn(np.random.default_rng(4), 50)[0]
    y = x + 0.2 * np.random.default_rng(5).normal(size=x.shape)
    plain, scaled = probabilistic_loss(x, y), probabilistic_loss(x * unit, y * unit)
    for name in ("mean", "variance", "covariance", "correlation", "quantiles"):
        wanted = getattr(plain, name)
        assert np.allclose(getattr(scaled, name), wanted, rtol=1e-9, equal_nan=True)
    kept, same = moments_kept(x, y), moments_kept(x * unit, y * unit)
    assert (same.mean, same.covariance) == (kept.mean, kept.covariance)
    assert same.covariance_deviation == pytest.approx(kept.covariance_deviation)


def test_a_permutation_keeps_the_mean_and_a_rotation_nothing():
    rng = np.random.default_rng(5)
    x = drawn(rng, 3000)[0]
    same = moments_kept(x, x)
    assert (same.mean, same.covariance, same.mean_deviation, same.covariance_deviation) == (
        True, True, 0, 0,
    )  # fmt: skip
    shuffled = np.c_[x[:, 0], rng.permutation(x[:, 1])]
    kept = moments_kept(x, shuffled)
    assert (kept.mean, kept.covariance) == (True, False)
    assert not moments_kept(x, x + 1).mean
    assert moments_kept(x, x + 1).covariance


def test_false_alarms_are_as_rare_as_is_said():
    rng = np.random.default_rng(6)
    alarms = [
        not moments_kept(x, x + rng.normal(0, 1, x.shape), level=0.2).mean
        for x in drawn(rng, 100, 400)
    ]
    assert np.mean(alarms) == pytest.approx(0.2, abs=0.06)


# Bounds


def test_the_mutual_information_bound_is_kept_by_what_is_found():
    x = np.linspace(-2, 2, 9)
    joint = np.exp(-(np.subtract.outer(x, x) ** 2) - x[:, None] ** 2 / 2)
    p = joint.sum(axis=1) / joint.sum()
    information = privacy_distortion(joint, squared(x), distortion_limit=0).leakage
    for limit in (0.1, 0.5):
        bound = mutual_information_bound(limit, information=information, variance=float(p @ x**2))
        found = privacy_distortion(joint, squared(x), distortion_limit=limit, tolerance=1e-4)
        assert found.leakage <= bound[0] + 1e-9
    ends = mutual_information_bound([0, 2, 5], information=0.7, variance=2)
    assert ends.tolist() == [0.7, 0, 0]


def quadratic(**change):
    asked = {"entropy": 1.0, "correlation": 0.5, "deviation": 1.0, "variance": 1.0, "linear": True}
    return quadratic_gaussian_bound(0.3, **asked | change)


def test_the_quadratic_gaussian_bound():
    normal = 0.5 * np.log(2 * np.pi * np.e)
    found = quadratic(entropy=normal, unit="nats")
    assert found == pytest.approx(-0.5 * np.log(1 - 0.7 * 0.25))
    # Less entropy, a lower bound; never below 0.
    assert quadratic(entropy=normal - 0.05, unit="nats") == pytest.approx(found - 0.05)
    assert quadratic(entropy=0).tolist() == [0]
    sure = quadratic_gaussian_bound(
        [0], entropy=normal, correlation=1, deviation=1, variance=1, linear=True, unit="nats"
    )
    assert sure.tolist() == [np.inf]


def test_without_a_linear_regression_it_is_no_bound():
    # X = A + B, A = 3 or -3, B uniform on (-1, 1), W = B + N(0, 1): Y = A tells nothing of W.
    b = np.linspace(-1, 1, 2001)
    w = np.linspace(-8, 8, 4001)
    density = np.mean([stats.norm.pdf(w, at) for at in b[1:-1]], axis=0)
    entropy = -trapezoid(density * np.log(density), w)
    variance = 9 + 1 / 3
    correlation = (1 / 3) / np.sqrt(variance * 4 / 3)
    formula = quadratic_gaussian_bound(
        1 / 3, entropy=entropy, correlation=correlation, deviation=np.sqrt(4 / 3),
        variance=variance, linear=True, unit="nats",
    )  # fmt: skip
    assert formula[0] > 0.004  # and yet I(W;Y) = 0
    with pytest.raises(InputError, match=r"does not hold unless E.W.X. is linear in X"):
        quadratic(linear=False)


# Errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pil(0, 1, -1), "variance = -1 must be a finite number of at least 0"),
        (lambda: pil(0, float("inf"), 1), "released = inf must be a finite number"),
        (lambda: pil("a", 1, 1), "original = 'a' must be a finite number"),
        (lambda: probabilistic_loss([1, 2, 3], [1, 2]), "original holds 3 records; at least 4"),
        (lambda: probabilistic_loss([1] * 4, [1]), "released holds 1 records; at least 2"),
        (lambda: probabilistic_loss([[1]] * 4, [[1, 2]] * 4), "has 1 columns and released 2"),
        (lambda: probabilistic_loss(["a"] * 4, [1] * 4), "original must hold numbers"),
        (lambda: probabilistic_loss([1, 2, 3, np.nan], [1] * 4), "original holds values that are"),
        (lambda: probabilistic_loss([[1], [1, 2]], [1]), "as many in every row"),
        (lambda: probabilistic_loss([1] * 4, [1] * 4, quantiles=[1]), "quantiles must lie between"),
        (lambda: moments_kept([1] * 4, [1] * 5), "has 4 records and released 5; they are compared"),
        (lambda: moments_kept([1] * 4, [1] * 4, level=0), "level = 0 must be a finite"),
        (lambda: mutual_information_bound(1, information=-1, variance=1), "information = -1 must"),
        (lambda: mutual_information_bound(1, information=1, variance=0), "variance = 0 must be"),
        (lambda: mutual_information_bound(-1, information=1, variance=1), "distortion holds neg"),
        (lambda: quadratic(entropy=-np.inf), "for a W with a density"),
        (lambda: quadratic(entropy=9), "entropy = 9 is more than 2.04709559, that of a normal law"),
        (lambda: quadratic(correlation=1.1), "correlation = 1.1 must .* at most 1"),
        (lambda: quadratic(deviation=0), "deviation = 0 must be a finite number above 0"),
        (lambda: quadratic(unit="x"), "unit = 'x' is none of"),
    ],
)
def test_what_cannot_be_asked(call, message):
    with pytest.raises(InputError, match=message):
        call()
