"""Brute force over every node, in plain Python on records: what exact searches are held against.

Knows a table as a list of rows and a hierarchy as the labels of every value. Of the package it
takes the parameters of models and objectives alone.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from math import comb, log, log2, prod
from typing import Literal

import literature
import pandas as pd
from checker import divergence, entropy
from judge import Counted, Label, Tree

Row = Mapping[str, object]
Node = tuple[int, ...]

HIDDEN = "*"
TIED = 1e-9


@dataclass(frozen=True)
class Chain:
    """The labels of each value, the value itself first; numbers where distances mean something."""

    labels: Mapping[object, tuple[object, ...]]
    numbers: bool = False

    @property
    def height(self) -> int:
        return len(next(iter(self.labels.values()))) - 1

    def group(self, value: object, level: int) -> list[object]:
        label = self.labels[value][level]
        return [other for other, labels in self.labels.items() if labels[level] == label]


@dataclass(frozen=True)
class Outcome:
    """What a node releases: a row of labels per record, None where the record is left out."""

    node: Node
    labels: list[tuple[object, ...] | None]
    suppressed: frozenset[int]
    removed: bool

    @property
    def classes(self) -> int:
        return len({row for row in self.labels if row is not None})

    @property
    def fate(self) -> str:
        if not self.suppressed:
            return "none"
        return "removed" if self.removed else "kept"


@dataclass(frozen=True)
class Brute:
    """A table, what may become of it, and what is asked for.

    ``people``: a population, everybody of the table among them. ``tree``: labels of the sensitive
    values. ``limits``: the lowest and the highest level that a release may use, of attributes that
    may not use all. ``gap``: missing sensitive values count as nothing to models. ``person``: the
    column that tells whose each record is, where persons may have several; ``numbers``: the release
    shows which records are of one person; ``per_person``: what
    one with several values counts; ``household``: the column that tells households apart.
    """

    rows: Sequence[Row]
    chains: Mapping[str, Chain]
    sensitive: Sequence[str]
    models: Sequence[object]
    objective: str
    weights: Mapping[str, float] = field(default_factory=dict)
    aggregate: str | None = None
    share: float = 0.0
    remove: bool = False
    suppress: str = "small"
    exempt: bool = False
    people: Sequence[Row] = ()
    targets: Mapping[str, float] = field(default_factory=dict)
    tree: Tree = field(default_factory=dict)
    limits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    gap: bool = False
    person: str = ""
    per_person: str = "share"
    household: str = ""
    numbers: bool = False

    @property
    def most(self) -> int:
        return int(Fraction(str(self.share)) * len(self.rows))

    @cached_property
    def population(self) -> pd.DataFrame | None:
        """The people, as models take them; the same frame for all of them."""
        if not self.people:
            return None
        return pd.DataFrame(
            {name: pd.Series([person[name] for person in self.people], dtype=object)
             for name in self.chains}
        )  # fmt: skip

    @cached_property
    def nodes(self) -> list[Node]:
        return list(product(*(self.levels(name) for name in self.chains)))

    def levels(self, name: str) -> range:
        """The levels that a release may use of an attribute."""
        low, high = self.limits.get(name, (0, self.chains[name].height))
        return range(low, high + 1)

    @cached_property
    def outcomes(self) -> dict[Node, Outcome]:
        """What every feasible node releases."""
        found = {node: self.released(node) for node in self.nodes}
        return {node: outcome for node, outcome in found.items() if outcome is not None}

    @cached_property
    def scores(self) -> dict[Node, float]:
        return {node: self.score(outcome) for node, outcome in self.outcomes.items()}

    @cached_property
    def tied(self) -> list[Node]:
        """The nodes whose score is the highest."""
        top = max(self.scores.values(), default=0.0)
        return [node for node, score in self.scores.items() if score >= top - TIED]

    @cached_property
    def best(self) -> Node | None:
        """Of those the one of most classes, then the lexicographically first."""
        return min(self.tied, key=lambda n: (-self.outcomes[n].classes, n), default=None)

    def minimal(self) -> list[Node]:
        """The feasible nodes without a feasible direct specialization."""
        return [
            node
            for node in self.outcomes
            if not any(
                (*node[:i], level - 1, *node[i + 1 :]) in self.outcomes
                for i, level in enumerate(node)
                if level
            )
        ]

    def recoded(self, node: Node) -> list[tuple[object, ...]]:
        at = zip(self.chains, node, strict=True)
        return list(zip(*(self._columns[name][level] for name, level in at), strict=True))

    @cached_property
    def _columns(self) -> dict[str, list[tuple[object, ...]]]:
        """The labels of all records at each level of each attribute."""
        return {
            name: list(zip(*(chain.labels[row[name]] for row in self.rows), strict=True))
            for name, chain in self.chains.items()
        }

    @cached_property
    def costs(self) -> dict[object, float]:
        """What a value costs at a level, by cost, attribute, value and level."""
        return {}

    def crowd(self, node: Node) -> list[Label]:
        """The labels of the people of the population."""
        levels = dict(zip(self.chains, node, strict=True))
        return [
            tuple(chain.labels[person[name]][levels[name]] for name, chain in self.chains.items())
            for person in self.people
        ]

    def released(self, node: Node) -> Outcome | None:
        """The node as it is released; None where it may not be.

        What is suppressed is up to counts that add up where classes merge, of all ways of counting.
        """
        outcome = self.suppressed(node)
        if outcome is None or self.exempt:
            return outcome
        table = self.counted(outcome.labels, [])
        fine = self.withstands(table) and (not self.numbers or self.joined(outcome.labels))
        return outcome if fine else None

    def withstands(self, table: Counted) -> bool:
        """Whether models hold to who takes the persons of each class for equally likely."""
        asked = self.per_person == "share" or table.asked_of(self.models)
        return asked and table.alike(self.models)

    def joined(self, labels: Sequence[Label | None]) -> bool:
        """Whether models of values hold to who sees which records are of one person.

        He puts records together by all labels of their person, with that of the record or without.
        """
        own: dict[object, Counter] = {}
        for label, row in zip(labels, self.rows, strict=True):
            own.setdefault(row[self.person], Counter())[label] += 1
        owned = [(repr(sorted(own[row[self.person]].items(), key=repr)),) for row in self.rows]
        about = [model for model in self.models if model.sensitive]
        cells = [(*label, *each) for label, each in zip(labels, owned, strict=True)]
        tables = [self.counted(keys, []) for keys in (cells, owned)]
        return all(
            not table.broken(about) and table.allowed(about) and self.withstands(table)
            for table in tables
        )

    def suppressed(self, node: Node) -> Outcome | None:
        """Suppress the classes that break a model, or leave them out; None: not within budget."""
        labels, crowd = self.recoded(node), self.crowd(node)
        table = self.counted(labels, crowd)
        broken = table.broken(self.models)
        if not broken:
            clean = Outcome(node, list(labels), frozenset(), removed=False)
            return clean if table.allowed(self.models) else None
        if self.suppress == "small" and broken - table.by_size(self.models):
            return None
        kept = self.kept(node, labels, crowd, broken)
        return self.left(node, labels, crowd, broken) if kept is None else kept or None

    def kept(
        self, node: Node, labels: list[Label], crowd: list[Label], broken: set[Label]
    ) -> Outcome | Literal[False] | None:
        """Some classes as one that is suppressed; None: not acceptable.

        It stands for all people whom no other class stands for. False: it may not be left out
        either, since its values alone are in the way.
        """
        hidden = tuple(HIDDEN for _ in self.chains)
        together = {*broken, hidden}
        suppressed = frozenset(i for i, label in enumerate(labels) if label in together)
        if self.remove or not 0 < len(suppressed) <= self.most:
            return None
        merged = [hidden if label in together else label for label in labels]
        people = [label if label in merged else hidden for label in crowd]
        table = self.counted(merged, people)
        fine = not table.broken(self.models) and table.allowed(self.models)
        if fine or self.exempt:
            return Outcome(node, merged, suppressed, removed=False)
        sized = [model for model in self.models if not model.sensitive]
        large = hidden not in table.by_size(self.models) and table.allowed(sized)
        return False if large and self.suppress == "small" else None

    def left(
        self, node: Node, labels: list[Label], crowd: list[Label], broken: set[Label]
    ) -> Outcome | None:
        """What is left without some classes, and without those that this breaks.

        People like those left out remain in the population.
        """
        gone: set[Label] = set()
        left: list[Label | None] = [*labels]
        while broken:
            if broken & gone:
                return None
            gone |= broken
            left = [None if label in gone else label for label in labels]
            if left.count(None) > self.most or left.count(None) == len(labels):
                return None
            table = self.counted(left, crowd)
            broken = table.broken(self.models)
            if self.suppress == "small" and broken - table.by_size(self.models):
                return None
        suppressed = frozenset(i for i, label in enumerate(left) if label is None)
        fine = table.allowed(self.models)
        return Outcome(node, left, suppressed, removed=True) if fine else None

    def counted(self, labels: Sequence[Label | None], crowd: Sequence[Label]) -> Counted:
        return Counted.of(
            labels,
            self.rows,
            self.sensitive,
            crowd,
            self.tree,
            self.gap,
            self.person,
            self.household,
        )

    def histogram(self, name: str, records: Iterator[int]) -> Counter:
        return Counter(self.rows[i][name] for i in records)

    def score(self, outcome: Outcome) -> float:
        return SCORES[self.objective](self, outcome)


Told = Callable[[Sequence[Counter], Counter], float]


def _about(told: Told):
    """The weighted sum over attributes of what a table's classes tell."""

    def score(case: Brute, outcome: Outcome) -> float:
        shown = [
            (label, case.rows[i]) for i, label in enumerate(outcome.labels) if label is not None
        ]
        bits = 0.0
        about = case.targets or {name: case.weights.get(name, 1) for name in case.sensitive}
        for name, weight in about.items():
            classes: dict[Label, Counter] = {}
            for label, row in shown:
                classes.setdefault(label, Counter())[row[name]] += 1
            margin = literature.added(classes.values())
            bits += weight * told([*classes.values()], margin)
        return bits

    return score


def _plain(classes: Sequence[Counter], margin: Counter) -> float:
    return sum(g.total() / margin.total() * divergence(g, margin) for g in classes)


def _miller_madow(classes: Sequence[Counter], margin: Counter) -> float:
    """H(W) - sum_g p(g) H(W|g), each entropy with its correction."""

    def corrected(count: Counter) -> float:
        return entropy(count) + (len(count) - 1) / (2 * count.total() * log(2))

    within = sum(g.total() / margin.total() * corrected(g) for g in classes)
    return corrected(margin) - within


def _above_shuffled(classes: Sequence[Counter], margin: Counter) -> float:
    spread = tuple(sorted(margin.values()))
    return _plain(classes, margin) - sum(by_chance(g.total(), spread) for g in classes)


@cache
def by_chance(size: int, margin: tuple[int, ...]) -> float:
    """p(g) I1 of a class of this size on average, the values of the table dealt out at random."""
    records, bits = sum(margin), 0.0
    for count, equal in Counter(margin).items():
        for x in range(1, min(size, count) + 1):
            ways = comb(count, x) * comb(records - count, size - x)
            bits += equal * (ways / comb(records, size)) * x * log2(x * records / (size * count))
    return bits / records


_information = _about(_plain)


def _kept(case: Brute, outcome: Outcome) -> Counter:
    """The sizes of the classes that are not suppressed."""
    labels = case.recoded(outcome.node)
    return Counter(row for i, row in enumerate(labels) if i not in outcome.suppressed)


def _discernibility(case: Brute, outcome: Outcome) -> float:
    kept = sum(size**2 for size in _kept(case, outcome).values())
    return -(kept + len(outcome.suppressed) * len(case.rows))


def _classes(case: Brute, outcome: Outcome) -> float:
    return len(_kept(case, outcome)) + bool(outcome.suppressed)


Cost = Callable[[Brute, str, object, int], float]


def _by_value(cost: Cost, mean: bool = True):
    """A weighted sum over attributes, averaged over records; suppressed values cost the most."""

    def score(case: Brute, outcome: Outcome) -> float:
        weights = [case.weights.get(name, 1) for name in case.chains]
        each = zip(weights, _means(cost, case, outcome), strict=True)
        scale = (sum(weights) or 1) if mean else 1
        return -sum(weight * mean for weight, mean in each) / scale

    return score


def _means(cost: Cost, case: Brute, outcome: Outcome) -> Iterator[float]:
    """What a value costs on average, attribute by attribute."""
    for (name, chain), level in zip(case.chains.items(), outcome.node, strict=True):
        released = Counter(
            (row[name], chain.height if i in outcome.suppressed else level)
            for i, row in enumerate(case.rows)
        )
        for value, at in released:
            if (cost, name, value, at) not in case.costs:
                case.costs[cost, name, value, at] = cost(case, name, value, at)
        total = sum(count * case.costs[cost, name, *of] for of, count in released.items())
        yield total / len(case.rows)


def _loss(case: Brute, outcome: Outcome) -> float:
    if case.aggregate != "geometric-mean":
        return _by_value(_extent)(case, outcome)
    weights = [case.weights.get(name, 1) for name in case.chains]
    losses = _means(_extent, case, outcome)
    product = prod((1 + loss) ** weight for loss, weight in zip(losses, weights, strict=True))
    return 1 - product ** (1 / (sum(weights) or 1))


def _bits(case: Brute, name: str, value: object, level: int) -> float:
    count = case.histogram(name, range(len(case.rows)))
    group = sum(count[other] for other in case.chains[name].group(value, level))
    return log2(group / count[value])


def _extent(case: Brute, name: str, value: object, level: int) -> float:
    chain = case.chains[name]
    group, whole = chain.group(value, level), list(chain.labels)
    if chain.numbers and None not in whole:
        extent, most = max(group) - min(group), max(whole) - min(whole)
    else:
        extent, most = len(group) - 1, len(whole) - 1
    return extent / most if most else 0.0


def _height(case: Brute, name: str, value: object, level: int) -> float:
    return level / case.chains[name].height


def _itpr(classes: Sequence[Counter], margin: Counter) -> float:
    return -literature.itpr(classes)


SCORES = {
    "itpr": _about(_itpr),
    "mutual-information": _information,
    "miller-madow": _about(_miller_madow),
    "above-shuffled": _about(_above_shuffled),
    "non-uniform-entropy": _by_value(_bits, mean=False),
    "loss": _loss,
    "discernibility": _discernibility,
    "average-class-size": _classes,
    "precision": _by_value(_height),
}
