"""The kernels in NumPy, for few rows: nothing to load, nothing to compile."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from anonymizer.information import xlogx
from anonymizer.kernels.frequency import (
    LOGS,
    Columns,
    FrequencySet,
    Marks,
    Numbers,
    Words,
    logs_table,
)
from anonymizer.kernels.rules import Kind, Rules

__all__ = ["broken", "distinct", "roll_up", "uncertainty"]

BLOCK = 2048
"""Classes checked at a time: few enough to stop early, enough to be worth a call."""


def distinct(blocks: Iterable[Numbers]) -> tuple[Numbers, Numbers]:
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
    return FrequencySet(keys[starts], counts, source.members[order[starts]])


def broken(counts: Columns, rules: Rules, most: int) -> tuple[int, Marks]:
    """Records in classes that break a bound, and which classes those are.

    Beyond ``most`` such records it stops: the number is then too small and the marks incomplete.
    """
    sizes = counts[:, -1]
    marks = sizes < rules.least
    records = int(sizes[marks].sum())
    for begin in range(0, len(counts), BLOCK):
        if records > most:
            break
        block = slice(begin, begin + BLOCK)
        new = _distributions_broken(counts[block], rules) & ~marks[block]
        marks[block] |= new
        records += int(sizes[block][new].sum())
    return records, marks


def uncertainty(counts: Columns, start: int, stop: int) -> float:
    """Sum of n_g H(W|g) over classes, in bits, W standing in the columns [start, stop)."""
    inside = _xlogx(counts[:, start:stop]).sum(axis=1)
    return float((_xlogx(counts[:, -1]) - inside).sum())


def _distributions_broken(counts: Columns, rules: Rules) -> Marks:
    """Which classes break a bound on their distribution. Multiplied out by n: no division."""
    marks = np.zeros(len(counts), bool)
    sizes = counts[:, -1]
    for kind, limit, start, stop in zip(
        rules.kinds, rules.limits, rules.starts, rules.stops, strict=True
    ):
        if kind == Kind.SIZE:
            continue
        values = counts[:, start:stop]
        inside = _xlogx(values).sum(axis=1) - _xlogx(sizes)
        if kind == Kind.ENTROPY:
            marks |= -inside < limit * sizes
        else:
            # Not by BLAS, whose threads wait for each other on a machine that is busy.
            expected = np.einsum("ij,j->i", values, rules.log_prior[start:stop])
            marks |= inside - expected > limit * sizes
    return marks


def _xlogx(counts: Columns) -> NDArray[np.float64]:
    """N log2 n, looked up where the table reaches."""
    if counts.size and counts.max() >= LOGS:
        return xlogx(counts)
    return logs_table()[counts]
