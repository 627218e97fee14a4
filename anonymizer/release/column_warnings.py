"""Warnings about columns that a release shows as they are, and about the order of its records.

A table of few records is looked at in memory. Of a larger one that is counted where it lies some
records refute most of what could be; the engine counts what they leave open.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, cast

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.recoding.recoding import Outcome
from anonymizer.release.warnings import (
    ENOUGH,
    TOGETHER,
    UNORDERED,
    ReleaseWarning,
    singled_out,
)
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.numbering import Digits, crossed
from anonymizer.tables.relations.relation import Moves, Original, Relation
from anonymizer.tables.spelling import alike_keys
from anonymizer.tables.values import LETTERS, is_missing, without_sign

WRONG = 0.1
"""Wrong guesses that a column may leave, by those that chance would: it explains nine of ten."""

DOUBTED = 0.8
"""Records that are alone among some of them, by those that are to be among all, for a pair to be
counted: who is alone among all is so among some, but these are drawn."""

DOUBTFUL = 0.5
"""The same among some records, from which on all of them need not be counted.

Of some records a column leaves no larger share wrong than of all, but for chance.
"""

MOST_PAIRED, MOST_COUNTED = 64, 32
"""Columns that are looked at in pairs, and pairs of which all records are counted, at the most.

Of 16,384 records the 2,016 pairs of 64 columns take some 2 s where none is refuted by its values.
"""

SCREENED = 4
"""Every fourth record is looked at before all of them are.

Wrong guesses only become more with records, so that what a part of them refutes is refuted. A
column that tells nothing makes a quarter of the wrong guesses there, and a tenth is allowed.
"""

DENSE = 4
"""Pairs of values per record that are counted in a table of all of them."""

LOOKED_AT = 1 << 14
"""Records that are looked at, at the most, evenly spread: some of a sorted table are sorted."""

LEAST = 4
"""Pairs that break an order in a random one, at least, for an unbroken one to mean something.

The likeliest chance is that of two values with eight records each: one of 6,435 of their orders is
sorted, up or down. Where texts are sorted in two ways it is at most twice that.
"""


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
    def wrong(self) -> int:
        """Records whose raw value is not the likeliest one of their label."""
        return _wrong(self.labels, self.values)[0]


def column_warnings(
    released: pd.DataFrame, others: Iterable[Hashable], hidden: Sequence[Hidden] = ()
) -> tuple[ReleaseWarning, ...]:
    """Warn of columns that tell who a record is of, or what its quasi-identifiers are.

    Columns whose values cannot be told apart (lists, say) are passed over.

    ``released``: a table that is released, or checked. ``others``: its columns without a role.
    ``hidden``: what it shows otherwise than it is.
    """
    found: list[ReleaseWarning] = []
    kept: list[Hashable] = []
    for name in others:
        try:
            digits = _numbered(released[name])
        except (TypeError, ValueError, OverflowError, NotImplementedError):
            continue
        sizes = np.bincount(digits[0])
        sizes = sizes[sizes > 0]
        if own := singled_out(*np.unique(sizes, return_counts=True)):
            found.append(ReleaseWarning("nearly-unique-column", str(name), own, len(released)))
            continue
        kept.append(name)
        gains = {each.name: _gain(digits, sizes, each) for each in hidden}
        found += [
            ReleaseWarning("column-gives-away", str(name), gain, len(released), about=about)
            for about, gain in gains.items()
            if gain
        ]

    def multiplicities(pair: Sequence[Any]) -> tuple[Ints, Ints]:
        """Different numbers of records, and how many combinations of two columns have each."""
        codes, _ = _together(*(_numbered(released[name]) for name in pair))
        return np.unique(np.bincount(codes), return_counts=True)

    found += pair_warnings(released, kept, multiplicities)
    return tuple(found)


def pair_warnings(
    records: pd.DataFrame,
    names: Sequence[Any],
    multiplicities: Callable[[Sequence[Any]], tuple[Ints, Ints]],
) -> Iterator[ReleaseWarning]:
    """Warn of columns without a role whose values are unique together.

    ``records``: some or all of the table, of which those that are looked at refute most pairs.
    ``names``: columns that are not unique by themselves. ``multiplicities``: of all records,
    different numbers of records and how many combinations have each.
    """
    step = max(-(-len(records) // LOOKED_AT), 1)
    some = {name: _numbered(records[name].iloc[::step]) for name in names[:MOST_PAIRED]}
    kinds = {name: np.count_nonzero(np.bincount(codes)) for name, (codes, _) in some.items()}
    paired: set[Any] = set()
    tried = 0
    for one, other in combinations(some, 2):
        looked_at = len(some[one][0])
        least = DOUBTED * TOGETHER * looked_at
        if paired & {one, other} or kinds[one] * kinds[other] < least or tried == MOST_COUNTED:
            continue
        codes, _ = _together(some[one], some[other])
        if np.count_nonzero(np.bincount(codes) == 1) < least:
            continue
        tried += 1
        sizes, values = multiplicities([one, other])
        own, records_in_all = int(values[sizes == 1].sum()), int((sizes * values).sum())
        if own >= TOGETHER * records_in_all and own >= ENOUGH:
            paired |= {one, other}
            yield ReleaseWarning("unique-together", str(one), own, records_in_all, about=str(other))


def spelling_warnings(table: engine.Table, sensitive: Iterable[str]) -> list[ReleaseWarning]:
    """Warn of sensitive values that are written in several ways, in a table as it was given."""
    found = []
    for name in sensitive:
        spellings = map(without_sign, engine.distinct(table[name])[1])
        texts = {None if is_missing(value) else str(value).strip() for value in spellings}
        alike = len(texts) - len(set(alike_keys(list(texts))))
        if alike:
            found.append(ReleaseWarning("spellings-alike", name, alike, len(texts)))
    return found


def nearly_unique(column: pd.Series) -> bool:
    """Whether nearly all records have a value of their own, but for the commonest value."""
    sizes = np.bincount(_numbered(column)[0])
    return singled_out(*np.unique(sizes[sizes > 0], return_counts=True)) > 0


def doubtful(column: pd.Series, hidden: Hidden) -> bool:
    """Whether some records leave open that a column gives a quasi-identifier away."""
    digits, records = _numbered(column), len(column)
    values, distinct = (np.count_nonzero(np.bincount(each[0])) for each in (digits, hidden.values))
    value_wrong, column_wrong = _wrong(digits, hidden.values)
    unlabelled, _ = _wrong(hidden.labels, digits)
    found = (
        (value_wrong, (records - values) * hidden.wrong / records),
        (column_wrong, (records - distinct) * unlabelled / records),
    )
    return any(expected < ENOUGH or wrong <= DOUBTFUL * expected for wrong, expected in found)


def _gain(column: Digits, sizes: Ints, hidden: Hidden) -> int:
    """Records whose raw value is guessed right only with a column that gives it away; 0: none does.

    The column determines the raw value, or is determined by it and not by what is released.
    """
    records, values = len(column[0]), len(sizes)
    some = column[0][::SCREENED], column[1]
    value_wrong, column_wrong = _wrong(some, hidden.some_values)
    most = WRONG * (records - values) * hidden.rarer / records
    if value_wrong > most and column_wrong > WRONG * (records - int(sizes.max())):
        return 0
    value_wrong, column_wrong = _wrong(column, hidden.values)
    unlabelled, _ = _wrong(hidden.labels, column)
    distinct = np.count_nonzero(np.bincount(hidden.values[0]))
    if not (
        explained(value_wrong, (records - values) * hidden.wrong / records)
        or explained(column_wrong, (records - distinct) * unlabelled / records)
    ):
        return 0
    return hidden.wrong - _wrong(_together(hidden.labels, column), hidden.values)[0]


def explained(wrong: int, expected: float) -> bool:
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


def order_warnings(table: pd.DataFrame, names: Iterable[Hashable]) -> tuple[ReleaseWarning, ...]:
    """Warn of columns that the records of a table are sorted or grouped by.

    ``table``: the raw records in the order in which they are released. ``names``: columns that the
    release does not show as they are.
    """
    found = []
    for name in names:
        pairs = _pairs_in_order(table[name])
        if pairs is not None:
            found.append(ReleaseWarning("telling-order", str(name), *pairs))
    return tuple(found)


def _pairs_in_order(column: pd.Series) -> tuple[int, int] | None:
    """How many neighbours are in order, and of how many; None where that may be chance.

    Groups of equal values are found too, however they follow each other: of the few steps from one
    to the next, at most half break the order that fits best. Missing values have no place.
    """
    step = max(-(-len(column) // LOOKED_AT), 1)
    try:
        codes, values = engine.distinct_at(column, np.arange(0, len(column), step))
    except InputError:
        return None
    present = np.array([not is_missing(value) for value in values], bool)
    codes = (np.cumsum(present) - 1)[codes[present[codes]]]
    values = [value for value, there in zip(values, present, strict=True) if there]
    pairs, expected = len(codes) - 1, _expected(codes)
    if expected < LEAST:
        return None
    broken = min(_broken(codes, values))
    return (pairs - broken, pairs) if broken <= UNORDERED * expected else None


def _expected(codes: Codes) -> float:
    """Pairs of neighbours whose first value is the larger, on average over all orders."""
    records = len(codes)
    if records < 2:
        return 0.0
    sizes = np.bincount(codes)
    differ = 1 - float((sizes * (sizes - 1.0)).sum()) / (records * (records - 1.0))
    return (records - 1) * differ / 2


def _broken(codes: Codes, values: Sequence[object]) -> Iterator[int]:
    """Pairs that break each order that people sort by, rising and falling."""
    for ranks in _orders(values):
        places = ranks[codes]
        yield int((places[1:] < places[:-1]).sum())
        yield int((places[1:] > places[:-1]).sum())


def _orders(values: Sequence[object]) -> Iterator[Floats]:
    """The places of some values: by size where all are numbers, else by letter, or shorter first.

    The last is how ``P9`` and ``P10`` follow each other.
    """
    texts = [str(value).strip() for value in values]
    if not texts or texts[0][:1] not in LETTERS:
        numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(float)
        if not np.isnan(numbers).any():
            yield numbers
            return
    for keys in (texts, [(len(text), text) for text in texts]):
        places = np.empty(len(keys))
        places[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        yield places


FEW = 1 << 16
"""Records that are looked at in memory, at the most, evenly spread."""


@dataclass(frozen=True, eq=False)
class Marked:
    """The released records of a table with what nobody is to know of them next to what is shown.

    ``original``: the table. ``shown``: columns of it. For each hidden quasi-identifier there are
    two marks, the numbers of its values and of its labels: ``values`` and ``labels`` are what their
    columns are called, and ``rows`` has them, by the combinations of the tally; ``sizes`` are the
    records of each row. ``known`` are the values.
    """

    original: Original
    shown: Sequence[str]
    rows: pd.DataFrame
    sizes: Ints
    values: Mapping[str, str]
    labels: Mapping[str, str]
    known: Mapping[str, Sequence[Any]]

    @property
    def records(self) -> int:
        """How many records are released."""
        return int(self.sizes.sum())

    @cached_property
    def table(self) -> Relation:
        """The released records with their marks, where they lie."""
        tally = self.original.tally
        of = tally.index.get_indexer(self.rows.index)
        columns = (*self.shown, *self.rows.columns)
        return self.original.relation.recoded(Moves(tally, self.rows, of, self.sizes, columns))

    def some(self, most: int) -> tuple[pd.DataFrame, bool]:
        """At most so many records with their marks, evenly spread, and whether they have an order.

        Marks of records that are alike are looked up; where these differ the engine draws them.
        """
        drawn = not self.rows.index.is_unique
        table = self.table if drawn else self.original.relation
        names = [*self.shown, *(self.rows.columns if drawn else self.original.tally.combinations)]
        names = [*dict.fromkeys(names)]
        spread = table.spread(names, most)
        found = table.sample(names, most) if spread is None else spread
        return found if drawn else self._looked_up(found), spread is not None

    def _looked_up(self, records: pd.DataFrame) -> pd.DataFrame:
        """The marks of those records that are released."""
        place = self.rows.index.get_indexer(pd.Index(combinations_of(self.original.tally, records)))
        there = place >= 0
        marks = self.rows.take(place[there]).set_axis(records.index[there])
        return pd.concat([records.loc[there, [*self.shown]], marks], axis=1)

    def wrong(self, given: Sequence[str], about: str) -> int:
        """Records whose value of a column is not the likeliest one given that of others."""
        return self.records - self.table.guessed(given, about)

    def hidden_in(self, records: pd.DataFrame, counts: Counts) -> list[Hidden]:
        """The hidden quasi-identifiers of some records."""
        return [
            Hidden(name, records[value], records[self.labels[name]], counts)
            for name, value in self.values.items()
        ]

    def with_values(self, records: pd.DataFrame) -> pd.DataFrame:
        """Some records with the values that they had, in place of their numbers."""
        found = {
            name: pd.Series(self.known[name], dtype=object).take(records[column].to_numpy())
            for name, column in self.values.items()
        }
        indexed = {name: column.set_axis(records.index) for name, column in found.items()}
        return engine.replaced(records, indexed)


def combinations_of(tally: Tally, records: pd.DataFrame) -> Codes:
    """The number of the combination that each of some records of a table has; -1 of none.

    ``records``: as the table has them, as does its tally.
    """
    both: dict[str, pd.Categorical] = {}
    combinations = tally.combinations
    for name, column in combinations.items():
        kinds = column.cat.categories
        values = pd.Categorical(records[name], categories=kinds)
        codes = np.concatenate([column.cat.codes, values.codes])
        both[str(name)] = pd.Categorical.from_codes(codes, categories=kinds)
    group, _ = engine.grouped(pd.DataFrame(both), [*both])
    rows = len(combinations)
    number = np.full(len(group), -1, np.intp)
    number[group[:rows]] = combinations.index
    return number[group[rows:]]


def relation_warnings(
    original: Original,
    left: Tally,
    outcome: Outcome,
    raw: Counts,
    others: Sequence[str],
    ordered: Iterable[str],
) -> Iterator[ReleaseWarning]:
    """The warnings of ``column_warnings`` and ``order_warnings``.

    ``left``: the tally of the records that are released, with clean values; ``outcome``: what is
    released of them; ``raw``: their counts. ``others``: columns without a role. ``ordered``:
    columns that the release does not show as they are.
    """
    names = [name for name in ordered if name in original.columns]
    if not others and not names:
        return
    marked = _marked(original, left, outcome, (*others, *({*names} - {*outcome.hidden})))
    some, in_order = marked.some(FEW if others else LOOKED_AT)
    if len(some) == marked.records:
        yield from column_warnings(some, others, marked.hidden_in(some, raw))
    else:
        yield from _counted_warnings(marked, some, raw, others)
    if in_order:
        yield from order_warnings(marked.with_values(some), names)


def _marked(original: Original, left: Tally, outcome: Outcome, shown: Sequence[str]) -> Marked:
    """Number the values and labels of hidden quasi-identifiers, combination by combination."""
    released = cast(Tally, outcome.released)
    before, after = left.combinations, released.combinations
    columns, known, free = {}, {}, names_but(original.columns)
    values = {name: next(free) for name in outcome.hidden}
    labels = {name: next(free) for name in outcome.hidden}
    for name in outcome.hidden:
        columns[values[name]], known[name] = engine.distinct(before[name].loc[after.index])
        columns[labels[name]] = engine.distinct(after[name])[0]
    rows = pd.DataFrame(columns, index=after.index)
    return Marked(original, shown, rows, released.sizes, values, labels, known)


def names_but(taken: Iterable[str]) -> Iterator[str]:
    """Names of columns that a table does not have."""
    there = {*map(str, taken)}
    number = 0
    while True:
        name = f"anonymizer mark {number}"
        if name not in there:
            yield name
        number += 1


def _counted_warnings(
    marked: Marked, some: pd.DataFrame, raw: Counts, others: Sequence[str]
) -> Iterator[ReleaseWarning]:
    """Warnings about columns, counted by the engine where some records leave them open."""
    hidden, kept = marked.hidden_in(some, raw), []
    for name in others:
        try:
            alone = nearly_unique(some[name])
            open_about = [each for each in hidden if doubtful(some[name], each)]
        except (TypeError, ValueError, OverflowError, NotImplementedError, InputError):
            continue
        kept.append(name)
        if not (alone or open_about):
            continue
        sizes, values = marked.table.multiplicities([name])
        if own := singled_out(sizes, values):
            kept.pop()
            yield ReleaseWarning("nearly-unique-column", str(name), own, marked.records)
            continue
        for each in open_about:
            gain = _gain_in(marked, name, int(values.sum()), each.name)
            if gain:
                yield ReleaseWarning(
                    "column-gives-away", str(name), gain, marked.records, about=each.name
                )
    yield from pair_warnings(some, kept, marked.table.multiplicities)


def unique_warnings(relation: Relation, others: Sequence[str]) -> Iterator[ReleaseWarning]:
    """The warnings of ``column_warnings`` about a table that hides nothing.

    ``others``: columns without a role.
    """
    if not others:
        return
    some, kept = relation.sample(others, FEW), []
    for name in others:
        try:
            alone = nearly_unique(some[name])
            sizes, values = relation.multiplicities([name]) if alone else np.zeros((2, 0), int)
        except (TypeError, ValueError, OverflowError, NotImplementedError, InputError):
            continue
        if own := singled_out(sizes, values):
            records = int((sizes * values).sum())
            yield ReleaseWarning("nearly-unique-column", str(name), own, records)
        else:
            kept.append(name)
    yield from pair_warnings(some, kept, relation.multiplicities)


def _gain_in(marked: Marked, column: str, values: int, about: str) -> int:
    """As of ``column_warnings``, counted by the engine; a column has so many ``values``."""
    records, value, label = marked.records, marked.values[about], marked.labels[about]
    wrong = _wrong_in(marked, label, value)
    expected = (records - values) * wrong / records
    if not explained(marked.wrong([column], value), expected):
        distinct = marked.rows[value].nunique()
        unlabelled = marked.wrong([label], column)
        expected = (records - distinct) * unlabelled / records
        if not explained(marked.wrong([value], column), expected):
            return 0
    return wrong - marked.wrong([label, column], value)


def _wrong_in(marked: Marked, given: str, about: str) -> int:
    """Records whose mark is not the likeliest one given another, by the moves alone."""
    sizes = pd.Series(marked.sizes).groupby(
        [marked.rows[name].to_numpy() for name in (given, about)]
    )
    return marked.records - int(sizes.sum().groupby(level=0).max().sum())
