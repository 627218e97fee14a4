"""A table as a random recoding sees it: records by the values to mask and the sensitive ones."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.channels import require_room
from anonymizer.counts.columns import by_text
from anonymizer.counts.counts import Counts, Ints
from anonymizer.counts.schema import Schema
from anonymizer.privacy import Mask, PrivacyModel, acceptable
from anonymizer.tables import engine
from anonymizer.tables.values import is_missing, text_of

__all__ = ["Codes", "Crossed", "Key", "key_of"]

Codes = NDArray[np.intp]
Key = tuple[str | None, ...]
"""A combination of values, as texts; None is a missing one."""


@dataclass(frozen=True, eq=False)
class Crossed:
    """The records of a table, by combination of quasi-identifiers and of sensitive values.

    Parameters
    ----------
    schema
        The roles of the columns.
    records
        Records by combination of quasi-identifiers and combination of sensitive values, shape
        (n, strata).
    values
        What each row is: a tuple of values, one per quasi-identifier.
    kinds
        For each sensitive attribute the code of its value in each stratum, shape (strata,).
    known
        For each of them its values.
    row_of, stratum_of
        Where each record is, shape (records,).
    """

    schema: Schema
    records: Ints = field(repr=False)
    values: tuple[tuple[Hashable, ...], ...] = field(repr=False)
    kinds: dict[str, Codes] = field(repr=False)
    known: dict[str, tuple[object, ...]] = field(repr=False)
    row_of: Codes = field(repr=False)
    stratum_of: Codes = field(repr=False)

    @classmethod
    def of(cls, table: pd.DataFrame, schema: Schema) -> "Crossed":
        """Count a table as it stands, its combinations in the order of their texts.

        So nothing depends on the order of the records but which of them gets what.
        """
        row_of, first = _numbered(table, schema.names)
        values = tuple(
            table.iloc[first][list(schema.names)].astype(object).itertuples(index=False, name=None)
        )
        stratum_of, at = _numbered(table, schema.sensitive)
        kinds, known = {}, {}
        for name in schema.sensitive:
            codes, values_of = by_text(table[name])
            kinds[name], known[name] = codes[at], values_of
        shape = (len(first), len(at))
        require_room(
            f"the {shape[0]:,} combinations of quasi-identifiers by the {shape[1]:,} of sensitive "
            "values",
            shape,
        )
        records = np.bincount(row_of * shape[1] + stratum_of, minlength=shape[0] * shape[1])
        return cls(
            schema,
            records.reshape(shape).astype(np.int64),
            values,
            kinds,
            known,
            row_of,
            stratum_of,
        )

    @property
    def forgetting(self) -> "Crossed":
        """The combinations of quasi-identifiers alone."""
        none = np.zeros(0, np.intp)
        counts = np.zeros((len(self.values), 0), np.int64)
        return Crossed(self.schema, counts, self.values, {}, {}, none, none)

    @cached_property
    def keys(self) -> list[Key]:
        """The combinations as texts, one per row."""
        return [key_of(value) for value in self.values]

    @property
    def sizes(self) -> Ints:
        """Records by row, shape (n,)."""
        return np.asarray(self.records.sum(axis=1))

    def joint(self, name: str, records: Ints | None = None) -> Ints:
        """Records by row and value of an attribute, shape (rows, values).

        Of these rows, or of others that are counted by the same strata.
        """
        records = self.records if records is None else records
        found = np.zeros((len(records), len(self.known[name])), np.int64)
        np.add.at(found.T, self.kinds[name], records.T)
        return found

    def counts(self, by_symbol: Ints) -> Counts:
        """The classes that symbols make, from records by symbol and stratum.

        They are measured against the whole table, whether they are all of it or not.
        """
        return Counts(
            ("released",),
            np.arange(len(by_symbol), dtype=np.intp)[:, None],
            by_symbol.sum(axis=1),
            {name: self.joint(name, by_symbol) for name in self.kinds},
            self.margins,
            int(self.sizes.sum()),
            self.known,
        )

    def acceptable(self, by_symbol: Ints, models: Sequence[PrivacyModel]) -> Mask:
        """Which symbols satisfy every model as classes, shape (symbols,); those of none do."""
        mask = np.ones(len(by_symbol), bool)
        occupied = by_symbol.sum(axis=1) > 0
        mask[occupied] = acceptable(self.counts(by_symbol[occupied]), models)
        return mask

    @cached_property
    def margins(self) -> dict[str, Ints]:
        """Records of the whole table by value, shape (values,), of each sensitive attribute."""
        return {name: self.joint(name).sum(axis=0) for name in self.kinds}


def key_of(values: Sequence[Hashable]) -> Key:
    """A combination of values as texts, equal for values that read alike."""
    return tuple(None if is_missing(value) else text_of(value) for value in values)


def _numbered(table: pd.DataFrame, names: Sequence[str]) -> tuple[Codes, Codes]:
    """Number combinations in the order of their texts: numbers by record, and their first records.

    Combinations that read alike are one. A single number where there are no columns.
    """
    if not names:
        return np.zeros(len(table), np.intp), np.zeros(1, np.intp)
    number_of, first = engine.grouped(table, names)
    rows = table.iloc[first][list(names)].astype(object).itertuples(index=False, name=None)
    keys = [tuple((text is None, text or "") for text in key_of(row)) for row in rows]
    earliest = dict(zip(reversed(keys), reversed(first.tolist()), strict=True))
    place = {key: number for number, key in enumerate(sorted(earliest))}
    number = np.array([place[key] for key in keys], np.intp)
    return number[number_of], np.array([earliest[key] for key in place], np.intp)
