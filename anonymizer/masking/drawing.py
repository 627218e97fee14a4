"""Drawing a table from channels, so carefully that the drawn table holds its policy.

A channel promises what is expected; the table that is released is one draw. It is held against the
policy like any other table: counted, and drawn again where it fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.masking.contingency import Contingency
from anonymizer.masking.rounding import rounded
from anonymizer.privacy import PrivacyModel


@dataclass(frozen=True, eq=False)
class Drawn:
    """The symbol of each record, an array of shape (records,) for each part.

    ``by_class``: records by class, all parts together, and stratum, shape (classes, strata).
    """

    symbol_of: list[Codes]
    by_class: Ints


@dataclass(frozen=True, eq=False)
class Drawing:
    """How tables are drawn from channels: ``draws`` times at the most, until all models hold.

    ``independent``: every record by itself, which local differential privacy is about; otherwise
    the records of every symbol are kept near to what is expected. ``kept_of``: what every record
    has of attributes that are no part of any channel and separate classes all the same, shape
    (records,); None where there are none.
    """

    models: Sequence[PrivacyModel]
    draws: int
    rng: np.random.Generator
    independent: bool = False
    kept_of: Codes | None = field(default=None, repr=False)

    def draw(self, tables: Sequence[Contingency], matrices: Sequence[Floats]) -> Drawn | None:
        """The first draw that satisfies every model; None where all break one.

        Of the records of each part, and its channel q(y|x), shape (rows, symbols).
        """
        attempts = (self._attempt(tables, matrices) for _ in range(self.draws))
        return next((drawn for drawn in attempts if drawn is not None), None)

    def is_hopeless(self, tables: Sequence[Contingency], matrices: Sequence[Floats]) -> bool:
        """Whether the table nearest to what is expected breaks a model: draws are further from it.

        False where several parts or kept attributes make the classes.
        """
        if len(tables) > 1 or self.kept_of is not None:
            return False
        expected = np.rint(matrices[0].T @ tables[0].records).astype(np.int64)
        return not tables[0].acceptable(expected, self.models).all()

    def _attempt(self, tables: Sequence[Contingency], matrices: Sequence[Floats]) -> Drawn | None:
        """Draw the symbols of all records once; None where a class of them breaks a model."""
        pairs = zip(tables, matrices, strict=True)
        kinds = [self._kinds(table, matrix) for table, matrix in pairs]
        whole = tables[0]
        if len(tables) == 1 and self.kept_of is None:
            # The classes are known before any record has its symbol.
            by_class = np.zeros((matrices[0].shape[1], whole.records.shape[1]), np.int64)
            _, stratum, symbol, records = kinds[0].T
            np.add.at(by_class, (symbol, stratum), records)
            if not whole.acceptable(by_class, self.models).all():
                return None
            return Drawn([_dealt(whole, kinds[0], self.rng)], by_class)
        symbol_of = [_dealt(*each, self.rng) for each in zip(tables, kinds, strict=True)]
        kept = [] if self.kept_of is None else [self.kept_of]
        by_class = _by_class(whole, [*symbol_of, *kept])
        return Drawn(symbol_of, by_class) if whole.acceptable(by_class, self.models).all() else None

    def _kinds(self, table: Contingency, matrix: Floats) -> Ints:
        """Draw from a channel, stratum by stratum of equal sensitive values.

        Every record gets each symbol with the channel's chance. Rounded, the records of a symbol
        with some sensitive values are within one of what is expected. Returns row, stratum, symbol,
        and the records of that kind, shape (kinds, 4).
        """
        found = []
        for stratum, sizes in enumerate(table.records.T):
            rows = np.flatnonzero(sizes)
            columns = np.flatnonzero(matrix[rows].max(axis=0, initial=0.0) > 0)
            channel = matrix[np.ix_(rows, columns)]
            if self.independent:
                records = self.rng.multinomial(sizes[rows], channel)
            else:
                records = rounded(sizes[rows], channel, self.rng)
            row, column = np.nonzero(records)
            kind = [rows[row], np.full(len(row), stratum), columns[column], records[row, column]]
            found.append(np.column_stack(kind))
        return np.concatenate(found)


def _dealt(table: Contingency, kinds: Ints, rng: np.random.Generator) -> Codes:
    """The symbol of each record, those alike being dealt theirs at random, shape (records,)."""
    # Both sides in the order of rows, then strata: what was drawn for a kind goes to its records.
    shuffled = rng.permutation(len(table.row_of))
    order = np.lexsort((table.stratum_of[shuffled], table.row_of[shuffled]))
    _, _, symbol, records = kinds[np.lexsort((kinds[:, 1], kinds[:, 0]))].T
    symbol_of = np.empty(len(shuffled), np.intp)
    symbol_of[shuffled[order]] = np.repeat(symbol, records)
    return symbol_of


def _by_class(table: Contingency, codes: Sequence[Codes]) -> Ints:
    """Records by class, a combination of codes, and stratum, shape (classes, strata)."""
    _, class_of = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    strata = table.records.shape[1]
    keys = class_of.reshape(-1) * strata + table.stratum_of
    return np.bincount(keys, minlength=(class_of.max() + 1) * strata).reshape(-1, strata)
