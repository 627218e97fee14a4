"""Similarity: classes whose sensitive values are different, but alike."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.risk.profile import Inference
from anonymizer.risk.results import Result

__all__ = ["Similar", "similarity"]


@dataclass(frozen=True)
class Similar(Result):
    """What classes disclose once values of one group of a hierarchy are taken as one.

    Parameters
    ----------
    level, groups
        The level of the hierarchy of the sensitive values, and the number of its groups that occur.
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
    keys = [hierarchy.rule.key(value) for value in values]
    lacking = sum(key is not None and not hierarchy.rule.covers(key) for key in keys)
    if lacking:  # they are counted, not named: values are sensitive
        raise InputError(
            f"the hierarchy of {attribute!r} lacks {lacking} of its {len(keys)} values; add them"
        )
    taxonomy, counts = hierarchy.over(attribute, values), np.asarray(joint, np.int64)
    codes = taxonomy.encode(values)
    return tuple(
        _at(level, counts, taxonomy.levels[level].groups[codes])
        for level in range(1, taxonomy.height)
    )


def _at(level: int, counts: np.ndarray, groups: np.ndarray) -> Similar:
    """The attack at one level; ``groups`` (values,) is the group of each value."""
    grouped = np.zeros((len(counts), int(groups.max()) + 1), np.int64)
    for value, group in enumerate(groups):
        grouped[:, group] += counts[:, value]
    about = Inference.of(grouped)
    return Similar(
        level,
        int((about.margin > 0).sum()),
        int(about.sizes[about.homogeneous].sum()),
        int(about.homogeneous.sum()),
        float(about.posterior.max()),
    )
