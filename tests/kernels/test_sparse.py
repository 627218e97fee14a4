"""Sparse histograms: the same classes, sums and verdicts as dense ones, in both kernels."""

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from plain import NUMPY

from anonymizer.kernels import NATIVE, Bound, FrequencySet, Histograms, Kind, Rules, Sums
from anonymizer.kernels.counting import mark_words
from anonymizer.kernels.frequency import LOGS

KERNELS = (NUMPY, NATIVE)
BOTH = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
ALL = 2**63 - 1

seeds = st.integers(0, 2**32 - 1)


def some_pair(
    rng: np.random.Generator, values: list[int], words: int = 1, population: bool = False
) -> tuple[FrequencySet, FrequencySet]:
    """The same random classes, dense and sparse: attributes of so many values, few of which occur.

    A class has as many records of each attribute, or none at all where there is a population.
    """
    rows = int(rng.integers(1, 80))
    keys = rng.integers(0, 5, (rows, words)).astype(np.uint64) << np.uint64(rng.integers(0, 60))
    sizes = rng.integers(0 if population else 1, rng.choice([3, 30, LOGS * 2]), rows)
    parts = [np.stack([spread(rng, size, number) for size in sizes]) for number in values]
    people = [(sizes + rng.integers(0, 9, rows))[:, None]] if population else []
    columns = np.concatenate([*parts, *people, sizes[:, None]], axis=1)
    columns = columns.astype(rng.choice([np.int32, np.int64]))
    members = rng.permutation(rows).astype(np.int32)
    dense = FrequencySet(keys, columns, members)
    return dense, FrequencySet.of(keys, Histograms.listed(columns, 1 + population), members)


def spread(rng: np.random.Generator, records: int, values: int) -> np.ndarray:
    """Records on few of many values, skewed."""
    some = rng.choice(values, min(values, int(rng.integers(1, 9))), replace=False)
    row = np.zeros(values, np.int64)
    row[some] = rng.multinomial(records, rng.dirichlet(np.ones(len(some)) * 0.5))
    return row


def some_mask(rng: np.random.Generator, words: int) -> tuple[np.uint64, ...]:
    return tuple(np.uint64(number) for number in rng.integers(0, 2**63, words))


def assert_listed(classes: FrequencySet) -> None:
    """Entries are in order, without zeros, and in the type of the sizes."""
    assert classes.starts[0] == 0
    assert classes.starts[-1] == len(classes.places)
    assert len(classes.starts) == len(classes) + 1
    assert (classes.numbers > 0).all()
    assert classes.numbers.dtype == classes.counts.dtype
    inside = np.diff(classes.histograms.rows) == 0
    assert (np.diff(classes.places)[inside] > 0).all()


@BOTH
def test_sparse_classes_merge_by_hand(kernel):
    keys = np.array([[0b00], [0b01], [0b10], [0b11]], np.uint64)
    counts = np.array([[3], [2], [5], [1]], np.int32)
    starts = np.array([0, 2, 3, 5, 6])
    places = np.array([0, 70, 70, 3, 4200, 4200], np.int32)
    numbers = np.array([1, 2, 2, 1, 4, 1], np.int32)
    members = np.array([7, 5, 3, 1], np.int32)
    source = FrequencySet(keys, counts, members, starts, places, numbers)
    halves = kernel.roll_up(source, (np.uint64(0b10),))
    assert halves.counts.tolist() == [[5], [6]]
    assert halves.starts.tolist() == [0, 2, 4]
    assert halves.places.tolist() == [0, 70, 3, 4200]
    assert halves.numbers.tolist() == [1, 4, 1, 5]
    assert halves.members.tolist() == [7, 3]
    one = kernel.roll_up(source, (np.uint64(0),))
    assert one.places.tolist() == [0, 3, 70, 4200]
    assert one.numbers.tolist() == [1, 1, 4, 5]
    rules = Rules.of([(Bound(Kind.ENTROPY, 0.7), 0, 4300)], 4301)  # H = 0.72 and 0.65 bits
    halves = kernel.roll_up(source, (np.uint64(0b10),))
    records, marks = kernel.broken(halves.histograms, rules, ALL)
    assert (records, marks.tolist()) == (6, [False, True])
    bits = 5 * log2(5) - 4 * log2(4) + 6 * log2(6) - 5 * log2(5)
    assert kernel.uncertainty(halves.histograms, 0, 4300) == pytest.approx(bits)


@BOTH
@settings(max_examples=at_length(30, 60))
@given(
    seed=seeds,
    values=st.sampled_from([[5], [70], [3, 200], [9000], [64, 1, 4096]]),
    words=st.sampled_from([1, 2]),
    population=st.booleans(),
)
def test_chains_of_roll_ups_are_those_of_dense_classes(kernel, seed, values, words, population):
    rng = np.random.default_rng(seed)
    dense, sparse = some_pair(rng, values, words, population)
    columns, mask = dense.counts.shape[1], some_mask(rng, words)
    for _ in range(4):
        dense, sparse = kernel.roll_up(dense, mask).copy(), kernel.roll_up(sparse, mask).copy()
        assert_listed(sparse)
        assert sparse.keys.tolist() == dense.keys.tolist()
        assert sparse.members.tolist() == dense.members.tolist()
        assert (sparse.histograms.dense(columns) == dense.counts).all()
        ordered = sparse.in_order()
        assert_listed(ordered)
        assert (ordered.histograms.dense(columns) == dense.in_order().counts).all()
        mask = tuple(word & other for word, other in zip(mask, some_mask(rng, words), strict=True))


@BOTH
def test_widths_and_types_may_change_from_one_roll_up_to_the_next(kernel):
    rng = np.random.default_rng(0)
    for values in ([9000], [3], [200], [3, 9000], [64], [65]) * 3:
        dense, sparse = some_pair(rng, values)
        rolled = kernel.roll_up(sparse, (np.uint64(1),)).histograms.dense(dense.counts.shape[1])
        assert (rolled == kernel.roll_up(dense, (np.uint64(1),)).counts).all()


def some_bound(rng: np.random.Generator, margin: np.ndarray) -> Bound:
    """A bound of any kind on the values of an attribute, some of which no record has."""
    prior, values = margin / margin.sum(), len(margin)
    limit = float(rng.random() * 3)
    kind = rng.choice([kind for kind in Kind if kind < Kind.POPULATION])
    match kind:
        case Kind.SIZE:
            return Bound(kind, limit * 3)
        case Kind.DISTINCT:
            return Bound(kind, float(rng.integers(0, 6)))
        case Kind.RECURSIVE:
            return Bound(kind, limit, rank=int(rng.integers(1, 6)))
        case Kind.DIVERGENCE:
            logs = np.log2(prior, out=np.zeros_like(prior), where=prior > 0)
            return Bound(kind, limit, upper=logs)
        case Kind.SHARES:
            lower = rng.choice(
                [0, 1e-4, 0.01], values, p=[1 - 1 / values, 0.5 / values, 0.5 / values]
            )
            return Bound(kind, 0.0, lower=lower * rng.integers(0, 2), upper=prior + limit / 2)
        case Kind.TRANSPORT:
            order, runs = rng.permutation(values), int(rng.integers(1, 9))
            ends = np.sort(rng.integers(0, values + 1, (runs, 2)), axis=1)
            if rng.integers(2):  # from the first value on, as those of an order are
                last = np.unique(rng.integers(1, values + 1, 4 * runs))
                ends = np.column_stack([0 * last, last])
            total = np.append(0, np.cumsum(prior[order]))
            masses = total[ends[:, 1]] - total[ends[:, 0]]
            sums = Sums(order, ends[:, 0], ends[:, 1], masses, rng.random(len(ends)))
            return Bound(kind, limit / 3, sums=sums)
    return Bound(kind, limit)


@settings(max_examples=at_length(200, 400))
@given(
    seed=seeds,
    values=st.sampled_from([[5], [70], [3, 200], [2500]]),
    population=st.booleans(),
    most=st.sampled_from([0, 40, ALL]),
)
def test_every_bound_finds_the_same_classes_in_every_form(seed, values, population, most):
    rng = np.random.default_rng(seed)
    dense, sparse = some_pair(rng, values, population=population)
    columns, bounds, start = dense.counts.shape[1], [], 0
    margins = np.maximum(dense.counts.sum(axis=0, dtype=np.int64), 0)
    for number in values:
        stop = start + number
        for _ in range(rng.integers(0, 3)):
            bound = some_bound(rng, margins[start:stop] + (margins[start:stop].sum() == 0))
            place = (columns - 1, columns) if bound.kind == Kind.SIZE else (start, stop)
            bounds.append((bound, *place))
        start = stop
    if population:
        kind = rng.choice([Kind.POPULATION, Kind.PRESENCE])
        upper = rng.random(1)
        bounds.append((Bound(kind, float(rng.random() / 2), upper=upper), start, start + 1))
    rules = Rules.of(bounds, columns)
    found = []
    for kernel in KERNELS:
        records, marks = kernel.broken(dense.counts, rules, most)
        assert kernel.broken(sparse.histograms, rules, most)[0] > most or records <= most
        if records <= most:
            occupied = dense.sizes > 0
            same, listed = kernel.broken(sparse.histograms, rules, most)
            found.append((records, marks[occupied].tolist()))
            found.append((same, listed[occupied].tolist()))
            assert marks.tolist() == listed.tolist()
    assert all(entry == found[0] for entry in found)


@BOTH
@given(seed=seeds, values=st.sampled_from([[5], [3, 200], [64, 1, 4096]]))
def test_uncertainty_is_that_of_dense_classes(kernel, seed, values):
    dense, sparse = some_pair(np.random.default_rng(seed), values)
    start = 0
    for number in values:
        known = kernel.uncertainty(dense.counts, start, start + number)
        found = kernel.uncertainty(sparse.histograms, start, start + number)
        assert found == pytest.approx(known, rel=1e-12, abs=1e-9)
        start += number


@BOTH
@pytest.mark.parametrize(
    ("limit", "broken"), [(log2(5) - 1e-9, False), (log2(5), False), (log2(5) + 1e-6, True)]
)
def test_an_even_class_of_as_many_values_as_needed_is_not_refused(kernel, limit, broken):
    columns = np.zeros((1, 101), np.int32)
    columns[0, 10:60:10], columns[0, -1] = 7, 35
    rules = Rules.of([(Bound(Kind.ENTROPY, limit - 1e-12), 0, 100)], 101)
    assert kernel.broken(Histograms.listed(columns, 1), rules, ALL)[1].tolist() == [broken]
    assert kernel.broken(columns, rules, ALL)[1].tolist() == [broken]


@BOTH
def test_a_value_that_must_occur_and_does_not_breaks_its_bound(kernel):
    columns = np.array([[5, 0, 5, 10], [5, 1, 4, 10], [5, 5, 0, 10]], np.int32)
    lower, upper = np.array([0, 0.1, 0]), np.ones(3)
    rules = Rules.of([(Bound(Kind.SHARES, 0.0, lower=lower, upper=upper), 0, 3)], 4)
    marks = kernel.broken(Histograms.listed(columns, 1), rules, ALL)[1]
    assert marks.tolist() == [True, False, False]


@given(seed=seeds, population=st.booleans())
def test_parts_and_sums_are_those_of_dense_histograms(seed, population):
    rng = np.random.default_rng(seed)
    dense, sparse = some_pair(rng, [3, 200], population=population)
    columns, some = dense.counts.shape[1], sparse.histograms
    assert (some.dense(columns) == dense.counts).all()
    assert some.sizes.tolist() == dense.sizes.tolist()
    marks = rng.random(len(dense)) < 0.5
    places = rng.permutation(len(dense))[:7]
    for which in (marks, places, slice(1, 5), slice(0, 0)):
        part = some.select(which)
        assert (part.dense(columns) == dense.counts[which]).all()
        expected = dense.counts[which].sum(axis=0, dtype=np.int64)
        assert part.summed(columns).tolist() == expected.tolist()
        assert part.occurring(3, 203) == (dense.counts[which][:, 3:203] > 0).sum()
    row = dense.counts[marks].sum(axis=0, dtype=np.int64)
    both = np.concatenate([dense.counts, row[None]])
    assert (some.plus(row).dense(columns) == both).all()
    assert (dense.histograms.plus(row).counts == both).all()
    assert (some.about(3, 203) == dense.counts[:, 3:203]).all()
    if population:
        people = dense.histograms.without_records()
        assert people.counts[:, -2].tolist() == dense.counts[:, -2].tolist()
        assert people.counts.sum() == people.counts[:, -2].sum()
        assert (some.without_records().dense(columns) == people.counts).all()


def test_blocks_keep_to_their_size(monkeypatch):
    monkeypatch.setattr("anonymizer.kernels.frequency.BLOCK_BYTES", 4 * 8 * 204)
    _, sparse = some_pair(np.random.default_rng(1), [203])
    whole = sparse.histograms.dense(204)
    blocks = list(sparse.histograms.blocks(204))
    assert [len(block) for _, block in blocks[:-1]] == [4] * (len(blocks) - 1)
    assert len(blocks) == -(-len(sparse) // 4) > 1
    assert all((block.dense(204) == whole[place]).all() for place, block in blocks)
    assert len(list(Histograms.of(whole).blocks(204))) == 1


def test_memory_grows_with_the_entries():
    rows, columns = 20_000, 10_000  # dense: 800 megabytes
    rng = np.random.default_rng(0)
    keys = np.arange(rows, dtype=np.uint64)[:, None]
    places = rng.integers(0, columns, rows).astype(np.int32)
    ones = np.ones(rows, np.int32)
    source = FrequencySet(
        keys, ones[:, None], np.arange(rows, dtype=np.int32), np.arange(rows + 1), places, ones
    )
    for kernel in KERNELS:
        rolled = kernel.roll_up(source, (np.uint64(2**20 - 2),)).copy()
        assert len(rolled) == rows // 2
        assert rolled.nbytes <= source.nbytes < 2**20
        whole = kernel.roll_up(source, (np.uint64(0),)).histograms.summed(columns + 1)
        assert whole.tolist() == [*np.bincount(places, minlength=columns).tolist(), rows]


def test_every_column_of_some_words_is_found():
    """Entries come out in the order of their columns, whichever bits these are."""
    columns = np.arange(64 * 65, dtype=np.int32)
    keys, ones = np.zeros((2, 1), np.uint64), np.ones(2 * len(columns), np.int32)
    places = np.concatenate([columns, columns])
    counts = np.full((2, 1), len(columns), np.int32)
    starts = np.array([0, len(columns), 2 * len(columns)])
    source = FrequencySet(keys, counts, np.arange(2, dtype=np.int32), starts, places, ones)
    merged = NATIVE.roll_up(source, (np.uint64(0),))
    assert merged.places.tolist() == columns.tolist()
    assert merged.numbers.tolist() == [2] * len(columns)
    assert [mark_words(columns) for columns in (1, 64, 65, 4096, 4097)] == [2, 2, 3, 65, 67]
