"""Both kernels alike, and like pandas and plain definitions."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from plain import NUMPY

from anonymizer.information.entropy import divergence, entropy, mutual_information
from anonymizer.kernels import NATIVE, Bound, FrequencySet, Kind, Rules, native
from anonymizer.kernels.frequency import LOGS
from anonymizer.kernels.native import Packed, call

KERNELS = (NUMPY, NATIVE)
BOTH = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
ALL = 2**63 - 1

seeds = st.integers(0, 2**32 - 1)


def some_classes(rng: np.random.Generator, words: int = 1, columns: int = 3, most: int = 9):
    """Classes of random keys; the histogram of the sensitive values first, then their sum."""
    rows = int(rng.integers(1, 60))
    keys = rng.integers(0, 4, (rows, words)).astype(np.uint64) << np.uint64(rng.integers(0, 60))
    kind = rng.choice([np.int32, np.int64])
    counts = rng.integers(0, most, (rows, columns)).astype(kind)
    counts[:, -1] = counts[:, :-1].sum(axis=1) if columns > 1 else 1 + counts[:, -1]
    return FrequencySet(keys, counts, rng.permutation(rows).astype(np.int32))


def as_rows(classes: FrequencySet) -> dict[tuple, tuple]:
    keys = [tuple(key) for key in classes.keys.tolist()]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, map(tuple, classes.counts.tolist()), strict=True))


@BOTH
def test_classes_that_a_mask_does_not_tell_apart_are_merged(kernel):
    keys = np.array([[0b00], [0b01], [0b10], [0b11]], np.uint64)
    counts = np.array([[1, 0, 1], [0, 2, 2], [3, 0, 3], [0, 4, 4]], np.int32)
    source = FrequencySet(keys, counts, np.array([7, 5, 3, 1], np.int32))
    rolled = kernel.roll_up(source, (np.uint64(0b10),))
    assert as_rows(rolled) == {(0b00,): (1, 2, 3), (0b10,): (3, 4, 7)}
    assert rolled.members.tolist() == [7, 3]
    assert rolled.sizes.tolist() == [3, 7]
    assert as_rows(kernel.roll_up(source, (np.uint64(0),))) == {(0,): (4, 6, 10)}


@BOTH
@given(seed=seeds, words=st.sampled_from([1, 3]), columns=st.integers(1, 4))
def test_a_roll_up_is_a_group_by(kernel, seed, words, columns):
    rng = np.random.default_rng(seed)
    source = some_classes(rng, words, columns)
    mask = tuple(np.uint64(number) for number in rng.integers(0, 2**63, words))
    before = source.copy()
    rolled = kernel.roll_up(source, mask)
    frame = pd.DataFrame(source.counts)
    masked = [tuple(key) for key in (source.keys & np.array(mask, np.uint64)).tolist()]
    expected = frame.groupby(pd.Series(masked)).sum()
    assert as_rows(rolled) == dict(zip(expected.index, map(tuple, expected.values), strict=True))
    assert rolled.counts.dtype == source.counts.dtype
    row_of = {member: row for row, member in enumerate(source.members.tolist())}
    for key, member in zip(rolled.keys.tolist(), rolled.members.tolist(), strict=True):
        assert masked[row_of[member]] == tuple(key)
    assert all(np.array_equal(old, new) for old, new in zip(before, source, strict=True))


@BOTH
@given(seed=seeds)
def test_rolling_up_by_way_of_another_mask_is_rolling_up(kernel, seed):
    rng = np.random.default_rng(seed)
    source = some_classes(rng, words=2)
    fine = tuple(np.uint64(number) for number in rng.integers(0, 2**63, 2))
    coarse = tuple(word & np.uint64(rng.integers(0, 2**63)) for word in fine)
    there = kernel.roll_up(kernel.roll_up(source, fine).copy(), coarse)
    assert as_rows(there) == as_rows(kernel.roll_up(source, coarse).copy())


@BOTH
def test_a_copy_outlives_the_next_roll_up(kernel):
    rng = np.random.default_rng(0)
    first, second = some_classes(rng), some_classes(rng)
    kept = kernel.roll_up(first, (np.uint64(ALL),)).copy()
    expected = as_rows(kept)
    for columns in (3, 1, 5):  # buffers of other widths too
        kernel.roll_up(some_classes(rng, words=2, columns=columns), (np.uint64(0),) * 2)
    kernel.roll_up(second, (np.uint64(0),))
    assert as_rows(kept) == expected


@BOTH
def test_many_keys_that_collide_are_told_apart(kernel):
    # Multiples of a power of two and long runs: what hashing by multiplication spreads worst.
    keys = np.concatenate([np.arange(5000) << 44, np.arange(5000)]).astype(np.uint64)
    keys = np.unique(keys)[:, None]
    counts = np.ones((len(keys), 1), np.int32)
    source = FrequencySet(keys, counts, np.arange(len(keys), dtype=np.int32))
    assert len(kernel.roll_up(source, (np.uint64(ALL),))) == len(keys)
    assert len(kernel.roll_up(source, (np.uint64(2**44 - 1),))) == 5000


@BOTH
def test_threads_do_not_share_their_results(kernel):
    rngs = [np.random.default_rng(i) for i in range(40)]
    sources = [some_classes(rng, words=1 + i % 2) for i, rng in enumerate(rngs)]

    def rolled(source: FrequencySet) -> dict:
        for _ in range(20):
            found = kernel.roll_up(source, (np.uint64(3 << 20),) * source.keys.shape[1])
        return as_rows(found)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(rolled, sources)) == [rolled(source) for source in sources]


def rules_of(counts: np.ndarray, bounds: list[tuple[Bound, int, int]]) -> Rules:
    return Rules.of(bounds, counts.shape[1])


def divergence_bound(limit: float, margin: np.ndarray) -> Bound:
    prior = margin / margin.sum()
    logs = np.log2(prior, out=np.zeros_like(prior), where=prior > 0)
    return Bound(Kind.DIVERGENCE, limit, upper=logs)


@BOTH
@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (Bound(Kind.SIZE, 3), [False, True, False]),
        (Bound(Kind.ENTROPY, 0.9), [False, True, True]),
        (Bound(Kind.ENTROPY, 1.0), [False, True, True]),
        (divergence_bound(0.5, np.array([6, 5])), [False, True, False]),
        (divergence_bound(0.0, np.array([6, 5])), [True, True, True]),
    ],
)
def test_bounds_by_hand(kernel, bound, expected):
    counts = np.array([[2, 2, 4], [0, 2, 2], [4, 1, 5]], np.int32)  # of 11 records 6 and 5
    records, marks = kernel.broken(counts, rules_of(counts, [(bound, 0, 2)]), ALL)
    assert marks.tolist() == expected
    assert records == counts[marks, -1].sum()


@BOTH
@settings(max_examples=at_length(75, 150))
@given(seed=seeds, most=st.sampled_from([9, 1000, LOGS + 10, 2**24]))
def test_broken_classes_are_those_of_the_definitions(kernel, seed, most):
    rng = np.random.default_rng(seed)
    counts = some_classes(rng, columns=6, most=most).counts
    counts = counts[counts[:, -1] > 0]
    counts = np.insert(counts, 2, 0, axis=1)  # a value that no record has
    counts[:, -1] = counts[:, :4].sum(axis=1)  # v in the first 4 columns, w in the others
    counts[:, 4:6] = 0
    counts[:, 4] = rng.integers(0, counts[:, -1] + 1)
    counts[:, 5] = counts[:, -1] - counts[:, 4]
    counts = counts[counts[:, -1] > 0]
    margins = counts.sum(axis=0, dtype=np.int64)
    bounds, wrong = [], np.zeros(len(counts), bool)
    for _ in range(rng.integers(0, 4)):
        start, stop = [(0, 4), (4, 6)][rng.integers(2)]
        limit = float(rng.random() * 2)
        inside = counts[:, start:stop]
        match rng.choice([Kind.SIZE, Kind.ENTROPY, Kind.DIVERGENCE]):
            case Kind.SIZE:
                bounds.append((Bound(Kind.SIZE, limit * most), 6, 7))
                wrong |= counts[:, -1] < limit * most
            case Kind.ENTROPY:
                bounds.append((Bound(Kind.ENTROPY, limit), start, stop))
                wrong |= entropy(inside) < limit
            case Kind.DIVERGENCE:
                bounds.append((divergence_bound(limit, margins[start:stop]), start, stop))
                wrong |= divergence(inside, margins[start:stop]) > limit
    records, marks = kernel.broken(counts, rules_of(counts, bounds), ALL)
    assert marks.tolist() == wrong.tolist()
    assert records == counts[wrong, -1].sum(dtype=np.int64)


@BOTH
def test_without_bounds_nothing_is_broken(kernel):
    counts = np.array([[1], [2]], np.int32)
    assert rules_of(counts, []).least == 0
    records, marks = kernel.broken(counts, rules_of(counts, []), 0)
    assert (records, marks.tolist()) == (0, [False, False])


@BOTH
def test_of_several_bounds_on_size_the_largest_counts(kernel):
    counts = np.array([[2], [4], [6]], np.int32)
    rules = rules_of(counts, [(Bound(Kind.SIZE, least), 0, 1) for least in (3, 5, 1)])
    assert len(rules) == 0  # none but those on size
    assert kernel.broken(counts, rules, ALL)[1].tolist() == [True, True, False]


@BOTH
@given(seed=seeds, most=st.integers(0, 40))
def test_beyond_the_most_counting_stops(kernel, seed, most):
    counts = some_classes(np.random.default_rng(seed)).counts
    rules = rules_of(counts, [(Bound(Kind.SIZE, 5), 0, 2), (Bound(Kind.ENTROPY, 0.5), 0, 2)])
    everything, marks = kernel.broken(counts, rules, ALL)
    records, some = kernel.broken(counts, rules, most)
    if everything > most:
        assert most < records <= everything
    else:
        assert (records, some.tolist()) == (everything, marks.tolist())


@BOTH
def test_more_classes_than_are_checked_at_a_time(kernel):
    counts = np.array([[1, 1, 2], [0, 3, 3]] * 5000, np.int32)
    rules = rules_of(counts, [(Bound(Kind.ENTROPY, 0.5), 0, 2)])
    records, marks = kernel.broken(counts, rules, ALL)
    assert (records, marks.sum()) == (15_000, 5000)
    assert 9_000 < kernel.broken(counts, rules, 9_000)[0] < 15_000


@BOTH
@given(seed=seeds, most=st.sampled_from([9, 1000, LOGS + 10, 2**24]))
def test_uncertainty_is_what_mutual_information_takes_off(kernel, seed, most):
    counts = some_classes(np.random.default_rng(seed), columns=5, most=most).counts
    joint, records = counts[:, :-1].astype(float), float(counts[:, -1].sum(dtype=np.int64))
    known = records * (entropy(joint.sum(axis=0)) - mutual_information(joint))
    assert kernel.uncertainty(counts, 0, 4) == pytest.approx(float(known), rel=1e-9, abs=1e-6)


@BOTH
def test_uncertainty_by_hand(kernel):
    assert kernel.uncertainty(np.array([[1, 1, 2], [4, 0, 4]], np.int32), 0, 2) == 2
    assert kernel.uncertainty(np.zeros((0, 3), np.int32), 0, 2) == 0
    three = kernel.uncertainty(np.array([[1, 2, 3]], np.int64), 0, 2)
    assert three == pytest.approx(3 * log2(3) - 2)


@BOTH
def test_logarithms_have_no_step_where_their_table_ends(kernel):
    sizes = [LOGS - 1, LOGS, LOGS + 1, 2**31 - 2]
    found = [kernel.uncertainty(np.array([[n // 2, n - n // 2, n]], np.int32), 0, 2) for n in sizes]
    assert found == [pytest.approx(n * entropy([n // 2, n - n // 2]), rel=1e-12) for n in sizes]
    assert all(fewer < more for fewer, more in pairwise(found))


@BOTH
def test_sums_beyond_32_bits(kernel):
    keys = np.zeros((3, 1), np.uint64)
    counts = np.full((3, 2), 2**32, np.int64)
    source = FrequencySet(keys, counts, np.arange(3, dtype=np.int32))
    assert kernel.roll_up(source, (np.uint64(0),)).counts.tolist() == [[3 * 2**32] * 2]
    halves = np.full((2, 1), 2**31 - 1, np.int32)  # records of many classes beyond 32 bits
    rules = Rules.of([(Bound(Kind.SIZE, 2.0**31), 0, 1)], 1)
    assert kernel.broken(halves, rules, ALL)[0] == 2**32 - 2


def test_arguments_of_another_kind_are_refused():
    order, starts = np.zeros(2, np.int32), np.array([0, 2], np.int32)
    with pytest.raises(TypeError, match="any_uniform_class was called with arguments of another"):
        call("any_uniform_class", order, starts, np.zeros(2, np.int64))
    with pytest.raises(TypeError, match="any_uniform_class was called with arguments of another"):
        call("any_uniform_class", order, starts)
    for codes in (np.zeros(4, np.int32)[::2], np.zeros(2, ">i4")):
        with pytest.raises(TypeError, match="kernels take contiguous arrays in the byte order"):
            call("any_uniform_class", order, starts, codes)


def test_no_memory_within_a_kernel_is_a_memory_error(monkeypatch):
    monkeypatch.setattr(native, "_kernel", lambda name: lambda arguments: np.inf)
    with pytest.raises(MemoryError):
        call("agglomerate_classes")


def test_without_the_library_it_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr(native, "LIBRARY", tmp_path / "kernels.so")
    native._library.cache_clear()
    try:
        with pytest.raises(ImportError, match=r"cannot be loaded .*; install the package"):
            native._library()
    finally:
        native._library.cache_clear()


def test_packed_arguments_are_laid_out_anew_in_another_process():
    room = np.arange(3.0)
    sent = pickle.loads(pickle.dumps(Packed(room, 5)))
    assert sent.arguments[0].tolist() == room.tolist()
    assert sent.bytes == Packed(*sent.arguments).bytes != Packed(room, 5).bytes
