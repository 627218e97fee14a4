"""The role of every column that matters to privacy, and the way from a tally to counts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anonymizer.counts import Counts
from anonymizer.engines import pandas as engine
from anonymizer.errors import InputError, PolicyBrokenError, did_you_mean
from anonymizer.hierarchy import Hierarchy, Taxonomy

__all__ = ["MISSING", "Schema", "classes_of", "recount", "require_columns", "taxonomies_of"]

MOST_CELLS = 200_000_000
"""Cells of a count matrix beyond are refused before they are allocated (1.6 GB)."""

MISSING = ("error", "drop", "category")
"""What to do with records that miss a value: refuse, leave them out, or count it as a value."""


@dataclass(frozen=True)
class Schema:
    """Which column is what; an attribute has one role.

    Parameters
    ----------
    names
        The quasi-identifiers.
    sensitive
        The sensitive attributes.
    identifiers
        Columns that a release leaves out.
    missing
        One of ``MISSING``; concerns quasi-identifiers and sensitive attributes alone.
    """

    names: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifiers: tuple[str, ...] = ()
    missing: str = "error"

    def __post_init__(self) -> None:
        for name in (*self.columns, *self.identifiers):
            if not isinstance(name, str):
                raise InputError(
                    f"column names must be texts, not {name!r}; rename(columns=str) mends it"
                )
        if not self.names:
            raise InputError("name at least one quasi-identifier and its hierarchy")
        if self.missing not in MISSING:
            raise InputError(
                f"missing = {self.missing!r} is none of {', '.join(MISSING)}"
                + did_you_mean(str(self.missing), MISSING)
            )
        roles = Counter([*self.columns, *self.identifiers])
        twice = [name for name, count in roles.items() if count > 1]
        if twice:
            raise InputError(f"column {twice[0]!r} has more than one role; give it one")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are counted."""
        return (*self.names, *self.sensitive)

    def admit(self, table: pd.DataFrame) -> pd.DataFrame:
        """Check that a table has the columns and values it needs; leave out what is to be dropped.

        Blanks around the texts of quasi-identifiers and sensitive attributes are stripped: they
        would make one value look like two.

        Raises
        ------
        InputError
            On a column that is unknown or stands twice, a table without records, or missing values
            under ``missing = "error"``.
        """
        require_columns(table.columns, [*self.columns, *self.identifiers])
        if not len(table):
            raise InputError("the table has no records")
        table = engine.replaced(
            table, {name: engine.stripped(table[name]) for name in self.columns}
        )
        if self.missing != "drop":
            self._require_values(table)
            return table
        kept = engine.drop_missing(table, self.columns)
        if not len(kept):
            raise InputError("every record misses a value, so that none is left to release")
        return kept

    def require_released(self, table: pd.DataFrame) -> None:
        """Check that a table can be a release: the columns are there, and every value.

        Raises
        ------
        InputError
            On a column that is unknown or stands twice, a table without records, or missing values
            unless they are a category.
        PolicyBrokenError
            When an identifier stands in the table.
        """
        require_columns(table.columns, self.columns)
        present = [name for name in self.identifiers if name in table.columns]
        if present:
            raise PolicyBrokenError(f"the table holds the identifier {present[0]!r}: no release")
        if not len(table):
            raise InputError("the table has no records")
        self._require_values(table)

    def _require_values(self, table: pd.DataFrame) -> None:
        if self.missing == "category":
            return
        for column, count in engine.missing_values(table, self.columns).items():
            raise InputError(
                f"column {column!r} misses the value of {count} of {len(table)} records; "
                'choose missing = "drop" or "category", or clean the column'
            )

    def counts(self, tally: engine.Tally, taxonomies: Mapping[str, Taxonomy]) -> Counts:
        """Turn a tally into counts, cells being codes of the taxonomies."""
        cells = [_encoded(tally.combinations[name], taxonomies[name]) for name in self.names]
        return _counts(tally, self.names, cells, self.sensitive)


def taxonomies_of(tally: engine.Tally, hierarchies: Mapping[str, Hierarchy]) -> dict[str, Taxonomy]:
    """Each quasi-identifier's hierarchy, held against the values that occur.

    Raises
    ------
    InputError
        When a hierarchy lacks values.
    """
    return {
        name: hierarchy.over(name, engine.distinct(tally.combinations[name])[1])
        for name, hierarchy in hierarchies.items()
    }


def recount(table: pd.DataFrame, names: Sequence[str], sensitive: Sequence[str]) -> Counts:
    """Count a table as it is: classes are the combinations of values that stand there.

    Knows nothing of hierarchies, recodings or searches: the yardstick a release is held against.
    """
    tally = engine.tally(table, [*names, *sensitive])
    cells = [engine.distinct(tally.combinations[name])[0] for name in names]
    return _counts(tally, tuple(names), cells, sensitive)


def classes_of(table: pd.DataFrame, schema: Schema) -> tuple[Counts, np.ndarray]:
    """Count the classes of a table as it stands, and say which one each record is in.

    Returns
    -------
    The counts, and the class of each record, shape (records,).
    """
    class_of, first = engine.grouped(table, schema.names)
    cells = [engine.distinct(table[name])[0][first] for name in schema.names]
    joint = {name: _histograms(table[name], class_of, len(first)) for name in schema.sensitive}
    margins = {name: np.asarray(matrix.sum(axis=0)) for name, matrix in joint.items()}
    sizes = np.bincount(class_of, minlength=len(first)).astype(np.int64)
    matrix = np.column_stack(cells).astype(np.intp)
    return Counts(schema.names, matrix, sizes, joint, margins, len(table)), class_of


def require_columns(columns: Iterable[object], wanted: Iterable[str], hint: str = "") -> None:
    """Require that a table has every wanted column, and no column twice.

    Where a wanted column lacks, the others are not listed: a table without a header line would
    show its first record.

    Raises
    ------
    InputError
        Naming the column and the nearest one that exists.
    """
    known = list(columns)
    for name in wanted:
        if name not in known:
            near = did_you_mean(name, [text for text in known if isinstance(text, str)])
            raise InputError(f"the table has no column {name!r}{near or hint}")
    twice = [name for name, count in Counter(known).items() if count > 1]
    if twice:
        raise InputError(f"column {twice[0]!r} stands more than once; give columns distinct names")


def _encoded(column: pd.Series, taxonomy: Taxonomy) -> np.ndarray:
    codes, values = engine.distinct(column)
    return taxonomy.encode(values)[codes]


def _counts(
    tally: engine.Tally,
    names: tuple[str, ...],
    cells: Sequence[np.ndarray],
    sensitive: Sequence[str],
) -> Counts:
    joint = {name: _spread(tally.combinations[name], tally.sizes) for name in sensitive}
    matrix = np.column_stack(cells).astype(np.intp)
    return Counts.of(names, matrix, tally.sizes, joint)


def _histograms(column: pd.Series, class_of: np.ndarray, classes: int) -> np.ndarray:
    """Records by class and value, shape (classes, values)."""
    codes, values = engine.distinct(column)
    _require_countable(column, classes, len(values))
    cells = np.bincount(class_of * len(values) + codes, minlength=classes * len(values))
    return cells.astype(np.int64).reshape(classes, len(values))


def _require_countable(column: pd.Series, rows: int, values: int) -> None:
    if rows * values > MOST_CELLS:
        raise InputError(
            f"column {column.name!r} has {values:,} distinct values, too many to count in "
            f"{rows:,} combinations; is it a sensitive attribute, or an identifier?"
        )


def _spread(column: pd.Series, sizes: np.ndarray) -> np.ndarray:
    """The sizes of a tally's rows, each in the column of its sensitive value."""
    codes, values = engine.distinct(column)
    _require_countable(column, len(sizes), len(values))
    # By text, so that sums of logarithms do not depend on the order of the records.
    place = np.argsort(np.argsort(np.array([str(value) for value in values]), kind="stable"))
    joint = np.zeros((len(sizes), len(values)), np.int64)
    joint[np.arange(len(sizes)), place[codes]] = sizes
    return joint
