"""What the kernels count, in plain NumPy: the definition that those in C++ are held against."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from heapq import heappop, heappush

import numpy as np

from anonymizer.kernels import Kernel
from anonymizer.kernels.arrays import Columns, Floats, Ints, Mask
from anonymizer.kernels.frequency import (
    LOGS,
    FrequencySet,
    Histograms,
    Words,
    grassberger_table,
    logs_table,
)
from anonymizer.kernels.ranges import ANY, Intervals, Sorted, Steps, WalkLimits
from anonymizer.kernels.rules import (
    FIRST,
    KIND,
    KNOWN,
    LOWER,
    ORDER,
    RANK,
    START,
    STOP,
    UPPER,
    Kind,
    Laid,
    Rules,
)
from anonymizer.kernels.single import Criteria, values
from anonymizer.kernels.terms import MILLER_MADOW, grassberger, xlogx

BLOCK = 2048
"""Classes checked at a time: few enough to stop early, enough to be worth a call."""

MOST_AT_ONCE = 1 << 21
"""Numbers of sparse histograms that are checked at a time, as dense ones."""


def distinct(blocks: Iterable[Ints]) -> tuple[Ints, Ints]:
    """The distinct keys of some blocks of them, and how often each occurs."""
    keys, times = np.unique(np.concatenate(list(blocks)), return_counts=True)
    return keys, times


def roll_up(source: FrequencySet, mask: Words) -> FrequencySet:
    """Merge the classes that a mask no longer tells apart."""
    keys = source.keys & np.array(mask, np.uint64)
    order = np.argsort(keys[:, 0], kind="stable") if len(mask) == 1 else np.lexsort(keys.T)
    keys = keys[order]
    first = np.ones(len(keys), bool)
    np.any(keys[1:] != keys[:-1], axis=1, out=first[1:])
    starts = np.flatnonzero(first)
    counts = np.add.reduceat(source.counts[order], starts, axis=0, dtype=source.counts.dtype)
    merged = Histograms(counts)
    if source.histograms.sparse:
        group_of = np.empty(len(order), np.int64)
        group_of[order] = np.cumsum(first) - 1
        merged = _merged(source.histograms, group_of, counts)
    return FrequencySet.of(keys[starts], merged, source.members[order[starts]])


def _merged(source: Histograms, group_of: Ints, counts: Columns) -> Histograms:
    """The sparse histograms of groups of classes, whose trailing columns are known."""
    pairs = np.column_stack([group_of[source.rows], source.places])
    order = np.lexsort(pairs.T[::-1])
    pairs = pairs[order]
    first = np.ones(len(pairs), bool)
    np.any(pairs[1:] != pairs[:-1], axis=1, out=first[1:])
    begins = np.flatnonzero(first)
    numbers = source.numbers[order]
    if len(begins):
        numbers = np.add.reduceat(numbers, begins, dtype=numbers.dtype)
    groups, places = pairs[begins].T
    starts = np.searchsorted(groups, np.arange(len(counts) + 1)).astype(np.int64)
    return Histograms(counts, starts, places.astype(np.int32), numbers)


def broken(counts: Columns | Histograms, rules: Rules, most: int) -> tuple[int, Mask]:
    """Count the records in classes that break a bound, and mark these classes.

    Beyond ``most`` such records it stops: the number is then too small and the marks incomplete.
    A class without records, of which only the population has some, may be marked too. Sparse
    histograms are checked as dense ones, some classes at a time.
    """
    of, columns = Histograms.of(counts), rules.laid.rows.shape[2]
    sizes = of.sizes
    marks = (sizes < rules.least) & (sizes > 0)
    records = int(sizes[marks].sum())
    step = min(BLOCK, max(1, MOST_AT_ONCE // columns)) if of.sparse else BLOCK
    for begin in range(0, len(of), step):
        if records > most or not len(rules):
            break
        block = slice(begin, begin + step)
        new = _breaking(of.select(block).dense(columns), rules) & ~marks[block]
        marks[block] |= new
        records += int(sizes[block][new].sum())
    return records, marks


def uncertainty(counts: Columns | Histograms, start: int, stop: int) -> float:
    """Sum of n_g H(W|g) over classes, in bits, W standing in the columns [start, stop)."""
    of = Histograms.of(counts)
    whole = _weighed(of.sizes, logs_table())
    if of.sparse:
        about = (of.places >= start) & (of.places < stop)
        return float(whole.sum() - _weighed(of.numbers[about], logs_table()).sum())
    inside = _weighed(of.counts[:, start:stop], logs_table()).sum(axis=1)
    return float((whole - inside).sum())


def _breaking(counts: Columns, rules: Rules) -> Mask:
    """Mark classes that break a bound other than on size."""
    marks = np.zeros(len(counts), bool)
    occupied = counts[:, -1] > 0
    for bound, kind in enumerate(rules.laid.facts[:-1, KIND]):
        about = counts
        if rules.laid.facts[bound, KNOWN]:
            about = _known(counts, rules.laid, bound)
            marks |= occupied & (about[:, -1] == 0)
        breaks = CHECKS[Kind(kind)](about, rules.laid, bound)
        marks |= breaks if kind == Kind.PRESENCE else breaks & occupied
    return marks


def _known(counts: Columns, laid: Laid, bound: int) -> Columns:
    sizes = _values(counts, laid, bound).sum(axis=1, dtype=counts.dtype)
    return np.column_stack([counts[:, :-1], sizes])


def _values(counts: Columns, laid: Laid, bound: int) -> Columns:
    """The columns that a bound is about, shape (classes, values)."""
    return counts[:, laid.facts[bound, START] : laid.facts[bound, STOP]]


def _uncertain(counts: Columns, laid: Laid, bound: int) -> Mask:
    """Too little entropy, estimated or not. Multiplied out by n: no division."""
    values, sizes, kind = _values(counts, laid, bound), counts[:, -1], laid.facts[bound, KIND]
    table = grassberger_table() if kind == Kind.GRASSBERGER else logs_table()
    bits = _weighed(sizes, logs_table()) - _weighed(values, table).sum(axis=1)
    if kind == Kind.MILLER_MADOW:
        bits += MILLER_MADOW * ((values > 0).sum(axis=1) - 1)
    return np.asarray(bits < laid.limits[bound] * sizes)


def _uniform(counts: Columns, laid: Laid, bound: int) -> Mask:
    return np.asarray((_values(counts, laid, bound) > 0).sum(axis=1) < laid.limits[bound])


def _dominated(counts: Columns, laid: Laid, bound: int) -> Mask:
    """One value is too frequent compared with the less frequent ones."""
    ranked = -np.sort(-_values(counts, laid, bound), axis=1)
    tail = ranked[:, laid.facts[bound, RANK] - 1 :].sum(axis=1)
    ratio = np.full(len(counts), np.inf)
    np.divide(ranked[:, 0], tail, out=ratio, where=tail > 0)
    return np.asarray(ratio >= laid.limits[bound])


def _divergent(counts: Columns, laid: Laid, bound: int) -> Mask:
    """Too far from the table, in bits. Multiplied out by n."""
    values, sizes = _values(counts, laid, bound), counts[:, -1]
    prior = laid.rows[UPPER, bound, laid.facts[bound, START] : laid.facts[bound, STOP]]
    bits = _weighed(values, logs_table()).sum(axis=1) - _weighed(sizes, logs_table())
    # Not by BLAS, whose threads wait for each other on a machine that is busy.
    expected = np.einsum("ij,j->i", values, prior)
    return np.asarray(bits - expected > laid.limits[bound] * sizes)


def _disclosed(counts: Columns, laid: Laid, bound: int) -> Mask:
    values, sizes = _values(counts, laid, bound), counts[:, -1:]
    columns = slice(laid.facts[bound, START], laid.facts[bound, STOP])
    too_few = values < sizes * laid.rows[LOWER, bound, columns]
    return np.asarray((too_few | (values > sizes * laid.rows[UPPER, bound, columns])).any(axis=1))


def _distant(counts: Columns, laid: Laid, bound: int) -> Mask:
    """Too much earth to move, too far."""
    values, sizes = _values(counts, laid, bound), counts[:, -1]
    order = laid.rows[ORDER, bound, laid.facts[bound, START] : laid.facts[bound, STOP]]
    sums = np.zeros((len(values), values.shape[1] + 1), np.int64)
    np.cumsum(values[:, order.astype(np.int64)], axis=1, out=sums[:, 1:])
    begins, ends, masses, weights = laid.runs[
        laid.facts[bound, FIRST] : laid.facts[bound + 1, FIRST], :4
    ].T
    inside = sums[:, ends.astype(np.int64)] - sums[:, begins.astype(np.int64)]
    moved = np.abs(inside - sizes[:, None] * masses)
    return np.asarray((moved * weights).sum(axis=1) > laid.limits[bound] * sizes)


def _few_in_population(counts: Columns, laid: Laid, bound: int) -> Mask:
    return np.asarray(_values(counts, laid, bound)[:, 0] < laid.limits[bound])


def _present(counts: Columns, laid: Laid, bound: int) -> Mask:
    population, sizes = _values(counts, laid, bound)[:, 0], counts[:, -1]
    upper = laid.rows[UPPER, bound, laid.facts[bound, START]]
    too_few = sizes < laid.limits[bound] * population
    return np.asarray(too_few | (sizes > upper * population))


CHECKS: dict[Kind, Callable[[Columns, Laid, int], Mask]] = {
    Kind.ENTROPY: _uncertain,
    Kind.MILLER_MADOW: _uncertain,
    Kind.GRASSBERGER: _uncertain,
    Kind.DISTINCT: _uniform,
    Kind.RECURSIVE: _dominated,
    Kind.DIVERGENCE: _divergent,
    Kind.SHARES: _disclosed,
    Kind.TRANSPORT: _distant,
    Kind.POPULATION: _few_in_population,
    Kind.PRESENCE: _present,
}


def _weighed(counts: Columns, table: Floats) -> Floats:
    """N log2 n, or what a table has instead, looked up where the table reaches."""
    if not counts.size or counts.max() < LOGS:
        return table[counts]
    return xlogx(counts) if table is logs_table() else grassberger(counts)


NUMPY = Kernel("numpy", distinct, roll_up, broken, uncertainty)


def suffixes(steps: Steps, values: Floats) -> Floats:
    """The best sum over the intervals of a partition of the blocks from i on, for every i."""
    blocks = len(steps.first) - 1
    sums = np.full((steps.layers, blocks + 1, values.shape[1]), -np.inf)
    sums[:, blocks] = 0.0
    for layer in range(min(1, steps.layers - 1), steps.layers):
        rest = sums[max(layer - 1, 0)]
        for block in reversed(range(blocks)):
            own = slice(steps.first[block], steps.first[block + 1])
            if own.start < own.stop:
                sums[layer, block] = (values[own] + rest[steps.ends[own]]).max(axis=0)
    return sums


def walked(
    rows: Steps, columns: Steps, tiles: Floats, limits: WalkLimits
) -> tuple[bool, tuple[int, ...] | None]:
    """Extend the prefixes of the highest bounds until none exceeds the best columns found."""
    rest = suffixes(columns, tiles[:-1])
    heap: list[tuple[float, tuple[int, ...]]] = [(-np.inf, ())]
    best, limit, seen = None, limits.floor, 0
    while seen < limits.most:
        batch = [heappop(heap) for _ in range(min(limits.together, len(heap)))]
        prefixes = [path for bound, path in batch if -bound > limit]
        if not prefixes:
            return True, best
        longer = [(path, last) for path in prefixes for last in _after(columns, path)]
        seen += len(longer)
        for path, bound in zip(longer, _bounds(rows, columns, tiles, rest, longer), strict=True):
            if bound <= limit:
                continue
            whole = _as_far(columns, (*path[0], path[1]))
            if columns.ends[whole[-1]] == len(columns.first) - 1:
                best, limit = whole, bound + limits.slack
            else:
                heappush(heap, (-bound, whole))
    return False, best


def _bounds(
    rows: Steps,
    columns: Steps,
    tiles: Floats,
    rest: Floats,
    longer: Sequence[tuple[tuple[int, ...], int]],
) -> list[float]:
    """The bounds of prefixes with a column more."""
    if not longer:
        return []
    worths = []
    for path, last in longer:
        base = reduce(np.add, tiles[[*path, -1]])
        layer = 0 if columns.most == ANY else columns.most - len(path) - 1
        worths.append(base + tiles[last] + rest[layer, columns.ends[last]])
    by_row = np.stack(worths, axis=1)
    reached: list[float] = (suffixes(rows, by_row[:-1])[-1, 0] + by_row[-1]).tolist()
    return reached


def _after(columns: Steps, path: tuple[int, ...]) -> range:
    block = int(columns.ends[path[-1]]) if path else 0
    return (
        range(*columns.first[block : block + 2].tolist())
        if block + 1 < len(columns.first)
        else range(0)
    )


def _as_far(columns: Steps, path: tuple[int, ...]) -> tuple[int, ...]:
    while len(after := _after(columns, path)) == 1:
        path = (*path, after[0])
    return path


def judged(
    classes: Sorted, rows: Intervals, columns: Intervals, required: Criteria
) -> tuple[Floats, Ints, Ints]:
    """What the classes of every tile are worth, how many there are, and how many break a bound."""
    shape = len(rows[0]), len(columns[0])
    found = np.zeros(shape), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    width = required.laid.rows.shape[2]
    listed = Histograms(classes.sizes[:, None], classes.starts, classes.places, classes.numbers)
    combination = np.repeat(np.arange(len(classes.first) - 1), np.diff(classes.first))
    rules, anyway = Rules(required.least, False, required.laid), Rules.of([], width)
    for tile in np.ndindex(shape):
        inside = np.ones(len(classes.sizes), bool)
        for intervals, place, of in zip(
            (rows, columns), tile, (classes.rows, classes.columns), strict=True
        ):
            inside &= (of >= intervals[0][place]) & (of < intervals[1][place])
        for number in np.unique(combination[inside]):
            counts = listed.select(inside & (combination == number)).summed(width)[None]
            found[0][tile] += values(counts, Criteria.of(anyway, required.worth))[0]
            found[1][tile] += 1
            found[2][tile] += broken(counts, rules, int(counts[0, -1]))[1][0]
    return found
