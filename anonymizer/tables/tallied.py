"""Tables counted by their values: each row stands for as many records as its size says."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.tables import pandas
from anonymizer.tables.engine import Tally


def tally(table: Tally, columns: Sequence[str]) -> Tally:
    group, first = pandas.grouped(table.combinations, columns)
    combinations = pandas.records_of(table.combinations[list(columns)], first)
    return Tally(combinations.reset_index(drop=True), sized(table, group, len(first)))


def grouped(table: Tally, columns: Sequence[str]) -> tuple[Codes, Codes]:
    return pandas.grouped(table.combinations, columns)


def records(table: Tally) -> int:
    return int(table.sizes.sum())


def sized(table: Tally, group: Codes, groups: int) -> Ints:
    # Sums of whole numbers below 2^53 are exact as floats.
    return np.bincount(group, table.sizes, minlength=groups).astype(np.int64)


def replaced(table: Tally, columns: Mapping[str, pd.Series]) -> Tally:
    return replace(table, combinations=pandas.replaced(table.combinations, columns))


def records_of(table: Tally, records: Codes | Mask) -> Tally:
    return Tally(pandas.records_of(table.combinations, records), table.sizes[records])


def sampled(table: Tally, chance: float, rng: np.random.Generator) -> Tally:
    drawn = rng.binomial(table.sizes, chance)
    return records_of(replace(table, sizes=drawn), drawn > 0)


def shuffled(table: Tally, rng: np.random.Generator) -> Tally:
    # Its rows say which combinations they were counted as, and have no order of records.
    return table


def chosen(table: Tally, columns: Sequence[str]) -> Tally:
    return replace(table, combinations=table.combinations[list(columns)])


def without_columns(table: Tally, columns: Sequence[str]) -> Tally:
    left = table.combinations.drop(columns=list(columns), errors="ignore")
    return replace(table, combinations=left)


def missing_values(table: Tally, columns: Sequence[str]) -> Mapping[str, int]:
    missing = {column: table[column].isna().to_numpy() for column in columns}
    counts = {column: int(table.sizes[rows].sum()) for column, rows in missing.items()}
    return {column: count for column, count in counts.items() if count}


def drop_missing(table: Tally, columns: Sequence[str]) -> Tally:
    return records_of(table, table.combinations[list(columns)].notna().all(axis=1).to_numpy())


def without_traces(table: Tally) -> Tally:
    return replace(table, combinations=pandas.without_traces(table.combinations))
