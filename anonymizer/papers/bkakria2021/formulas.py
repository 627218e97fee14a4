"""MIL and ELD in Table 4 of Bkakria et al. (2021): which formula gives how many of the cells."""

from collections.abc import Mapping

import numpy as np

from anonymizer.information.entropy import entropy
from anonymizer.papers.agreement import agrees
from anonymizer.papers.bkakria2021.cases import (
    INFERENCES,
    RECORDS,
    TABLE_4,
    diversity_risks,
    leakages,
    profile,
)
from anonymizer.papers.row import Row, Section
from anonymizer.risk import Inference, Profile

CELLS = (*RECORDS, *INFERENCES)
COLUMN = {"MIL": 3, "ELD": 4}

Formulas = Mapping[str, float]


def formulas() -> Section:
    """How many of the eight printed cells each formula gives."""
    rows = []
    for metric, readings in (("MIL", _leakages), ("ELD", _diversity_risks)):
        found = {name: readings(name) for name in CELLS}
        rows += [_counted(metric, formula, found) for formula in found[CELLS[0]]]
    return Section(
        "Table 4: what gives the cells of MIL and ELD",
        rows,
        "Eq. 8 is max_y H(X) - H(X|y). No formula gives all cells of MIL: the last two are taken "
        "for slips. The remarks list what a formula gives elsewhere.",
    )


def statements() -> Section:
    """Section 3.3 says that three metrics put the riskier of two cases below the other."""
    rows = [_below(short, column) for short, column in (("DR", 0), ("MI", 1), ("MIL", 3))]
    return Section("Table 4: what the text says of it", rows)


def _below(short: str, column: int) -> Row:
    first, second = (TABLE_4[name][column] for name in ("Age 3", "Age 5"))
    less = float(first.replace(",", ".")) < float(second.replace(",", "."))
    return Row.claim(
        f"{short} of Age 3, Age 5, as printed",
        less,
        f"{first}, {second}",
        "lower, higher",
        why="its own Table 4 says the opposite",
    )


def _leakages(name: str) -> Formulas:
    """What the text defines, what gives most cells, and what gives the last two."""
    known = profile(name)
    return {
        **leakages(name),
        "max p(y) H(X|y)": float(known.weighted.max()),
        "H(Y)": float(entropy(known.sizes)),
        "max log p(x|y) / p(x)": _pointwise(known),
    }


def _diversity_risks(name: str) -> Formulas:
    """PELD, its maximum, and that with p(q,x) taken for the joint probability."""
    known = profile(name)
    share = known.sizes / known.records
    joint = share * (np.log2(share) - known.uncertainties)
    return {**diversity_risks(name), "pELD of p(x, y)": float(2 ** joint.max())}


def _pointwise(known: Profile) -> float:
    """The largest log p(x|y) / p(x) of a value and a class that occur together, in bits."""
    if not isinstance(known, Inference):
        return float(known.i1.max())
    sizes = np.repeat(known.sizes, np.diff([*known.starts, len(known.counts)]))
    lift = known.counts * known.records / (sizes * known.margin[known.values])
    return float(np.log2(lift.max()))


def _counted(metric: str, formula: str, found: Mapping[str, Formulas]) -> Row:
    given = [name for name in found if agrees(found[name][formula], TABLE_4[name][COLUMN[metric]])]
    others = [f"{name} {found[name][formula]:.6f}" for name in found if name not in given]
    return Row(
        f"{metric}: {formula}",
        f"{len(given)} of {len(found)} cells",
        remark="; ".join(others),
        value=float(len(given)),
    )
