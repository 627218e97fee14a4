"""Counts dealt out at random: the same law whether records are permuted or counts drawn."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import ks_2samp

from anonymizer.counts import counts, pairs

JOINT = np.array([[3, 0, 2], [1, 4, 0], [0, 1, 1]])


def mean_of(deal):
    rng = np.random.default_rng(0)
    dealt = np.array([deal(JOINT, rng) for _ in range(4000)])
    assert (dealt.sum(axis=1) == JOINT.sum(axis=0)).all()
    assert (dealt.sum(axis=2) == JOINT.sum(axis=1)).all()
    return dealt.mean(axis=0), dealt.var(axis=0)


def test_counts_drawn_and_records_permuted_are_one_law(monkeypatch):
    mean, variance = mean_of(counts._drawn)
    rows, columns, records = JOINT.sum(axis=1), JOINT.sum(axis=0), JOINT.sum()
    expected = np.outer(rows, columns) / records
    spread = expected * np.outer(1 - rows / records, 1 - columns / records) * records
    assert np.allclose(mean, expected, atol=0.06)
    assert np.allclose(variance, spread / (records - 1), atol=0.08)
    permuted = mean_of(counts._dealt)
    assert np.allclose(permuted[0], expected, atol=0.06)
    monkeypatch.setattr(counts, "MANY", 1)
    assert (
        counts._dealt(JOINT, np.random.default_rng(1))
        == counts._drawn(JOINT, np.random.default_rng(1))
    ).all()


MANY = np.array([[2**31 + 5, 3, 0], [40, 7 * 10**8, 9], [0, 12, 2**40], [8, 0, 1]])


def test_counts_of_billions_are_dealt_out_cell_by_cell():
    rng = np.random.default_rng(2)
    tracemalloc.start()
    counts._dealt(MANY, rng)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()
    dealt = np.array([counts._dealt(MANY, rng) for _ in range(400)], float)
    assert (dealt >= 0).all()
    assert (dealt.sum(axis=1) == MANY.sum(axis=0)).all()
    assert (dealt.sum(axis=2) == MANY.sum(axis=1)).all()
    rows, columns, records = MANY.sum(axis=1), MANY.sum(axis=0), float(MANY.sum())
    expected = np.outer(rows / records, columns)
    spread = expected * np.outer(1 - rows / records, 1 - columns / records)
    off = np.abs(dealt.mean(axis=0) - expected)
    assert (off <= 4 * np.sqrt(spread / 400) + 1e-9 * expected + 0.01).all()
    plain = expected > 1
    assert np.allclose(dealt.var(axis=0)[plain], spread[plain], rtol=0.4, atol=1)


@pytest.mark.parametrize("good", [3, 20, 900, 40_000])
def test_numbers_of_very_many_have_the_law_of_fewer(good):
    """Where NumPy knows the law, what is drawn for more than it takes is held against it."""
    total, taken, times = 2 * 10**8, 10**5, 20_000
    exact = np.random.default_rng(3).hypergeometric(good, total - good, taken, times)
    columns = (np.full(times, each) for each in (good, total - good, taken))
    drawn = pairs._of_many(*columns, np.random.default_rng(4))
    for some in (exact, drawn):
        assert some.min() >= 0
        assert some.max() <= good
    assert ks_2samp(exact, drawn).pvalue > 1e-4
    others = (np.full(times, each) for each in (total - good, good, total - taken))
    turned = pairs._of_many(*others, np.random.default_rng(5))
    expected = (total - taken) - (good - exact)  # what is not taken of the rare, and the rest
    assert ks_2samp(expected, turned).pvalue > 1e-4
