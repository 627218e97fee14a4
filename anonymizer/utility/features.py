"""The quasi-identifiers as classifiers see them, and where the classifiers come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.kernels.arrays import Codes, Floats, Mask
from anonymizer.utility.numbers import REPRESENTATIVES, released_numbers
from anonymizer.utility.pairing import Pairing

if TYPE_CHECKING:
    from anonymizer.utility.learners import Classifier


@dataclass(frozen=True, eq=False)
class Features:
    """The quasi-identifiers of some records, as classifiers see them."""

    categories: Codes  # of all attributes the value's or group's, shape (records, attributes)
    sizes: Sequence[int]  # bounds of the categories, shape (attributes,)
    numbers: Floats  # what those of ordered attributes stand for, shape (records, ordered)
    ordered: Sequence[int]  # the places of the ordered attributes

    def of(self, records: Mask | Codes) -> "Features":
        """The features of some of the records."""
        return Features(self.categories[records], self.sizes, self.numbers[records], self.ordered)


def learners(seed: int, n_jobs: int | None) -> "Sequence[Classifier] | None":
    """The classifiers; None where scikit-learn is not installed."""
    try:
        from anonymizer.utility.learners import classifiers
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "sklearn":
            raise
        return None
    return classifiers(seed, n_jobs)


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
