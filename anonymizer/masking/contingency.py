"""A table as a random recoding sees it: records by quasi-identifiers and sensitive values."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from anonymizer.channels import require_room
from anonymizer.counts.columns import by_text
from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.privacy import PrivacyModel, acceptable
from anonymizer.tables import engine
from anonymizer.tables.values import is_missing, text_of

Key = tuple[str | None, ...]
"""A combination of values, as texts; None is a missing one."""


@dataclass(frozen=True, eq=False)
class Contingency:
    """The records of a table, by combination of quasi-identifiers and of sensitive values.

    ``records``, shape (n, strata): by combination of quasi-identifiers, a row, and of sensitive
    values, a stratum. ``values``: what each row is, a value per quasi-identifier. ``codes``: of
    each sensitive attribute the code of its value in each stratum, shape (strata,); ``known``: its
    values. ``row_of``, ``stratum_of``: where each row of the table is, shape (rows,), and
    ``row_sizes`` the records that it stands for; None where it is one.
    """

    schema: Schema
    records: Ints = field(repr=False)
    values: tuple[tuple[Hashable, ...], ...] = field(repr=False)
    codes: Mapping[str, Codes] = field(repr=False)
    known: Mapping[str, tuple[object, ...]] = field(repr=False)
    row_of: Codes = field(repr=False)
    stratum_of: Codes = field(repr=False)
    row_sizes: Ints | None = field(default=None, repr=False)

    @classmethod
    def of(cls, table: engine.Table, schema: Schema) -> "Contingency":
        """Count a table as it stands, its combinations in the order of their texts.

        So nothing depends on the order of the records but which of them gets what.
        """
        row_of, first = _numbered(table, schema.quasi_identifiers)
        stratum_of, at = _numbered(table, schema.sensitive)
        sensitive = {name: by_text(table[name]) for name in schema.sensitive}
        for name, (_, values) in sensitive.items() if schema.missing == "gap" else ():
            if any(map(is_missing, values)):
                raise InputError(
                    f"column {name!r} misses values, which a random recoding cannot take for gaps; "
                    'choose missing = "drop" or "category", or another recoding'
                )
        n, strata = len(first), len(at)
        require_room(
            f"the {n:,} combinations of quasi-identifiers by the {strata:,} of sensitive values",
            (n, strata),
        )
        records = engine.sized(table, row_of * strata + stratum_of, n * strata)
        return cls(
            schema,
            records.reshape(n, strata),
            tuple(_rows(table, schema.quasi_identifiers, first)),
            {name: codes[at] for name, (codes, _) in sensitive.items()},
            {name: values for name, (_, values) in sensitive.items()},
            row_of,
            stratum_of,
            engine.sizes_of(table),
        )

    @property
    def forgetting(self) -> "Contingency":
        """The combinations of quasi-identifiers alone."""
        none = np.zeros(0, np.intp)
        records = np.zeros((len(self.values), 0), np.int64)
        return Contingency(self.schema, records, self.values, {}, {}, none, none)

    @cached_property
    def keys(self) -> list[Key]:
        """The combinations as texts, one per row."""
        return [key_of(value) for value in self.values]

    def rows_of(self, keys: Iterable[Key]) -> Codes:
        """The row of each combination, -1 where there is none, shape (keys,)."""
        known = {key: row for row, key in enumerate(self.keys)}
        return np.array([known.get(key, -1) for key in keys], np.intp)

    @cached_property
    def sizes(self) -> Ints:
        """Records by row, shape (n,)."""
        return np.asarray(self.records.sum(axis=1))

    def joint(self, name: str, records: Ints | None = None) -> Ints:
        """Records by row and value of an attribute, shape (rows, values).

        Of these rows, or of others that are counted by the same strata.
        """
        records = self.records if records is None else records
        found = np.zeros((len(records), len(self.known[name])), np.int64)
        np.add.at(found.T, self.codes[name], records.T)
        return found

    @cached_property
    def margins(self) -> dict[str, Ints]:
        """Records of the whole table by value, shape (values,), of each sensitive attribute."""
        return {name: self.joint(name).sum(axis=0) for name in self.codes}

    def counts(self, by_symbol: Ints) -> Counts:
        """The classes that symbols make, from records by symbol and stratum.

        They are measured against the whole table, whether they are all of it or not.
        """
        return Counts(
            ("released",),
            np.arange(len(by_symbol), dtype=np.intp)[:, None],
            by_symbol.sum(axis=1),
            {name: self.joint(name, by_symbol) for name in self.codes},
            self.margins,
            int(self.sizes.sum()),
            self.known,
        )

    def acceptable(self, by_symbol: Ints, models: Sequence[PrivacyModel]) -> Mask:
        """Mark symbols that satisfy every model as classes, shape (symbols,)."""
        mask = np.ones(len(by_symbol), bool)
        occupied = by_symbol.sum(axis=1) > 0
        mask[occupied] = acceptable(self.counts(by_symbol[occupied]), models)
        return mask


def key_of(values: Sequence[Hashable]) -> Key:
    """A combination of values as texts, equal for values that read alike."""
    return tuple(None if is_missing(value) else text_of(value) for value in values)


def distinct(values: Sequence[Hashable]) -> tuple[list[Hashable], Codes]:
    """The distinct values, by their texts, and which one each is, shape (values,)."""
    keys = [key_of((value,)) for value in values]
    first = dict(reversed(list(zip(keys, values, strict=True))))
    number = {key: place for place, key in enumerate(first)}
    return list(first.values()), np.array([number[key] for key in keys], np.intp)


def _numbered(table: engine.Table, names: Sequence[str]) -> tuple[Codes, Codes]:
    """Number combinations in the order of their texts: numbers by row, and their first rows.

    Combinations that read alike are one. A single number where there are no columns.
    """
    if not names:
        return np.zeros(len(table.index), np.intp), np.zeros(1, np.intp)
    number_of, first = engine.grouped(table, names)
    # None does not compare with texts: missing values come last.
    keys = [
        tuple((text is None, text or "") for text in key_of(row))
        for row in _rows(table, names, first)
    ]
    earliest = dict(zip(reversed(keys), reversed(first.tolist()), strict=True))
    place = {key: number for number, key in enumerate(sorted(earliest))}
    number = np.array([place[key] for key in keys], np.intp)
    return number[number_of], np.array([earliest[key] for key in place], np.intp)


def _rows(
    table: engine.Table, names: Sequence[str], records: Codes
) -> Iterable[tuple[Hashable, ...]]:
    columns = [table[name].iloc[records].astype(object) for name in names]
    return zip(*columns, strict=True)
