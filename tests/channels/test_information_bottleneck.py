"""Information bottlenecks: closed forms, limits, paths, and values drawn for symbols."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from anonymizer.channels import Channel, bottleneck_path, information_bottleneck, synthetic
from anonymizer.errors import InputError

FLIP = 0.1
BINARY = [[1 - FLIP, FLIP], [FLIP, 1 - FLIP]]


def h(p):
    """Entropy of a coin in nats."""
    return -p * np.log(p) - (1 - p) * np.log(1 - p)


def gerber(delta):
    """Rate and relevance of T = X flipped with chance delta (Mrs Gerber's lemma: the best)."""
    both = FLIP * (1 - delta) + (1 - FLIP) * delta
    return np.log(2) - h(delta), np.log(2) - h(both)


def information(joint):
    """I in nats by plain sums."""
    p, q = joint.sum(axis=1), joint.sum(axis=0)
    return sum(
        joint[i, j] * np.log(joint[i, j] / p[i] / q[j])
        for i, j in np.ndindex(joint.shape)
        if joint[i, j] > 0
    )


# Closed forms


@pytest.mark.parametrize("beta", [1.57, 1.6, 2, 3, 5, 10])
def test_a_binary_symmetric_bottleneck(beta):
    value = lambda delta: gerber(delta)[0] - beta * gerber(delta)[1]  # noqa: E731
    best = minimize_scalar(value, bounds=(1e-12, 0.5), method="bounded", options={"xatol": 1e-14})
    found = information_bottleneck(BINARY, beta=beta, unit="nats")
    assert found.rate - beta * found.relevance == pytest.approx(best.fun, abs=1e-9)
    assert found.rate > 0
    assert found.optimality == "local optimum"


@pytest.mark.parametrize("beta", [0, 0.5, 1, 1.3, 1.56])
def test_below_the_critical_beta_nothing_is_told(beta):
    # 1 / (1 - 2 flip)^2 = 1.5625
    found = information_bottleneck(BINARY, beta=beta)
    assert (found.rate, found.relevance, found.channel.shape) == (0, 0, (2, 1))


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3, 0.6])
def test_limits_of_a_binary_symmetric_bottleneck(rate):
    delta = brentq(lambda q: gerber(q)[0] - rate, 1e-9, 0.5 - 1e-12, xtol=1e-15)
    best = gerber(delta)[1]
    found = information_bottleneck(BINARY, rate_limit=rate, unit="nats")
    assert found.rate <= rate + 1e-15
    assert found.rate == pytest.approx(rate, abs=1e-8)
    assert found.relevance == pytest.approx(best, abs=1e-8)
    loss = found.information - best
    back = information_bottleneck(BINARY, relevance_loss_limit=loss, unit="nats")
    assert back.loss <= loss + 1e-13
    assert back.rate == pytest.approx(rate, abs=1e-8)


@pytest.mark.parametrize("beta", [1.5, 1.7, 3.0])
def test_a_normal_bottleneck(beta):
    # beta_c = 1 / rho^2; e^(-2 rate) = (1 - rho^2) / (rho^2 (beta - 1)) (Chechik et al., 2005)
    rho, x = 0.8, np.linspace(-4, 4, 31)
    a, b = np.meshgrid(x, x, indexing="ij")
    joint = np.exp(-(a**2 - 2 * rho * a * b + b**2) / (2 * (1 - rho**2)))
    (found,) = bottleneck_path(joint, [beta], unit="nats")
    if beta < 1 / rho**2:
        assert found.rate == 0
        return
    rate = 0.5 * np.log(rho**2 * (beta - 1) / (1 - rho**2))
    assert found.rate == pytest.approx(rate, abs=2e-3)
    formula = -0.5 * np.log(1 - rho**2 * (1 - np.exp(-2 * found.rate)))
    assert found.relevance == pytest.approx(formula, abs=4e-4)


# The ends


def test_values_that_say_the_same_are_one_symbol():
    joint = [[4, 1], [8, 2], [1, 5]]
    found = information_bottleneck(joint, relevance_loss_limit=0)
    assert found.channel.tolist() == [[0, 1], [0, 1], [1, 0]]
    assert found.loss == pytest.approx(0, abs=1e-15)
    rich = information_bottleneck(joint, rate_limit=9)
    assert rich.channel.tolist() == found.channel.tolist()
    none = information_bottleneck(joint, rate_limit=0)
    assert (none.rate, none.loss) == (0, none.information)
    all_lost = information_bottleneck(joint, relevance_loss_limit=5)
    assert all_lost.rate == 0


def test_independent_attributes_have_nothing_to_keep():
    for question in ({"beta": 50}, {"rate_limit": 1}, {"relevance_loss_limit": 0}):
        assert information_bottleneck([[1, 2], [2, 4]], **question).rate == 0


def test_what_never_occurs_has_a_row_and_a_column():
    found = information_bottleneck([[4, 0, 1], [0, 0, 0], [1, 0, 4]], beta=5)
    assert found.channel.shape[0] == 3
    assert np.allclose(found.channel.sum(axis=1), 1)
    assert found.posterior[:, 1].tolist() == [0] * len(found.margin)
    assert found.decoder[:, 1].tolist() == [0] * len(found.margin)


# Laws

joints = st.integers(0, 10**6).map(
    lambda seed: np.random.default_rng(seed).dirichlet(np.full(12, 0.5)).reshape(4, 3)
)


@settings(max_examples=12, deadline=None)
@given(joints, st.floats(0, 1))
def test_limits_are_kept_and_figures_are_those_of_the_channel(joint, share):
    whole = information(joint)
    found = information_bottleneck(joint, relevance_loss_limit=share * whole, unit="nats")
    p = joint.sum(axis=1)
    assert np.allclose(found.channel.sum(axis=1), 1)
    assert found.rate == pytest.approx(information(p[:, None] * found.channel), abs=1e-9)
    assert found.relevance == pytest.approx(information(found.channel.T @ joint), abs=1e-9)
    assert found.information == pytest.approx(whole, abs=1e-12)
    assert found.loss <= share * whole + 1e-9
    assert found.relevance <= found.rate + 1e-12
    rate = information_bottleneck(joint, rate_limit=found.rate, unit="nats")
    assert rate.rate <= found.rate + 1e-12
    assert rate.loss == pytest.approx(found.loss, abs=1e-5)
    assert np.allclose(found.margin @ found.decoder, p)
    assert np.allclose(p @ found.recoding, p)
    assert information(p[:, None] * found.recoding) <= found.rate + 1e-9
    assert information(found.recoding.T @ joint) <= found.relevance + 1e-9


@settings(max_examples=8, deadline=None)
@given(joints)
def test_a_path_goes_from_the_most_informative_to_the_least(joint):
    path = bottleneck_path(joint, points=8, unit="nats")
    betas, rates, kept = (
        [getattr(found, name) for found in path] for name in ("beta", "rate", "relevance")
    )
    assert betas == sorted(betas, reverse=True)
    assert (np.diff(rates) <= 1e-6).all()
    assert (np.diff(kept) <= 1e-6).all()
    for found in path:  # no point is better than another at its own beta
        values = [other.rate - found.beta * other.relevance for other in path]
        assert found.rate - found.beta * found.relevance <= min(values) + 1e-3 * found.beta


def test_few_symbols_and_random_starts():
    joint = np.random.default_rng(5).dirichlet(np.ones(60)).reshape(12, 5)
    few = information_bottleneck(joint, beta=30, symbols=3, unit="nats")
    many = information_bottleneck(joint, beta=30, unit="nats")
    assert few.channel.shape[1] <= 3
    assert many.rate - 30 * many.relevance <= few.rate - 30 * few.relevance + 1e-9
    rng = np.random.default_rng(0)
    more = information_bottleneck(joint, beta=30, symbols=3, restarts=6, rng=rng, unit="nats")
    assert more.rate - 30 * more.relevance <= few.rate - 30 * few.relevance + 1e-12
    limited = information_bottleneck(joint, rate_limit=0.5, symbols=2)
    assert limited.rate <= 0.5
    assert limited.channel.shape[1] <= 2


def test_merging_two_by_two_loses_least():
    # 0 and 1 say nearly the same; 2 and 3 do not.
    joint = [[5, 1, 1], [10, 2, 2.1], [1, 5, 1], [1, 1, 5]]
    found = information_bottleneck(joint, rate_limit=9, symbols=3)
    assert found.channel[0].tolist() == found.channel[1].tolist()
    assert len(np.unique(found.channel, axis=0)) == 3


def test_limits_are_kept_to_the_last_digit_or_refused():
    joint = np.diag([0.2, 0.3, 0.5])
    most = information_bottleneck(joint, rate_limit=9, unit="nats").rate
    for share in (1 - 1e-10, 1 - 1e-12):  # all but as much as there is to tell
        assert information_bottleneck(joint, rate_limit=share * most, unit="nats").rate < most
    assert information_bottleneck(joint, relevance_loss_limit=9, symbols=1).rate == 0
    for symbols in (1, 2):
        with pytest.raises(InputError, match=f"symbols = {symbols}: no channel of so few"):
            information_bottleneck(joint, relevance_loss_limit=0.004, symbols=symbols)


# Synthetic values


def test_synthetic_values_have_the_margin_and_the_law_that_is_said():
    joint = np.array([[20, 5, 1], [18, 6, 2], [2, 9, 9], [1, 4, 23]]) / 100
    found = information_bottleneck(joint, rate_limit=0.6)
    rng = np.random.default_rng(7)
    records = rng.choice(12, 200_000, p=joint.ravel())
    x, w = records // 3, records % 3
    drawn = synthetic(found, x, rng)
    counts = np.bincount(drawn * 3 + w, minlength=12).reshape(4, 3) / len(x)
    assert np.abs(counts - found.recoding.T @ joint).max() < 0.004
    assert np.abs(counts.sum(axis=1) - joint.sum(axis=1)).max() < 0.005
    again = synthetic(found, x, np.random.default_rng(7))
    assert not (again == drawn).all()
    assert (
        synthetic(found, x[:9], np.random.default_rng(1))
        == synthetic(found, x[:9], np.random.default_rng(1))
    ).all()


def test_a_channel_with_a_decoder_of_its_own():
    channel = Channel(np.eye(2), ("a", "b"), ("s", "t"))
    codes = synthetic(channel, [0, 1, 1], np.random.default_rng(0), decoder=[[0, 1], [1, 0]])
    assert codes.tolist() == [1, 0, 0]
    assert synthetic(np.eye(2), [], np.random.default_rng(0), decoder=np.eye(2)).tolist() == []


# Errors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate_limit": 1}, "exactly one of .* not beta and rate_limit"),
        ({"beta": None}, "give exactly one of beta, relevance_loss_limit, rate_limit"),
        ({"beta": -1}, "beta = -1 must be a finite number of at least 0"),
        ({"beta": True}, "beta = True must be a finite number"),
        (
            {"beta": None, "rate_limit": -0.1},
            "rate_limit = -0.1 must be a finite number of at least 0",
        ),
        (
            {"beta": None, "relevance_loss_limit": -1},
            "relevance_loss_limit = -1 must be a finite number of at least",
        ),
        ({"symbols": 0}, "symbols = 0 must be a whole number of at least 1"),
        ({"symbols": 2.5}, "symbols = 2.5 must be a whole number"),
        ({"restarts": -1}, "restarts = -1 must be a whole number of at least 0"),
        ({"restarts": 3}, "restarts = 3 need rng"),
        ({"unit": "x"}, "unit = 'x' is none of bits, nats"),
        ({"joint": [[1, -1]]}, "joint holds negative numbers"),
        ({"joint": [[0, 0]]}, "joint sums to 0"),
        ({"joint": [1, 2]}, "joint must be a matrix with rows and columns"),
    ],
)
def test_what_cannot_be_requested(change, message):
    requested = {"joint": BINARY, "beta": 2} | change
    joint = requested.pop("joint")
    with pytest.raises(InputError, match=message):
        information_bottleneck(joint, **requested)


def test_paths_that_cannot_be_requested():
    with pytest.raises(InputError, match=r"betas = -1\.0 must be a finite number of at least 0"):
        bottleneck_path(BINARY, [3, -1])
    with pytest.raises(InputError, match="points = 1 must be a whole number of at least 2"):
        bottleneck_path(BINARY, points=1)
    with pytest.raises(InputError, match=r"an information bottleneck would take .* GiB"):
        bottleneck_path(np.ones((12_000, 2)))


@pytest.mark.parametrize(
    ("codes", "decoder", "message"),
    [
        ([0, 2], np.eye(2), "codes must be rows of the channel, from 0 to 1"),
        ([0, -1], np.eye(2), "codes must be rows of the channel"),
        ([0.5], np.eye(2), "codes must be a list of whole numbers"),
        ([0], None, "needs a decoder"),
        ([0], np.eye(3), "decoder has 3 rows, but the channel has 2 symbols"),
        ([0], [[1, 1], [0, 1]], "channel is not stochastic: row 0"),
    ],
)
def test_values_that_cannot_be_drawn(codes, decoder, message):
    with pytest.raises(InputError, match=message):
        synthetic(np.eye(2), codes, np.random.default_rng(0), decoder=decoder)
