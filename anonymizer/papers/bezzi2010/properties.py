"""Table 1 of Bezzi (2010): which one-symbol informations are non-negative, and average to I(X;W).

What it says no to needs one table that shows it; what it says yes to is computed over all small
tables.
"""

from itertools import product

import numpy as np

from anonymizer.information.entropy import (
    mutual_information,
    partition_information,
    specific_information,
    surprise,
    weighted_uncertainty_reduction,
)
from anonymizer.kernels.arrays import Ints
from anonymizer.papers.row import Row, Section

CLASSES = 3
"""With two, I4 of either class is I(X;W)."""
MOST = 2
"""Records of a cell."""
DIGITS, ROUNDING = 9, 1e-9
YES = "Yes"

INFORMATIONS = {
    "I1": (surprise, "Yes", "Yes"),
    "I2": (specific_information, "No", "Yes"),
    "I3": (weighted_uncertainty_reduction, "No", "Yes"),
    "I4": (partition_information, "Yes", "No"),
}
"""As published: whether each is non-negative, and whether it averages to I(X;W)."""


def properties() -> Section:
    """Both properties of the four, over every small table."""
    cells = product(range(MOST + 1), repeat=2 * CLASSES)
    every = (np.array(cell, np.int64).reshape(CLASSES, 2) for cell in cells)
    tables = [table for table in every if table.any(axis=1).all()]
    rows = [row for name in INFORMATIONS for row in (_sign(name, tables), _mean(name, tables))]
    note = (
        f"Over all {len(tables)} tables of {CLASSES} classes and two values with up to {MOST} "
        "records in a cell. The chain rules, about three variables, are not computed."
    )
    return Section("Table 1: one-symbol informations", rows, note)


def _sign(name: str, tables: list[Ints]) -> Row:
    """Whether the least of any class of any table is negative."""
    information, published, _ = INFORMATIONS[name]
    least = [float(information(table).min()) for table in tables]
    lowest = int(np.argmin(np.round(least, DIGITS)))
    found = YES if least[lowest] >= -ROUNDING else "No"
    return Row.claim(
        f"{name}, non-negative",
        found == published,
        f"{found}: at least {max(least[lowest], 0.0) if found == YES else least[lowest]:.6f}",
        published,
        f"reached by {tables[lowest].tolist()}",
    )


def _mean(name: str, tables: list[Ints]) -> Row:
    """Whether the mean over records is the mutual information of every table."""
    information, _, published = INFORMATIONS[name]
    away = [
        abs(table.sum(axis=1) @ information(table) / table.sum() - mutual_information(table))
        for table in tables
    ]
    furthest = int(np.argmax(np.round(away, DIGITS)))
    found = YES if away[furthest] < ROUNDING else "No"
    return Row.claim(
        f"{name}, averages to I(X;W)",
        found == published,
        f"{found}: at most {away[furthest]:.6f} away",
        published,
        "" if found == YES else f"reached by {tables[furthest].tolist()}",
    )
