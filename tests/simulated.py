"""An attacker who knows the method, in plain Python: the library is a black box that releases tables.

He deals the values of each released class to its records in every way, releases each table anew,
and keeps those whose release is the one he has.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, permutations, product

import numpy as np
import pandas as pd

from anonymizer import Anonymizer, InputError

Release = Callable[[pd.DataFrame], pd.DataFrame | None]


def released_by(make: Callable[[], Anonymizer]) -> Release:
    """What an estimator releases of a table; None where it refuses."""

    def release(table: pd.DataFrame) -> pd.DataFrame | None:
        try:
            return make().fit_transform(table)
        except InputError:
            return None

    return release


def labels_of(released: pd.DataFrame | None, values: str) -> list[tuple] | None:
    """What each record is released as."""
    if released is None:
        return None
    columns = [released[name].astype(str) for name in released.columns if name != values]
    return [*zip(*columns, strict=True)]


def worlds_of(labels: list[tuple], values: list) -> Iterator[list]:
    """Every way to deal the values of each class to its records; as many permutations make each."""
    places: dict[tuple, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(label, []).append(place)
    dealt = [sorted(set(permutations([values[i] for i in own]))) for own in places.values()]
    order = [*chain(*places.values())]
    for each in product(*dealt):
        known = dict(zip(order, chain(*each), strict=True))
        yield [known[place] for place in range(len(values))]


def posteriors(
    table: pd.DataFrame, values: str, release: Release
) -> tuple[float, list[dict[object, float]]]:
    """The share of worlds that are kept, and what each record may have, how likely."""
    labels = labels_of(release(table), values)
    assert labels is not None
    known: dict[tuple, bool] = {}
    total, kept, found = 0, 0, [Counter() for _ in labels]
    others = [table[name].tolist() for name in table.columns if name != values]
    for world in worlds_of(labels, table[values].tolist()):
        total += 1
        rows = tuple(sorted(zip(*others, world, strict=True)))
        if rows not in known:  # a table is what its rows are, in any order
            released = labels_of(release(table.assign(**{values: world})), values)
            known[rows] = released == labels
        if known[rows]:
            kept += 1
            for record, value in zip(found, world, strict=True):
                record[value] += 1
    return kept / total, [
        {value: number / kept for value, number in record.items()} for record in found
    ]


def random_table(rng: np.random.Generator, records: int) -> pd.DataFrame:
    """Few records of two quasi-identifiers and three values."""
    return pd.DataFrame(
        {
            "a": rng.integers(1, 5, records),
            "b": rng.choice([*"xy"], records, p=[0.7, 0.3]),
            "w": rng.choice([*"ijk"], records),
        }
    )
