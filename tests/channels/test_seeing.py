"""Channels that see the sensitive value: by hand, by brute force, against those that do not."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import InputError
from anonymizer.channels import gaussian_rate, privacy_distortion, seeing, squared

FLIPS = np.array([[0.0, 1.0], [1.0, 0.0]])


def information(law):
    """I in nats of a joint law, written out."""
    rows, columns = law.sum(axis=1), law.sum(axis=0)
    cells = [(i, j) for i, j in product(*map(range, law.shape)) if law[i, j] > 0]
    return sum(law[i, j] * np.log(law[i, j] / (rows[i] * columns[j])) for i, j in cells)


def binary_entropy(p):
    return -p * np.log2(p) - (1 - p) * np.log2(1 - p)


def test_by_hand():
    """Of records that agree with W a quarter of all is flipped: Y differs from W with .2 + .25."""
    found = privacy_distortion(*seeing([[4, 1], [1, 4]], FLIPS), distortion_limit=0.25)
    assert found.leakage == pytest.approx(1 - binary_entropy(0.45), abs=1e-5)
    assert found.certified


def test_convex_and_falling_to_nothing():
    """Binary, flipped with .2: R is I(X;W) at 0, less than that of X alone, and 0 from .3 on.

    Of records that agree with W .3 flipped of .8 leave Y to differ with .5.
    """
    limits = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4]
    law = [[4, 1], [1, 4]]
    rates = [privacy_distortion(*seeing(law, FLIPS), distortion_limit=d).leakage for d in limits]
    alone = [privacy_distortion(law, FLIPS, distortion_limit=d).leakage for d in limits]
    assert rates[0] == pytest.approx(1 - binary_entropy(0.2), abs=1e-6)
    assert rates[0] == pytest.approx(alone[0], abs=1e-6)
    assert all(r < a - 1e-3 for r, a in zip(rates[1:7], alone[1:7], strict=True))
    assert rates[-2:] == pytest.approx([0, 0], abs=1e-5)
    assert (np.diff(rates) <= 1e-6).all()
    assert (np.diff(rates[:7], 2) >= -1e-6).all()  # equal steps up to .3


def test_pairs_are_in_the_order_of_x():
    pairs, costs = seeing([[1, 2], [3, 4]], [[0, 5, 6], [7, 0, 8]])
    assert pairs.tolist() == [[1, 0], [0, 2], [3, 0], [0, 4]]
    assert costs.tolist() == [[0, 5, 6], [0, 5, 6], [7, 0, 8], [7, 0, 8]]


laws = st.lists(st.integers(0, 6), min_size=6, max_size=6).filter(
    lambda cells: min(np.reshape(cells, (3, 2)).sum(axis=0)) > 0
)


@given(laws, st.floats(0.05, 4))
def test_who_sees_more_never_leaks_more(cells, slope):
    joint, costs = np.reshape(cells, (3, 2)), squared([0.0, 1.0, 2.0])
    alone = privacy_distortion(joint, costs, slope=slope)
    found = privacy_distortion(*seeing(joint, costs), slope=slope)
    assert found.cost <= alone.cost + 1e-6 * max(alone.cost, 1e-3)
    assert found.gap <= 1e-5


@given(laws)
def test_without_distortion_both_are_x_itself(cells):
    joint = np.reshape(cells, (3, 2))
    costs = squared([0.0, 1.0, 2.0])
    pairs = privacy_distortion(*seeing(joint, costs), distortion_limit=0.0)
    known = information(joint / joint.sum()) / np.log(2)
    assert pairs.leakage == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize("limit", [0.05, 0.15, 0.3])
def test_against_every_channel_of_a_grid(limit):
    """All 25^4 channels p(y|x,w) of two values, in steps of 1/24."""
    joint = np.array([[0.35, 0.1], [0.15, 0.4]])
    steps = np.linspace(0, 1, 25)
    a, b, c, d = np.meshgrid(steps, steps, steps, steps, indexing="ij", sparse=True)
    distortion = joint[0, 0] * a + joint[0, 1] * b + joint[1, 0] * c + joint[1, 1] * d
    ones = [joint[0, 0] * a + joint[1, 0] * (1 - c), joint[0, 1] * b + joint[1, 1] * (1 - d)]
    prior = joint.sum(axis=0)
    law = [*ones, prior[0] - ones[0], prior[1] - ones[1]]
    one = ones[0] + ones[1]
    margins = (one, one, 1 - one, 1 - one)
    leak = sum(
        p * np.log2(np.maximum(p, 1e-300) / np.maximum(prior[w] * m, 1e-300))
        for p, w, m in zip(law, (0, 1, 0, 1), margins, strict=True)
    )
    best = float(leak[distortion <= limit + 1e-12].min())
    found = privacy_distortion(*seeing(joint, FLIPS), distortion_limit=limit).leakage
    assert found <= best + 1e-6
    assert best - found < 0.01


@pytest.mark.parametrize("rho", [0.3, 0.95])
def test_the_normal_law_against_random_second_moments(rho):
    """No Y = a W + b N + c Z of the same distortion leaks less, and some come near."""
    rng, rest = np.random.default_rng(0), np.sqrt(1 - rho**2)
    y = np.array([rho, rest, 0.0]) + rng.uniform(-1, 1, (400_000, 3))
    d = ((y - [rho, rest, 0.0]) ** 2).sum(axis=1)
    leak = -0.5 * np.log(1 - y[:, 0] ** 2 / (y**2).sum(axis=1))
    for share in (0.05, 0.2, 0.5):
        rate = float(gaussian_rate(share, 1.0, rho, "nats", sees_sensitive=True)[0])
        assert leak[d <= share].min() >= rate - 1e-12
        assert leak[d <= share].min() < rate + 0.03


def test_the_normal_law_at_its_ends():
    ends = gaussian_rate([0.0, 0.49, 0.8, 1.0], 1.0, 0.7, "nats", sees_sensitive=True)
    assert ends.tolist() == pytest.approx([-0.5 * np.log(1 - 0.49), 0, 0, 0], abs=1e-12)
    assert gaussian_rate(0.0, 1.0, 1.0, sees_sensitive=True)[0] == np.inf
    d = np.linspace(0, 1, 101)
    for rho in (-0.95, 0.2, 1.0):
        seen, unseen = (gaussian_rate(d, 1.0, rho, sees_sensitive=sees) for sees in (True, False))
        assert (seen <= unseen + 1e-12).all()
        assert (np.diff(seen[1:]) <= 1e-12).all()
        assert (np.diff(seen[1:], 2) >= -1e-12).all()


def test_shapes_that_do_not_belong_together():
    with pytest.raises(InputError, match="distortion"):
        seeing([[4, 1], [1, 4]], [[0, 1, 2]])
