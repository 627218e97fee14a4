"""Greedy trees of boxes: against a plain one, and what is remembered against what is worked out."""

import pickle
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length

from anonymizer.kernels.boxes import FEW, TIE, BoxCells, Ground, Memory
from anonymizer.kernels.rules import Bound, Kind, Rules, Worth
from anonymizer.kernels.single import Criteria, values


def required(least, columns, worth):
    bounds = [(Bound(Kind.SIZE, least), 0, 0)]
    if columns > 1:
        bounds.append((Bound(Kind.ENTROPY, 0.5), 0, columns - 1))
    return Criteria.of(Rules.of(bounds, columns), worth)


def ground_of(blocks, counts, wanted, runs, wide=None):
    axes, most = blocks.shape[1], int(blocks.max()) + 1
    wide = np.zeros((0, 1, 1), bool) if wide is None else wide
    none = np.zeros(axes, np.int64), np.zeros((axes, 0, 0), np.int64)
    cells = BoxCells.of(blocks, counts, runs, wide, *none)
    return Ground.of(cells, wanted, most, counts.shape[1], 2)


def ranges(column, counts):
    """The first parts of the cuts along an ordered axis."""
    return [column < at for at in np.unique(column)[1:]]


def some_sets(column, counts):
    """The first parts of the cuts along any other axis, in the order in which they are tried."""
    occurring = np.unique(column)
    if len(occurring) <= FEW:
        odd = range(1, 2 ** len(occurring) - 1, 2)
        return [
            np.isin(column, occurring[[s >> i & 1 > 0 for i in range(len(occurring))]]) for s in odd
        ]
    if counts.shape[1] == 1:
        return ranges(column, counts)
    sums = np.array([counts[column == block].sum(axis=0) for block in occurring])
    orders = [np.argsort(one / sums[:, -1], kind="stable") for one in sums[:, :-1].T]
    return [
        np.isin(column, occurring[order[:end]]) for order in orders for end in range(1, len(order))
    ]


def plain(blocks, counts, wanted, parts_along=ranges):
    """What the greedy tree is worth, cut by cut, in NumPy."""
    own = values(counts.sum(axis=0, keepdims=True), wanted)[0]
    best, parts = own + TIE, None
    for column in blocks.T:
        top = -np.inf
        for left in parts_along(column, counts):
            both = np.stack([counts[left].sum(axis=0), counts[~left].sum(axis=0)])
            score = values(both, wanted).sum()
            if score > top + TIE:
                top, chosen = score, left
        if top > best:
            best, parts = top, chosen
    if parts is None:
        return own
    return sum(plain(blocks[some], counts[some], wanted, parts_along) for some in (parts, ~parts))


@st.composite
def tables(draw):
    """Cells on three axes with records of three values, and what is required of boxes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    blocks = np.unique(rng.integers(draw(st.integers(2, 9)), size=(40, 3)), axis=0)
    if draw(st.booleans()):
        counts = rng.integers(1, 4, size=(len(blocks), 1))
        worth = Worth.of_sizes(-(np.arange(counts.sum() + 1.0) ** 2))
    else:
        joint = rng.integers(3, size=(len(blocks), 3))
        joint[:, 0] += joint.sum(axis=1) == 0
        counts = np.column_stack([joint, joint.sum(axis=1)])
        worth = Worth(np.array([[0, 3]]), np.ones(1), np.zeros(1), np.zeros(0), 0.0)
    return blocks, counts, required(draw(st.integers(1, 6)), counts.shape[1], worth)


def followed(ground, blocks):
    """The greedy trees of the first cut along every axis."""
    cells, axes = blocks.shape
    bounds = np.array([[0, blocks.max() + 1]] * axes)
    left = np.array([np.arange(blocks.max() + 1) < 1] * axes)
    return ground.followed(0, cells, bounds, np.arange(axes), left, np.ones(axes, np.int64))


@settings(deadline=None, max_examples=at_length(20, 40))
@given(tables(), st.booleans())
def test_greedy_trees_equal_plain_ones(table, ordered):
    blocks, counts, wanted = table
    ground = ground_of(blocks, counts, wanted, (blocks.max(axis=0) + 1) * ordered)
    along = ranges if ordered else some_sets
    expected = [
        sum(plain(blocks[some], counts[some], wanted, along) for some in (column < 1, column >= 1))
        for column in blocks.T
        if 0 < (column < 1).sum() < len(column)
    ]
    if len(expected) == blocks.shape[1]:
        np.testing.assert_allclose(followed(ground, blocks), expected, rtol=0, atol=1e-9)


@settings(deadline=None, max_examples=at_length(20, 40))
@given(tables(), st.booleans(), st.integers(0, 99))
def test_what_is_remembered_is_what_would_be_worked_out(table, ordered, seed):
    """To the last bit: with a full memory, with one of a single slot, and in another order."""
    blocks, counts, wanted = table
    ground = ground_of(blocks, counts, wanted, (blocks.max(axis=0) + 1) * ordered)
    first = followed(ground, blocks)
    assert (
        np.isfinite(ground.memory.worths.view(float)).any() or len(blocks) < 4 or wanted.least > 1
    )
    np.random.default_rng(seed).shuffle(ground.order)
    np.testing.assert_array_equal(followed(ground, blocks), first)
    ground.memory.locks[:] = 0
    np.testing.assert_array_equal(followed(ground, blocks), first)
    tiny = Memory(ground.memory.locks[:1], ground.memory.worths[:1])
    forgetful = replace(ground, memory=tiny)
    np.testing.assert_array_equal(followed(forgetful, blocks), first)
    np.testing.assert_array_equal(followed(ground.of_slice(0, len(blocks)), blocks), first)


def test_a_worth_that_another_job_has_half_written_is_not_taken():
    """Its lock does not fit the worth that stands there: the box is worked out again."""
    blocks, counts = np.array([[0], [1], [2], [3]]), np.array([[1], [2], [3], [4]])
    wanted = required(1, 1, Worth.of_sizes(-(np.arange(11.0) ** 2)))
    ground = ground_of(blocks, counts, wanted, np.array([4]))
    first = followed(ground, blocks)
    assert np.isfinite(ground.memory.worths.view(float)).any()
    ground.memory.worths.view(float)[:] = 100.0
    np.testing.assert_array_equal(followed(ground, blocks), first)


def test_another_process_begins_with_an_empty_memory_of_the_same_size():
    memory = Memory.of(1000)
    memory.worths.view(float)[0] = 1.5
    sent = pickle.loads(pickle.dumps(memory))
    assert isinstance(sent, Memory)
    assert len(sent.worths) == len(memory.worths) == 65536
    assert np.isnan(sent.worths.view(float)).all()


@settings(deadline=None, max_examples=at_length(15, 60))
@given(st.integers(66, 90), st.integers(0, 2**32 - 1))
def test_columns_that_do_not_occur_change_nothing(columns, seed):
    """Of very many values those of no record in a box are left out: the trees are those of few."""
    rng = np.random.default_rng(seed)
    cells = np.arange(40)
    blocks = rng.integers(0, 8, (len(cells), 2))
    few = np.zeros((len(cells), 7), np.int64)  # nobody has the first value
    few[cells, rng.integers(1, 6, len(cells))] = few[:, -1] = rng.integers(1, 4, len(cells))
    places = np.sort(rng.choice(np.arange(1, columns - 1), 5, replace=False))
    many = np.zeros((len(cells), columns), np.int64)
    many[:, [0, *places, columns - 1]] = few
    found = []
    for counts in (few, many):
        spans = np.array([[0, counts.shape[1] - 1]])
        worth = Worth(spans, np.ones(1), np.zeros(1), np.zeros(0), 0.0)
        wanted = required(2, counts.shape[1], worth)
        found.append(followed(ground_of(blocks, counts, wanted, np.zeros(2, np.int64)), blocks))
    np.testing.assert_array_equal(*found)
