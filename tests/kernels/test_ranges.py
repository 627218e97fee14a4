"""Intervals of an order: the best partition, the walk over two, and tiles, against plain NumPy."""

import numpy as np
import plain
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from strategies import problems

from anonymizer.kernels import NATIVE, Bound, Histograms, Kind, Rules, Worth
from anonymizer.kernels.ranges import ANY, Sorted, Steps, WalkLimits, judged, suffixes, walked
from anonymizer.kernels.single import Criteria
from anonymizer.objectives import MutualInformation
from anonymizer.objectives.candidate import Layout, listed_of
from anonymizer.recoding.policy import Policy

INFINITE = -np.inf

UNCERTAINTY = Worth(np.array([[0, 2]]), np.ones(1), np.zeros(1), np.zeros(0), 0.0)
"""Minus the bits of a class about two values."""


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
    assert walked(*both, WalkLimits(0.5, 1e-9, 16, 100)) == (True, (0, 2))
    assert walked(*both, WalkLimits(4, 1e-9, 16, 100)) == (True, None)
    assert walked(*both, WalkLimits(0.5, 1e-9, 16, 0)) == (False, None)


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
        limits = WalkLimits(floor, 1e-9, together, most)
        expected = plain.walked(rows, columns, tiles, limits)
        assert walked(rows, columns, tiles, limits) == expected


def test_tiles_by_hand():
    # Two classes of one combination, u u and u v; together they have an entropy of 0.81 bits.
    classes = Sorted.of(
        Histograms.listed(np.array([[2, 0, 2], [1, 1, 2]]), 1),
        np.zeros(2, np.int64),
        np.zeros(2, np.int64),
        np.arange(2),
    )
    rules = Rules.of([(Bound(Kind.ENTROPY, 0.8), 0, 2)], 3)
    whole, halves = (np.array([0]), np.array([1])), (np.array([0, 0, 1]), np.array([1, 2, 2]))
    gains, many, broken = judged(classes, whole, halves, Criteria.of(rules, UNCERTAINTY))
    np.testing.assert_allclose(gains, [[0, 3 * np.log2(3) - 8, -2]])
    assert many.tolist() == [[1, 1, 1]]
    assert broken.tolist() == [[1, 0, 0]]


@settings(deadline=None, max_examples=at_length(40, 1000))
@given(problems(attributes=3))
def test_tiles_equal_plain_ones(problem):
    counts = problem.counts
    layout = Layout.of(counts)
    policy = Policy(problem.models, layout, NATIVE).against(layout.margins)
    required = Criteria.of(policy.rules, MutualInformation().worth(layout))
    combination, rows, columns = counts.cells.T
    classes = Sorted.of(listed_of(counts), combination, rows, columns)
    ends = [
        np.nonzero(np.triu(np.ones((n + 1, n + 1)), 1)) for n in (rows.max() + 1, columns.max() + 1)
    ]
    found, expected = judged(classes, *ends, required), plain.judged(classes, *ends, required)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-12)
    np.testing.assert_array_equal(found[1:], expected[1:])
