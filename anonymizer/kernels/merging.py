"""Merging cells into classes in machine code: agglomeration, then moves from class to class.

A class is a row of counts as frequency sets have them, in 64 bits. The random numbers are its own
(splitmix64): the same everywhere, whatever else runs.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.kernels.checks import excess
from anonymizer.kernels.machine import in_machine_code, within_machine_code
from anonymizer.kernels.single import Criteria, value, worth_of

Random = NDArray[np.uint64]

LEAST = 1e-12
"""A reduction of excess below this is rounding."""


@within_machine_code
def _bits(state: Random) -> Any:
    """The next 64 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@within_machine_code
def _below(state: Random, most: int) -> Any:
    return np.int64(((_bits(state) >> np.uint64(32)) * np.uint64(most)) >> np.uint64(32))


@within_machine_code
def _share(state: Random) -> float:
    return float(_bits(state) >> np.uint64(11)) / 9007199254740992.0


@within_machine_code
def _add(cells: Ints, cell: int, classes: Ints, row: int, times: int) -> None:
    for column in range(cells.shape[1]):
        classes[row, column] += times * cells[cell, column]


@within_machine_code
def _together(classes: Ints, one: int, other: int) -> int:
    """Two classes as one, in the last row, which is room for it; that row."""
    last = len(classes) - 1
    for column in range(classes.shape[1]):
        classes[last, column] = classes[one, column] + classes[other, column]
    return last


@within_machine_code
def _beyond(classes: Ints, row: int, required: Criteria, sums: Ints) -> float:
    small: float = max(0.0, required.least - classes[row, classes.shape[1] - 1])
    return small + excess(classes, row, required.laid, required.logs, required.grassbergers, sums)


@within_machine_code
def _worst(classes: Ints, into: Ints, beyond: Floats) -> int:
    """The class that is furthest beyond its bounds for each of its records; -1: none is."""
    worst, most, size = -1, 0.0, classes.shape[1] - 1
    for row in range(len(into)):
        if into[row] == row and beyond[row] > most * classes[row, size]:
            most = beyond[row] / classes[row, size]
            worst = row
    return worst


@within_machine_code
def _partner(
    classes: Ints,
    into: Ints,
    beyond: Floats,
    worths: Floats,
    worst: int,
    required: Criteria,
    sums: Ints,
    state: Random,
    noise: float,
) -> int:
    """The class to merge with: least worth lost for what it takes off the excess of both.

    Where none takes anything off, the one of least worth lost.
    """
    best, least, any_reduces = -1, np.inf, False
    for row in range(len(into)):
        if into[row] != row or row == worst:
            continue
        both = _together(classes, worst, row)
        reduced = beyond[worst] + beyond[row] - _beyond(classes, both, required, sums)
        cost = worths[worst] + worths[row] - worth_of(classes, both, required)
        reduces = reduced > LEAST
        if any_reduces and not reduces:
            continue
        if reduces:
            cost /= reduced
        if noise > 0:
            cost *= 1 + noise * _share(state)
        if cost < least or (reduces and not any_reduces) or best < 0:
            best, least = row, cost
        any_reduces = any_reduces or reduces
    return best


@in_machine_code
def agglomerate(
    classes: Ints,
    into: Ints,
    required: Criteria,
    sums: Ints,
    state: Random,
    noise: float,
) -> None:
    """Merge classes until all are acceptable or one is left.

    Again and again the class that is furthest beyond its bounds, by record, is merged with the one
    that costs least worth for the excess that it takes off. ``into`` is to hold the rows' own
    numbers and then tells what each is merged into; the last row of ``classes`` is room.
    """
    beyond, worths = np.empty(len(into)), np.empty(len(into))
    for row in range(len(into)):
        beyond[row] = _beyond(classes, row, required, sums)
        worths[row] = worth_of(classes, row, required)
    worst = _worst(classes, into, beyond)
    while worst >= 0:
        row = _partner(classes, into, beyond, worths, worst, required, sums, state, noise)
        if row < 0:
            return
        _add(classes, row, classes, worst, 1)
        into[row] = worst
        beyond[worst] = _beyond(classes, worst, required, sums)
        worths[worst] = worth_of(classes, worst, required)
        worst = _worst(classes, into, beyond)


@within_machine_code
def _cheapest(
    classes: Ints,
    into: Ints,
    worths: Floats,
    row: int,
    required: Criteria,
    partners: Ints,
    costs: Floats,
) -> None:
    """Note the class that costs least to merge with one."""
    partners[row], costs[row] = -1, np.inf
    for other in range(len(into)):
        if other == row or into[other] != other:
            continue
        both = _together(classes, row, other)
        cost = worths[row] + worths[other] - worth_of(classes, both, required)
        if cost < costs[row]:
            partners[row], costs[row] = other, cost


@in_machine_code
def join_cheapest(classes: Ints, into: Ints, required: Criteria, most: int) -> None:
    """Merge the two classes of least cost until ``most`` are left, acceptable or not.

    Rows as in ``agglomerate``.
    """
    left, worths = 0, np.empty(len(into))
    partners, costs = np.full(len(into), -1), np.full(len(into), np.inf)
    for row in range(len(into)):
        worths[row] = worth_of(classes, row, required)
        left += into[row] == row
    for row in range(len(into)):
        if into[row] == row and left > most:
            _cheapest(classes, into, worths, row, required, partners, costs)
    while left > most:
        row = int(np.argmin(costs))
        gone = partners[row]
        _add(classes, gone, classes, row, 1)
        into[gone], costs[gone] = row, np.inf
        worths[row] = worth_of(classes, row, required)
        left -= 1
        for other in range(len(into)):
            stale = other == row or partners[other] == row or partners[other] == gone
            if into[other] == other and stale:
                _cheapest(classes, into, worths, other, required, partners, costs)


@within_machine_code
def _exchange(cells: Ints, classes: Ints, one: int, other: int, a: int, b: int, times: int) -> None:
    """Move a cell from class a to b and, where there is another (>= 0), that from b to a."""
    _add(cells, one, classes, a, -times)
    _add(cells, one, classes, b, times)
    if other >= 0:
        _add(cells, other, classes, a, times)
        _add(cells, other, classes, b, -times)


@in_machine_code
def anneal(
    cells: Ints,
    labels: Ints,
    classes: Ints,
    worths: Floats,
    required: Criteria,
    sums: Ints,
    state: Random,
    steps: int,
    temperature: float,
) -> None:
    """Simulated annealing by moves and swaps of random cells between acceptable classes.

    Each step takes two random cells and moves the first to the class of the second, or swaps
    them. A step that no class breaks a bound after is taken when it loses nothing, otherwise by
    chance, exp(-loss / temperature).
    """
    for _ in range(steps):
        one, other = _below(state, len(cells)), _below(state, len(cells))
        a, b = labels[one], labels[other]
        if a == b:
            continue
        if _share(state) < 0.5:
            other = -1
        _exchange(cells, classes, one, other, a, b, 1)
        first = value(classes, a, required, sums)
        second = value(classes, b, required, sums) if first > -np.inf else -np.inf
        change = first + second - worths[a] - worths[b]
        if change < 0 and (temperature == 0 or _share(state) >= np.exp(change / temperature)):
            _exchange(cells, classes, one, other, a, b, -1)
            continue
        worths[a], worths[b] = first, second
        labels[one] = b
        if other >= 0:
            labels[other] = a
