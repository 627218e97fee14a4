"""Partitions into intervals: the best of one order, and the walk over two, against plain NumPy."""

import numpy as np
import plain
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length

from anonymizer.kernels.ranges import ANY, Limits, Steps, suffixes, walked

INFINITE = -np.inf


def steps_of(blocks, most=ANY, kept=None):
    """All intervals of some blocks, or those of a mask."""
    starts, ends = np.nonzero(np.triu(np.ones((blocks + 1, blocks + 1), bool), 1))
    if kept is not None:
        starts, ends = starts[kept], ends[kept]
    first = np.searchsorted(starts, np.arange(blocks + 1)).astype(np.int64)
    return Steps(first, ends.astype(np.int64), most)


@st.composite
def orders(draw, most_blocks=7):
    """The intervals of an order, some of them left out."""
    blocks = draw(st.integers(1, most_blocks))
    kept = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).random(blocks * (blocks + 1) // 2)
    limit = draw(st.sampled_from([ANY, 1, 2, 3]))
    return steps_of(blocks, limit, kept < draw(st.sampled_from([0.5, 0.9, 1])))


def test_best_partitions_by_hand():
    # Of two blocks: [0, 1) is worth 1, both together 5, [1, 2) 3.
    values = np.array([[1.0], [5.0], [3.0]])
    assert suffixes(steps_of(2), values)[:, :, 0].tolist() == [[5, 3, 0]]
    at_most = suffixes(steps_of(2, most=2), np.array([[1.0], [3.0], [3.0]]))[:, :, 0]
    assert at_most.tolist() == [[INFINITE, INFINITE, 0], [3, 3, 0], [4, 3, 0]]


def test_the_walk_by_hand():
    # Rows and columns of two blocks each; halves of both are worth 1 a tile, anything else nothing.
    tiles = np.zeros((4, 4))
    tiles[np.ix_([0, 2], [0, 2])] = 1
    both = steps_of(2), steps_of(2), tiles
    assert walked(*both, Limits(0.5, 1e-9, 16, 100)) == (True, (0, 2))
    assert walked(*both, Limits(4, 1e-9, 16, 100)) == (True, None)
    assert walked(*both, Limits(0.5, 1e-9, 16, 0)) == (False, None)


@settings(deadline=None, max_examples=at_length(60, 600))
@given(orders(), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_best_partitions_equal_plain_ones(steps, valuations, seed):
    values = np.random.default_rng(seed).normal(size=(len(steps.ends), valuations))
    np.testing.assert_array_equal(suffixes(steps, values), plain.suffixes(steps, values))


@settings(deadline=None, max_examples=at_length(100, 2000))
@given(
    orders(9),
    orders(),
    st.sampled_from([0, 0.3]),
    st.sampled_from([1, 3, 16]),
    st.sampled_from([3, 40, 10_000]),
    st.integers(0, 2**32 - 1),
)
def test_the_walk_equals_the_plain_one(rows, columns, refused, together, most, seed):
    """To the last bit, with ties, and where it ends early."""
    rng = np.random.default_rng(seed)
    shape = len(columns.ends) + 1, len(rows.ends) + 1
    tiles = rng.normal(size=shape) if seed % 2 else rng.integers(-2, 3, size=shape).astype(float)
    tiles[rng.random(shape) < refused] = INFINITE
    tiles[-1, -1] = 0
    for floor in (INFINITE, 1.0):
        limits = Limits(floor, 1e-9, together, most)
        expected = plain.walked(rows, columns, tiles, limits)
        assert walked(rows, columns, tiles, limits) == expected
