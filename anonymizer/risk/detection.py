"""Columns that identify: minimal sets of those of a raw table, and those that nobody declared.

Motwani and Xu, "Efficient algorithms for masking and finding quasi-identifiers" (2007). They sample
streams; here all records are counted, so that figures are exact.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, cast

import numpy as np

from anonymizer.errors import InputError, column_names
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.information.entropy import entropy
from anonymizer.kernels.arrays import Ints
from anonymizer.profiling.columns import (
    IDENTIFYING,
    SINGLED_OUT,
    distinction,
    separation,
    share_alone,
)
from anonymizer.release.results import Result
from anonymizer.risk.refinement import (
    Columnar,
    Refinement,
    Subset,
    column_of,
    measured,
    refined,
    rows_in,
    stored,
    subsets_up_to,
)
from anonymizer.tables.relations.relation import NotToldApartError, Relation

DISTINCT = 0.8
"""The default threshold of distinction, a convention: four of five records stay distinct."""

OWN_VALUE = "nearly every record has its own value (distinction {:.4f})"
Sizes = tuple[Ints] | tuple[Ints, Ints]
"""The records of each class; or different numbers of records, and how many classes have each."""

SizesOf = Callable[[str], tuple[Sizes, Sizes] | None]
"""The sizes of the classes by a column, and by some others and it; None of one of lists, say."""

MORE_ALONE = "knowing it with the quasi-identifiers leaves {:.2%} of the records alone, not {:.2%}"


@dataclass(frozen=True)
class Distinguished(Result):
    """Shares of records, or of pairs of them, that some columns distinguish.

    Adding a column lowers no figure.
    """

    distinction: float
    separation: float
    share_alone: float


@dataclass(frozen=True)
class Detected(Distinguished):
    """A minimal set of columns that distinguishes most records."""

    names: Subset


def detect(
    table: Columnar,
    names: Sequence[str],
    size: int = 3,
    distinction: float | None = None,
    separation: float | None = None,
    watch: Watch = ignore,
) -> list[Detected]:
    """Find the minimal sets of up to ``size`` columns that reach the thresholds.

    No column can be left out of a minimal set. Neither measure falls when a column is added, so
    that supersets of a set that was found are skipped, and all sets are where all columns together
    do not reach the thresholds. Missing values are values.

    Parameters
    ----------
    table
        A DataFrame, a tally, or a file that is read a column at a time.
    names
        The columns, without known identifiers, each of which is a minimal set by itself.
    size
        The largest number of columns in a set.
    distinction, separation
        Thresholds in (0, 1], all of which have to be reached; without any a distinction of
        ``DISTINCT``.
    watch
        Called with the progress.

    Returns
    -------
    list of Detected
        The smallest sets first.

    Raises
    ------
    InputError
        When a threshold is no such share, the table misses a column or has no records, a column's
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
    if not enough(distinguished(refined(Refinement.whole(table), table, names))):
        return []
    found = measured(table, names, size, distinguished, enough, watch)
    sets = [Detected(**vars(one), names=names) for names, one in found.items() if enough(one)]
    return sorted(sets, key=lambda one: (len(one.names), -one.distinction, one.names))


def require_share(what: str, given: float) -> float:
    """Return a threshold, or raise an InputError where it is no share above 0, of at most 1."""
    if not isinstance(given, Real) or isinstance(given, bool) or not 0 < given <= 1:
        raise InputError(f"{what} = {given!r} must be a share above 0, of at most 1")
    return float(given)


def distinguished(classes: Refinement) -> Distinguished:
    """Measure how well the columns that some classes are by distinguish records."""
    return _distinguished((classes.sizes,))


def _distinguished(sizes: Sizes) -> Distinguished:
    return Distinguished(distinction(*sizes), separation(*sizes), share_alone(*sizes))


@dataclass(frozen=True)
class UndeclaredAttribute(Distinguished):
    """A column without a role, how well it distinguishes records, and what it adds."""

    name: str
    share_alone_combined: float  # of records, by the quasi-identifiers and the column
    adds: float  # H(column | quasi-identifiers), in bits: what it adds to re-identification
    kind: str | None = None  # "identifier", "quasi-identifier", or None where it is neither
    reason: str = ""  # why it is, with the figures; empty where it is neither


@dataclass(frozen=True)
class Undeclared(Result):
    """The columns without a role, those that leave most records alone first."""

    share_alone: float  # of records, in their class by the quasi-identifiers
    attributes: tuple[UndeclaredAttribute, ...]  # every column that was counted
    skipped: tuple[str, ...]  # names of those that could not be, such as columns of lists

    @property
    def flagged(self) -> tuple[UndeclaredAttribute, ...]:
        """The attributes that identify."""
        return tuple(attribute for attribute in self.attributes if attribute.kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of all columns, and the names of those that identify."""
        return {**super().to_dict(), "flagged": [attribute.name for attribute in self.flagged]}


FEW_VALUES = 1 << 20
"""Values of a table that is held in memory: a query for each of many columns takes longer."""


def undeclared(
    table: Columnar | Relation,
    columns: Sequence[str],
    quasi_identifiers: Sequence[str],
    declared: Iterable[str] = (),
    *,
    identifying: float = IDENTIFYING,
    singled_out: float = SINGLED_OUT,
    watch: Watch = ignore,
) -> Undeclared:
    """Measure how columns without a role identify records, alone and with the quasi-identifiers.

    An attribute is an identifier where its distinction is at least ``identifying``. It is a
    quasi-identifier where adding it to the declared ones raises the share of records alone in their
    class by at least ``singled_out``. Nearly unique numbers, such as sums and times, are flagged
    too, and rightly: whoever knows one finds the record. Missing values are values.

    Columns are read one at a time, or counted where the table lies. ``columns`` are the names of
    all of them, ``declared`` those that have another role: sensitive, identifier, target. Both
    thresholds are shares in (0, 1].

    Raises InputError when a threshold is no such share, or the table lacks a column or has no
    records.
    """
    require_share("identifying", identifying)
    require_share("singled_out", singled_out)
    known = column_names("quasi_identifiers", quasi_identifiers)
    declared = column_names("declared", tuple(declared))
    relation = stored(table)
    if relation is not None and relation.records * len(columns) <= FEW_VALUES:
        table, relation = relation.frame(columns), None
    if relation is None:
        with_known, sizes_of = _held(cast(Columnar, table), known)
    else:
        with_known, sizes_of = _stored(relation, known)
    others = [name for name in columns if name not in (*known, *declared)]
    found, skipped, before = [], [], share_alone(*with_known)
    for done, name in enumerate(others):
        watch("measuring columns without a role", done, len(others))
        sizes = sizes_of(name)
        if sizes is None:
            skipped.append(name)
            continue
        own, both = sizes
        alone = share_alone(*both)
        adds = max(float(entropy(*both) - entropy(*with_known)), 0.0)
        figures = vars(_distinguished(own)) | {"share_alone_combined": alone, "adds": adds}
        kind, reason = None, ""
        if figures["distinction"] >= identifying:
            kind, reason = "identifier", OWN_VALUE.format(figures["distinction"])
        elif alone - before >= singled_out:
            kind, reason = "quasi-identifier", MORE_ALONE.format(alone, before)
        found.append(UndeclaredAttribute(**figures, name=name, kind=kind, reason=reason))
    found.sort(key=lambda one: (-one.share_alone_combined, -one.distinction, one.name))
    return Undeclared(before, tuple(found), tuple(skipped))


def _held(table: Columnar, known: Sequence[str]) -> tuple[Sizes, SizesOf]:
    """Return the classes of a table in memory, and a function that adds another column to them."""
    whole = Refinement.whole(table)
    classes = refined(whole, table, known)

    def sizes_of(name: str) -> tuple[Sizes, Sizes] | None:
        column = column_of(table, name)
        try:
            own = whole.by(column)
        except InputError:
            return None
        # Records that are all alone by the column are so with the quasi-identifiers too.
        both = own if own.classes == rows_in(table) else classes.by(column)
        return (own.sizes,), (both.sizes,)

    return (classes.sizes,), sizes_of


def _stored(table: Relation, known: Sequence[str]) -> tuple[Sizes, SizesOf]:
    """Do as ``_held`` where the table lies: an engine counts how many classes have each size."""
    one = np.ones(1, np.int64)
    classes = _multiplicities(table, known) if known else (one * table.records, one)

    def sizes_of(name: str) -> tuple[Sizes, Sizes] | None:
        try:
            own = _multiplicities(table, [name])
        except NotToldApartError:
            return None
        return own, own if own[0].max() == 1 else _multiplicities(table, [*known, name])

    return classes, sizes_of


def _multiplicities(table: Relation, names: Sequence[str]) -> tuple[Ints, Ints]:
    sizes, times = table.multiplicities(names)
    order = np.argsort(sizes)
    return sizes[order], times[order]
