"""Rate-distortion: closed forms, an independent solver, and what holds of any problem."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from scipy.optimize import minimize

from anonymizer.channels import hamming, rate_distortion, rates, squared
from anonymizer.channels.rates import best_margin
from anonymizer.errors import InputError

COIN = hamming("ab")


def h(*chances):
    """Entropy in bits."""
    return -sum(p * np.log2(p) for p in chances if p)


def information(p, channel):
    """I(X;Y) in nats by plain sums."""
    joint = np.asarray(p)[:, None] * channel
    margin = joint.sum(axis=0)
    return sum(
        joint[x, y] * np.log(joint[x, y] / (p[x] * margin[y]))
        for x, y in np.ndindex(joint.shape)
        if joint[x, y] > 0
    )


# Closed forms


@pytest.mark.parametrize(("p", "limit"), [(0.5, 0.1), (0.3, 0.1), (0.3, 0.25), (0.1, 0.05)])
def test_a_coin_of_which_some_may_be_wrong(p, limit):
    found = rate_distortion([p, 1 - p], COIN, distortion_limit=limit)
    assert found.leakage == pytest.approx(h(p, 1 - p) - h(limit, 1 - limit), abs=1e-12)
    assert found.lower_bound == pytest.approx(found.leakage, abs=1e-9)
    assert found.lower_bound <= found.leakage
    assert found.distortion <= limit
    assert found.distortion == pytest.approx(limit, abs=1e-15)
    assert found.slope == pytest.approx(1 / np.log2((1 - limit) / limit), rel=1e-5)
    assert (found.certified, found.minimised, found.unit) == (True, "leakage", "bits")
    back = rate_distortion([p, 1 - p], COIN, rate_limit=found.leakage)
    assert back.distortion == pytest.approx(limit, abs=1e-12)
    assert back.leakage <= found.leakage + 1e-15
    assert (back.certified, back.minimised) == (True, "distortion")


@pytest.mark.parametrize("limit", [0.05, 0.2, 0.5, 0.79])
def test_five_values_alike(limit):
    found = rate_distortion([1] * 5, hamming("abcde"), distortion_limit=limit)
    expected = np.log2(5) - h(limit, 1 - limit) - limit * np.log2(4)
    assert found.leakage == pytest.approx(expected, abs=1e-12)
    assert found.certified


@pytest.mark.parametrize("limit", [0.1, 0.5, 0.75])
def test_a_normal_law(limit):
    x = np.linspace(-6, 6, 201)
    p = np.exp(-(x**2) / 2)
    variance = float(p @ x**2 / p.sum())
    found = rate_distortion(p, squared(x), distortion_limit=limit, unit="nats")
    assert found.leakage == pytest.approx(0.5 * np.log(variance / limit), abs=1e-8)
    assert found.certified
    assert found.slope == pytest.approx(2 * limit, rel=1e-3)


def test_a_slope_in_bits_and_in_nats_is_the_same():
    bits = rate_distortion([3, 7], COIN, slope=0.4)
    nats = rate_distortion([3, 7], COIN, slope=0.4 / np.log(2), unit="nats")
    assert np.allclose(bits.channel, nats.channel, rtol=0, atol=1e-12)
    assert bits.leakage == pytest.approx(nats.leakage / np.log(2))
    assert bits.cost == pytest.approx(nats.cost)
    assert bits.lower_bound == pytest.approx(nats.lower_bound)
    assert bits.minimised == "cost"


# The ends, and pieces that are linear


def test_as_much_as_releasing_one_symbol_takes_nothing():
    d = squared([0, 1, 4], [0, 1, 2])
    for question in ({"distortion_limit": 3.0}, {"distortion_limit": 99.0}, {"rate_limit": 0}):
        found = rate_distortion([1, 1, 1], d, **question)
        assert (found.leakage, found.certified) == (0.0, True)
        assert (
            found.channel.tolist() == [[0, 1, 0]] * 3 or found.channel.tolist() == [[0, 0, 1]] * 3
        )
        assert found.slope is None


def test_the_least_distortion_at_the_least_rate():
    # y = 0 and y = 1 are as near to x = 1: releasing 0 for both values tells nothing.
    found = rate_distortion([0.5, 0.5], [[0, 3], [1, 1]], distortion_limit=0.5)
    assert (found.distortion, found.leakage) == (0.5, 0.0)
    exact = rate_distortion([0.5, 0.5], COIN, distortion_limit=0)
    assert (exact.channel.tolist(), exact.leakage, exact.certified) == ([[1, 0], [0, 1]], 1.0, True)
    assert rate_distortion([0.5, 0.5], COIN, rate_limit=5).distortion == 0


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.3])
def test_a_linear_piece_is_met_by_mixing(rate):
    # A symbol that is as far from all but one: R(D) is linear up to where only it is released.
    d = np.array([[0, 9, 1.0], [9, 0, 1.0]])
    found = rate_distortion([0.5, 0.5], d, rate_limit=rate)
    assert found.certified
    assert found.leakage <= rate
    line = [rate_distortion([0.5, 0.5], d, rate_limit=r).distortion for r in (0.05, 0.175, 0.3)]
    assert line[1] == pytest.approx((line[0] + line[2]) / 2, abs=1e-9)


def test_distortions_far_above_nothing_prove_no_more_than_is_true():
    # R >= ((D + lam R)* - limit) / lam: the difference of two large numbers is all there is.
    for seed in range(30):
        rng = np.random.default_rng(seed)
        p, d = rng.dirichlet(np.ones(3)), 1e5 + rng.random((3, 3))
        least, most = p @ d.min(axis=1), (p @ d).min()
        found = rate_distortion(p, d, distortion_limit=float(most - 1e-4 * (most - least)))
        assert found.lower_bound <= found.leakage * (1 + 1e-12)


def test_a_limit_beside_the_least_distortion_leaves_room_for_others():
    # A few units in the last place are a chance of 1e-10 of other symbols: that much tells less.
    room = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p, d = rng.dirichlet(np.ones(3)), 1e6 + rng.random((3, 3))
        limit = float(p @ d.min(axis=1)) + 3e-10
        found = rate_distortion(p, d, distortion_limit=limit, unit="nats")
        exact = [Fraction(x) / sum(map(Fraction, p)) for x in p]
        nearest = sum(x * min(map(Fraction, row)) for x, row in zip(exact, d, strict=True))
        one = [sum(x * Fraction(e) for x, e in zip(exact, column, strict=True)) for column in d.T]
        share = (Fraction(limit) - nearest) / max(min(one) - nearest, Fraction(1, 1000))
        room += share > 0
        then = information(p, np.eye(3)[d.argmin(axis=1)]) * float(1 - share)
        assert found.lower_bound <= then * (1 + 1e-11)
    assert room > 30


def test_values_that_never_occur_have_a_row():
    found = rate_distortion([0, 1, 1], squared([0, 1, 3]), distortion_limit=0.1)
    assert np.allclose(found.channel.sum(axis=1), 1)
    assert found.channel[:, 0].max() < 1e-12
    assert (
        found.leakage
        == rate_distortion([1, 1], squared([1, 3], [0, 1, 3]), distortion_limit=0.1).leakage
    )


# Oracles


def test_the_best_margin_is_that_of_a_general_solver():
    rng = np.random.default_rng(3)
    p, d = rng.dirichlet(np.ones(5)), rng.random((5, 4))
    a = np.exp(-6 * (d - d.min(axis=1, keepdims=True)))
    found = best_margin(p, a, 1e-13)
    soft = lambda v: np.exp(v) / np.exp(v).sum()  # noqa: E731
    oracle = minimize(lambda v: -p @ np.log(a @ soft(v)), np.zeros(4), tol=1e-14, method="BFGS")
    assert found.value == pytest.approx(oracle.fun, abs=1e-8)
    assert found.lower <= oracle.fun


def test_blahut_arimoto_alone_and_interior_points_agree(monkeypatch):
    x = np.linspace(-3, 3, 31)
    p, d = np.exp(-(x**2) / 2), squared(x)
    inner = rate_distortion(p, d, slope=0.5)
    monkeypatch.setattr(rates, "NEWTON", 0)
    monkeypatch.setattr(rates, "ALL_STEPS", 3000)
    steps = rate_distortion(p, d, slope=0.5, tolerance=1e-4)
    assert (inner.method, steps.method) == ("interior-point", "blahut-arimoto")
    assert inner.certified
    assert inner.cost == pytest.approx(steps.cost, abs=1e-4)
    assert steps.lower_bound <= inner.cost
    assert inner.lower_bound <= steps.cost


def test_too_few_steps_are_not_certified(monkeypatch):
    monkeypatch.setattr(rates, "NEWTON", 0)
    monkeypatch.setattr(rates, "ALL_STEPS", 3)
    x = np.linspace(-3, 3, 31)
    found = rate_distortion(np.exp(-(x**2) / 2), squared(x), slope=0.5)
    assert not found.certified
    assert found.gap > 1e-6


# Laws


problems = (
    st.integers(0, 10**6)
    .map(np.random.default_rng)
    .map(
        lambda rng: (
            rng.dirichlet(np.full(rng.integers(1, 6), rng.choice([0.1, 1.0]))),
            rng,
        )
    )
)


@settings(max_examples=at_length(12, 25), deadline=None)
@given(problems, st.floats(-6, 6), st.sampled_from(["random", "whole", "wide"]))
def test_no_channel_is_below_the_bound(problem, exponent, kind):
    p, rng = problem
    k = int(rng.integers(1, 6))
    d = {
        "random": rng.random((len(p), k)),
        "whole": rng.integers(0, 4, (len(p), k)).astype(float),
        "wide": 10.0 ** rng.uniform(-5, 5, (len(p), k)),
    }[kind]
    slope = 10.0**exponent
    found = rate_distortion(p, d, slope=slope, unit="nats")
    assert np.allclose(found.channel.sum(axis=1), 1)
    assert found.channel.min() >= 0
    assert found.leakage == pytest.approx(information(p, found.channel), abs=1e-12)
    assert found.gap >= 0
    for _ in range(20):
        other = rng.dirichlet(np.full(k, rng.choice([0.05, 1.0])), len(p))
        cost = float(p @ (other * d).sum(axis=1)) + slope * information(p, other)
        rounding = 1e-14 * slope  # of I(X;Y), which may even come out below 0
        assert found.lower_bound <= cost * (1 + 1e-12) + rounding
    assert found.certified or found.gap <= 1e-5 * found.value or found.gap < 1e-9 * slope


@settings(max_examples=15, deadline=None)
@given(problems, st.floats(0.01, 0.99))
def test_limits_are_met_and_never_exceeded(problem, share):
    p, rng = problem
    d = rng.random((len(p), 4))
    least, most = float(p @ d.min(axis=1)), float((p @ d).min())
    limit = least + share * (most - least)
    found = rate_distortion(p, d, distortion_limit=limit, unit="nats")
    assert found.distortion <= limit * (1 + 1e-14)
    assert found.gap <= 1e-8
    back = rate_distortion(p, d, rate_limit=found.leakage, unit="nats")
    assert back.leakage <= found.leakage * (1 + 1e-14)
    assert back.distortion <= limit + 1e-7 * (1 + limit) or found.leakage < 1e-9
    scaled = rate_distortion(p, 1000 * d, distortion_limit=1000 * limit, unit="nats")
    assert scaled.leakage == pytest.approx(found.leakage, abs=1e-8)


# Errors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slope": 1, "rate_limit": 1}, "exactly one of .* not slope and rate_limit"),
        ({"slope": None}, "give exactly one of slope, distortion_limit, rate_limit$"),
        ({"slope": 0}, "slope = 0 must be a finite number above 0"),
        ({"slope": True}, "slope = True must be a finite number"),
        ({"slope": float("nan")}, "slope = nan must be a finite number above 0"),
        ({"slope": float("inf")}, "slope = inf must be a finite number"),
        ({"slope": "a"}, "slope = 'a' must be a finite number"),
        ({"slope": None, "rate_limit": -1}, "rate_limit = -1 must be a finite number of at"),
        ({"slope": None, "distortion_limit": -1}, "distortion_limit = -1 must be a finite"),
        ({"distortion": [[1, 2], [3, 4]], "slope": None, "distortion_limit": 1},
         r"distortion_limit = 1 is below the least possible, 2, of"),
        ({"distortion": [[1, 2]]}, "distortion has 1 rows and source 2; both"),
        ({"distortion": [[1, -2], [1, 1]]}, "distortion holds negative numbers"),
        ({"distortion": [["a", "b"], ["c", "d"]]}, "distortion must be a matrix of numbers"),
        ({"source": [1, -1]}, "source holds negative numbers"),
        ({"source": [0, 0]}, "source sums to 0"),
        ({"source": [1, float("nan")]}, "source holds values that are no finite numbers"),
        ({"source": ["a", "b"]}, "source must hold numbers"),
        ({"source": [[1, 2]]}, "source must be a list of numbers"),
        ({"source": []}, "source must be a list of numbers"),
        ({"source": [True, False]}, "source must hold numbers, not bool"),
        ({"unit": "bytes"}, "unit = 'bytes' is none of bits, nats"),
        ({"tolerance": 0}, "tolerance = 0 must be a finite number above 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_requested(change, message):
    requested = {"source": [1, 1], "distortion": [[0, 1], [1, 0]], "slope": 1} | change
    source, distortion = requested.pop("source"), requested.pop("distortion")
    with pytest.raises(InputError, match=message):
        rate_distortion(source, distortion, **requested)


def test_an_alphabet_beyond_memory_is_refused_before_it_is_allocated():
    wide = np.broadcast_to(np.zeros(1), (30_000, 30_000))
    with pytest.raises(InputError, match=r"rate-distortion would take .* GiB"):
        rate_distortion(np.ones(30_000), wide, slope=1)
