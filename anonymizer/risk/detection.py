"""Quasi-identifiers of a raw table: which sets of columns tell most of its records apart.

Motwani and Xu, "Efficient algorithms for masking and finding quasi-identifiers" (2007). Theirs are
sampled for streams; here all records are counted, and the figures exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.errors import InputError, column_names
from anonymizer.privacy.numbers import numbers_of_records
from anonymizer.recoding import Watch, ignore
from anonymizer.risk.refinement import Columns, Refinement
from anonymizer.risk.subsets import Subset, measured, refined, subsets_up_to

__all__ = [
    "Detected",
    "Distinguished",
    "detect",
    "distinction",
    "require_share",
    "separation",
    "share_alone",
]

DISTINCT = 0.8
"""The distinction asked for where nothing is: a convention. Four of five records stay distinct."""

MOST_SQUARED = 2**31
"""Records up to which pairs are counted in 64 bits."""


@dataclass(frozen=True)
class Distinguished:
    """How well some columns tell records apart; none falls when a column joins them.

    Parameters
    ----------
    distinction
        Combinations of values by records: see ``distinction``.
    separation
        Pairs of records told apart, by pairs: see ``separation``.
    alone
        Records with a combination of their own, by records: see ``share_alone``.
    """

    distinction: float
    separation: float
    alone: float

    @classmethod
    def by(cls, sizes: ArrayLike) -> "Distinguished":
        """What class sizes, shape (classes,), come to."""
        return cls(distinction(sizes), separation(sizes), share_alone(sizes))


@dataclass(frozen=True)
class Detected:
    """A minimal set of columns that tells most records apart."""

    names: Subset
    told: Distinguished

    def to_dict(self) -> dict[str, object]:
        """The set as JSON has it."""
        return {
            "names": list(self.names),
            "distinction": self.told.distinction,
            "separation": self.told.separation,
            "share_alone": self.told.alone,
        }


def distinction(sizes: ArrayLike) -> float:
    """T / N: the share of records that stay when of each class only one does, in (0, 1].

    The columns are a key of those records, and of no more (Motwani and Xu 2007: an alpha-distinct
    quasi-identifier is a key once a share of 1 - alpha is removed). Records that are alone in their
    class may be fewer: see ``share_alone``. ``sizes`` (classes,); empty classes are ignored.

    >>> distinction([2, 2, 1])
    0.6
    """
    records = _records(sizes)
    return len(records) / int(records.sum())


def separation(sizes: ArrayLike) -> float:
    """1 - sum n_y (n_y - 1) / (N (N - 1)): the share of pairs of records that differ, in [0, 1].

    Pairs are counted as whole numbers and divided once, so that 1.0 is every pair up to 1e8
    records. It is near 1 for almost any column: two records that were drawn at random seldom agree.
    1 for a single record, which there is nothing to confuse with. ``sizes`` (classes,); empty
    classes are ignored.

    >>> separation([2, 2, 1])
    0.8
    """
    records = _records(sizes)
    total = int(records.sum())
    if total == 1:
        return 1.0
    inside = int((records * (records - 1)).sum())
    return (total * (total - 1) - inside) / (total * (total - 1))


def share_alone(sizes: ArrayLike) -> float:
    """Records that are alone in their class, by records, in [0, 1]; at most ``distinction``.

    ``sizes`` (classes,); empty classes are ignored.

    >>> share_alone([2, 2, 1])
    0.2
    """
    records = _records(sizes)
    return int((records == 1).sum()) / int(records.sum())


def detect(
    table: Columns,
    names: Sequence[str],
    size: int = 3,
    distinction: float | None = None,
    separation: float | None = None,
    watch: Watch = ignore,
) -> list[Detected]:
    """The minimal sets of up to so many columns that reach a threshold, smallest first.

    No column can be left out of a minimal set. What is stated of ``distinction`` and
    ``separation`` has to be reached, both where both are. Neither falls when a column joins, so
    that supersets of a set that was found are not looked at, and nothing is where all columns
    together do not reach them. Missing values are values.

    Parameters
    ----------
    table
        The raw table.
    names
        The columns: not those that are known to be identifiers, each of which is found alone.
    size
        How many columns a set has at most.
    distinction, separation
        Thresholds in (0, 1]; a distinction of ``DISTINCT`` where none is stated.
    watch
        Told of the progress.

    Raises
    ------
    InputError
        When a threshold is no such share, the table lacks a column or has no records, a column's
        values cannot be told apart, or there are more than ``MOST_SUBSETS`` subsets.
    """
    if distinction is None and separation is None:
        distinction = DISTINCT
    least_distinct = 0.0 if distinction is None else require_share("distinction", distinction)
    least_separate = 0.0 if separation is None else require_share("separation", separation)

    def enough(told: Distinguished) -> bool:
        return told.distinction >= least_distinct and told.separation >= least_separate

    names = column_names("names", names)
    subsets_up_to(size, names)
    if not enough(_distinguished(refined(Refinement.trivial(len(table)), table, names))):
        return []
    found = measured(table, names, size, _distinguished, enough, watch)
    sets = [Detected(subset, told) for subset, told in found.items() if enough(told)]
    return sorted(sets, key=lambda one: (len(one.names), -one.told.distinction, one.names))


def require_share(what: str, stated: float) -> float:
    """A threshold: a share above 0, of at most 1.

    Raises
    ------
    InputError
        When it is none.
    """
    if not isinstance(stated, Real) or isinstance(stated, bool) or not 0 < stated <= 1:
        raise InputError(f"{what} = {stated!r} must be a share above 0, of at most 1")
    return float(stated)


def _distinguished(classes: Refinement) -> Distinguished:
    return Distinguished.by(classes.sizes)


def _records(sizes: ArrayLike) -> np.ndarray:
    """Records of each class that has any, as numbers whose squares are exact.

    Raises
    ------
    InputError
        When they are no class sizes, or no class has records.
    """
    records = numbers_of_records(sizes, 1)
    records = records[records > 0]
    small = int(records.sum()) < MOST_SQUARED
    return records if small else records.astype(object)
