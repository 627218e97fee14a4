"""Greedy trees of boxes: against a plain one, and what is remembered against what is worked out."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length

from anonymizer.kernels.boxes.cutting import TIE, BoxCells
from anonymizer.kernels.boxes.mondrian import Ground
from anonymizer.kernels.boxes.remembering import Memory, recall, remember, with_bounds
from anonymizer.kernels.rules import Bound, Kind, Rules, Worth
from anonymizer.kernels.single import criteria, values


def required(least, columns, worth):
    bounds = [(Bound(Kind.SIZE, least), 0, 0)]
    if columns > 1:
        bounds.append((Bound(Kind.ENTROPY, 0.5), 0, columns - 1))
    return criteria(Rules.of(bounds, columns), worth)


def ground_of(blocks, counts, wanted, runs, wide=None):
    axes, most = blocks.shape[1], int(blocks.max()) + 1
    wide = np.zeros((0, 1, 1), bool) if wide is None else wide
    none = np.zeros(axes, np.int64), np.zeros((axes, 0, 0), np.int64)
    cells = BoxCells.of(blocks, counts, runs, wide, *none)
    return Ground.of(cells, wanted, most, counts.shape[1], 2)


def plain(blocks, counts, wanted):
    """What the greedy tree is worth over ordered axes, cut by cut, in NumPy."""
    own = values(counts.sum(axis=0, keepdims=True), wanted)[0]
    best, parts = own + TIE, None
    for column in blocks.T:
        top = -np.inf
        for at in np.unique(column)[1:]:
            left = column < at
            both = np.stack([counts[left].sum(axis=0), counts[~left].sum(axis=0)])
            score = values(both, wanted).sum()
            if score > top + TIE:
                top, chosen = score, left
        if top > best:
            best, parts = top, chosen
    if parts is None:
        return own
    return sum(plain(blocks[some], counts[some], wanted) for some in (parts, ~parts))


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
@given(tables())
def test_greedy_trees_equal_plain_ones(table):
    blocks, counts, wanted = table
    ground = ground_of(blocks, counts, wanted, blocks.max(axis=0) + 1)
    expected = [
        sum(plain(blocks[some], counts[some], wanted) for some in (column < 1, column >= 1))
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
    assert np.isfinite(ground.memory.worths).any() or len(blocks) < 4 or wanted.least > 1
    np.random.default_rng(seed).shuffle(ground.order)
    np.testing.assert_array_equal(followed(ground, blocks), first)
    ground.memory.worths[:] = np.nan
    np.testing.assert_array_equal(followed(ground, blocks), first)
    tiny = Memory(ground.memory.locks[:1], ground.memory.worths[:1])
    forgetful = Ground(**{**vars(ground), "memory": tiny})
    np.testing.assert_array_equal(followed(forgetful, blocks), first)
    np.testing.assert_array_equal(followed(ground.of_slice(0, len(blocks)), blocks), first)


def test_a_box_is_remembered_until_another_takes_its_slot():
    memory = Memory(np.zeros(1, np.uint64), np.full(1, np.nan))
    key, other = np.uint64(2**63 + 5), np.uint64(7)
    assert np.isnan(recall(memory, key))
    remember(memory, key, -2.5)
    assert recall(memory, key) == -2.5
    assert np.isnan(recall(memory, other))
    remember(memory, other, 4.0)
    assert recall(memory, other) == 4.0
    assert np.isnan(recall(memory, key))


def test_a_worth_that_another_job_has_half_written_is_not_taken():
    memory = Memory(np.zeros(1, np.uint64), np.full(1, np.nan))
    remember(memory, np.uint64(3), 1.5)
    memory.worths[0] = 2.5
    assert np.isnan(recall(memory, np.uint64(3)))


def test_another_process_begins_with_an_empty_memory_of_the_same_size():
    memory = Memory.of(1000)
    remember(memory, np.uint64(3), 1.5)
    sent = pickle.loads(pickle.dumps(memory))
    assert isinstance(sent, Memory)
    assert len(sent.worths) == len(memory.worths) == 65536
    assert np.isnan(sent.worths).all()


@pytest.mark.parametrize(("confined", "same"), [(False, True), (True, False)])
def test_ends_tell_boxes_apart_where_they_confine_cuts(confined, same):
    narrow, wide = np.array([[0, 3], [1, 2]]), np.array([[0, 4], [1, 2]])
    keys = {int(with_bounds(np.uint64(9), each, confined)) for each in (narrow, wide)}
    assert (len(keys) == 1) == same
