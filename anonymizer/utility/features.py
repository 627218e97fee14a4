"""The quasi-identifiers as classifiers see them, and where the classifiers come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

import numpy as np

from anonymizer.kernels.arrays import Codes, Floats, Mask
from anonymizer.utility.numbers import REPRESENTATIVES, released_numbers
from anonymizer.utility.pairing import Pairing


@dataclass(frozen=True, eq=False)
class Features:
    """The quasi-identifiers of some records, as classifiers see them.

    ``categories`` are the codes of values or groups, shape (records, attributes), below ``sizes``,
    shape (attributes,); ``numbers`` what those of the ``ordered`` attributes stand for,
    shape (records, ordered). ``categories`` has all attributes, ordered ones included.
    """

    categories: Codes
    sizes: Sequence[int]
    numbers: Floats
    ordered: Sequence[int]

    def of(self, records: Mask | Codes) -> "Features":
        """The features of some of the records."""
        return Features(self.categories[records], self.sizes, self.numbers[records], self.ordered)


class Learner(Protocol):
    """A classifier that has not seen anything yet."""

    name: str

    def probabilities(self, seen: Features, classes: Codes, tested: Features) -> Floats:
        """Learn from some records, and return how likely each class is for others.

        Shape (records tested, distinct classes seen), classes in ascending order.
        """


def learners(seed: int, n_jobs: int | None) -> Sequence[Learner] | None:
    """The classifiers; None where scikit-learn is not installed."""
    try:
        module = import_module("anonymizer.utility.learners")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "sklearn":
            raise
        return None
    return cast(Sequence[Learner], module.learners(seed, n_jobs))


def features_of(pairing: Pairing, representative: str | None, suppressed: bool = True) -> Features:
    """The quasi-identifiers as they were (no representative), or as they were released.

    With ``suppressed = False`` all records are only recoded.
    """
    categories, sizes, numbers, ordered = [], [], [], []
    for place, attribute in enumerate(pairing.attributes.values()):
        codes = attribute.codes if representative is None else attribute.groups
        size = attribute.values if representative is None else len(attribute.partition)
        if representative is not None and suppressed:
            codes = np.where(attribute.suppressed, size, codes)
        categories.append(codes)
        sizes.append(size + 1)
        both = released_numbers(attribute, representative or REPRESENTATIVES[0], suppressed)
        if both is not None:
            column = both[0] if representative is None else both[1]
            mean = np.mean(column[~np.isnan(column)]) if not np.isnan(column).all() else 0.0
            numbers.append(np.where(np.isnan(column), mean, column))  # its category: it is missing
            ordered.append(place)
    matrix = np.column_stack(numbers) if numbers else np.zeros((len(pairing), 0))
    return Features(np.column_stack(categories), sizes, matrix, ordered)
