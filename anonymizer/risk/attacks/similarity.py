"""Similarity: classes whose sensitive values are different, but much alike."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy, Taxonomy

__all__ = ["Similar", "similarity"]


@dataclass(frozen=True)
class Similar:
    """What classes tell once alike values are taken as one.

    Parameters
    ----------
    level, groups
        The level of the hierarchy of the sensitive values, and its groups that occur.
    homogeneous_records, homogeneous_classes
        Those where all values are of one group.
    max_posterior
        The largest share that a group has of a class, in (0, 1].
    """

    level: int
    groups: int
    homogeneous_records: int
    homogeneous_classes: int
    max_posterior: float

    def to_dict(self) -> dict[str, float]:
        """The attack as JSON has it."""
        return asdict(self)


def similarity(
    joint: ArrayLike, values: Sequence[object], hierarchy: Hierarchy, attribute: str = "sensitive"
) -> tuple[Similar, ...]:
    """Similarity attack (Li et al. 2007) at every level below the top, the finest first.

    Parameters
    ----------
    joint
        Records by class and value, shape (classes, values).
    values
        What each column counts.
    hierarchy
        How the values generalize.
    attribute
        For messages.

    Raises
    ------
    InputError
        When the hierarchy lacks values.

    >>> organs = Hierarchy.from_rows([["ulcer", "stomach"], ["reflux", "stomach"], ["flu", "-"]])
    >>> similarity([[1, 1, 0], [1, 0, 1]], ["ulcer", "reflux", "flu"], organs)[0].max_posterior
    1.0
    """
    counts = np.asarray(joint, np.int64)
    counts = counts[counts.any(axis=1)]
    taxonomy = _taxonomy(hierarchy, values, attribute)
    codes = taxonomy.encode(values)
    return tuple(
        _at(level, counts, taxonomy.levels[level].groups[codes])
        for level in range(1, taxonomy.height)
    )


def _at(level: int, counts: np.ndarray, groups: np.ndarray) -> Similar:
    """The attack at one level; ``groups`` (values,) is the group of each value."""
    present, place = np.unique(groups, return_inverse=True)
    grouped = np.zeros((len(counts), len(present)), np.int64)
    for value, group in enumerate(place):
        grouped[:, group] += counts[:, value]
    sizes, most = grouped.sum(axis=1), grouped.max(axis=1)
    same = most == sizes
    return Similar(
        level,
        int(grouped.any(axis=0).sum()),
        int(sizes[same].sum()),
        int(same.sum()),
        float((most / sizes).max()),
    )


def _taxonomy(hierarchy: Hierarchy, values: Sequence[object], attribute: str) -> Taxonomy:
    """The hierarchy held against the values; what it lacks is counted, not named."""
    keys = [hierarchy.key(value) for value in values]
    lacking = sum(key is not None and not hierarchy.covers(key) for key in keys)
    if lacking:
        raise InputError(
            f"the hierarchy of {attribute!r} lacks {lacking} of its {len(keys)} values; add them"
        )
    return hierarchy.over(attribute, values)
