"""Earth mover's distances of sparse histograms, in time that grows with the pairs that occur.

The sums over runs of values of ``anonymizer.privacy.closeness``. What a run has in a class changes
only where the class has a value: between its values whole stretches of runs are summed at once.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from anonymizer.information.matrices import rows_of
from anonymizer.kernels import Sums
from anonymizer.kernels.arrays import Codes, Floats, Ints


def transported(joint: Any, sizes: Ints, sums: Sums) -> Floats:
    """Sum_S weight_S |p(S|g) - p(S)| over runs S of values, shape (classes,).

    ``joint`` is sparse, ``sizes`` (classes,) are its records per class. The runs all begin at the
    first value, ending ever later, or those of each level follow each other through all values.
    """
    place = np.empty(len(sums.order), np.intp)
    place[sums.order] = np.arange(len(place))
    class_of, spots = rows_of(joint), place[joint.indices]
    order = np.argsort(class_of * len(place) + spots, kind="stable")
    pairs = class_of, spots[order], np.asarray(joint.data[order])
    if not sums.begins.any():
        return _from_the_first(*pairs, sizes, sums)
    levels = np.append(np.flatnonzero(sums.begins == 0), len(sums.begins))
    total = np.zeros(len(sizes))
    for low, high in pairwise(levels.tolist()):
        total += _of_level(*pairs, sizes, _some(sums, slice(low, high)))
    return total


def _some(sums: Sums, runs: slice) -> Sums:
    order, begins, ends, masses, weights = sums
    return Sums(order, begins[runs], ends[runs], masses[runs], weights[runs])


def _from_the_first(
    class_of: Codes, spots: Codes, records: Ints, sizes: Ints, sums: Sums
) -> Floats:
    """Add up runs from the first value: the share of each lies between the shares of two values."""
    starts = np.searchsorted(class_of, np.arange(len(sizes)))
    upto = np.cumsum(records)
    share = (upto - (upto - records)[starts[class_of]]) / sizes[class_of]
    first = np.searchsorted(sums.ends, spots, side="right")  # of the runs that hold the value
    last_of_class = np.append(class_of[1:] != class_of[:-1], True)[: len(class_of)]
    until = np.where(last_of_class, len(sums.ends), np.append(first[1:], 0)[: len(first)])
    above = np.clip(np.searchsorted(sums.masses, share), first, until)
    weight = np.append(0.0, np.cumsum(sums.weights))
    mass = np.append(0.0, np.cumsum(sums.weights * sums.masses))
    moved = share * (2 * weight[above] - weight[first] - weight[until])
    moved += mass[first] + mass[until] - 2 * mass[above]
    before = np.full(len(sizes), mass[-1])  # of the runs that hold no value of the class
    some = sizes > 0
    before[some] = mass[first[starts[some]]]
    return np.asarray(before + np.bincount(class_of, moved, minlength=len(sizes)))


def _of_level(class_of: Codes, spots: Codes, records: Ints, sizes: Ints, sums: Sums) -> Floats:
    """Add up runs that follow each other: those without a record of the class together."""
    run = np.searchsorted(sums.begins, spots, side="right") - 1
    lacking = float((sums.weights * sums.masses).sum())
    if not len(run):
        return np.full(len(sizes), lacking)
    starts = np.flatnonzero(np.diff(class_of * len(sums.begins) + run, prepend=-1))
    some, run = class_of[starts], run[starts]
    shares = np.add.reduceat(records, starts) / sizes[some]
    apart = sums.weights[run] * (np.abs(shares - sums.masses[run]) - sums.masses[run])
    return np.asarray(lacking + np.bincount(some, apart, minlength=len(sizes)))
