"""Tables admitted and counted once, whole or in random halves; and released ones as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pandas as pd

from anonymizer.counts.columns import (
    as_read,
    by_text,
    distinct_cells,
    encoded,
    in_order,
    require_everybody,
    stacked,
)
from anonymizer.counts.counts import Counts
from anonymizer.counts.ground import settled
from anonymizer.counts.margins import LeastPeople, require_everybody_in
from anonymizer.counts.pairs import row_keys
from anonymizer.counts.persons import Persons
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.counts.weighed_persons import WeighedPersons
from anonymizer.errors import InputError, whole_seed
from anonymizer.hierarchy import Hierarchy, Taxonomy
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.tables import engine
from anonymizer.tables.files import Format, ParquetColumns
from anonymizer.tables.files.opening import require_named
from anonymizer.tables.population import WEIGHTS, Margins, Population
from anonymizer.tables.spelling import SpellingKeys, alike_keys


@dataclass(frozen=True, eq=False)
class Counted:
    """The records of a table that are ``kept``, and how many there are of each kind.

    ``tally`` counts them, and ``people`` the quasi-identifiers of the population that models are
    about; None where there is none. ``least`` counts its people where these do not add up.
    """

    schema: Schema
    kept: engine.Table = field(repr=False)
    tally: engine.Tally = field(repr=False)
    people: engine.Tally | None = field(repr=False)
    taxonomies: Mapping[str, Taxonomy] = field(repr=False)
    least: LeastPeople | WeighedPersons | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        table: engine.Table,
        schema: Schema,
        hierarchies: Mapping[str, Hierarchy],
        people: Population | None,
    ) -> Counted:
        """Count a table, and the population that models are about, after checking that they fit."""
        kept = schema.admit(table)
        hierarchies = settled(hierarchies, table)
        if isinstance(people, Margins):
            return cls._by_margins(kept, schema, hierarchies, people)
        if people is WEIGHTS and schema.person and schema.weight is not None:
            tally = engine.tally(kept, schema.columns)
            taxonomies = taxonomies_of(tally, hierarchies)
            weighed = WeighedPersons.of(tally, schema, taxonomies)
            return cls(schema, kept, tally, None, taxonomies, weighed)
        population = schema.people_of(people, kept)
        tally = engine.tally(kept, schema.columns)
        everybody = (
            None if population is None else engine.tally(population, schema.quasi_identifiers)
        )
        taxonomies = taxonomies_of(tally, hierarchies, everybody)
        return cls(schema, kept, tally, everybody, taxonomies)

    @classmethod
    def _by_margins(
        cls,
        kept: engine.Table,
        schema: Schema,
        hierarchies: Mapping[str, Hierarchy],
        people: Margins,
    ) -> Counted:
        tally = engine.tally(kept, schema.columns)
        margins = schema.admit_margins(people, hierarchies)
        taxonomies = taxonomies_of(tally, hierarchies, [each.table for each in margins])
        least = LeastPeople.by(margins, taxonomies)
        found = cls(schema, kept, tally, None, taxonomies, least)
        counts = found.counts
        require_everybody_in(least.margins, counts.names, counts.cells, counts.sizes)
        return found

    @cached_property
    def counts(self) -> Counts:
        """The counts of all records."""
        return self._bounded(self.schema.counts(self.tally, self.taxonomies, self.people))

    def _bounded(self, counts: Counts) -> Counts:
        return counts if self.least is None else counts.by_least(self.least)

    def halves(self, seed: int) -> tuple[Counts, Counts]:
        """Two random halves of the records, each as if it were the table.

        The first has one more of an odd number. Records are drawn without replacement from the
        combinations of values they have, in the order of these values: whatever the order of the
        records, they are the same halves.
        """
        records = engine.records(self.kept)
        if records < 2:
            raise InputError("a table of one record has no halves to compare")
        combinations = self.tally.combinations
        codes = [
            encoded(combinations[name], self.taxonomies[name])
            for name in self.schema.quasi_identifiers
        ]
        names = (*self.schema.counted, *self.schema.keys)
        codes += [by_text(combinations[name])[0] for name in names]
        keys = row_keys(np.column_stack(codes).astype(np.intp))
        _, places, alike = np.unique(keys, return_index=True, return_inverse=True)
        sizes = np.bincount(alike, self.tally.sizes).astype(np.int64)
        rng = np.random.default_rng(whole_seed(seed))
        second = rng.multivariate_hypergeometric(sizes, records // 2, method="marginals")
        return self._part(places, sizes - second), self._part(places, second)

    def _part(self, places: Codes, sizes: Ints) -> Counts:
        some = sizes > 0
        combinations = self.tally.combinations.iloc[places[some]].reset_index(drop=True)
        part = engine.Tally(combinations, sizes[some].astype(np.int64))
        return self._bounded(self.schema.counts(part, self.taxonomies, self.people))


def open_columns(path: Path, form: Format, schema: Schema) -> ParquetColumns:
    """A Parquet file whose columns are read as they are requested, admitted by a schema.

    InputError as the readers of tables and ``Schema.admit`` raise it.
    """
    table = ParquetColumns(path, form)
    require_named(path, table.columns, schema.columns)
    schema.require_shape(table.columns, len(table))
    if schema.keeps_missing:
        schema.require_persons(pd.DataFrame({name: table[name] for name in schema.keys}))
        return table
    lacking = np.zeros(len(table), bool)
    for name in schema.columns:
        if table.never_missing(name):
            continue
        lacks = engine.missing(table[name])
        if schema.missing == "error" and lacks.any():
            schema.refuse_missing({name: int(lacks.sum())}, len(table))
        lacking |= lacks
    schema.require_left(len(table) - int(lacking.sum()))
    return replace(table, kept=~lacking) if lacking.any() else table


def recount(
    table: engine.Table,
    schema: Schema,
    population: engine.Table | None = None,
    keys: SpellingKeys = alike_keys,
    persons: Persons | None = None,
) -> Counts:
    """Count a table as it is: classes are the combinations of values that stand there.

    Knows nothing of hierarchies, recodings or searches: the yardstick a release is held against.
    The quasi-identifiers of the population, where there is one, have to stand as they are in the
    table. ``keys`` says which spellings of sensitive values are one value; ``persons`` are those of
    the table that this one is a part of.
    """
    if population is not None:
        return classes_of(table, schema, population, keys=keys, persons=persons)[0]
    tally = engine.tally(table, schema.columns)
    rows = tally.combinations
    cells = np.column_stack([in_order(rows[name]) for name in schema.quasi_identifiers])
    cells, class_of = distinct_cells(cells.astype(np.intp))
    sizes = engine.sized(tally, class_of, len(cells))
    number = partial(by_text, keys=keys)
    joint, values, gaps, pairs = schema.histograms(tally, class_of, len(cells), persons, number)
    return Counts.of(
        schema.quasi_identifiers,
        cells,
        sizes,
        joint,
        values,
        schema.targets_alone,
        gaps=gaps,
        of_persons=pairs,
    )


def classes_of(
    table: engine.Table,
    schema: Schema,
    population: engine.Table | None = None,
    complete: bool = True,
    keys: SpellingKeys = alike_keys,
    persons: Persons | None = None,
) -> tuple[Counts, Codes]:
    """Count the classes of a table as it stands, and give the class of each row, (rows,).

    Those of the population come after those of the table, of which only a population that need not
    be ``complete`` may lack any. ``persons``: those of the table that this one is a part of.
    """
    everybody = (
        table if population is None else stacked(table, population, schema.quasi_identifiers)
    )
    class_of, first = engine.grouped(everybody, schema.quasi_identifiers)
    cells = [engine.distinct(everybody[name])[0][first] for name in schema.quasi_identifiers]
    rows = len(table.index)
    mine, others = class_of[:rows], class_of[rows:]
    number = partial(as_read, keys=keys)
    joint, values, gaps, pairs = schema.histograms(table, mine, len(first), persons, number)
    counts = Counts(
        schema.quasi_identifiers,
        np.column_stack(cells).astype(np.intp),
        engine.sized(table, mine, len(first)),
        joint,
        {name: np.asarray(matrix.sum(axis=0)) for name, matrix in joint.items()},
        engine.records(table),
        values,
        schema.targets_alone,
        None if population is None else engine.sized(population, others, len(first)),
        gaps,
        pairs,
    )
    if complete:
        require_everybody(counts)
    return counts, class_of
