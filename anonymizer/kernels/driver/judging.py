"""The verdict on a node by its classes: may it be released, with what suppressed, and its score.

What ``Evaluator`` says of a node in Python, for policies whose bounds kernels know and objectives
that are sums over classes or depend on levels. What is left to Python: classes that are ``*``
throughout, and records that are removed under models that compare classes with the whole table.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Codes, Columns, Floats, Ints, Mask
from anonymizer.kernels.checks import breaks, breaks_listed, xlogx
from anonymizer.kernels.driver.store import (
    ENTRIES,
    FIRST,
    ROWS,
    STARTS,
    Lattice,
    Store,
    level_of,
)
from anonymizer.kernels.machine import within_machine_code
from anonymizer.kernels.rules import Laid

HOPEFUL, LOST, BOUND, FEASIBLE, SCORE, CLASSES, ASKS = range(7)
"""What a verdict tells, shape (7,); ``ASKS``: it is Python's to say."""


class Goal(IntEnum):
    """What is maximised, as scores of a node."""

    LEVELS = 0
    """Minus what each value costs at its level, and more where it is suppressed."""
    SQUARES = 1
    """Minus the sum of n_g^2, suppressed records counting N each."""
    CLASSES = 2
    """The number of classes, suppressed records being one."""
    INFORMATION = 3
    """I(X~;W) in bits, a weighted sum over attributes."""


class Policy(NamedTuple):
    """What classes have to satisfy, and what of it is strongly monotone.

    Attributes
    ----------
    least, laid
        Of all models: see ``Rules``.
    lasting_least, lasting
        Of what is strongly monotone.
    lasts
        Whether that is all.
    most, records
        Records that may be suppressed, and those of the table.
    removes, exempt
        See ``Suppression``.
    absolute
        Whether no bound depends on the table.
    hidden
        Whether any value's label is ``*``, by attribute and level.
    logs, grassbergers
        Tables of what stands for n log2 n.
    sums, together
        Scratch: one number more than columns, and a row of all columns.
    broken
        Scratch: which classes break the policy, shape (rows,).
    """

    least: float
    laid: Laid
    lasting_least: float
    lasting: Laid
    lasts: bool
    most: int
    records: int
    removes: bool
    exempt: bool
    absolute: bool
    hidden: Mask
    logs: Floats
    grassbergers: Floats
    sums: Ints
    together: Columns
    broken: Mask


class Objective(NamedTuple):
    """What is maximised.

    Attributes
    ----------
    goal
        A ``Goal``.
    least
        Records that every class released has: see ``Budget``.
    spans, weights, margins
        Of information: columns [start, stop) and weight of each attribute, shape (attributes, 2)
        and (attributes,), and the records of the table by column, shape (columns,).
    totals, shares, extra, begins, cells, geometric
        Of levels: the cost of all records and the weight of each attribute, (attributes, levels)
        and (attributes,); what a suppressed value costs more, of all attributes and levels one
        after the other, and where each begins, (attributes, levels); the value codes of raw
        classes, (classes, attributes); whether 1 + the mean costs are multiplied.
    """

    goal: int
    least: int
    spans: Ints
    weights: Floats
    margins: Ints
    totals: Floats
    shares: Floats
    extra: Floats
    begins: Ints
    cells: Codes
    geometric: bool


@within_machine_code
def satisfied(
    lattice: Lattice,
    store: Store,
    policy: Policy,
    objective: Objective,
    place: int,
    number: int,
    verdict: Floats,
) -> None:
    """Judge a node where nothing may be suppressed."""
    rows = store.spans[number, ROWS]
    verdict[ASKS], verdict[FEASIBLE], verdict[CLASSES] = 0, 1, rows
    if _lost(store, number, policy.least, policy.laid, 0, policy) > 0:
        verdict[FEASIBLE] = 0
    else:
        verdict[SCORE] = _score(lattice, store, policy, objective, place, number, 0, False)


@within_machine_code
def judged(
    lattice: Lattice,
    store: Store,
    policy: Policy,
    objective: Objective,
    place: int,
    number: int,
    verdict: Floats,
) -> None:
    """Judge a node where records may be suppressed."""
    verdict[ASKS], verdict[FEASIBLE], verdict[HOPEFUL] = 0, 0, 1
    verdict[BOUND] = _bound(store, policy, objective, number)
    lost = _lost(store, number, policy.lasting_least, policy.lasting, policy.most, policy)
    verdict[LOST] = lost
    if lost > policy.most:
        verdict[HOPEFUL] = 0
        return
    if not policy.lasts:
        lost = _lost(store, number, policy.least, policy.laid, policy.most, policy)
        if lost > policy.most:
            return
    removed = False
    if lost:
        if _may_hide_all(lattice, policy, place):
            verdict[ASKS] = 1
            return
        _merge_broken(store, policy, number)
        removed = policy.removes or not (policy.exempt or _fits(policy))
        if removed and not policy.absolute:
            verdict[ASKS] = 1
            return
        if lost == policy.records:
            return
    verdict[FEASIBLE] = 1
    rows = store.spans[number, ROWS]
    broken = 0
    for row in range(rows):
        broken += policy.broken[row]
    verdict[CLASSES] = rows - broken + (broken > 0 and not removed)
    verdict[SCORE] = _score(lattice, store, policy, objective, place, number, lost, removed)


@within_machine_code
def _lost(
    store: Store, number: int, least: float, laid: Laid, most: int, policy: Policy
) -> int:
    """Records in classes that break bounds, marking those; stops beyond the most."""
    span, lost = store.spans[number], 0
    last, any_rule = store.counts.shape[1] - 1, len(laid.limits) > 0
    listed = len(store.starts) > 0
    for row in range(span[ROWS]):
        size = store.counts[span[FIRST] + row, last]
        broken = size < least
        if not broken and any_rule:
            if listed:
                start, entry = span[STARTS] + row, span[ENTRIES]
                broken = breaks_listed(
                    store.places,
                    store.numbers,
                    entry + store.starts[start],
                    entry + store.starts[start + 1],
                    size,
                    size,
                    laid,
                    policy.logs,
                    policy.grassbergers,
                    policy.sums,
                )
            else:
                broken = breaks(
                    store.counts,
                    span[FIRST] + row,
                    laid,
                    policy.logs,
                    policy.grassbergers,
                    policy.sums,
                )
        policy.broken[row] = broken
        if broken:
            lost += size
            if lost > most:
                return lost
    return lost


@within_machine_code
def _may_hide_all(lattice: Lattice, policy: Policy, place: int) -> bool:
    """Whether a class may be ``*`` in every attribute already: it would be suppressed with others."""
    for axis in range(len(lattice.heights)):
        if not policy.hidden[axis, level_of(lattice, place, axis)]:
            return False
    return True


@within_machine_code
def _merge_broken(store: Store, policy: Policy, number: int) -> None:
    """The marked classes as one, in a dense row."""
    span, together = store.spans[number], policy.together
    together[0, :] = 0
    trailing = store.counts.shape[1]
    before = together.shape[1] - trailing
    for row in range(span[ROWS]):
        if policy.broken[row]:
            for column in range(trailing):
                together[0, before + column] += store.counts[span[FIRST] + row, column]
            if len(store.starts):
                start, entry = span[STARTS] + row, span[ENTRIES]
                for each in range(store.starts[start], store.starts[start + 1]):
                    together[0, store.places[entry + each]] += store.numbers[entry + each]


@within_machine_code
def _fits(policy: Policy) -> bool:
    """Whether the suppressed records satisfy the policy as one class."""
    if policy.together[0, -1] < policy.least:
        return False
    return not breaks(
        policy.together, 0, policy.laid, policy.logs, policy.grassbergers, policy.sums
    )


@within_machine_code
def _bound(store: Store, policy: Policy, objective: Objective, number: int) -> float:
    """The most that the node, or any above it, can score: see ``Objective.bound``."""
    span, last = store.spans[number], store.counts.shape[1] - 1
    if objective.goal == Goal.SQUARES:
        squares = 0
        for row in range(span[ROWS]):
            size = np.int64(store.counts[span[FIRST] + row, last])
            squares += size * max(size, objective.least)
        return -float(squares)
    if objective.goal == Goal.CLASSES:
        small = 0
        large = 0
        for row in range(span[ROWS]):
            size = np.int64(store.counts[span[FIRST] + row, last])
            if size < objective.least:
                small += size
            else:
                large += 1
        return large + small / objective.least + (small > 0)
    if objective.goal == Goal.INFORMATION:
        bits = _information(store, policy, objective, number, 0, False)
        return bits / (1 - policy.most / policy.records)
    return np.inf


@within_machine_code
def _score(
    lattice: Lattice,
    store: Store,
    policy: Policy,
    objective: Objective,
    place: int,
    number: int,
    lost: int,
    removed: bool,
) -> float:
    """The score of a node, so many records of marked classes being suppressed."""
    if objective.goal == Goal.LEVELS:
        return _levels(lattice, store, policy, objective, place, number, lost)
    if objective.goal == Goal.INFORMATION:
        return _information(store, policy, objective, number, lost, removed)
    span, last = store.spans[number], store.counts.shape[1] - 1
    squares, classes = 0, 0
    for row in range(span[ROWS]):
        if lost == 0 or not policy.broken[row]:
            size = np.int64(store.counts[span[FIRST] + row, last])
            squares += size * size
            classes += 1
    if objective.goal == Goal.SQUARES:
        return -float(squares + lost * policy.records)
    return float(classes + (lost > 0))


@within_machine_code
def _levels(
    lattice: Lattice,
    store: Store,
    policy: Policy,
    objective: Objective,
    place: int,
    number: int,
    lost: int,
) -> float:
    """Minus the weighted sum of what attributes cost, suppressed values as much as at the top."""
    span, last = store.spans[number], store.counts.shape[1] - 1
    sum_of_costs = 0.0
    for axis in range(len(lattice.heights)):
        level = level_of(lattice, place, axis)
        cost, begin = objective.totals[axis, level], objective.begins[axis, level]
        if lost:
            for row in range(span[ROWS]):
                if policy.broken[row]:
                    code = objective.cells[store.members[span[FIRST] + row], axis]
                    size = store.counts[span[FIRST] + row, last]
                    cost += size * objective.extra[begin + code]
        mean = cost / policy.records
        if objective.geometric:
            mean = np.log1p(mean)
        sum_of_costs += objective.shares[axis] * mean
    return -np.expm1(sum_of_costs) if objective.geometric else -sum_of_costs


@within_machine_code
def _information(
    store: Store, policy: Policy, objective: Objective, number: int, lost: int, removed: bool
) -> float:
    """I(X~;W) in bits, summed over attributes: see ``MutualInformation``."""
    total, records = 0.0, policy.records - (lost if removed else 0)
    last = policy.together.shape[1] - 1
    for attribute in range(len(objective.weights)):
        start, stop = objective.spans[attribute, 0], objective.spans[attribute, 1]
        bits = xlogx(records, policy.logs)
        for column in range(start, stop):
            left = objective.margins[column]
            if removed:
                left -= policy.together[0, column]
            if left > 0:
                bits -= xlogx(left, policy.logs)
        bits -= _uncertainty(store, policy, number, start, stop, lost)
        if lost and not removed:
            bits -= xlogx(policy.together[0, last], policy.logs)
            for column in range(start, stop):
                count = policy.together[0, column]
                if count > 0:
                    bits += xlogx(count, policy.logs)
        total += objective.weights[attribute] * max(bits, 0.0) / records
    return total


@within_machine_code
def _uncertainty(
    store: Store, policy: Policy, number: int, start: int, stop: int, lost: int
) -> float:
    """Sum of n_g H(W|g) over classes, in bits; of those not marked, where any record is lost."""
    span, bits = store.spans[number], 0.0
    last, logs = store.counts.shape[1] - 1, policy.logs
    for row in range(span[ROWS]):
        if lost and policy.broken[row]:
            continue
        inside = 0.0
        if len(store.starts):
            first, entry = span[STARTS] + row, span[ENTRIES]
            for each in range(entry + store.starts[first], entry + store.starts[first + 1]):
                if start <= store.places[each] < stop:
                    inside += xlogx(store.numbers[each], logs)
        else:
            for column in range(start, stop):
                count = store.counts[span[FIRST] + row, column]
                if count > 0:
                    inside += xlogx(count, logs)
        bits += xlogx(store.counts[span[FIRST] + row, last], logs) - inside
    return bits
