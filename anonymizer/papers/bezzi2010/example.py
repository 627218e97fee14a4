"""Table 1 of Bezzi (2010), and its example, Tables 2 and 3: twelve people, heights in decades.

Table 1: which one-symbol informations are non-negative, and average to I(X;W). What it says no to
needs one table that shows it; what it says yes to is computed over all small tables.
"""

from collections.abc import Sequence
from functools import cache
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
from anonymizer.papers.bezzi2010.chains import EVENNESS, LAWS, chain_rows
from anonymizer.papers.columns import inference, reidentification
from anonymizer.papers.row import IMPOSSIBLE, PublishedSection, Row, bars_of
from anonymizer.risk import Profile

CLASSES = 3
"""With two, I4 of either class is I(X;W)."""
MOST = 2
"""Records of a cell."""
DIGITS, ROUNDING = 9, 1e-9
YES = "Yes"
BITS = "anonymizer.information.entropy"
CEILING = "anonymizer.EntropyLDiversity.ceiling"

INFORMATIONS = {
    "I1": (surprise, "Yes", "Yes"),
    "I2": (specific_information, "No", "Yes"),
    "I3": (weighted_uncertainty_reduction, "No", "Yes"),
    "I4": (partition_information, "Yes", "No"),
}
"""As published: whether each is non-negative, and whether it averages to I(X;W)."""


def properties() -> PublishedSection:
    """Both properties of the four, over every small table."""
    tables = small_tables()
    rows = [row for name in INFORMATIONS for row in (_sign(name, tables), _mean(name, tables))]
    note = (
        f"Signs and means over all {len(tables)} tables of {CLASSES} classes and two values with "
        f"up to {MOST} records in a cell; chain rules over {LAWS} random laws of three variables, "
        f"Dirichlet({EVENNESS}). "
        "With its two columns of chain rules exchanged, Table 1 holds but for I4."
    )
    rows = [*rows, *chain_rows("X"), *chain_rows("Y")]
    return PublishedSection("Table 1: one-symbol informations", rows, note, "Table 1")


@cache
def small_tables() -> list[Ints]:
    """Every table of three classes, none of them empty, with few records of two values."""
    cells = product(range(MOST + 1), repeat=2 * CLASSES)
    every = (np.array(cell, np.int64).reshape(CLASSES, 2) for cell in cells)
    return [table for table in every if table.any(axis=1).all()]


def _sign(name: str, tables: list[Ints]) -> Row:
    """Return whether the least of any class of any table is negative."""
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
        where=f"{BITS}.{information.__name__}",
    )


def _mean(name: str, tables: list[Ints]) -> Row:
    """Return whether the mean over records is the mutual information of every table."""
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
        where=f"{BITS}.{information.__name__}",
    )


HEIGHTS = (166, 163, 161, 167, 175, 170, 170, 171, 181, 183, 195, 191)
DIAGNOSES = tuple("NNNNNNNNNNYN")
"""Table 2; its names are all different."""
DECADES = tuple(height // 10 * 10 for height in HEIGHTS)
LISTED = 13
"""Lines of Table 3 in the text at hand."""


DIAGNOSIS = inference(DIAGNOSES, DECADES)
"""The diagnosis W at risk, heights known as decades that include their lower end."""
LABELS = [f"[{decade}, {decade + 10})" for decade in dict.fromkeys(DECADES)]
JOINT: Ints = np.array(
    [
        [
            sum((d, w) == (decade, name) for d, w in zip(DECADES, DIAGNOSES, strict=True))
            for name in "NY"
        ]
        for decade in dict.fromkeys(DECADES)
    ]
)
"""Records of Table 3 by class and diagnosis, N before Y, shape (4, 2)."""
FOUND = {"I1": DIAGNOSIS.i1, "I2": DIAGNOSIS.i2, "I3": DIAGNOSIS.i3, "I4": DIAGNOSIS.i4}


def example() -> list[PublishedSection]:
    """Reproduce what the classes tell about the diagnosis, and about who it is."""
    return [_classes(), _whole(), _identity()]


def _classes() -> PublishedSection:
    mean = DIAGNOSIS.measures.mutual_information
    above = [
        {label for label, value in zip(LABELS, FOUND[name], strict=True) if value > mean}
        for name in ("I1", "I2")
    ]
    rows = [
        Row(
            "records",
            f"{DIAGNOSIS.records}",
            f"{LISTED} lines",
            "Table 3, whose lines cannot be separated into classes; Table 2 is used",
            float(DIAGNOSIS.records),
            f"{IMPOSSIBLE}: Table 2 has {DIAGNOSIS.records} records",
        ),
        Row(
            "records of each class",
            _sizes(DECADES),
            remark="right-closed decades, 170 in (160, 170], would make it "
            + _sizes([(height - 1) // 10 for height in HEIGHTS]),
        ),
        *(
            Row.number(f"{name}(W, {label})", float(value))
            for name, values in FOUND.items()
            for label, value in zip(LABELS, values, strict=True)
        ),
        Row(
            "Figure 1: I1 and I2 of each class",
            f"{len(LABELS)} classes",
            remark=f"the line is I(X~;W) = {mean:.6f}",
            series=bars_of(
                "class",
                LABELS,
                {name: FOUND[name] for name in ("I1", "I2")},
                dict.fromkeys(("I1", "I2"), mean),
            ),
            place="Figure 1",
            where="anonymizer.risk.Profile",
        ),
        Row.claim(
            "classes above the mean, by I1; by I2",
            bool(above[0] and above[1]) and not above[0] & above[1],
            "; ".join(" ".join(sorted(labels)) for labels in above),
            "at risk by one, not by the other",
        ),
    ]
    return PublishedSection(
        "Tables 2 and 3, Figure 1: what each class tells about the diagnosis",
        rows,
        place="Table 3",
        where="anonymizer.risk.Profile",
    )


def _whole() -> PublishedSection:
    found = DIAGNOSIS
    measures, share = found.measures, found.sizes / found.records
    raw = inference(DIAGNOSES, HEIGHTS).measures.mutual_information
    bits, t = measures.uncertainty, measures.i1_max
    rows = [
        Row.number("H(W)", bits, place="Section 2.2", where=f"{BITS}.entropy"),
        Row.number(
            "I(X~;W)",
            measures.mutual_information,
            place="Eq. 9",
            where=f"{BITS}.mutual_information",
        ),
        Row.claim(
            "I(X~;W) <= I(X;W): Eq. 4",
            measures.mutual_information <= raw,
            f"{measures.mutual_information:.6f} <= {raw:.6f}",
            "holds",
            place="Eq. 4",
            where=f"{BITS}.mutual_information",
        ),
        *(Row.number(f"mean of {name}", float(share @ i)) for name, i in FOUND.items()),
        Row(
            "k",
            f"{found.sizes.min()}",
            value=float(found.sizes.min()),
            place="Eq. 5",
            where="anonymizer.KAnonymity",
        ),
        Row.number("t, the largest I1", t, place="Eq. 8", where="anonymizer.TCloseness"),
        Row.number(
            "l, of entropy",
            1 / measures.entropy_l_diversity_risk,
            place="Eq. 10",
            where="anonymizer.EntropyLDiversity",
        ),
        Row.number("l_max = 2^H(W)", 2**bits, place="Eq. 15", where=CEILING),
        Row.number(
            "l_t = 2^(H(W) - t)",
            2 ** (bits - t),
            remark="less than 1: t requires no l",
            place="Eq. 12",
            where=CEILING,
        ),
    ]
    return PublishedSection(
        "Tables 2 and 3: the release as a whole",
        rows,
        place="Section 3",
        where="anonymizer.risk.measures",
    )


def _identity() -> PublishedSection:
    """Reproduce the identity at risk; Eq. 6 holds with equality in the smallest class."""
    found: Profile = reidentification(DECADES)
    bound = float(np.log2(found.records / found.sizes.min()))
    rows = [
        Row.number("H(X)", found.uncertainty),
        Row.number("I(X;X~)", found.measures.mutual_information),
        *(
            Row.number(f"I2(X, {label})", float(value))
            for label, value in zip(LABELS, found.i2, strict=True)
        ),
        Row.claim(
            "largest I2(X, x~): Eq. 6",
            bool(found.i2.max() <= bound + 1e-9),
            f"{found.i2.max():.6f}",
            "at most log2 N / k",
            f"log2 N / k = {bound:.6f}",
        ),
    ]
    return PublishedSection(
        "Tables 2 and 3: what each class tells about who it is",
        rows,
        place="Eq. 6",
        where="anonymizer.risk.Profile",
    )


def _sizes(groups: Sequence[int]) -> str:
    return ", ".join(str(groups.count(group)) for group in dict.fromkeys(sorted(groups)))
