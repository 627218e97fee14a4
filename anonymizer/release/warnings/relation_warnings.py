"""Warnings about other columns, and the order, of a table that is counted where it lies.

A table of few records is looked at in memory. Of a larger one some records refute most of what
could be; the engine counts what they leave open.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes
from anonymizer.recoding.recoding import Outcome
from anonymizer.release.warnings.column_warnings import (
    Hidden,
    column_warnings,
    doubtful,
    explained,
    nearly_unique,
    order_warnings,
    singled_out,
)
from anonymizer.release.warnings.warnings import ReleaseWarning
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.relations.relation import Moves, Original, Relation

FEW = 1 << 17
"""Records that are looked at in memory, at the most, evenly spread."""


@dataclass(frozen=True, eq=False)
class Marked:
    """The released records of a table with what nobody is to know of them next to what is shown.

    ``table`` has columns as they are, and for each hidden quasi-identifier two with the numbers of
    its values and of its labels: ``values`` and ``labels`` are their names. ``rows`` are the moves
    by which records get them, ``sizes`` the records of each.
    """

    table: Relation
    rows: pd.DataFrame
    sizes: Codes
    values: Mapping[str, str]
    labels: Mapping[str, str]
    known: Mapping[str, Sequence[object]]

    @property
    def records(self) -> int:
        """How many records are released."""
        return int(self.sizes.sum())

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
    shown = [*others, *(name for name in names if name not in outcome.hidden)]
    marked = _marked(original, left, outcome, shown)
    records = marked.table.spread(marked.table.columns, FEW)
    some = marked.table.sample(marked.table.columns, FEW) if records is None else records
    if len(some) == marked.records:
        yield from column_warnings(some, others, marked.hidden_in(some, raw))
    else:
        yield from _counted_warnings(marked, some, raw, others)
    if records is not None:
        yield from order_warnings(marked.with_values(records), names)


def _marked(original: Original, left: Tally, outcome: Outcome, shown: Sequence[str]) -> Marked:
    """Number the values and labels of hidden quasi-identifiers, record by record."""
    released: Tally = outcome.released
    columns, known, free = {}, {}, _names_but(original.columns)
    values = {name: next(free) for name in outcome.hidden}
    labels = {name: next(free) for name in outcome.hidden}
    for name in outcome.hidden:
        before = left[name].loc[released.index]
        columns[values[name]], known[name] = engine.distinct(before)
        columns[labels[name]] = engine.distinct(released[name])[0]
    rows = pd.DataFrame(columns, index=released.index)
    of = original.tally.index.get_indexer(released.index)
    moves = Moves(original.tally, rows, of, released.sizes, (*shown, *rows.columns))
    table = original.relation.recoded(moves)
    return Marked(table, rows, released.sizes, values, labels, known)


def _names_but(taken: Iterable[str]) -> Iterator[str]:
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
    hidden = marked.hidden_in(some, raw)
    for name in others:
        try:
            alone = nearly_unique(some[name])
            open_about = [each for each in hidden if doubtful(some[name], each)]
        except (TypeError, ValueError, OverflowError, NotImplementedError, InputError):
            continue
        if not (alone or open_about):
            continue
        sizes, values = marked.table.multiplicities(name)
        if own := singled_out(sizes, values):
            yield ReleaseWarning("nearly-unique-column", str(name), own, marked.records)
            continue
        for each in open_about:
            gain = _gain(marked, name, int(values.sum()), each.name)
            if gain:
                yield ReleaseWarning(
                    "column-gives-away", str(name), gain, marked.records, about=each.name
                )


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
    sizes = pd.Series(marked.sizes).groupby([marked.rows[name].array for name in (given, about)])
    return marked.records - int(sizes.sum().groupby(level=0).max().sum())
