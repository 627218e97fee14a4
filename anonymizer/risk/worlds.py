"""The worlds of each released class, by the finer releases that break the policy within it.

A search for the best node would have released any strictly finer node that satisfies the policy:
its score is at least as high, and of equal scores more classes win. So all of them broke it.

A world is a way to distribute the sensitive values of a class over the cells it was made of: a
contingency table of cells by values with known margins. As records are exchangeable, a table has
the probability prod_c n_c! prod_w n_w! / (n! prod_cw n_cw!), which is the multivariate
hypergeometric distribution cell by cell. Worlds are enumerated where they are few, and drawn
otherwise.

Classes are independent. The pattern of a class is the set of finer releases that break the policy
in it, as the bits of a number. All do in some class if the OR of all patterns has every bit.
Probabilities are only added and multiplied, so that nothing cancels however small they are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.pairs import row_keys
from anonymizer.hierarchy import Taxonomy
from anonymizer.information.matrices import dense
from anonymizer.kernels import NATIVE
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.objectives.candidate import Layout
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding.lattice import Node, level_recoding
from anonymizer.recoding.policy import BoundPolicy, Policy


def enumerated(sizes: Ints, margin: Ints, most: int) -> tuple[Ints, Floats] | None:
    """List all tables of given margins with probabilities; None if more than ``most``.

    The margins are the records of each cell and of each value, shapes (cells,) and (values,). The
    tables have shape (tables, cells, values), their probabilities (tables,).

    >>> tables, probabilities = enumerated(np.array([1, 2]), np.array([2, 1]), 10)
    >>> tables[:, 0].tolist(), probabilities.round(3).tolist()
    ([[0, 1], [1, 0]], [0.333, 0.667])
    """
    tables, left = np.zeros((1, 0, len(margin)), np.int64), np.asarray(margin, np.int64)[None]
    for size in sizes:
        found = _rows(left, int(size), most)
        if found is None:
            return None
        parents, rows = found
        tables = np.concatenate([tables[parents], rows[:, None]], axis=1)
        left = left[parents] - rows
    log_factorials = np.log(np.maximum(np.arange(margin.max(initial=0) + 1), 1)).cumsum()
    logs = -log_factorials[tables].sum(axis=(1, 2))
    probabilities = np.exp(logs - logs.max())
    return tables, probabilities / probabilities.sum()


def drawn(sizes: Ints, margin: Ints, draws: int, rng: np.random.Generator) -> Ints:
    """Draw tables of given margins at random, shape (draws, cells, values).

    Cells are halved again and again: the share of the first half in each value in turn is
    hypergeometric. So log2(cells) times values calls draw everything.
    """
    levels = [np.asarray(sizes, np.int64)]
    while len(levels[-1]) > 1:
        levels[-1] = np.pad(levels[-1], (0, len(levels[-1]) % 2))
        levels.append(levels[-1][0::2] + levels[-1][1::2])
    tables = np.broadcast_to(np.asarray(margin, np.int64), (draws, 1, len(margin)))
    for parts in reversed(levels[:-1]):
        whole = tables[:, : len(parts) // 2]  # without what the level above was padded with
        first = _first_halves(whole, parts[0::2], rng)
        tables = np.stack([first, whole - first], axis=2).reshape(draws, len(parts), len(margin))
    return tables[:, : len(sizes)]


def _rows(left: Ints, size: int, most: int) -> tuple[Codes, Ints] | None:
    """List every way to take a cell of ``size`` records out of each rest, shape (rests, values).

    Every choice can be completed, so that their number never falls: beyond ``most`` it gives up.
    Returns the rest that each is taken from, (ways,), and what is taken, (ways, values).
    """
    parents, rows = np.arange(len(left)), np.zeros((len(left), 0), np.int64)
    need = np.full(len(left), size)
    for value in range(left.shape[1]):
        rest = left[parents, value + 1 :].sum(axis=1)
        low = np.maximum(need - rest, 0)
        ways = np.minimum(left[parents, value], need) - low + 1
        if ways.sum() > most:
            return None
        at = np.repeat(np.arange(len(ways)), ways)
        count = low[at] + np.arange(len(at)) - np.repeat(ways.cumsum() - ways, ways)
        parents, need = parents[at], need[at] - count
        rows = np.column_stack([rows[at], count])
    return parents, rows


def _first_halves(whole: Ints, sizes: Ints, rng: np.random.Generator) -> Ints:
    """The values in the first half of each cell, shape (draws, cells, values)."""
    first = np.empty_like(whole)
    need = np.broadcast_to(sizes, whole.shape[:2]).copy()
    rest = whole.sum(axis=2)
    for value in range(whole.shape[2] - 1):
        rest -= whole[:, :, value]
        first[:, :, value] = rng.hypergeometric(whole[:, :, value], rest, need)
        need -= first[:, :, value]
    first[:, :, -1] = need
    return first


MOST_HISTOGRAMS = 1000
"""The most histograms of a finer class that are tried for one that satisfies the policy."""

ALL = int(np.iinfo(np.int64).max)
"""No limit on the records in classes that break a model."""


def classes_at(counts: Counts, taxonomies: Mapping[str, Taxonomy], node: Node) -> Codes:
    """Return the class of each raw cell at a node, shape (cells,)."""
    cells = counts.cells.copy()
    for axis, partition in enumerate(level_recoding(taxonomies, counts.names, node).values()):
        cells[:, axis] = partition.representatives[cells[:, axis]]
    return np.unique(row_keys(cells), return_inverse=True)[1]


def specializations(
    counts: Counts, taxonomies: Mapping[str, Taxonomy], node: Node
) -> dict[Node, Codes]:
    """Return the nodes next below whose classes differ, and the class of each raw cell there.

    A level that groups the occurring values as the released one does is the same release: the first
    level further down that splits a class is taken, of those that a release may use.
    """
    found = {}
    classes = int(classes_at(counts, taxonomies, node).max()) + 1
    for axis, (name, level) in enumerate(zip(counts.names, node, strict=True)):
        for lower in reversed(range(taxonomies[name].finest, level)):
            finer = (*node[:axis], lower, *node[axis + 1 :])
            class_of = classes_at(counts, taxonomies, finer)
            if class_of.max() >= classes:
                found[finer] = class_of
                break
    return found


@dataclass(frozen=True, eq=False)
class Setting:
    """Knowledge of an attacker about one sensitive attribute, and the models about it.

    ``counts`` are the occupied raw cells, counted by that attribute alone; of their joint counts
    only sums over released classes are used.
    """

    counts: Counts
    attribute: str
    class_of: Codes  # the released class of each cell
    models: Sequence[PrivacyModel]  # those that test every class by itself

    @classmethod
    def of(
        cls, counts: Counts, attribute: str, class_of: Codes, models: Sequence[PrivacyModel]
    ) -> "Setting":
        """Make a setting of counts, without other attributes and the population."""
        joint = {attribute: dense(counts.joint[attribute], attribute)}
        margins = {attribute: counts.margins[attribute]}
        only = replace(counts, joint=joint, margins=margins, targets=(), population=None)
        return cls(only, attribute, class_of, models)

    @cached_property
    def margins(self) -> Ints:
        """Records of each released class by value, shape (classes, values)."""
        joint = self.counts.joint[self.attribute]
        sums = np.zeros((int(self.class_of.max()) + 1, joint.shape[1]), np.int64)
        np.add.at(sums, self.class_of, joint)
        return sums

    @cached_property
    def bound_policy(self) -> BoundPolicy:
        """The models, bound to the distribution of the whole table."""
        layout = Layout.of(self.counts)
        return Policy(self.models, layout, NATIVE).against(layout.margins)

    def breaks(self, histograms: Ints) -> Mask:
        """Mark the classes that break a model, from their histograms, shape (..., values)."""
        flat = histograms.reshape(-1, histograms.shape[-1])
        columns = np.column_stack([flat, flat.sum(axis=1)])
        return self.bound_policy.broken(columns, ALL)[1].reshape(histograms.shape[:-1])

    def always_breaks(self, finer: Codes) -> bool:
        """Return whether some finer class is known to break a model in every world.

        Classes are tested one by one, the smallest first, except those of too many histograms.
        """
        sizes = np.bincount(finer, self.counts.sizes).astype(np.int64)
        released = np.zeros(len(sizes), np.intp)
        released[finer] = self.class_of
        for size, number in np.unique(np.column_stack([sizes, released]), axis=0).tolist():
            margin = self.margins[number]
            parts = np.array([size, margin.sum() - size])
            found = enumerated(parts, margin, MOST_HISTOGRAMS)
            if found is not None and self.breaks(found[0][:, 0]).all():
                return True
        return False


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
    """Yield the classes of more than one cell, where a cell is what finer releases distinguish."""
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
    whole = batches.mean(axis=0)
    return np.concatenate([whole[None], (whole * BATCHES - batches) / (BATCHES - 1)])


def conjunction(classes: Sequence[Pattern], events: int) -> tuple[Floats, list[Floats]]:
    """Return the probability that every event happens, and given the pattern of each class.

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
    """Return the probability that the others have the bits that are missing in each pattern."""
    all_bits = before.shape[1] - 1
    reached = np.arange(before.shape[1])
    either = reached[:, None] | reached
    return np.stack(
        [((before @ ((either | own) == all_bits)) * after).sum(axis=1) for own in bits], axis=1
    )
