"""Microaggregation: records in groups of at least k, each released as the mean of its group."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from anonymizer.channels.ranges import cheapest
from anonymizer.channels.validation import columns_of, whole_of
from anonymizer.errors import InputError, require_one_of
from anonymizer.kernels.arrays import Codes, Floats

METHODS = ("mdav", "optimal")


class Microaggregated(NamedTuple):
    """The means of each record's group, on the old index, and its number, shape (records,).

    The numbers are not to be released.
    """

    released: pd.DataFrame
    groups: Codes


def microaggregation(frame: pd.DataFrame, k: int, *, method: str = "mdav") -> Microaggregated:
    """Replace each record by the mean of its group of k to 2k - 1 similar ones.

    What is guaranteed: every combination of values of these columns that is released is that of at
    least k records, k-anonymity where they are all that an attacker knows. Nothing is said of what
    the records of a group have in common otherwise.

    Parameters
    ----------
    frame
        Columns of numbers, none missing. Distances are of columns divided by their standard
        deviation.
    k
        Records in a group at the least: from 2 on, at most all.
    method
        ``"mdav"``, maximum distance to average vector: time and again the k records nearest to the
        one farthest from the mean, and those nearest to the one farthest from that, until less than
        3k are left (Domingo-Ferrer and Mateo-Sanz, 2002; Domingo-Ferrer and Torra, 2005);
        O(N^2 / k). ``"optimal"``, of one column: the groups with the least sum of squares, by
        dynamic programming (Hansen and Mukherjee, 2003); O(N k).

    Raises
    ------
    InputError
        When columns hold no numbers, there are less than k records, or several columns for
        ``"optimal"``.
    """
    require_one_of("method", method, METHODS)
    numbers = columns_of(frame)
    if whole_of("k", k, 2) > len(numbers):
        raise InputError(f"k = {k} is more than there are records, {len(numbers)}")
    if method == "optimal" and numbers.shape[1] != 1:
        raise InputError(
            f"method = 'optimal' is for one column, not {numbers.shape[1]}; take 'mdav'"
        )
    points = _standardized(numbers)
    groups = _mdav(points, k) if method == "mdav" else _optimal(points[:, 0], k)
    sizes = np.bincount(groups)
    middle = numbers.mean(axis=0)  # sums of large numbers would be rounded
    means = [
        middle[place] + np.bincount(groups, column - middle[place]) / sizes
        for place, column in enumerate(numbers.T)
    ]
    released = pd.DataFrame(
        np.column_stack(means)[groups], index=frame.index, columns=frame.columns
    )
    return Microaggregated(released, groups)


def _standardized(numbers: Floats) -> Floats:
    """Columns of mean 0 and standard deviation 1; of 0 where a column is constant."""
    centred = numbers - numbers.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def _mdav(points: Floats, k: int) -> Codes:
    """The group of each point, shape (points,)."""
    groups = np.empty(len(points), np.intp)
    columns = np.ascontiguousarray(points.T)  # so that each is read in the order it lies in
    left, number = np.arange(len(points)), 0
    while len(left) >= 3 * k:
        from_far = _from_farthest(columns)
        near = _nearest(from_far, k)
        from_far[near] = -1
        from_second = _distances(columns, columns[:, from_far.argmax()])
        from_second[near] = np.inf
        also_near = _nearest(from_second, k)
        groups[left[near]], groups[left[also_near]] = number, number + 1
        number += 2
        kept = np.ones(len(left), bool)
        kept[near] = kept[also_near] = False
        left, columns = left[kept], columns.take(np.flatnonzero(kept), axis=1)
    groups[left] = number
    if len(left) >= 2 * k:
        groups[left[_nearest(_from_farthest(columns), k)]] = number + 1
    return groups


def _from_farthest(columns: Floats) -> Floats:
    """Squared distances from the point farthest from the mean of all, shape (points,)."""
    return _distances(columns, columns[:, _distances(columns, columns.mean(axis=1)).argmax()])


def _distances(columns: Floats, seed: Floats) -> Floats:
    """Squared, shape (points,)."""
    total = np.zeros(columns.shape[1])
    for column, middle in zip(columns, seed, strict=True):
        away = column - middle
        away *= away
        total += away
    return total


def _nearest(distances: Floats, k: int) -> Codes:
    """The k nearest, of those at the same distance the first ones, shape (k,)."""
    farthest = np.partition(distances, k - 1)[k - 1]
    nearer = np.flatnonzero(distances < farthest)
    ties = np.flatnonzero(distances == farthest)
    return np.concatenate([nearer, ties[: k - len(nearer)]])


def _optimal(points: Floats, k: int) -> Codes:
    """The group of each point on a line, shape (points,).

    A best partition has groups of neighbours, of k to 2k - 1 each: a larger one could be split.
    """
    order = np.argsort(points, kind="stable")
    ordered = points[order]
    sums = np.concatenate([[0.0], ordered.cumsum()])
    squares = np.concatenate([[0.0], (ordered**2).cumsum()])

    def within(end: int) -> tuple[int, Floats]:
        begin = np.arange(max(0, end - 2 * k + 1), end - k + 1)
        around = squares[end] - squares[begin] - (sums[end] - sums[begin]) ** 2 / (end - begin)
        return max(0, end - 2 * k + 1), np.maximum(around, 0.0)

    return np.asarray(cheapest(len(points), within)[np.argsort(order)])
