"""An attacker who knows the method, in plain Python: the library is a black box that releases.

He deals the values of each released class to its records in every way, releases each table anew,
and keeps those whose release is the one he has.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, product

import numpy as np
import pandas as pd

from anonymizer import Anonymizer, InputError

Release = Callable[[pd.DataFrame], pd.DataFrame | None]
Labels = list[tuple[str, ...]]
Posterior = dict[tuple, float]


def released_by(make: Callable[[], Anonymizer]) -> Release:
    """What an estimator releases of a table; None where it refuses."""

    def release(table: pd.DataFrame) -> pd.DataFrame | None:
        try:
            return make().fit_transform(table)
        except InputError:
            return None

    return release


def labels_of(released: pd.DataFrame | None, about: Sequence[str]) -> Labels | None:
    """What each record is released as; None where nothing is."""
    if released is None:
        return None
    columns = [released[name].astype(str) for name in released.columns if name not in about]
    return [*zip(*columns, strict=True)]


def deals(left: Counter) -> Iterator[tuple]:
    """Every order of some values, of which some are alike."""
    if not left.total():
        yield ()
    for value in [value for value, number in left.items() if number]:
        left[value] -= 1
        for rest in deals(left):
            yield (value, *rest)
        left[value] += 1


def worlds_of(labels: Labels, values: Sequence[tuple]) -> Iterator[list[tuple]]:
    """Every way to deal the values of each class to its records; as many permutations make each."""
    places: dict[tuple, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(label, []).append(place)
    order = [*chain(*places.values())]
    dealt = [list(deals(Counter(values[i] for i in own))) for own in places.values()]
    for each in product(*dealt):
        known = dict(zip(order, chain(*each), strict=True))
        yield [known[place] for place in range(len(values))]


def posteriors(
    table: pd.DataFrame, about: Sequence[str], release: Release
) -> tuple[float, list[Posterior]] | None:
    """The share of worlds that are kept, and what each record may have, how likely.

    None where nothing is released, or not all records are.
    """
    labels = labels_of(release(table), about)
    if labels is None or len(labels) != len(table):
        return None
    known: dict[tuple, bool] = {}
    total, kept, found = 0, 0, [Counter() for _ in labels]
    others = [name for name in table.columns if name not in about]
    cells = [*table[others].itertuples(index=False, name=None)]
    for world in worlds_of(labels, [*table[about].itertuples(index=False, name=None)]):
        total += 1
        rows = tuple(sorted(map(str, zip(cells, world, strict=True))))
        if rows not in known:  # a table is what its rows are, in any order
            dealt = pd.DataFrame(world, columns=[*about], index=table.index)
            known[rows] = labels_of(release(table.assign(**dealt)), about) == labels
        if known[rows]:
            kept += 1
            for record, value in zip(found, world, strict=True):
                record[value] += 1
    shares = [{value: n / kept for value, n in record.items()} for record in found]
    return kept / total, shares


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
