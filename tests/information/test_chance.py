"""What classes tell by chance alone: by hand, by enumeration, and against tables dealt out."""

from itertools import permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import by_chance
from scipy.special import gammaln

from anonymizer.counts.counts import Counts
from anonymizer.information.chance import expected
from anonymizer.information.entropy import mutual_information
from anonymizer.objectives import MutualInformation

margins = st.lists(st.integers(0, 40), min_size=1, max_size=5).filter(any)


def directly(margin: list[int], size: int) -> float:
    """The sum over all that a class of this size can get of each value."""
    records, bits = sum(margin), 0.0
    for count in margin:
        x = np.arange(max(0, size + count - records), min(size, count) + 1)
        logs = -sum(gammaln(n + 1) for n in (x, count - x, size - x, records - count - size + x))
        share = np.exp(logs - logs.max())
        mean = size * count / records
        bits_found = x * np.log(np.maximum(x, 1) / mean) - (x - mean)
        bits += float((share * bits_found).sum() / share.sum())
    return bits / records / np.log(2)


def test_by_hand():
    # Of two zeros and two ones: one record is sure; two agree in 2 of 6 deals, three never do.
    one, two, three = 1 / 4, 2 / 4 / 3, 3 / 4 * (1 - (log2(3) - 2 / 3))
    assert expected([2, 2])(np.arange(5)) == pytest.approx([0, one, two, three, 0])


def test_enumerated():
    values = (0, 0, 0, 1, 1, 2)
    deals = [np.array(deal) for deal in permutations(values)]
    bits_found = []
    for deal in deals:
        joint = [np.bincount(deal[part], minlength=3) for part in (slice(0, 2), slice(2, 6))]
        bits_found.append(mutual_information(joint))
    chance = expected([3, 2, 1])
    assert chance(np.array([2, 4])).sum() == pytest.approx(np.mean(bits_found), abs=1e-12)


@pytest.mark.parametrize("margin", [[1], [7], [0, 7, 0], [200]])
def test_a_single_value_tells_nothing(margin):
    assert not expected(margin).table().any()


@given(margins)
def test_every_size_of_small_tables_is_exact(margin):
    chance, spread = expected(margin), tuple(sorted(count for count in margin if count))
    some = np.unique(np.linspace(0, sum(margin), 9).astype(int))
    exact = [by_chance(int(size), spread) if size else 0 for size in some]
    assert chance(some) == pytest.approx(exact, abs=1e-14)
    assert chance.table()[some] == pytest.approx(exact, abs=1e-14)
    assert expected([0, *reversed(margin)]) is chance


@pytest.mark.parametrize(
    "margin",
    [[300, 1, 1], [1000, 2000, 7], [20_000, 9_000, 1_000, 162], [700_000, 299_000, 990, 10]],
)
def test_interpolation_is_off_by_less_than_its_bound(margin):
    chance, records = expected(margin), sum(margin)
    rng = np.random.default_rng(1)
    sizes = np.concatenate([rng.integers(100, records, 20), records - np.arange(10)])
    sizes = np.concatenate([sizes, (records ** (0.4 + 0.6 * rng.random(40))).astype(int)])
    exact = np.array([directly(margin, int(size)) for size in sizes])
    rounding = 1e-8 * exact + 1e-15
    assert (np.abs(chance(sizes) - exact) <= chance.error(sizes) + rounding).all()
    assert (chance.error(chance.nodes) == 0).all()


@pytest.mark.parametrize("margin", [(2, 998), (400, 600), (10, 990, 299_000, 700_000)])
def test_small_classes_of_large_tables_are_exact(margin):
    sizes = [1, 2, 3, 10, 48, 96]
    exact = [by_chance(size, margin) for size in sizes]
    assert expected(margin)(np.array(sizes)) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("records", [97, 1_000, 30_162, 10**7])
def test_over_any_partition_errors_add_up_to_nothing(records):
    chance = expected([records // 2, records - records // 2])
    rng = np.random.default_rng(0)
    sizes = np.unique((records ** rng.random(20_000)).astype(int))
    per_record = chance.error(sizes) / sizes
    assert records * per_record.max() < 1e-11
    assert records < 200 or per_record.max() > 0
    assert len(chance.nodes) < 1_000


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_shuffled_tables_tell_as_much_on_average(seed):
    rng = np.random.default_rng(seed)
    joint = rng.integers(0, 4, (rng.integers(2, 7), rng.integers(2, 5)))
    joint[:, 0] += 1
    counts = Counts.of(
        ("a",), np.arange(len(joint))[:, None], joint.sum(axis=1), {"w": joint.astype(np.int64)}
    )
    objective = MutualInformation()
    bits_found = [objective(counts.shuffled(rng)) for _ in range(300)]
    mean = float(expected(counts.margins["w"])(counts.sizes).sum())
    assert abs(np.mean(bits_found) - mean) < 6 * np.std(bits_found) / 300**0.5 + 1e-12
