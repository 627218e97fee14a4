"""Quasi-identifiers of a raw table: the minimal sets of columns that distinguish most records.

Motwani and Xu, "Efficient algorithms for masking and finding quasi-identifiers" (2007). They sample
streams; here all records are counted, so that figures are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.errors import InputError, column_names
from anonymizer.privacy.population.frequencies import numbers_of_records
from anonymizer.recoding import Watch, ignore
from anonymizer.risk.refinement import Columns, Refinement
from anonymizer.risk.results import Result
from anonymizer.risk.subsets import Subset, measured, refined, subsets_up_to

DISTINCT = 0.8
"""The default threshold of distinction, a convention: four of five records stay distinct."""

MOST_SQUARED = 2**31
"""Records up to which pairs are counted in 64 bits."""


@dataclass(frozen=True)
class Distinguished(Result):
    """How well some columns distinguish records; adding a column lowers no figure.

    Parameters
    ----------
    distinction, separation, share_alone
        See the functions of these names.
    """

    distinction: float
    separation: float
    share_alone: float

    @classmethod
    def by(cls, sizes: ArrayLike) -> "Distinguished":
        """Measure class sizes, shape (classes,)."""
        return Distinguished(distinction(sizes), separation(sizes), share_alone(sizes))


@dataclass(frozen=True)
class Detected(Distinguished):
    """A minimal set of columns that distinguishes most records."""

    names: Subset


def distinction(sizes: ArrayLike) -> float:
    """T / N: the share of records that stay when each class keeps a single one, in (0, 1].

    The columns are a key of the records that stay (Motwani and Xu 2007: an alpha-distinct
    quasi-identifier is a key once a share of 1 - alpha is removed). Fewer records may be alone in
    their class: see ``share_alone``. ``sizes`` (classes,); empty classes are ignored.

    >>> distinction([2, 2, 1])
    0.6
    """
    records = _records(sizes)
    return len(records) / int(records.sum())


def separation(sizes: ArrayLike) -> float:
    """1 - sum n_y (n_y - 1) / (N (N - 1)): the share of pairs of records that differ, in [0, 1].

    Pairs are counted as whole numbers and divided once, so that up to 1e8 records 1.0 means every
    pair. It is near 1 for almost any column, as two random records seldom agree; 1 for a single
    record. ``sizes`` (classes,); empty classes are ignored.

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
    """The minimal sets of up to ``size`` columns that reach the thresholds, smallest first.

    No column can be left out of a minimal set. Neither measure falls when a column is added, so
    that supersets of a set that was found are skipped, and all sets are where all columns together
    do not reach the thresholds. Missing values are values.

    Parameters
    ----------
    table
        The raw table.
    names
        The columns, without known identifiers, each of which is a minimal set by itself.
    size
        The largest number of columns in a set.
    distinction, separation
        Thresholds in (0, 1], all of which have to be reached; without any a distinction of
        ``DISTINCT``.
    watch
        Receives the progress.

    Raises
    ------
    InputError
        When a threshold is no such share, the table lacks a column or has no records, a column's
        values cannot be compared, or there are more than ``MOST_SUBSETS`` subsets.
    """
    if distinction is None and separation is None:
        distinction = DISTINCT
    given = {"distinction": distinction, "separation": separation}
    least = {what: require_share(what, share) for what, share in given.items() if share is not None}

    def enough(found: Distinguished) -> bool:
        return all(getattr(found, what) >= share for what, share in least.items())

    names = column_names("names", names)
    subsets_up_to(size, names)
    if not enough(_distinguished(refined(Refinement.trivial(len(table)), table, names))):
        return []
    found = measured(table, names, size, _distinguished, enough, watch)
    sets = [Detected(**vars(one), names=names) for names, one in found.items() if enough(one)]
    return sorted(sets, key=lambda one: (len(one.names), -one.distinction, one.names))


def require_share(what: str, given: float) -> float:
    """Return a threshold, or raise an InputError where it is no share above 0, of at most 1."""
    if not isinstance(given, Real) or isinstance(given, bool) or not 0 < given <= 1:
        raise InputError(f"{what} = {given!r} must be a share above 0, of at most 1")
    return float(given)


def _distinguished(classes: Refinement) -> Distinguished:
    return Distinguished.by(classes.sizes)


def _records(sizes: ArrayLike) -> np.ndarray:
    """The sizes of non-empty classes, as numbers whose squares are exact."""
    records = numbers_of_records(sizes, 1)
    records = records[records > 0]
    return records if int(records.sum()) < MOST_SQUARED else records.astype(object)
