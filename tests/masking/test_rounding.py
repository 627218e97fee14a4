"""Rounding a draw: unbiased, exact by row, within one by column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.masking import drawing
from anonymizer.masking.drawing import rounded


@st.composite
def expectations(draw):
    rows = draw(st.integers(1, 6))
    columns = draw(st.integers(1, 6))
    weights = draw(
        st.lists(
            st.lists(st.sampled_from([0, 0, 1, 2, 3, 1000]), min_size=columns, max_size=columns),
            min_size=rows,
            max_size=rows,
        )
    )
    channel = np.array(weights, float)
    channel[:, 0] += channel.sum(axis=1) == 0
    records = np.array(draw(st.lists(st.integers(0, 40), min_size=rows, max_size=rows)))
    return records, channel / channel.sum(axis=1, keepdims=True)


@given(expectations(), st.integers(0, 2**32))
def test_rows_are_exact_and_columns_within_one(expected, seed):
    records, channel = expected
    drawn = rounded(records, channel, np.random.default_rng(seed))
    mean = records[:, None] * channel
    assert (drawn.sum(axis=1) == records).all()
    assert (np.abs(drawn - mean) < 1 + 1e-6).all()
    assert (np.abs(drawn.sum(axis=0) - mean.sum(axis=0)) < 1 + 1e-6).all()
    assert (drawn[channel == 0] == 0).all()


@given(expectations(), st.integers(0, 2**32))
def test_too_many_entries_are_rounded_row_by_row(expected, seed):
    records, channel = expected
    most, drawing.MOST_EDGES = drawing.MOST_EDGES, 0
    try:
        drawn = rounded(records, channel, np.random.default_rng(seed))
    finally:
        drawing.MOST_EDGES = most
    assert (drawn.sum(axis=1) == records).all()
    assert (np.abs(drawn - records[:, None] * channel) < 1 + 1e-6).all()


@pytest.mark.parametrize("most", [0, drawing.MOST_EDGES], ids=["row by row", "walks"])
def test_every_record_has_the_chances_of_the_channel(monkeypatch, most):
    monkeypatch.setattr(drawing, "MOST_EDGES", most)
    rng = np.random.default_rng(7)
    channel = np.array([[0.1, 0.6, 0.3], [0.5, 0.25, 0.25], [0.0, 0.9, 0.1]])
    records = np.array([3, 1, 5])
    draws = 4000
    total = sum(rounded(records, channel, rng) for _ in range(draws))
    # A draw of an entry has a variance of 1/4 at the most: five standard errors.
    assert np.abs(total / draws - records[:, None] * channel).max() < 5 * 0.5 / draws**0.5


def test_a_channel_of_certainties_is_not_drawn():
    channel = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    drawn = rounded(np.array([4, 2, 10**8]), channel, np.random.default_rng(0))
    assert drawn.tolist() == [[0, 4], [2, 0], [0, 10**8]]


def test_thirds_of_many_records_sum_exactly():
    records = np.array([10**8, 10**8 + 1, 10**8 + 2])
    drawn = rounded(records, np.full((3, 3), 1 / 3), np.random.default_rng(0))
    assert (drawn.sum(axis=1) == records).all()
    # 1/3 is not a multiple of 2^-36: what is drawn is off by a record in a hundred million.
    assert np.abs(drawn - records[:, None] / 3).max() <= 2
