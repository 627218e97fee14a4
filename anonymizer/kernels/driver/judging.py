"""The verdict on a node by its classes: may it be released, with what suppressed, and its score.

What ``Evaluator`` says of a node in Python, for policies whose bounds kernels know and objectives
that are sums over classes or depend on levels. What is left to Python: classes that are ``*``
throughout, and records that are removed under models that compare classes with the whole table.
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Codes, Columns, Floats, Ints, Mask, Places
from anonymizer.kernels.checks import DENSE, bits_within, broken_classes, within, xlogx
from anonymizer.kernels.driver.store import ENTRIES, FIRST, HEIGHT, ROWS, STARTS, STRIDE, level_of
from anonymizer.kernels.machine import within_borrowed
from anonymizer.kernels.rules import Laid

HOPEFUL, LOST, BOUND, FEASIBLE, SCORE, CLASSES, GONE, ASKS = range(8)
"""What a verdict tells, shape (8,); ``GONE``: records suppressed; ``ASKS``: Python has to say."""

GOAL, LEAST, MOST, RECORDS, LASTS, REMOVES, EXEMPT, ABSOLUTE, GEOMETRIC, FLOOR, LASTING, SMALL = (
    range(12)
)
"""The entries of ``Terms.facts``.

What is maximised; the records that classes must have by all models; those that may be suppressed,
and those of the table; whether all of the policy is strongly monotone; see ``Suppression``; whether
no bound depends on the table; whether 1 + mean costs are multiplied; see ``Budget.least``; the
records that classes must have by what is strongly monotone; and those of a class that may not be
suppressed unless it breaks ``Terms.sized``, 0 where any may.
"""


class Goal(IntEnum):
    """Quantity that is maximised, as scores of a node."""

    LEVELS = 0
    """Minus what each value costs at its level, and more where it is suppressed."""
    SQUARES = 1
    """Minus the sum of n_g^2, suppressed records counting N each."""
    CLASSES = 2
    """The number of classes, suppressed records being one."""
    INFORMATION = 3
    """I(X~;W) in bits, a weighted sum over attributes."""


LEVELS, SQUARES, NUMBER, INFORMATION = (int(goal) for goal in Goal)


class Terms(NamedTuple):
    """A policy and an objective.

    Attributes
    ----------
    facts
        See ``GOAL``.
    laid, lasting, sized
        The bounds of all models, of what is strongly monotone, and of what sensitive values do not
        decide: see ``Rules``.
    hidden
        Whether any value's label is ``*``, by attribute and level.
    logs, grassbergers
        Tables of what stands for n log2 n.
    sums, together, broken, small
        Scratch: one number more than columns; a row of all columns, shape (1, columns); which
        classes break the policy, and which ``sized``, shape (rows,) each.
    spans, weights, margins
        Of information: columns [start, stop) and weight of each attribute, shape (attributes, 2)
        and (attributes,), and the records of the table by column, shape (columns,).
    totals, shares, extra, begins, cells
        Of levels: the cost of all records and the weight of each attribute, (attributes, levels)
        and (attributes,); what a suppressed value costs more, of all attributes and levels one
        after the other, and where each begins, (attributes, levels); the value codes of raw
        classes, (classes, attributes).
    """

    facts: Ints
    laid: Laid
    lasting: Laid
    sized: Laid
    hidden: Mask
    logs: Floats
    grassbergers: Floats
    sums: Ints
    together: Columns
    broken: Mask
    small: Mask
    spans: Ints
    weights: Floats
    margins: Ints
    totals: Floats
    shares: Floats
    extra: Floats
    begins: Ints
    cells: Codes


@within_borrowed
def lost_records(
    counts: Columns,
    starts: Ints,
    places: Places,
    numbers: Columns,
    span: Ints,
    least: int,
    laid: Laid,
    most: int,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
    broken: Mask,
) -> int:
    """Mark classes that break bounds; their records, until beyond the most."""
    rows, first = span[ROWS], span[FIRST]
    some = counts[first : first + rows]
    if len(starts) > 0:
        start, entry = span[STARTS], span[ENTRIES]
        return broken_classes(
            some,
            starts[start : start + rows + 1],
            places[entry:],
            numbers[entry:],
            least,
            laid,
            logs,
            grassbergers,
            sums,
            most,
            broken,
        )
    return broken_classes(
        some, DENSE, DENSE, some, least, laid, logs, grassbergers, sums, most, broken
    )


@within_borrowed
def all_small(counts: Columns, span: Ints, broken: Mask, small: int) -> bool:
    """Tell whether every marked class has fewer than ``small`` records."""
    last = counts.shape[1] - 1
    for row in range(span[ROWS]):
        if broken[row] and counts[span[FIRST] + row, last] >= small:
            return False
    return True


@within_borrowed
def all_among(rows: int, broken: Mask, small: Mask) -> bool:
    """Tell whether every marked class is among those of another mask."""
    large = 0
    for row in range(rows):
        large += broken[row] and not small[row]
    return large == 0


@within_borrowed
def may_hide_all(axes: Ints, hidden: Mask, place: int) -> bool:
    """Tell whether a class may be ``*`` in every attribute: it goes with suppressed ones."""
    for axis in range(len(axes)):
        if not hidden[axis, level_of(place, axes[axis, STRIDE], axes[axis, HEIGHT])]:
            return False
    return True


@within_borrowed
def merge_broken(
    counts: Columns,
    starts: Ints,
    places: Places,
    numbers: Columns,
    span: Ints,
    broken: Mask,
    together: Columns,
) -> int:
    """Merge the marked classes into one dense row; how many they are."""
    together[0, :] = 0
    merged, before = 0, together.shape[1] - counts.shape[1]
    for row in range(span[ROWS]):
        if not broken[row]:
            continue
        merged += 1
        for column in range(counts.shape[1]):
            together[0, before + column] += counts[span[FIRST] + row, column]
        if len(starts) > 0:
            start, entry = span[STARTS] + row, span[ENTRIES]
            for each in range(entry + starts[start], entry + starts[start + 1]):
                together[0, places[each]] += numbers[each]
    return merged


@within_borrowed
def bound_by_size(counts: Columns, goal: int, floor: int, most: int) -> float:
    """The most that a node, or any above it, can score by class sizes: see ``Objective.bound``."""
    squares: Any = 0
    small: Any = 0
    large, last = 0, counts.shape[1] - 1
    for row in range(len(counts)):
        size = np.int64(counts[row, last])
        squares += size * (size if size > floor else floor)
        if size < floor:
            small += size
        else:
            large += 1
    if goal == SQUARES:
        return -float(squares)
    return float(large + small / floor + (small > 0 and most > 0))


@within_borrowed
def score_by_size(counts: Columns, broken: Mask, goal: int, lost: int, records: int) -> float:
    """The score by class sizes, so many records of marked classes being suppressed."""
    squares: Any = 0
    number, last = 0, counts.shape[1] - 1
    for row in range(len(counts)):
        if lost == 0 or not broken[row]:
            size = np.int64(counts[row, last])
            squares += size * size
            number += 1
    if goal == SQUARES:
        return -float(squares + lost * records)
    return float(number + (lost > 0))


@within_borrowed
def score_by_levels(
    axes: Ints,
    place: int,
    counts: Columns,
    members: Places,
    broken: Mask,
    lost: int,
    facts: Ints,
    totals: Floats,
    shares: Floats,
    extra: Floats,
    begins: Ints,
    cells: Codes,
) -> float:
    """Minus the weighted sum of what attributes cost, suppressed values as much as at the top."""
    summed, last = 0.0, counts.shape[1] - 1
    for axis in range(len(axes)):
        level = level_of(place, axes[axis, STRIDE], axes[axis, HEIGHT])
        cost, begin = totals[axis, level], begins[axis, level]
        if lost:
            for row in range(len(counts)):
                if broken[row]:
                    cost += counts[row, last] * extra[begin + cells[members[row], axis]]
        mean = cost / facts[RECORDS]
        summed += shares[axis] * (np.log1p(mean) if facts[GEOMETRIC] else mean)
    return -np.expm1(summed) if facts[GEOMETRIC] else -summed


@within_borrowed
def information(
    counts: Columns,
    starts: Ints,
    places: Places,
    numbers: Columns,
    span: Ints,
    broken: Mask,
    together: Columns,
    spans: Ints,
    weights: Floats,
    margins: Ints,
    logs: Floats,
    records: int,
    lost: int,
    removed: bool,
) -> float:
    """I(X~;W) in bits, summed over attributes: see ``MutualInformation``."""
    total, left = 0.0, records - (lost if removed else 0)
    for attribute in range(len(weights)):
        start, stop = spans[attribute, 0], spans[attribute, 1]
        bits = xlogx(left, logs)
        for column in range(start, stop):
            margin = margins[column] - (np.int64(together[0, column]) if removed else 0)
            if margin > 0:
                bits -= xlogx(margin, logs)
        bits -= _uncertainty(counts, starts, places, numbers, span, broken, start, stop, lost, logs)
        if lost and not removed:
            bits -= xlogx(lost, logs) - bits_within(together, 0, start, stop, logs)
        total += weights[attribute] * max(bits, 0.0) / left
    return total


@within_borrowed
def _uncertainty(
    counts: Columns,
    starts: Ints,
    places: Places,
    numbers: Columns,
    span: Ints,
    broken: Mask,
    start: int,
    stop: int,
    lost: int,
    logs: Floats,
) -> float:
    """Sum of n_g H(W|g) over classes, in bits; of those not marked, where any record is lost."""
    first, last, bits = span[FIRST], counts.shape[1] - 1, 0.0
    for row in range(span[ROWS]):
        if lost and broken[row]:
            continue
        if len(starts) > 0:
            own, entry = span[STARTS] + row, span[ENTRIES]
            begin, end = within(places, entry + starts[own], entry + starts[own + 1], start, stop)
            inside = bits_within(numbers, 0, begin, end, logs)
        else:
            inside = bits_within(counts, first + row, start, stop, logs)
        bits += xlogx(counts[first + row, last], logs) - inside
    return bits
