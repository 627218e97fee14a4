"""Downcoding: how many records of boxes can be read finer than they were released.

Cohen, "Attacks on deidentification's defenses" (USENIX Security 2022): a generalization that is as
fine as a policy allows tells by what it did not divide. Here a class of n >= 2 k records that no
cut of an attribute could divide into two of k has at least n - 2 (k - 1) records at a single value.
For let v be the first value, in their order, up to which there are k records. Fewer than k are
below v, at most k - 1. Were k above v, a cut after v would leave k on either side. So at most k - 1
are above.

A search that divides wherever its policy allows releases such classes alone, so that whoever knows
the method knows it of each; which value it is, they know as far as they know the table. What is
counted is true of the table, whatever search released it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.kernels.arrays import Codes
from anonymizer.privacy import KAnonymity, PrivacyModel
from anonymizer.recoding.classes import Boxes
from anonymizer.release.manifest.placement import place
from anonymizer.release.results import Result
from anonymizer.risk.placement import PlacedPeople
from anonymizer.tables.values import texts_of


@dataclass(frozen=True)
class Downcoding(Result):
    """Generalized values of ordered quasi-identifiers: of each record as many as were generalized.

    ``alike`` of them, at least, are one value of their class each, since no cut could divide it
    into classes of ``k``: the sum of n - 2 (k - 1) over such classes and quasi-identifiers.
    """

    k: int
    generalized: int
    alike: int


def least_records(method: Mapping[str, Any], models: Sequence[PrivacyModel]) -> int | None:
    """Return k where boxes are divided wherever k records are left on either side; None elsewhere.

    ``method``: that of a manifest.
    """
    if method.get("method") != Boxes.name or method.get("max_classes") or method.get("min_gain"):
        return None
    sizes = [int(model.threshold) for model in models if isinstance(model, KAnonymity)]
    alone = len(sizes) == len(models)
    return max([method.get("min_records") or 1, *sizes]) if alone else None


def downcoding_of(table: PlacedPeople) -> Downcoding | None:
    """Count what boxes of a policy of class sizes have in common; None of other releases.

    Sensitive models, and a limit on classes, may be why a class was not divided. Of numbers alone.
    """
    release = table.release
    k = least_records(release.manifest.method, release.models)
    if k is None:
        return None
    labels, _ = place(table.original, release.manifest)
    columns = []
    for name in release.raw:
        raw = table.original[name]
        numbers = pd.to_numeric(raw, errors="coerce")
        if (numbers.notna() == raw.notna()).all():
            own = np.array([*texts_of(raw)], object) == labels[name].to_numpy(object)
            columns.append(np.where(own, -1, pd.factorize(numbers, sort=True)[0]))
    return downcoding(columns, table.class_of, k)


def downcoding(columns: Iterable[Codes], class_of: Codes, k: int) -> Downcoding:
    """Count the values that a class has in common, or nearly so, because it was not divided.

    ``columns`` are the ordered quasi-identifiers that were generalized: the place of the value of
    each person in its order, (people,), -1 where there is none. ``class_of`` (people,) is the class
    of each, -1 for none.
    """
    generalized = alike = 0
    for places in columns:
        known = (class_of >= 0) & (places >= 0)
        own, value = class_of[known], places[known]
        sizes = np.bincount(own)
        generalized += int(known.sum())
        order = np.lexsort((value, own))
        own, value = own[order], value[order]
        # The last record of each value in its class, and how many of the class are up to it.
        last = np.flatnonzero(np.r_[(own[1:] != own[:-1]) | (value[1:] != value[:-1]), True])
        begin = sizes.cumsum() - sizes
        up_to = last + 1 - begin[own[last]]
        beyond = sizes[own[last]] - up_to
        cut = np.zeros(len(sizes), bool)
        cut[own[last][(up_to >= k) & (beyond >= k)]] = True
        whole = (sizes >= 2 * k) & ~cut
        alike += int((sizes[whole] - 2 * (k - 1)).sum())
    return Downcoding(k, generalized, alike)
