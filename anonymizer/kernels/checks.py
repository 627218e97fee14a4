"""The kernels that check classes: which of them break a bound, and their uncertainty."""

from functools import cache
from typing import Any

import numpy as np

from anonymizer.kernels.arrays import Columns, Mask
from anonymizer.kernels.frequency import Histograms, grassberger_table, logs_table
from anonymizer.kernels.native import Packed, call
from anonymizer.kernels.rules import Rules


@cache
def tables() -> Packed:
    """The tables of n log2 n, and of what stands for it in Grassberger's estimate."""
    return Packed(logs_table(), grassberger_table())


def broken(counts: Columns | Histograms, rules: Rules, most: int) -> tuple[int, Mask]:
    """Count the records in classes that break a bound, and mark these classes.

    Beyond ``most`` such records it stops: the number is then too small and the marks incomplete.
    """
    of = Histograms.of(counts)
    marks = np.empty(len(of), bool)
    sums = np.empty(rules.laid.rows.shape[2] + 1, np.int64)
    policy = rules.least, rules.laid, tables(), sums, most
    return int(call("broken_records", _classes(of), policy, marks)), marks


def uncertainty(counts: Columns | Histograms, start: int, stop: int) -> float:
    """Sum of n_g H(W|g) over classes, in bits, W standing in the columns [start, stop)."""
    of = Histograms.of(counts)
    return call("summed_uncertainty", _classes(of), start, stop, tables())


def _classes(of: Histograms) -> tuple[Any, ...]:
    """Histograms as kernels read them: of dense ones the counts alone."""
    counts = np.ascontiguousarray(of.counts)
    return (True, counts, *of[1:]) if of.sparse else (False, counts)
