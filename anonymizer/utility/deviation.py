"""How far tables of counts are off that an analyst estimates from a release.

The convention: a released group says that each of its values is as likely, so its records are
spread evenly over them; those of a suppressed record over all values. Values are those that the
hierarchy lists, else those that occur. Attributes are spread independently. Records that were left
out are not there to be counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.recoding import Watch, ignore
from anonymizer.release.results import Result
from anonymizer.tables.numbering import first_records
from anonymizer.utility.pairing import Pairing

FEW = 100
"""Most values of a column without a role that is tabulated: more are no categories."""


@dataclass(frozen=True)
class TotalVariation(Result):
    """The total variation distance of one table of counts: half the sum of |p - q|, 0 to 1.

    p is of the original records, q as estimated from the release; the share of the records that
    would have to move for one table to become the other.
    """

    columns: tuple[str, ...]
    total_variation: float


class Coded(NamedTuple):
    """One column: the values of the original records, and what is released for them."""

    name: str
    codes: Codes  # of the value of each record, shape (records,)
    groups: Codes  # the released group of each value, shape (values,)
    whole: Codes  # that of the value of a suppressed record


def deviations(pairing: Pairing, watch: Watch = ignore) -> list[TotalVariation]:
    """The distance of every one-way and two-way table of the columns that have few values.

    Quasi-identifiers and sensitive attributes are tabulated whatever their values, other columns
    up to ``FEW`` values.
    """
    columns = _columns(pairing)
    tables = [(column,) for column in columns] + list(combinations(columns, 2))
    found = []
    for done, table in enumerate(tables):
        watch("comparing tables of counts", done, len(tables))
        names = tuple(column.name for column in table)
        found.append(TotalVariation(names, _distance(table, pairing)))
    return found


def _columns(pairing: Pairing) -> list[Coded]:
    found = [
        Coded(name, a.codes, a.partition.groups, np.zeros(a.values, np.intp))
        for name, a in pairing.attributes.items()
    ]
    for name, (codes, values) in pairing.others.items():
        if len(values) <= FEW or name in pairing.schema.counted:
            own = np.arange(len(values))
            found.append(Coded(str(name), codes, own, own))
    return found


def _distance(table: Sequence[Coded], pairing: Pairing) -> float:
    """Sum of max(p - q, 0) over the cells that occur in the original: half of all |p - q|."""
    cell, first = _numbered([column.codes for column in table])
    records = np.bincount(cell)
    values = [column.codes[first] for column in table]
    shown = ~pairing.suppressed
    hidden = pairing.suppressed & ~pairing.left_out
    spread = _expected(table, values, [column.groups for column in table], shown)
    spread += _expected(table, values, [column.whole for column in table], hidden)
    released = shown.sum() + hidden.sum()
    return float(np.maximum(records / len(cell) - spread / released, 0).sum())


def _expected(
    table: Sequence[Coded], cells: Sequence[Codes], groups: Sequence[Codes], among: np.ndarray
) -> Floats:
    """Records of each cell once those of every group are spread over its values, shape (cells,)."""
    of_records = [group[column.codes[among]] for group, column in zip(groups, table, strict=True)]
    of_cells = [group[cell] for group, cell in zip(groups, cells, strict=True)]
    number, _ = _numbered([np.concatenate(pair) for pair in zip(of_records, of_cells, strict=True)])
    among_records = int(among.sum())
    records = np.bincount(number[:among_records], minlength=int(number.max()) + 1)
    sizes = np.ones(len(cells[0]))
    for group, own in zip(groups, of_cells, strict=True):
        sizes *= np.bincount(group)[own]
    return np.asarray(records[number[among_records:]] / sizes)


def _numbered(digits: Sequence[Codes]) -> tuple[Codes, Codes]:
    """Number the distinct rows of one or two digits: the number of each row, and a row of each."""
    key = digits[0].astype(np.int64)
    for digit in digits[1:]:
        key = key * (int(digit.max(initial=0)) + 1) + digit
    number, _ = pd.factorize(key)
    return number, first_records(number)
