"""The best ranges by brute force, and channels beside them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length

from anonymizer.channels import (
    best_ranges,
    default_alphabet,
    privacy_distortion,
    private_channel,
    squared,
)
from anonymizer.counts.counts import Classes
from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.privacy import (
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    LargestShare,
    MeanInformation,
    TCloseness,
)

seeds = st.integers(0, 2**32 - 1)


def partitions(n: int) -> list[np.ndarray]:
    """The groups of every partition of n values into ranges."""
    return [
        np.concatenate([[0], np.cumsum(cuts)]).astype(int) for cuts in product((0, 1), repeat=n - 1)
    ]


def of(groups: np.ndarray, joint: np.ndarray, x: np.ndarray) -> tuple[float, float]:
    """Squared distortion from the centroids, and I(W;Y) in bits, by plain sums."""
    law = np.eye(groups.max() + 1)[groups].T @ (joint / joint.sum())
    mass, known = law.sum(axis=1), law.sum(axis=0)
    p = joint.sum(axis=1) / joint.sum()
    centroids = np.array([p[groups == g] @ x[groups == g] / mass[g] for g in range(len(mass))])
    terms = [v * np.log2(v / (mass[g] * known[w])) for (g, w), v in np.ndenumerate(law) if v > 0]
    return p @ (x - centroids[groups]) ** 2, float(sum(terms))


def counts_of(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    joint = rng.integers(0, 9, (rng.integers(2, 8), rng.integers(2, 4)))
    joint[:, 0] += 1
    return joint, 1e6 + np.cumsum(rng.integers(1, 5, len(joint)))


def test_two_groups_of_two():
    found = best_ranges([[1, 0], [1, 0], [0, 1], [0, 1]], [0, 2, 10, 12], privacy=[KAnonymity(2)])
    assert found.groups.tolist() == [0, 0, 1, 1]
    assert found.centroids.tolist() == [1, 11]
    assert (found.distortion, found.leakage) == (1, 1)
    assert found.channel.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]


@settings(max_examples=at_length(12, 25), deadline=None)
@given(seeds, st.sampled_from([0.0, 0.5, 10.0]), st.sampled_from(["bits", "nats"]))
def test_no_partition_costs_less(seed, slope, unit):
    joint, x = counts_of(seed)
    found = best_ranges(joint, x, slope=slope, unit=unit)
    scale = 1 if unit == "bits" else np.log(2)
    assert (found.distortion, found.leakage) == pytest.approx(
        (lambda d, i: (d, i * scale))(*of(found.groups, joint, x)), abs=1e-6
    )
    costs = [d + slope * scale * i for d, i in (of(g, joint, x) for g in partitions(len(x)))]
    assert found.distortion + slope * found.leakage == pytest.approx(min(costs), abs=1e-6)


@settings(max_examples=at_length(12, 25), deadline=None)
@given(seeds, st.sampled_from([TCloseness(0.1, "kl"), DistinctLDiversity(2), KAnonymity(7)]))
def test_no_partition_that_holds_a_model_distorts_less(seed, model):
    joint, x = counts_of(seed)
    margin = joint.sum(axis=0)
    sound = []
    for groups in partitions(len(x)):
        classes = Classes(np.eye(groups.max() + 1, dtype=int)[groups].T @ joint, margin)
        if model.accepts(model.measure(classes)).all():
            sound.append(of(groups, joint, x)[0])
    if not sound:
        with pytest.raises(PolicyUnreachableError, match="no partition of the values into ranges"):
            best_ranges(joint, x, privacy=[model])
        return
    found = best_ranges(joint, x, privacy=[model])
    assert found.distortion == pytest.approx(min(sound), abs=1e-6)


def test_rows_without_records_fall_to_the_nearest_range():
    found = best_ranges([[2, 0], [0, 0], [0, 2]], [0, 3, 10])
    assert found.groups.tolist() == [0, 0, 1]


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_channels_are_never_worse_where_they_may_release_the_centroids(seed):
    rng = np.random.default_rng(seed)
    joint, x = rng.integers(1, 30, (7, 3)), np.arange(7.0)
    for slope in (0.5, 5.0):
        ranges = best_ranges(joint, x, slope=slope)
        alphabet = default_alphabet(joint, x, slopes=[slope])
        found = privacy_distortion(
            joint, squared(x, alphabet), distortion_limit=ranges.distortion + 1e-12
        )
        assert found.leakage <= ranges.leakage + 1e-7
    policy = [TCloseness(0.05, "kl")]
    ranges = best_ranges(joint, x, privacy=policy)
    alphabet = default_alphabet(joint, x, privacy=policy)
    found = private_channel(joint, squared(x, alphabet), policy)
    assert found.lower_bound <= ranges.distortion * (1 + 1e-9)
    assert found.distortion <= ranges.distortion * (1 + 1e-4)


@settings(max_examples=5, deadline=None)
@given(seeds, st.sampled_from([0.01, 0.1]))
def test_mean_information_alone_is_the_privacy_distortion_function(seed, limit):
    joint = np.random.default_rng(seed).integers(1, 30, (5, 3))
    d = squared(np.arange(5.0))
    ours = private_channel(joint, d, [MeanInformation(limit)])
    other = privacy_distortion(joint, d, leakage_limit=limit, tolerance=1e-7)
    assert ours.distortion == pytest.approx(other.distortion, rel=2e-5, abs=1e-9)
    assert ours.lower_bound <= other.distortion * (1 + 1e-7)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"values": ["a", "b"]}, "ranges are of numbers"),
        ({"values": [1, 2, 3]}, "values must be 2 numbers"),
        ({"values": [1, np.nan]}, "values holds values that are no finite numbers"),
        ({"values": [1, 1]}, "values must all be different"),
        ({"slope": -1}, "slope = -1 must be a finite number of at least 0"),
        ({"privacy": [MeanInformation(1)]}, "mean-information is about the table as a whole"),
        ({"joint": [[0.1], [0.9]], "privacy": [KAnonymity(1)]}, "give joint as counts"),
        ({"unit": "shannon"}, "unit = 'shannon' is none of bits, nats"),
        ({"privacy": EntropyLDiversity(2)}, "privacy must be a list of models"),
        ({"privacy": [LargestShare(0.5)]}, "largest-share counts persons, and no column tells"),
    ],
)
def test_what_ranges_cannot_be_asked(asked, message):
    with pytest.raises(InputError, match=message):
        best_ranges(**({"joint": [[1, 2], [2, 1]], "values": [1, 2]} | asked))
