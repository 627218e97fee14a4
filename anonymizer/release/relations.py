"""Tables as recodings see them: in memory, or counted where they lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pandas as pd

from anonymizer.counts.ground import at_ground, grounded, require_countable, require_held
from anonymizer.errors import require_columns
from anonymizer.hierarchy import Hierarchy
from anonymizer.masking import Shift
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format, cleaned
from anonymizer.tables.relations.relation import Moves, Original, Relation, unchanged


@dataclass(frozen=True, eq=False)
class CountedTable:
    """A table as recodings see it, and the hierarchies of its quasi-identifiers.

    ``table``: its records in memory; or their tally with clean values, at the ground of the
    hierarchies, which follow from the records where they can. ``original``: the table where it
    lies, at that ground, and its tally of values as they are, row by row.
    """

    table: engine.Table = field(repr=False)
    hierarchies: Mapping[str, Hierarchy] = field(repr=False)
    original: Original | None = None

    @classmethod
    def of(
        cls,
        table: engine.Table | Relation,
        columns: Sequence[str],
        hierarchies: Mapping[str, Hierarchy],
        form: Format | None = None,
    ) -> CountedTable:
        """Count a table by some columns, unless it is in memory, or counted already.

        ``form``: how it lies in a file. InputError where memory would not hold the counts.
        """
        if isinstance(table, pd.DataFrame | Tally):
            return cls(table, hierarchies)
        relation, found = grounded(table, hierarchies, form)
        require_countable(relation, columns, found)
        raw, tally = counted_in(relation, columns, form)
        return cls(tally, found, Original(relation, raw))

    @property
    def columns(self) -> list[str]:
        """The columns of the table, those without a role too."""
        return [*(self.table if self.original is None else self.original).columns]

    @property
    def tally(self) -> Tally:
        """The tally of a table that does not lie in memory."""
        return cast(Tally, self.table)

    @property
    def at_ground(self) -> engine.Table:
        """The records with labels of their ground in place of values that have one."""
        return at_ground(self.table, self.hierarchies)


def counted_in(
    relation: Relation, columns: Sequence[str], form: Format | None = None
) -> tuple[Tally, Tally]:
    """The records of a table as they are, counted, and the same with clean values, row by row.

    ``form``: how the table lies in a file, whose blanks and spellings of missing values are no part
    of a value; a table in memory has none.
    """
    require_columns(relation.columns, columns)
    raw = relation.tally(columns)
    return raw, cleaned_in(raw, columns, form)


def cleaned_in(raw: Tally, columns: Sequence[str], form: Format | None) -> Tally:
    """Counted records with clean values, row by row; see ``counted_in``."""
    if form is None:
        return raw
    return engine.changed(raw, columns, lambda column: cleaned(column, form))


def shifted_in(
    relation: Relation, shift: Shift, person: Sequence[str], form: Format | None = None
) -> Relation:
    """A table with the dates of each person moved where it lies.

    They are moved once, however often the table is computed. InputError as of ``Shift.moved``, and
    where memory would not hold the dates.
    """
    names = [*dict.fromkeys([*person, *shift.names])]
    require_columns(relation.columns, names)
    require_countable(relation, names, {}, "the columns that are shifted and that tell persons")
    raw, clean = counted_in(relation, names, form)
    moved = shift.moved(clean, person)
    released = {name: _plain(moved[name], raw[name]) for name in shift.names}
    rows = np.arange(len(raw.index))
    return relation.recoded(
        Moves(raw, pd.DataFrame(released), rows, raw.sizes, tuple(relation.columns))
    )


def _plain(moved: pd.Series, raw: pd.Series) -> pd.Series:
    """Moved dates of the type that the table has; what counts as missing is as it was."""
    kind = raw.cat.categories.dtype
    return moved.astype(kind).where(~engine.missing(moved), raw.astype(kind))


def records_in(
    relation: Relation, columns: Sequence[str], form: Format | None, because: str
) -> pd.DataFrame:
    """All records of a table in memory, one by one, with clean values in some columns.

    ``because``: why they are needed so, as a sentence begins that ends in how many there are.
    InputError where they are more than memory holds.
    """
    require_held(relation, because)
    frame = relation.frame(relation.columns)
    if form is None:
        return frame
    return engine.replaced(frame, {name: cleaned(frame[name], form) for name in columns})


def admitted_in(
    relation: Relation, raw: Tally, admitted: Tally, columns: Sequence[str]
) -> Relation:
    """The records of a table that were admitted, with their values in some columns.

    ``raw``: the table, counted; ``admitted``: those of its rows that were, by its index.
    """
    changed = [name for name in columns if not unchanged(raw, admitted, name)]
    if not changed and len(admitted.index) == len(raw.index):
        return relation
    return relation.recoded(Moves.between(raw, admitted, relation.columns, changed))
