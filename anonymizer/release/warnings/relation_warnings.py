"""Warnings about other columns, and the order, of a table that is counted where it lies.

A table of few records is looked at in memory. Of a larger one some records refute most of what
could be; the engine counts what they leave open.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.recoding.recoding import Outcome
from anonymizer.release.warnings.column_warnings import (
    LOOKED_AT,
    Hidden,
    column_warnings,
    doubtful,
    explained,
    nearly_unique,
    order_warnings,
    pair_warnings,
    singled_out,
)
from anonymizer.release.warnings.warnings import ReleaseWarning
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.relations.relation import Moves, Original, Relation

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
        names = [*self.shown, *(self.rows.columns if drawn else self.original.tally.columns)]
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
        return records.assign(**{name: column.array for name, column in found.items()})


def combinations_of(tally: Tally, records: pd.DataFrame) -> Codes:
    """The number of the combination that each of some records of a table has; -1 of none.

    ``records``: as the table has them, as does its tally.
    """
    both: dict[str, pd.Categorical] = {}
    for name, column in tally.combinations.items():
        kinds = column.cat.categories
        values = pd.Categorical(records[name], categories=kinds)
        codes = np.concatenate([column.cat.codes, values.codes])
        both[str(name)] = pd.Categorical.from_codes(codes, categories=kinds)
    group, _ = engine.grouped(pd.DataFrame(both), [*both])
    rows = len(tally.index)
    number = np.full(len(group), -1, np.intp)
    number[group[:rows]] = tally.index
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
    columns, known, free = {}, {}, names_but(original.columns)
    values = {name: next(free) for name in outcome.hidden}
    labels = {name: next(free) for name in outcome.hidden}
    for name in outcome.hidden:
        before = left[name].loc[released.index]
        columns[values[name]], known[name] = engine.distinct(before)
        columns[labels[name]] = engine.distinct(released[name])[0]
    rows = pd.DataFrame(columns, index=released.index)
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
            gain = _gain(marked, name, int(values.sum()), each.name)
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


def _gain(marked: Marked, column: str, values: int, about: str) -> int:
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
