"""Counts dealt out at random: the same law whether records are permuted or counts drawn."""

import numpy as np

from anonymizer.counts import counts

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
