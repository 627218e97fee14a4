"""A table as it is measured: its records, counted where they lie, and its other columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import numpy as np
import pandas as pd

from anonymizer.counts.ground import require_countable, require_held
from anonymizer.counts.schema import Schema
from anonymizer.kernels.arrays import Codes
from anonymizer.privacy import PrivacyModel
from anonymizer.profiling.among import spellings_of_missing
from anonymizer.release.column_warnings import column_warnings, combinations_of, unique_warnings
from anonymizer.release.person_warnings import person_warnings
from anonymizer.release.relations import admitted_in, cleaned_in
from anonymizer.release.warnings import ReleaseWarning
from anonymizer.risk.refinement import Columnar, stored
from anonymizer.tables.engine import Table, Tally
from anonymizer.tables.files import Format
from anonymizer.tables.relations.relation import Original, Relation


@dataclass(frozen=True, eq=False)
class MeasuredTable:
    """A table as it is measured.

    ``table``: the admitted records, one by one or counted by the columns with a role. ``rest``:
    where they lie with all ``columns`` of the table. ``original``: the table as it was counted,
    None of one that is held in memory, or of which there are counts alone. ``form``: as a file has
    it; ``spelled``: whether spellings of missing values are found by their looks.
    """

    table: Table = field(repr=False)
    columns: Sequence[str]
    rest: Columnar | Relation = field(repr=False)
    original: Original | None = field(default=None, repr=False)
    form: Format | None = None
    spelled: bool = False

    @classmethod
    def of(
        cls, table: "pd.DataFrame | Relation", schema: Schema, *, respell: bool
    ) -> "MeasuredTable":
        """Admit a table that somebody holds; see ``Schema.admit``."""
        if isinstance(table, pd.DataFrame):
            held = schema.admit(table, respell=respell)
            return cls(held, [*table.columns], held)
        return cls.stored(table, schema, None, respell=respell)

    @classmethod
    def stored(
        cls,
        relation: Relation,
        schema: Schema,
        form: Format | None,
        *,
        respell: bool,
        spelled: bool = False,
    ) -> "MeasuredTable":
        """Count a table where it lies, as a file has it if it has a ``form``.

        ``spelled``: the spellings of missing values are found by their looks.
        """
        require_countable(relation, schema.columns, {})
        raw = relation.tally(schema.columns)
        clean = schema.admit(_cleaned(raw, schema.columns, form, spelled), respell=False)
        rest = admitted_in(relation, raw, clean, schema.quasi_identifiers)
        table = schema.admit(clean) if respell else clean
        return cls(table, relation.columns, rest, Original(relation, raw), form, spelled)

    @classmethod
    def counted(cls, table: Tally, schema: Schema) -> "MeasuredTable":
        """Admit a table of which there are counts alone."""
        held = schema.admit(table, respell=False)
        return cls(held, [*table.columns], held)

    def warnings(self, others: Sequence[str]) -> Iterator[ReleaseWarning]:
        """Warn of columns without a role that tell who a record is of."""
        relation = stored(self.rest)
        if relation is not None:
            yield from unique_warnings(relation, others)
        elif isinstance(self.rest, pd.DataFrame):
            yield from column_warnings(self.rest, others)

    def of_persons(
        self, schema: Schema, models: Sequence[PrivacyModel], identifiers: Sequence[str] = ()
    ) -> Iterator[ReleaseWarning]:
        """Warn of persons who have several records, and of values that find one."""
        relation = stored(self.rest)
        if relation is not None:
            yield from person_warnings(relation, self.table, schema, models, identifiers)
        elif isinstance(self.rest, pd.DataFrame):  # other forms are counts, or too wide
            yield from person_warnings(self.rest, self.table, schema, models, identifiers)

    def tally(self, columns: Sequence[str]) -> Columnar:
        """Count some columns of the records, to be combined in every way.

        InputError where they have more combinations than memory holds.
        """
        relation = stored(self.rest)
        if relation is None:
            return cast(Columnar, self.rest)
        require_countable(relation, columns, {}, "columns whose sets are measured")
        return relation.tally(columns)

    def with_columns(self, quasi_identifiers: Sequence[str], others: Sequence[str]) -> Columnar:
        """The records by the quasi-identifiers and columns without a role, whose values are clean.

        InputError where they have more combinations than memory holds.
        """
        relation = stored(self.rest)
        if relation is None:
            return cast(Columnar, self.rest)
        columns = [*quasi_identifiers, *others]
        require_countable(relation, columns, {})
        return _cleaned(relation.tally(columns), others, self.form, self.spelled)

    @cached_property
    def row_of(self) -> Codes:
        """The row of ``table`` that each record of the table as it lies is counted in, or -1.

        InputError where they are more than memory holds.
        """
        assert self.original is not None
        relation, raw = self.original.relation, self.original.tally
        require_held(relation, "the risks are those of records, not of classes")
        numbers = combinations_of(raw, relation.frame([*raw.columns]))
        place = np.full(len(raw.index) + 1, -1, np.intp)
        place[raw.index.get_indexer(self.table.index)] = np.arange(len(self.table.index))
        return place[numbers]


def _cleaned(raw: Tally, columns: Sequence[str], form: Format | None, spelled: bool) -> Tally:
    """Counted records with clean values in some columns; see ``MeasuredTable.stored``."""
    if form is not None and spelled:
        found = spellings_of_missing(raw.combinations[list(columns)])
        form = replace(form, missing_values=found)
    return cleaned_in(raw, columns, form)
