"""The worlds of each released class, by the finer releases that break the policy within it.

The worlds of a class are enumerated where they are few, and drawn otherwise.

Classes are independent. The pattern of a class is the set of finer releases that break the policy
in it, as the bits of a number. All do in some class if the OR of all patterns has every bit.
Probabilities are only added and multiplied, so that nothing cancels however small they are.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from anonymizer.counts.counts import row_keys
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.risk.attacks.specializations import Setting
from anonymizer.risk.attacks.worlds import drawn, enumerated

Patterns = Callable[[Ints], Codes]
"""The pattern of each world of a class: the finer releases that break the policy, as bits."""

BATCHES = 100
"""Batches of the draws, each left out in turn to estimate standard errors.

With this many, five standard errors are rare by chance: with 20 batches Student's t exceeds 5 for
one estimate in 12 000, with 100 for one in 400 000, and a table has thousands.
"""

MOST_TABLES = 4096
"""Worlds of one class that are enumerated; if there are more, they are drawn."""

MOST_NUMBERS = 1 << 20
"""Numbers of worlds that are in memory at a time."""

BUDGET = 1 << 25
"""Numbers of enumerated worlds of all classes together."""


class Pattern(NamedTuple):
    """The patterns of one class."""

    bits: Codes  # shape (patterns,)
    weights: Floats  # their probabilities in several estimates, shape (estimates, patterns)


@dataclass(frozen=True, eq=False)
class ClassWorlds:
    """One released class: the cells that finer releases distinguish, and its worlds by pattern.

    Where worlds are enumerated there is one estimate, otherwise that from all draws and then those
    without each batch.
    """

    sizes: Ints  # records of each cell
    margin: Ints  # records of each value
    pattern: Pattern
    tables: Floats
    """The mean over worlds of the table, 0 where a world has another pattern, shape (estimates,
    patterns, cells, values)."""
    drawn: Codes | None  # the pattern of each draw; None where the worlds were enumerated

    @property
    def share(self) -> Floats:
        """p(w | class) of each cell, all the same, shape (cells, values)."""
        return np.tile(self.margin / self.margin.sum(), (len(self.sizes), 1))

    def repeated(self, estimates: int) -> Pattern:
        """The patterns in several estimates."""
        shape = estimates, len(self.pattern.bits)
        return self.pattern._replace(weights=np.broadcast_to(self.pattern.weights, shape))

    def without(self, events: int) -> Floats:
        """The probability that each event does not happen here, shape (events,).

        An event that happened in all draws is taken to be missing in one of them.
        """
        lacks = (self.pattern.bits >> np.arange(events)[:, None]) & 1 == 0
        least = 0.0 if self.drawn is None else 1 / len(self.drawn)
        return np.asarray(np.maximum(lacks @ self.pattern.weights[0], least))

    def belief(self, given: Floats, probability: Floats) -> Floats:
        """p(w | c, M), shape (estimates, cells, values).

        The mean table of all draws is known to be the class's share: its error is subtracted. So
        beliefs that do not depend on M are free of error.
        """
        factors = (given / probability[:, None])[:, :, None, None]
        seen = (factors * self.tables).sum(axis=1)
        off = self.tables.sum(axis=1) - self.sizes[:, None] * self.share
        plain = np.clip((seen - off) / self.sizes[:, None], 0, 1)
        return np.asarray(plain / plain.sum(axis=2, keepdims=True))


def parts_of(
    setting: Setting, finer: Sequence[Codes], draws: int, rng: np.random.Generator
) -> Iterator[ClassWorlds]:
    """The classes of more than one cell, where a cell is what finer releases distinguish."""
    _, first, cell_of = np.unique(
        row_keys(np.column_stack(finer)), return_index=True, return_inverse=True
    )
    sizes = np.bincount(cell_of, setting.counts.sizes).astype(np.int64)
    class_of = setting.class_of[first]
    order = np.argsort(class_of, kind="stable")
    left = BUDGET
    for cells in np.split(order, np.flatnonzero(np.diff(class_of[order])) + 1):
        if len(cells) == 1:
            continue
        margin = setting.margins[class_of[cells[0]]]
        children = [np.unique(each[first[cells]], return_inverse=True)[1] for each in finer]
        patterns = partial(_patterns, setting, children)
        numbers = len(cells) * len(margin)
        most = min(MOST_TABLES, min(MOST_NUMBERS, left) // numbers)
        found = enumerated(sizes[cells], margin, most)
        if found is None:
            yield _drawn(sizes[cells], margin, patterns, draws, rng)
        else:
            left -= found[0].size
            yield _enumerated(sizes[cells], margin, patterns, *found)


def _patterns(setting: Setting, children: Sequence[Codes], tables: Ints) -> Codes:
    """The pattern of each table, shape (tables,), from the class of each cell by finer release."""
    bits = np.zeros(len(tables), np.intp)
    for event, child in enumerate(children):
        if child.any():
            order = np.argsort(child, kind="stable")
            starts = np.flatnonzero(np.diff(child[order], prepend=-1))
            histograms = np.add.reduceat(tables[:, order], starts, axis=1)
            bits |= setting.breaks(histograms).any(axis=1).astype(np.intp) << event
    return bits


def _enumerated(
    sizes: Ints, margin: Ints, patterns: Patterns, tables: Ints, probabilities: Floats
) -> ClassWorlds:
    """A class all of whose worlds are known with their probabilities."""
    bits, place = np.unique(patterns(tables), return_inverse=True)
    weights = np.asarray(np.bincount(place, probabilities), float)
    means = [
        np.tensordot(probabilities[place == number], tables[place == number], 1)
        for number in range(len(bits))
    ]
    return ClassWorlds(sizes, margin, Pattern(bits, weights[None]), np.stack(means)[None], None)


def _drawn(
    sizes: Ints, margin: Ints, patterns: Patterns, draws: int, rng: np.random.Generator
) -> ClassWorlds:
    """A class of too many worlds: as many batches as fit in memory are drawn at a time."""
    batch, shape = draws // BATCHES, (len(sizes), len(margin))
    room = max(1, MOST_NUMBERS // (batch * len(sizes) * len(margin)))
    sums: dict[int, Floats] = {}
    every = []
    for start in range(0, BATCHES, room):
        number = min(room, BATCHES - start)
        tables = drawn(sizes, margin, number * batch, rng)
        every.append(patterns(tables))
        for own in np.unique(every[-1]).tolist():
            chosen = tables * (every[-1] == own)[:, None, None]
            into = sums.setdefault(own, np.zeros((BATCHES, *shape)))
            into[start : start + number] = chosen.reshape(number, batch, *shape).sum(axis=1)
    found, bits = np.concatenate(every), np.array(list(sums), np.intp)
    weights = _left_out((found.reshape(BATCHES, batch, 1) == bits).mean(axis=1))
    means = _left_out(np.stack(list(sums.values()), axis=1) / batch)
    return ClassWorlds(sizes, margin, Pattern(bits, weights), means, found)


def _left_out(batches: Floats) -> Floats:
    """The mean of all batches, then that without each, from the mean of each."""
    whole = batches.mean(axis=0)
    return np.concatenate([whole[None], (whole * BATCHES - batches) / (BATCHES - 1)])


def conjunction(classes: Sequence[Pattern], events: int) -> tuple[Floats, list[Floats]]:
    """The probability that every event happens, and the same given the pattern of each class.

    Their shapes are (estimates,) and for each class (estimates, patterns).

    >>> fair = Pattern(np.array([0, 1]), np.array([[0.5, 0.5]]))
    >>> probability, given = conjunction([fair, fair], 1)
    >>> probability.tolist(), given[0].tolist()
    ([0.75], [[0.5, 1.0]])
    """
    nothing = np.zeros((len(classes[0].weights), 1 << events))
    nothing[:, 0] = 1  # the OR of no pattern has no bit
    before = [nothing]
    for pattern in classes:
        before.append(_joined(before[-1], pattern))
    after, given = nothing, []
    for place in reversed(range(len(classes))):
        given.append(_completed(before[place], after, classes[place].bits))
        after = _joined(after, classes[place])
    return before[-1][:, -1], given[::-1]


def _joined(before: Floats, pattern: Pattern) -> Floats:
    """The distribution of the OR with one class more, shape (estimates, 2^events)."""
    joined = np.zeros_like(before)
    reached = np.arange(before.shape[1])
    for bits, weight in zip(pattern.bits, pattern.weights.T, strict=True):
        np.add.at(joined.T, reached | bits, (before * weight[:, None]).T)
    return joined


def _completed(before: Floats, after: Floats, bits: Codes) -> Floats:
    """The probability that the others have the bits that each pattern lacks."""
    all_bits = before.shape[1] - 1
    reached = np.arange(before.shape[1])
    either = reached[:, None] | reached
    return np.stack(
        [((before @ ((either | own) == all_bits)) * after).sum(axis=1) for own in bits], axis=1
    )
