"""A raw table as a profile sees it: its columns, counted once, in memory or where it lies."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from anonymizer.counts.ground import COMBINATIONS, OFF
from anonymizer.kernels.arrays import Ints
from anonymizer.profiling.columns import ProfiledColumn, columns_of_texts, spellings_of_missing
from anonymizer.profiling.dependence import step_of
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format, cleaned
from anonymizer.tables.relations.relation import NotToldApartError, Relation
from anonymizer.tables.values import text_of

HELD = 1 << 20
"""Records up to which a table is profiled in memory, and by which columns of others are compared.

Evenly spread over these, where they have an order.
"""

Sizes = tuple[Ints] | tuple[Ints, Ints]
"""The records of each combination; or different numbers of them, and how many have each."""


@dataclass(frozen=True, eq=False)
class Raw:
    """The columns of a raw table, in their order, None for those that cannot be counted.

    ``records`` has the table, ``compared`` of them serve to compare pairs of columns.
    ``combinations`` counts the combinations of values of some columns.
    """

    records: int
    compared: int
    columns: Mapping[str, ProfiledColumn | None] = field(repr=False)
    combinations: Callable[[Sequence[str]], Sizes] = field(repr=False)

    @classmethod
    def of(cls, table: pd.DataFrame) -> "Raw":
        """Count a table in memory."""

        def combinations(names: Sequence[str]) -> Sizes:
            return (np.bincount(engine.grouped(table, names)[0]),)

        columns = {name: ProfiledColumn.of(table[name]) for name in table.columns}
        return cls(len(table), _compared(len(table)), columns, combinations)

    @classmethod
    def stored(
        cls, relation: Relation, form: Format, orders: Mapping[str, Sequence[object]] | None = None
    ) -> "tuple[Raw, Format]":
        """Count a table in a file, and find its format with the spellings of missing values.

        ``orders``: the values of ordered categories, by column.
        """
        raw, form = cls._stored(relation, form)
        columns = dict(raw.columns)
        for name, values in (orders or {}).items():
            column = columns[name]
            if column is not None:
                columns[name] = replace(column, order=tuple(map(text_of, values)))
        return replace(raw, columns=columns), form

    @classmethod
    def _stored(cls, relation: Relation, form: Format) -> "tuple[Raw, Format]":
        if relation.records <= HELD:
            frame = relation.frame(relation.columns)
            form = replace(form, missing_values=spellings_of_missing(frame))
            texts = {name: cleaned(frame[name], form) for name in columns_of_texts(frame)}
            return cls.of(engine.replaced(frame, texts)), form
        names = list(relation.columns)
        spread = relation.spread(names, HELD)
        # Where records have no order, some at random.
        some = relation.sample(names, HELD) if spread is None else spread
        counted = dict(_counted(relation))
        spellings = {
            each for tally in counted.values() for each in spellings_of_missing(tally.combinations)
        }
        form = replace(form, missing_values=tuple(sorted(spellings)))
        columns = {
            name: _column(counted[name], some[name], form) if name in counted else None
            for name in names
        }

        def combinations(known: Sequence[str]) -> Sizes:
            return _combinations(relation, known, form)

        return cls(relation.records, _compared(len(some)), columns, combinations), form


def _compared(records: int) -> int:
    return len(range(0, records, step_of(records)))


def _counted(relation: Relation) -> Iterator[tuple[str, Tally]]:
    for name in relation.columns:
        if is_countable(relation, [name]):
            with suppress(NotToldApartError):
                yield name, relation.tally([name])


def is_countable(relation: Relation, names: Sequence[str]) -> bool:
    """Return whether memory holds the combinations of values of some columns."""
    most = COMBINATIONS.value
    return relation.records <= most or relation.estimate(names) <= OFF * most


def _column(tally: Tally, some: pd.Series, form: Format) -> ProfiledColumn:
    """Return a counted column, with the codes of some of its records."""
    raw = tally[str(some.name)]
    clean = cleaned(raw, form) if columns_of_texts(raw.to_frame()) else raw
    codes = pd.Categorical(some, categories=raw.cat.categories).codes
    row_of = pd.Index(raw.cat.codes).get_indexer(pd.Index(codes))
    return ProfiledColumn.counted(clean, tally.sizes, row_of)


def _combinations(relation: Relation, names: Sequence[str], form: Format) -> Sizes:
    """Count combinations by clean values where memory holds them, else as they are written."""
    if not is_countable(relation, names):
        return relation.multiplicities(names)
    raw = relation.tally(names)
    texts = columns_of_texts(raw.combinations)
    clean = engine.replaced(raw, {name: cleaned(raw[name], form) for name in texts})
    return (engine.tally(clean, names).sizes,)
