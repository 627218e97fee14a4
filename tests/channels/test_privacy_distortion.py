"""The privacy-distortion function: known values, an independent solver, laws, limits, errors."""

import warnings
from fractions import Fraction

import clarabel
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from anonymizer import InputError
from anonymizer.channels import (
    JointLaw,
    absolute,
    hamming,
    privacy_distortion,
    privacy_distortion_curve,
    squared,
)
from anonymizer.channels.tradeoff.lagrangian import Lagrangian
from anonymizer.channels.validation import single_threaded

RHO = 0.95
SLOPES = {share: 2 * (1 / RHO**2 - 1 + share) for share in (0.25, 0.5, 0.75)}
METHODS = ("interior-point", "blahut-arimoto", "accelerated")


def gaussian(points, reach=3.0):
    """The density of two standard Gaussians on a grid, and squared distortion, as published."""
    x = np.linspace(-reach, reach, points)
    across, along = np.meshgrid(x, x, indexing="ij")
    power = (across**2 - 2 * RHO * across * along + along**2) / (2 * (1 - RHO**2))
    return np.exp(-power), squared(x)


def cost_of(joint, distortion, channel, slope):
    """E d + slope * I(W;Y) in nats, by definition, of counts or a law."""
    law = joint / joint.sum()
    seen = law.T @ channel
    expected = seen.sum(axis=1, keepdims=True) * seen.sum(axis=0)
    some = seen > 0
    leakage = (seen[some] * np.log(seen[some] / expected[some])).sum()
    return float((law.sum(axis=1)[:, None] * channel * distortion).sum() + slope * leakage)


def by_clarabel(joint, distortion, slope):
    """min <d, u> + slope * sum t: (-t, V, p(w) m) in the exponential cone, V = P'u, 1'u = p.

    The cone holds (a, b, c) with b exp(a / b) <= c: so -t <= V ln(p(w) m / V).
    """
    source = JointLaw.of(joint)
    (n, m), k = source.joint.shape, distortion.shape[1]
    conditional = source.conditional
    unknown = n * k + m * k
    law = sparse.kron(conditional.T, sparse.identity(k))
    mass = sparse.kron(source.prior[:, None] @ np.ones((1, n)), sparse.identity(k))
    rows = sparse.lil_matrix((3 * m * k, unknown))
    rows[0::3, n * k :] = sparse.identity(m * k)
    rows[1::3, : n * k] = -law
    rows[2::3, : n * k] = -mass
    sums = sparse.hstack(
        [sparse.kron(sparse.identity(n), np.ones((1, k))), sparse.csc_matrix((n, m * k))]
    )
    positive = sparse.hstack([-sparse.identity(n * k), sparse.csc_matrix((n * k, m * k))])
    cones = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(n * k)]
    cones += [clarabel.ExponentialConeT()] * (m * k)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix((unknown, unknown)),
        np.concatenate([distortion[source.rows].ravel(), np.full(m * k, slope)]),
        sparse.csc_matrix(sparse.vstack([sums, positive, rows])),
        np.concatenate([source.p, np.zeros(n * k + 3 * m * k)]),
        cones,
        settings,
    ).solve()
    assert str(solution.status) in {"Solved", "AlmostSolved"}
    return solution.obj_val


def problem_of(seed):
    """A random problem: zeros, equal and constant laws, W = X, rare values, equal symbols, ties."""
    rng = np.random.default_rng(seed)
    n, k, m = (int(side) for side in rng.integers(1, [12, 12, 8]))
    conditional = rng.dirichlet(np.full(m, rng.choice([0.05, 0.5, 5])), n)
    kind = rng.integers(6)
    if kind == 0:
        conditional = conditional * (rng.random((n, m)) < 0.5)
    elif kind == 1:
        conditional = np.eye(n)
    elif kind == 2:
        conditional = conditional[rng.integers(n, size=n)]
    elif kind == 3:
        conditional = rng.poisson(1, (n, m)).astype(float)
    p = rng.dirichlet(np.ones(n)) if rng.random() < 0.5 else 10.0 ** -rng.uniform(0, 12, n)
    joint = conditional * p[:, None]
    joint[0, 0] += joint.sum() == 0
    x, y = rng.normal(size=n), rng.normal(size=k)
    distortion = [
        squared(x, y),
        absolute(x, y),
        hamming(range(n), range(k)),
        rng.integers(0, 4, (n, k)).astype(float),
        rng.random((n, k))[:, rng.integers(k, size=k)],
        np.zeros((n, k)),
    ][rng.choice(6, p=[0.2, 0.2, 0.2, 0.19, 0.19, 0.02])]
    return joint, distortion, rng


def assert_sound(found, joint, distortion):
    """A channel, figures that are its own, and a bound below them."""
    assert found.channel.shape == distortion.shape
    assert (found.channel >= 0).all()
    np.testing.assert_allclose(found.channel.sum(axis=1), 1, rtol=1e-12)
    p = joint.sum(axis=1) / joint.sum()
    reported = (p[:, None] * found.channel * distortion).sum()
    assert found.distortion == pytest.approx(reported, rel=1e-12, abs=1e-300)
    nats = {"bits": np.log(2), "nats": 1.0}[found.unit]
    leakage = cost_of(joint, np.zeros_like(distortion), found.channel, 1.0)
    assert found.leakage * nats == pytest.approx(leakage, rel=1e-9, abs=1e-13)
    assert 0 <= found.lower_bound <= found.value * (1 + 1e-13)
    assert found.gap >= 0
    if found.certified:
        single = (p @ (distortion - distortion.min(axis=1, keepdims=True))).min()
        terms = max(found.cost, found.value) if found.minimised != "leakage" else found.value
        assert found.gap <= 1e-6 * found.value + 1e-13 * terms + 1e-15 * single


@pytest.mark.parametrize(
    ("share", "cost"), [(0.25, 0.6456098), (0.5, 0.8501277), (0.75, 0.9489262)]
)
def test_the_published_grid(share, cost):
    joint, distortion = gaussian(31)
    found = privacy_distortion(joint, distortion, slope=SLOPES[share], unit="nats", tolerance=1e-8)
    assert found.certified
    assert found.method == "interior-point"
    assert found.value == pytest.approx(cost, abs=6e-8)
    assert_sound(found, joint, distortion)


@pytest.mark.parametrize("share", SLOPES)
def test_the_closed_form_of_gaussians(share):
    """R(D) = -ln(1 - (1 - D) rho^2) / 2 where the grid is wide enough to cut nothing off."""
    joint, distortion = gaussian(51, reach=5.0)
    found = privacy_distortion(joint, distortion, slope=SLOPES[share], unit="nats")
    assert found.certified
    closed = -0.5 * np.log(1 - (1 - found.distortion) * RHO**2)
    assert found.leakage == pytest.approx(closed, abs=2e-5)
    assert found.distortion == pytest.approx(share, abs=2e-3)


def test_the_binary_symmetric_case():
    """W = X a fair coin, Hamming: R(D) = 1 - h(D) bits, of slope 1 / log2((1 - D) / D)."""
    found = privacy_distortion(np.eye(2), hamming("ab"), distortion_limit=0.25)
    entropy = -(0.25 * np.log2(0.25) + 0.75 * np.log2(0.75))
    assert found.leakage == pytest.approx(1 - entropy, rel=1e-6)
    assert found.slope == pytest.approx(1 / np.log2(3), rel=1e-2)
    np.testing.assert_allclose(found.channel, [[0.75, 0.25], [0.25, 0.75]], atol=1e-6)


def test_adult(adult):
    """Age is released for marital status: what the best ranges cost, and what the best channel."""
    counts = pd.crosstab(adult["age"], adult["marital-status"])
    joint, distortion = counts.to_numpy(), squared(counts.index)
    assert joint.shape == (72, 7)
    found = privacy_distortion(joint, distortion, slope=100)
    assert found.certified
    assert_sound(found, joint, distortion)
    at = privacy_distortion(joint, distortion, distortion_limit=72.72)
    assert at.certified
    assert at.leakage < 0.0681  # where ranges 17-49 and 50-90 leak 0.0920
    assert privacy_distortion(joint, distortion, leakage_limit=1).leakage == pytest.approx(
        JointLaw.of(joint).information / np.log(2), rel=1e-12
    )


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), share=st.floats(-2, 1))
def test_an_independent_solver_agrees(seed, share):
    rng = np.random.default_rng(seed)
    n, k, m = rng.integers(2, 7, 3)
    joint, distortion = rng.random((n, m)) + 0.01, rng.random((n, k))
    slope = 10**share
    found = privacy_distortion(joint, distortion, slope=slope, unit="nats")
    oracle = by_clarabel(joint, distortion, slope)
    assert found.certified
    assert found.value == pytest.approx(oracle, rel=2e-6)
    assert found.lower_bound <= oracle * (1 + 1e-6)


@settings(max_examples=at_length(60, 120))
@given(seed=st.integers(0, 10**9), size=st.floats(-9, 9))
def test_any_problem_is_answered_soundly(seed, size):
    joint, distortion, rng = problem_of(seed)
    slope = 10**size
    found = privacy_distortion(joint, distortion, slope=slope, unit="nats")
    assert_sound(found, joint, distortion)
    for concentration in (0.05, 1.0):
        other = rng.dirichlet(np.full(distortion.shape[1], concentration), len(joint))
        # A leakage of nothing comes out here as some 1e-15 nats, of either sign.
        cost = cost_of(joint, distortion, other, slope)
        assert found.lower_bound <= cost * (1 + 1e-12) + 1e-14 * slope


@settings(max_examples=at_length(30, 60))
@given(seed=st.integers(0, 10**9))
def test_problems_of_moderate_slope_are_certified(seed):
    joint, distortion, rng = problem_of(seed)
    slope = float(10 ** rng.uniform(-2, 1) * (distortion.mean() or 1))
    assert privacy_distortion(joint, distortion, slope=slope, unit="nats").certified


@settings(max_examples=15)
@given(seed=st.integers(0, 10**9), share=st.sampled_from([0, 0.01, 0.3, 0.7, 0.99, 1, 1.5]))
def test_a_distortion_limit_is_met(seed, share):
    joint, distortion, _ = problem_of(seed)
    p = joint.sum(axis=1) / joint.sum()
    least, most = p @ distortion.min(axis=1), (p @ distortion).min()
    limit = float(least + share * (most - least))
    found = privacy_distortion(joint, distortion, distortion_limit=limit)
    assert_sound(found, joint, distortion)
    assert found.minimised == "leakage"
    assert found.distortion <= limit * (1 + 1e-12)
    if share >= 1:
        assert (found.leakage, found.lower_bound, found.certified) == (0, 0, True)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**9), share=st.sampled_from([0, 1e-3, 0.1, 0.5, 0.9, 1, 1.5]))
def test_a_leakage_limit_is_met(seed, share):
    joint, distortion, _ = problem_of(seed)
    limit = share * JointLaw.of(joint).information
    found = privacy_distortion(joint, distortion, leakage_limit=limit, unit="nats")
    assert_sound(found, joint, distortion)
    assert found.minimised == "distortion"
    assert found.leakage <= limit
    if share >= 1:
        p = joint.sum(axis=1) / joint.sum()
        assert found.certified
        assert found.distortion == pytest.approx(p @ distortion.min(axis=1), rel=1e-12)


def test_the_two_limits_are_each_others_inverse():
    joint, distortion = gaussian(15)
    at = privacy_distortion(joint, distortion, distortion_limit=0.4)
    back = privacy_distortion(joint, distortion, leakage_limit=at.leakage)
    assert at.certified
    assert back.certified
    assert back.distortion == pytest.approx(0.4, rel=1e-5)
    assert at.distortion == pytest.approx(0.4, rel=1e-14)
    assert back.leakage == pytest.approx(at.leakage, rel=1e-12)


def test_several_symbols_may_tell_nothing():
    """x = 0 and 1 have the same law of W, and so have 2 and 3 together: two symbols leak nothing.

    Each pair of (0, 2) and (1, 3) has the law of the whole; d is 0 within a pair.
    """
    joint = [[3, 1], [3, 1], [1, 3], [1, 3]]
    distortion = np.array([[0, 9], [9, 0], [0, 9], [9, 0]])
    for question in ({"leakage_limit": 0}, {"distortion_limit": 0}):
        found = privacy_distortion(joint, distortion, **question)
        assert found.certified
        assert (found.distortion, found.leakage) == (0, 0)
    np.testing.assert_allclose(found.channel[:, 0], [1, 0, 1, 0], atol=1e-12)


def test_least_distortion_is_had_with_the_least_leakage_among_ties():
    """Both symbols are as near to the first two values: they can be spread to tell nothing."""
    joint = [[4, 0], [0, 4], [1, 1]]
    found = privacy_distortion(joint, [[1, 1], [1, 1], [0, 2]], distortion_limit=0.8)
    assert found.distortion == pytest.approx(0.8)
    assert found.leakage == 0
    assert found.certified


@pytest.mark.parametrize("method", METHODS)
def test_methods_agree(method):
    joint, distortion = gaussian(11)
    best = privacy_distortion(joint, distortion, slope=1.2, unit="nats", tolerance=1e-8)
    found = privacy_distortion(
        joint, distortion, slope=1.2, unit="nats", method=method, tolerance=1e-5
    )
    assert found.method == method
    assert found.certified
    assert found.value == pytest.approx(best.value, rel=1e-5)
    assert found.lower_bound <= best.value
    assert best.lower_bound <= found.value


def test_the_published_descent_is_as_published(monkeypatch):
    """Its gradient, projection, step and start, written down once more; and it is far, and says so.

    dC / dq(y|x) = p(x) (d(x, y) + slope (sum_w p(w|x) ln p(y|w) - ln p(y))).
    """
    monkeypatch.setattr("anonymizer.channels.tradeoff.minimum.PUBLISHED", 50)
    joint, distortion = gaussian(11)
    found = privacy_distortion(joint, distortion, slope=1.2, unit="nats", method="steepest-descent")
    law = joint / joint.sum()
    p, prior = law.sum(axis=1), law.sum(axis=0)
    channel = 0.5 * np.eye(11)
    channel[:, 5] += 0.5
    for _ in range(50):
        given_w = (law / prior).T @ channel
        leaked = (law / p[:, None]) @ np.log(given_w) - np.log(p @ channel)
        gradient = p[:, None] * (distortion + 1.2 * leaked)
        channel -= 1e-4 * (gradient - gradient.mean(axis=1, keepdims=True))
        channel = np.maximum(channel, 0)
        channel /= channel.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.channel, channel, atol=1e-12)
    assert (found.method, found.iterations) == ("steepest-descent", 50)
    assert not found.certified
    best = privacy_distortion(joint, distortion, slope=1.2, unit="nats")
    assert found.lower_bound <= best.value < found.value - 0.05


def test_bits_and_nats():
    joint, distortion = gaussian(9)
    bits = privacy_distortion(joint, distortion, slope=np.log(2))
    nats = privacy_distortion(joint, distortion, slope=1, unit="nats")
    assert bits.value == pytest.approx(nats.value, rel=1e-12)
    assert bits.leakage * np.log(2) == pytest.approx(nats.leakage, rel=1e-9)
    assert (bits.slope, nats.slope) == (pytest.approx(np.log(2)), 1)
    limit = privacy_distortion(joint, distortion, leakage_limit=0.3)
    same = privacy_distortion(joint, distortion, leakage_limit=0.3 * np.log(2), unit="nats")
    assert limit.distortion == pytest.approx(same.distortion, rel=1e-9)


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**30])
def test_the_scale_of_distortion_changes_nothing(scale):
    joint, distortion = gaussian(9)
    one = privacy_distortion(joint, distortion, slope=1.1)
    other = privacy_distortion(7 * joint, scale * distortion, slope=scale * 1.1)
    np.testing.assert_allclose(other.channel, one.channel, atol=1e-6)
    assert other.value == pytest.approx(scale * one.value, rel=1e-9)


def test_a_curve_falls_and_is_convex():
    joint, distortion = gaussian(15)
    curve = privacy_distortion_curve(joint, distortion, points=12)
    assert len(curve) == 12
    assert all(point.certified for point in curve)
    slopes = [point.slope for point in curve]
    assert slopes == sorted(slopes)
    d = np.array([point.distortion for point in curve])
    leakage = np.array([point.leakage for point in curve])
    assert (np.diff(d) > 0).all()
    assert (np.diff(leakage) < 0).all()
    assert (np.diff(np.diff(leakage) / np.diff(d)) > 0).all()
    assert np.diff(d).max() < 3 * np.diff(d).mean()
    given = privacy_distortion_curve(joint, distortion, slopes=[2.0, 0.5])
    assert [point.slope for point in given] == [0.5, 2.0]


def test_a_curve_that_is_a_point():
    curve = privacy_distortion_curve([[1], [2]], [[0, 1], [1, 0]], points=3)
    assert [(point.distortion, point.leakage, point.certified) for point in curve] == 3 * [
        (0, 0, True)
    ]


def test_values_of_probability_0_get_a_row():
    found = privacy_distortion([[4, 1], [0, 0], [1, 4]], hamming("abc"), slope=0.1)
    np.testing.assert_allclose(found.channel.sum(axis=1), 1)
    assert found.channel[1, 1] == 0  # a symbol that is released for others


def test_a_limit_beside_the_least_distortion_leaves_room_for_others():
    # A unit in the last place is a chance of 1e-10 of other symbols: that much tells less.
    room = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        joint, d = rng.random((3, 2)), 1e6 + rng.random((3, 3))
        limit = privacy_distortion(joint, d, slope=0).distortion
        found = privacy_distortion(joint, d, distortion_limit=limit, unit="nats")
        rows = [sum(map(Fraction, row)) for row in joint]
        p = [row / sum(rows) for row in rows]
        nearest = sum(x * min(map(Fraction, row)) for x, row in zip(p, d, strict=True))
        one = [sum(x * Fraction(e) for x, e in zip(p, column, strict=True)) for column in d.T]
        share = (Fraction(limit) - nearest) / max(min(one) - nearest, Fraction(1, 1000))
        room += share > 0
        leaked = JointLaw.of(joint).leakage(np.eye(3)[d.argmin(axis=1)]) * float(1 - share)
        assert found.lower_bound <= leaked * (1 + 1e-11)
    assert room >= 3


def test_no_slope_is_least_distortion():
    found = privacy_distortion([[4, 1], [1, 4]], [[1, 3], [2, 1]], slope=0)
    assert (found.value, found.lower_bound) == (1, pytest.approx(1))
    assert found.certified


def test_time_that_is_up_leaves_an_honest_answer():
    joint, distortion = gaussian(31)
    found = privacy_distortion(joint, distortion, slope=1.2, unit="nats", time_limit=1e-9)
    assert_sound(found, joint, distortion)
    assert not found.certified


def test_a_bound_is_one_for_any_law():
    rng = np.random.default_rng(4)
    joint, distortion = rng.random((6, 4)), rng.random((6, 5))
    problem = Lagrangian.of(JointLaw.of(joint), distortion, 0.3)
    best = privacy_distortion(joint, distortion, slope=0.3, unit="nats", tolerance=1e-9)
    for spread in (1e-300, 1e-3, 1.0, 30.0):
        ratios = spread * rng.normal(size=(5, 4))
        assert problem.outside(problem.bound(ratios)) <= best.value


def test_linear_algebra_has_one_thread_inside_and_what_it_had_outside():
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        assert set(threads()) == {2}
        with single_threaded():
            assert set(threads()) == {1}
        assert set(threads()) == {2}


def test_no_warning_is_given_for_extremes():
    joint = np.array([[1e-12, 1.0], [1.0, 0.0], [1e-300, 1e-320]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for slope in (1e-90, 1.0, 1e90):
            found = privacy_distortion(joint, hamming("abc"), slope=slope)
            assert np.isfinite([found.value, found.lower_bound, found.gap]).all()


GOOD = ([[1, 2], [3, 1]], [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({}, "give exactly one of slope, distortion_limit, leakage_limit$"),
        ({"slope": 1, "leakage_limit": 1}, "not slope and leakage_limit"),
        ({"slope": -1}, r"slope = -1 must be a finite number of at least 0"),
        ({"slope": np.nan}, r"slope = nan must be a finite number of at least 0"),
        ({"slope": True}, "slope = True must be a finite number"),
        ({"slope": "1"}, "slope = '1' must be a finite number"),
        ({"leakage_limit": -0.1}, "leakage_limit = -0.1 must be a finite number of at least 0"),
        ({"distortion_limit": np.inf}, "distortion_limit = inf must be a finite number"),
        (
            {"slope": 1, "tolerance": 0},
            "tolerance = 0 must be a finite number above 0 and at most 1",
        ),
        ({"slope": 1, "unit": "bans"}, "unit = 'bans' is none of bits, nats"),
        ({"slope": 1, "method": "newton"}, "method = 'newton' is unknown; known are automatic"),
        ({"slope": 1, "method": "acelerated"}, "did you mean 'accelerated'"),
        ({"slope": 1, "time_limit": 0}, "time_limit = 0 must be a finite number above 0"),
    ],
)
def test_bad_questions(changes, match):
    with pytest.raises(InputError, match=match):
        privacy_distortion(*GOOD, **changes)


@pytest.mark.parametrize(
    ("joint", "distortion", "match"),
    [
        (GOOD[0], [[0, 1]], "distortion has 1 rows and joint 2"),
        (GOOD[0], [[0, -1], [1, 0]], "distortion holds negative numbers"),
        (GOOD[0], [[0, np.nan], [1, 0]], "distortion holds values that are no finite numbers"),
        (GOOD[0], [["a", "b"], ["c", "d"]], "distortion must be a matrix of numbers"),
        (GOOD[0], [[0, 1e200], [1, 0]], "distortion holds numbers above 1e"),
        ([[0, 0], [0, 0]], GOOD[1], "joint sums to 0"),
        ([[1, -2], [3, 1]], GOOD[1], "joint holds negative numbers"),
        ([], GOOD[1], "joint must be a matrix with rows and columns"),
    ],
)
def test_bad_problems(joint, distortion, match):
    with pytest.raises(InputError, match=match):
        privacy_distortion(joint, distortion, slope=1)


def test_less_distortion_than_possible():
    with pytest.raises(InputError, match=r"distortion_limit = 0.5 is below the least possible, 1"):
        privacy_distortion(GOOD[0], [[1, 2], [3, 1]], distortion_limit=0.5)


def test_alphabets_beyond_memory_are_refused_before_they_are_allocated():
    joint, distortion = np.ones((900, 900)), np.ones((900, 900))
    with pytest.raises(InputError, match=r"interior-point method .* would take 5\.\d GiB"):
        privacy_distortion(joint, distortion, slope=1, method="interior-point")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"slopes": []}, "slopes is empty"),
        ({"slopes": [1, -1]}, "slope = -1 must be a finite number"),
        ({"points": 0}, "points = 0 must be a whole number"),
        ({"unit": "hartleys"}, "unit = 'hartleys'"),
    ],
)
def test_bad_curves(changes, match):
    with pytest.raises(InputError, match=match):
        privacy_distortion_curve(*GOOD, **changes)
