"""Columns that another one determines, by counts of pairs of values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anonymizer.kernels.arrays import Codes
from anonymizer.profiling.columns import ProfiledColumn
from anonymizer.tables.numbering import crossed

SAMPLED = 20_000
"""Records by which pairs of columns are compared, evenly spread over the table."""

WRONG = 0.02
"""Part of the records off the commonest value whose value a determining column may get wrong."""

REPEATED = 3
"""Records per value that a determining column has on average: a key determines everything."""

ENOUGH = 10
"""Records off the commonest value from which on guessing them all right means something."""

DENSE = 4
"""Pairs of values per record that are counted in a table of all of them."""


@dataclass(frozen=True)
class Determined:
    """A column whose value is known from another one, and whether the other's is known from it."""

    name: str
    by: str
    mutual: bool


def determined(columns: Sequence[ProfiledColumn]) -> list[Determined]:
    """Find the columns that another one determines, at most once each; of a mutual pair both.

    Pairs are compared on ``SAMPLED`` records at most: a column that is determined on these may
    differ elsewhere, so that this is a proposal and no proof.
    """
    some: dict[str, Codes] = {}
    for column in columns:
        codes = column.codes[:: step_of(len(column.codes))]
        some[column.name] = np.asarray(pd.factorize(codes)[0], np.intp)
    known = {
        (one, other)
        for one, codes in some.items()
        for other, others in some.items()
        if one != other and _determines(codes, others)
    }
    return [
        Determined(name, by, (name, by) in known)
        for name in some
        for by in [next((one for one in some if (one, name) in known), None)]
        if by is not None
    ]


def step_of(records: int) -> int:
    """Return the step by which records are looked at, so that there are ``SAMPLED`` at most."""
    return max(-(-records // SAMPLED), 1)


def _determines(codes: Codes, others: Codes) -> bool:
    """Return whether the likeliest value of the others, given the codes, is right nearly always."""
    records, number, bound = len(codes), int(codes.max()) + 1, int(others.max()) + 1
    rarer = records - int(np.bincount(others).max())
    # Fewer values cannot determine more, and a key would determine everything.
    if number < bound or rarer < ENOUGH or number * REPEATED > records:
        return False
    return records - _right(codes, others, number, bound) <= WRONG * rarer


def _right(codes: Codes, others: Codes, number: int, bound: int) -> int:
    """Count the records that have the likeliest of the others given their code."""
    if number * bound <= DENSE * len(codes):
        return int(crossed([(codes, number), (others, bound)], len(codes)).max(axis=1).sum())
    pairs, sizes = np.unique(codes * bound + others, return_counts=True)
    starts = np.flatnonzero(np.diff(pairs // bound, prepend=-1))
    return int(np.maximum.reduceat(sizes, starts).sum())
