"""An attacker who knows the method, in plain Python: the library is a black box that releases.

He deals the values of each released class to the records of its cells in every way, releases each
table anew, and keeps those whose release is the one he has. Records of a cell are alike, so that he
deals multisets of values to cells, and counts the permutations that each stands for. Where these
are too many he draws some.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import factorial, log2, prod
from random import Random

import numpy as np
import pandas as pd

from anonymizer import Anonymizer, InputError

Cell = tuple
Label = tuple[str, ...]
Release = Callable[[pd.DataFrame], pd.DataFrame | None]
Posterior = dict[tuple, float]
World = Mapping[Cell, Counter]
"""The values that the records of each cell have."""

NEAR = 1e-9
MORE = 1e-6
"""By how much a recoding is worth more for sure."""


def released_by(make: Callable[[], Anonymizer]) -> Release:
    """What an estimator releases of a table; None where it refuses."""

    def release(table: pd.DataFrame) -> pd.DataFrame | None:
        try:
            return make().fit_transform(table)
        except InputError:
            return None

    return release


def chosen(values: Counter, number: int) -> Iterator[Counter]:
    """Every multiset of so many of some values."""
    if not number:
        yield Counter()
    elif values.total() >= number:
        value = next(iter(values))
        others = Counter({other: n for other, n in values.items() if other != value})
        for own in range(min(values[value], number) + 1):
            for rest in chosen(others, number - own):
                yield rest + Counter({value: own})


def permutations(values: Counter) -> int:
    """In how many orders values can be, of which some are alike."""
    return factorial(values.total()) // prod(map(factorial, values.values()))


def classes_of(world: World, labels: Mapping[Cell, Label]) -> list[Counter]:
    """The values of each class of a recoding."""
    found: dict[Label, Counter] = {}
    for cell, values in world.items():
        found.setdefault(labels[cell], Counter()).update(values)
    return [*found.values()]


def deals(cells: Sequence[tuple[Cell, int]], values: Counter) -> Iterator[dict[Cell, Counter]]:
    """Every way to deal the values of a class to its cells of so many records."""
    if not cells:
        yield {}
        return
    (cell, size), *others = cells
    for own in chosen(values, size):
        for rest in deals(others, values - own):
            yield {cell: own, **rest}


def ways_of(classes: Sequence[Sequence[tuple[Cell, tuple]]]) -> list[list[dict[Cell, Counter]]]:
    """Every way to deal the values of each class to its records, given as cell and values."""
    found = []
    for own in classes:
        sizes = Counter(cell for cell, _ in own)
        found.append([*deals([*sizes.items()], Counter(value for _, value in own))])
    return found


def worlds_of(ways: Sequence[Sequence[World]]) -> Iterator[World]:
    """Every world: one way of each class."""
    for parts in product(*ways):
        yield {cell: own for part in parts for cell, own in part.items()}


@dataclass(frozen=True)
class Posteriors:
    """What the attacker knows: the share of worlds kept, and what each record may have, how likely.

    ``errors`` are standard errors, where he drew ``kept`` worlds in place of all.
    """

    share: float
    records: list[Posterior]
    errors: list[Posterior] | None = None
    kept: int = 0

    def of(self, place: int) -> list[Posterior]:
        """What each record may have of one attribute."""
        found = []
        for record in self.records:
            alone: Counter = Counter()
            for value, likely in record.items():
                alone[value[place]] += likely  # type: ignore[assignment]
            found.append(dict(alone))
        return found


@dataclass(frozen=True)
class Attacker:
    """Who has a table's quasi-identifiers and its release; ``about`` are the sensitive columns.

    ``worth`` is what a recoding is worth by its classes, None where these break the policy. Who
    knows it, and that a search is exact, need not release each world anew: what the black box
    preferred in one world shows others that ours would not be released in.
    """

    table: pd.DataFrame
    about: Sequence[str]
    release: Release
    worth: Callable[[Sequence[Counter]], float | None] | None = None
    preferred: list[dict[Cell, Label]] = field(default_factory=list)

    @property
    def cells(self) -> list[Cell]:
        """The quasi-identifiers of each record."""
        others = [name for name in self.table.columns if name not in self.about]
        return [*self.table[others].itertuples(index=False, name=None)]

    def world(self, cells: Sequence[Cell], values: Sequence[tuple]) -> World:
        """The world where the records have some values."""
        found: dict[Cell, Counter] = {}
        for cell, value in zip(cells, values, strict=True):
            found.setdefault(cell, Counter())[value] += 1
        return found

    @property
    def values(self) -> list[tuple]:
        """The sensitive values of each record."""
        return [*self.table[[*self.about]].itertuples(index=False, name=None)]

    def labels(self, world: World) -> dict[Cell, Label] | None:
        """What each cell is released as; None where not all records are."""
        cells = [cell for cell, values in world.items() for _ in values.elements()]
        values = [value for values in world.values() for value in values.elements()]
        others = [name for name in self.table.columns if name not in self.about]
        table = pd.concat(
            [pd.DataFrame(cells, columns=others), pd.DataFrame(values, columns=[*self.about])],
            axis=1,
        )
        released = self.release(table)
        if released is None or len(released) != len(cells):
            return None
        shown = [*zip(*(released[name].astype(str) for name in others), strict=True)]
        found = dict(zip(cells, shown, strict=True))
        assert [found[cell] for cell in cells] == shown  # those of a cell have one label
        return found

    def classes(self, labels: Mapping[Cell, Label]) -> list[list[tuple[Cell, tuple]]]:
        """The records of each class: cell and values."""
        found: dict[Label, list[tuple[Cell, tuple]]] = {}
        for cell, value in zip(self.cells, self.values, strict=True):
            found.setdefault(labels[cell], []).append((cell, value))
        return [*found.values()]

    def alike(self, world: World, ours: Mapping[Cell, Label]) -> bool:
        """Whether a world is released as ours."""
        least = None if self.worth is None else self.worth(classes_of(world, ours))
        if self.worth is not None and least is not None:
            for place, other in enumerate(self.preferred):
                known = self.worth(classes_of(world, other))
                if known is not None and known > least + MORE:
                    self.preferred.insert(0, self.preferred.pop(place))
                    return False
        labels = self.labels(world)
        if labels not in (None, ours, *self.preferred):
            self.preferred.append(labels)
        return labels == ours

    def attack(self, most: float = float("inf"), draws: int = 300, seed: int = 0) -> "Posteriors":
        """List up to ``most`` worlds, or make some ``draws``; ValueError where not all is released.

        A draw deals the records of each class in one of all orders, each as likely.
        """
        cells, values = self.cells, self.values
        ours = self.labels(self.world(cells, values))
        if ours is None:
            raise ValueError
        classes = self.classes(ours)
        ways = ways_of(classes)
        if prod(map(len, ways)) > most:
            return self._drawn(classes, ours, draws, Random(seed))
        total, kept = 0, 0
        found: dict[Cell, Counter] = {cell: Counter() for cell in cells}
        for world in worlds_of(ways):
            weight = prod(map(permutations, world.values()))
            total += weight
            if self.alike(world, ours):
                kept += weight
                for cell, own in world.items():
                    for value, n in own.items():
                        found[cell][value] += n * weight
        shares = {
            cell: {value: n / own.total() for value, n in own.items()}
            for cell, own in found.items()
        }
        return Posteriors(kept / total, [shares[cell] for cell in cells])

    def _drawn(
        self,
        classes: Sequence[Sequence[tuple[Cell, tuple]]],
        ours: Mapping[Cell, Label],
        draws: int,
        rng: Random,
    ) -> Posteriors:
        """Draw worlds, and keep those that are released as this one."""
        known: dict[frozenset, bool] = {}
        kept: list[World] = []
        for _ in range(draws):
            records = []
            for own in classes:
                values = rng.sample([value for _, value in own], len(own))
                records += zip((cell for cell, _ in own), values, strict=True)
            world = self.world(*zip(*records, strict=True))
            key = frozenset(Counter(records).items())
            if key not in known:
                known[key] = self.alike(world, ours)
            if known[key]:
                kept.append(world)
        every = {*self.values}
        shares, errors = {}, {}
        for cell in {*self.cells}:
            seen = {
                v: np.array([w[cell][v] / w[cell].total() for w in kept] or [0.0]) for v in every
            }
            shares[cell] = {v: float(each.mean()) for v, each in seen.items()}
            error = {v: float(each.std()) / len(each) ** 0.5 for v, each in seen.items()}
            errors[cell] = {v: max(each, 1 / max(len(kept), 1)) for v, each in error.items()}
        return Posteriors(
            len(kept) / draws,
            [shares[cell] for cell in self.cells],
            [errors[cell] for cell in self.cells],
            len(kept),
        )


def posteriors(
    table: pd.DataFrame, about: Sequence[str], release: Release
) -> tuple[float, list[Posterior]]:
    """The share of worlds that are kept, and what each record may have, how likely."""
    found = Attacker(table, about, release).attack()
    return found.share, found.records


def breaks(policy: Mapping[str, float], belief: Posterior, everybody: Counter) -> bool:
    """Whether shares of values, as those of a class, break a policy.

    ``policy`` are the bounds of its models: ``distinct`` values, the ``entropy`` in values as many
    and as likely, and ``distance`` from the values of everybody, of which half the differences add
    up.
    """
    likely = {value: p for value, p in belief.items() if p > 0}
    doubt = 2 ** -sum(p * log2(p) for p in likely.values())
    total = everybody.total()
    apart = sum(abs(belief.get(v, 0) - n / total) for v, n in everybody.items()) / 2
    return (
        len(likely) < policy.get("distinct", 0)
        or doubt < policy.get("entropy", 0) - NEAR
        or apart > policy.get("distance", 1) + NEAR
    )


def worth_of(
    objective: str, policy: Mapping[str, float], k: int, everybody: Counter
) -> Callable[[Sequence[Counter]], float | None]:
    """What a recoding is worth by its classes, about a single attribute: see ``breaks``."""

    def worth(classes: Sequence[Counter]) -> float | None:
        for own in classes:
            n = own.total()
            if n < k or breaks(policy, {value: m / n for value, m in own.items()}, everybody):
                return None
        if objective == "discernibility":
            return -float(sum(own.total() ** 2 for own in classes))
        return sum(m * log2(m / own.total()) for own in classes for m in own.values() if m)

    return worth


def random_table(rng: np.random.Generator, records: int) -> pd.DataFrame:
    """Few records of two quasi-identifiers, and of three values, or two attributes of two."""
    table = pd.DataFrame(
        {
            "a": rng.integers(1, 5, records),
            "b": rng.choice([*"xy"], records, p=[0.7, 0.3]),
            "w": rng.choice([*"ijk"], records),
        }
    )
    if rng.random() < 0.25:
        return table.assign(w=rng.choice([*"ij"], records), v=rng.choice([*"pq"], records))
    return table
