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

from anonymizer.feedback.progress import Watch, ignore
from anonymizer.kernels.arrays import Codes, Floats, Mask
from anonymizer.release.results import Result
from anonymizer.tables.numbering import crossed, first_records
from anonymizer.utility.labels import PairedAttribute
from anonymizer.utility.pairing import Pairing

FEW = 100
"""Most values of a column without a role that is tabulated: more are no categories."""


BLOCK = 1 << 20
"""Shares that are in memory at once."""


@dataclass(frozen=True)
class TotalVariation(Result):
    """The total variation distance of one table of counts: half the sum of |p - q|, 0 to 1.

    p is of the original records, q as estimated from the release; the share of the records that
    would have to move for one table to become the other.
    """

    columns: tuple[str, ...]
    total_variation: float


class CodedPairing(NamedTuple):
    """Column with the values of the original records, and what is released for them."""

    name: str
    codes: Codes  # of the value of each record, shape (records,)
    shown: Codes  # the released label of each record, shape (records,)
    groups: Codes  # the label of each value, shape (values,)
    alone: bool = False  # whether it has no role, so that suppression leaves it as it is
    covers: Mask | None = None  # the values of each label, (labels, values), where these overlap


def deviations(pairing: Pairing, watch: Watch = ignore) -> list[TotalVariation]:
    """Measure every one-way and two-way table of the columns that have few values.

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


def _columns(pairing: Pairing) -> list[CodedPairing]:
    found = [
        CodedPairing(name, a.codes, a.groups, _of_values(a), covers=a.covers)
        for name, a in pairing.attributes.items()
    ]
    for name, (codes, values) in pairing.others.items():
        if len(values) <= FEW or name in pairing.schema.counted:
            own = np.arange(len(values))
            found.append(CodedPairing(str(name), codes, codes, own, alone=True))
    return found


def _of_values(attribute: PairedAttribute) -> Codes:
    partition = attribute.partition
    return np.zeros(0, np.intp) if partition is None else partition.groups


def _distance(table: Sequence[CodedPairing], pairing: Pairing) -> float:
    """Sum max(p - q, 0) over the cells that occur in the original: half of all |p - q|."""
    cell, first = _numbered([column.codes for column in table])
    records = np.bincount(cell)
    values = [column.codes[first] for column in table]
    if any(column.covers is not None for column in table):
        spread = _overlapping(table, values)
        return float(np.maximum(records - spread, 0).sum() / len(cell))
    shown = ~pairing.suppressed
    hidden = pairing.suppressed & ~pairing.left_out
    spread = _expected(table, values, shown)
    spread += _expected([_whole(column) for column in table], values, hidden)
    released = shown.sum() + hidden.sum()
    return float(np.maximum(records / len(cell) - spread / released, 0).sum())


def _whole(column: CodedPairing) -> CodedPairing:
    if column.alone:
        return column
    return column._replace(shown=np.zeros_like(column.shown), groups=np.zeros_like(column.groups))


def _expected(table: Sequence[CodedPairing], cells: Sequence[Codes], among: np.ndarray) -> Floats:
    """Spread the records of every group over its values, shape (cells,)."""
    of_records = [column.shown[among] for column in table]
    of_cells = [column.groups[cell] for column, cell in zip(table, cells, strict=True)]
    number, _ = _numbered([np.concatenate(pair) for pair in zip(of_records, of_cells, strict=True)])
    among_records = int(among.sum())
    records = np.bincount(number[:among_records], minlength=int(number.max()) + 1)
    sizes = np.ones(len(cells[0]))
    for column, own in zip(table, of_cells, strict=True):
        sizes *= np.bincount(column.groups)[own]
    return np.asarray(records[number[among_records:]] / sizes)


def _overlapping(table: Sequence[CodedPairing], cells: Sequence[Codes]) -> Floats:
    """Spread the records of every label over its values, where labels overlap."""
    spread = np.zeros(len(cells[0]))
    labels = [int(column.shown.max(initial=0)) + 1 for column in table]
    digits = [(column.shown, most) for column, most in zip(table, labels, strict=True)]
    counts = crossed(digits, len(table[0].shown)).reshape(labels[0], -1)
    step = max(BLOCK // max(labels), 1)
    for begin in range(0, len(spread), step):
        block = slice(begin, begin + step)
        weights = [_weights(*each, block) for each in zip(table, cells, labels, strict=True)]
        other = weights[1] if len(weights) > 1 else np.ones((1, weights[0].shape[1]))
        spread[block] = (weights[0] * (counts @ other)).sum(axis=0)
    return spread


def _weights(column: CodedPairing, cells: Codes, labels: int, block: slice) -> Floats:
    """Return the share that each label gives to the value of some cells, (labels, cells)."""
    values = cells[block]
    if column.covers is None:
        own: Mask = column.groups[values] == np.arange(labels)[:, None]
        return own.astype(float)
    shares = column.covers[:labels] / column.covers[:labels].sum(axis=1, keepdims=True)
    weights: Floats = shares[:, values]
    return weights


def _numbered(digits: Sequence[Codes]) -> tuple[Codes, Codes]:
    """Number the distinct rows of one or two digits: the number of each row, and a row of each."""
    key = digits[0].astype(np.int64)
    for digit in digits[1:]:
        key = key * (int(digit.max(initial=0)) + 1) + digit
    number, _ = pd.factorize(key)
    return number, first_records(number)
