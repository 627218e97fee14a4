"""Warnings about columns without a role, which a release shows as they are."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Counts
from anonymizer.release.warnings.warnings import ENOUGH, IDENTIFYING, SINGLED_OUT, ReleaseWarning
from anonymizer.tables import engine
from anonymizer.tables.engine import Digits
from anonymizer.tables.numbering import crossed
from anonymizer.tables.spelling import read_keys
from anonymizer.tables.values import is_missing

WRONG = 0.1
"""Wrong guesses that a column may leave, by those that chance would: it explains nine of ten."""

SCREENED = 4
"""Every fourth record is looked at before all of them are.

Wrong guesses only become more with records, so that what a part of them refutes is refuted. A
column that tells nothing makes a quarter of the wrong guesses there, and a tenth is allowed.
"""

DENSE = 4
"""Pairs of values per record that are counted in a table of all of them."""


@dataclass(frozen=True, eq=False)
class Hidden:
    """A quasi-identifier that is not released as it is.

    ``raw`` and ``label``: its values and what is released for them, record by record; ``counts``:
    the raw records, counted.
    """

    name: str
    raw: pd.Series
    label: pd.Series
    counts: Counts

    @cached_property
    def rarer(self) -> int:
        """Records that have not the commonest value of all."""
        codes = self.counts.cells[:, self.counts.names.index(self.name)]
        return len(self.raw) - int(np.bincount(codes, self.counts.sizes).max())

    @cached_property
    def values(self) -> Digits:
        """The raw values, numbered."""
        return _numbered(self.raw)

    @cached_property
    def labels(self) -> Digits:
        """The labels, numbered."""
        return _numbered(self.label)

    @cached_property
    def some_values(self) -> Digits:
        """The raw values of every fourth record, numbered."""
        return _numbered(self.raw.iloc[::SCREENED])

    @cached_property
    def distinct(self) -> int:
        """How many raw values there are."""
        return int((np.bincount(self.values[0]) > 0).sum())

    @cached_property
    def wrong(self) -> int:
        """Records whose raw value is not the likeliest one of their label."""
        return _wrong(self.labels, self.values)[0]


@dataclass(frozen=True, eq=False)
class Other:
    """A column without a role, numbered."""

    name: str
    digits: Digits

    @cached_property
    def sizes(self) -> np.ndarray:
        """Records of each value that occurs, shape (values,)."""
        sizes = np.bincount(self.digits[0])
        return np.asarray(sizes[sizes > 0])

    @property
    def records(self) -> int:
        """The records."""
        return len(self.digits[0])

    @property
    def some(self) -> Digits:
        """Those of every fourth record."""
        return self.digits[0][::SCREENED], self.digits[1]

    @cached_property
    def rarer(self) -> int:
        """Records that have not the commonest value."""
        return self.records - int(self.sizes.max(initial=0))


def column_warnings(
    released: pd.DataFrame, others: Iterable[Hashable], hidden: Sequence[Hidden] = ()
) -> tuple[ReleaseWarning, ...]:
    """Warn of columns that tell who a record is of, or what its quasi-identifiers are.

    Columns whose values cannot be told apart (lists, say) are passed over.

    ``released``: a table that is released, or checked. ``others``: its columns without a role.
    ``hidden``: what it shows otherwise than it is.
    """
    found: list[ReleaseWarning] = []
    for name in others:
        try:
            other = Other(str(name), _numbered(released[name]))
        except (TypeError, ValueError, OverflowError, NotImplementedError):
            continue
        found += _unique(other) or _telling(other, hidden)
    return tuple(found)


def spelling_warnings(table: pd.DataFrame, sensitive: Iterable[str]) -> list[ReleaseWarning]:
    """Warn of sensitive values that are written in several ways, in a table as it was given."""
    found = []
    for name in sensitive:
        spellings = engine.distinct(table[name])[1]
        texts = {None if is_missing(value) else str(value).strip() for value in spellings}
        alike = len(texts) - len(set(read_keys(list(texts))))
        if alike:
            found.append(ReleaseWarning("spellings-alike", name, alike, len(texts)))
    return found


def _unique(other: Other) -> list[ReleaseWarning]:
    """A column of which nearly every record has its own value, those of the commonest one aside.

    That one is what stands for none: missing, an empty text, 0.
    """
    values, own = len(other.sizes), int((other.sizes == 1).sum())
    differ = values - 1 >= IDENTIFYING * other.rarer and values >= ENOUGH
    if differ and own >= SINGLED_OUT * other.records:
        return [ReleaseWarning("nearly-unique-column", other.name, own, other.records)]
    return []


def _telling(other: Other, hidden: Iterable[Hidden]) -> list[ReleaseWarning]:
    """A column that says of hidden quasi-identifiers what the release does not."""
    gains = ((each.name, _gain(other, each)) for each in hidden)
    return [
        ReleaseWarning("column-gives-away", other.name, gain, other.records, about=name)
        for name, gain in gains
        if gain
    ]


def _gain(other: Other, hidden: Hidden) -> int:
    """Records whose raw value is guessed right only with a column that gives it away; 0: none does.

    The column determines the raw value, or is determined by it and not by what is released.
    """
    records, values = other.records, len(other.sizes)
    value_wrong, column_wrong = _wrong(other.some, hidden.some_values)
    most = WRONG * (records - values) * hidden.rarer / records
    if value_wrong > most and column_wrong > WRONG * other.rarer:
        return 0
    value_wrong, column_wrong = _wrong(other.digits, hidden.values)
    unlabelled, _ = _wrong(hidden.labels, other.digits)
    if not (
        _explained(value_wrong, (records - values) * hidden.wrong / records)
        or _explained(column_wrong, (records - hidden.distinct) * unlabelled / records)
    ):
        return 0
    return hidden.wrong - _wrong(_together(hidden.labels, other.digits), hidden.values)[0]


def _explained(wrong: int, expected: float) -> bool:
    """Whether so few guesses are wrong of as many as chance would leave at least."""
    return expected >= ENOUGH and wrong <= WRONG * expected


def _wrong(one: Digits, another: Digits) -> tuple[int, int]:
    """Records whose value of another column is not the likeliest one given that of one column.

    And the same the other way round.
    """
    (codes, number), (others, bound) = one, another
    records = len(codes)
    if number * bound <= DENSE * records:
        counts = crossed([one, another], records)
        return records - int(counts.max(1).sum()), records - int(counts.max(0).sum())
    pairs, sizes = np.unique(codes.astype(np.int64) * bound + others, return_counts=True)
    likeliest = [np.zeros(number, np.int64), np.zeros(bound, np.int64)]
    for most, place in zip(likeliest, np.divmod(pairs, bound), strict=True):
        np.maximum.at(most, place, sizes)
    return records - int(likeliest[0].sum()), records - int(likeliest[1].sum())


def _together(one: Digits, another: Digits) -> Digits:
    """The pairs of values of two columns, numbered."""
    keys = one[0].astype(np.int64) * another[1] + another[0]
    codes, values = pd.factorize(keys)
    return codes, len(values)


def _numbered(column: pd.Series) -> Digits:
    """The values of a column as numbers below a bound, and the bound; one pass, no value made."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return engine.numbered(column)
    codes, values = pd.factorize(column, use_na_sentinel=False)
    return codes, len(values)
