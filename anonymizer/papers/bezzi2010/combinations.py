"""Weighted combinations of I1 and I2, section 2.2 of Bezzi (2010): which are informations."""

import numpy as np

from anonymizer.information.entropy import mutual_information, specific_information, surprise
from anonymizer.kernels.arrays import Floats
from anonymizer.papers.bezzi2010.chains import chain_x, random_laws
from anonymizer.papers.bezzi2010.example import BITS, JOINT
from anonymizer.papers.row import Row

ROUNDING = 1e-9
WEIGHTS = (-1.0, 0.0, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0)
"""Values of a in a I1 + (1 - a) I2, other than 1."""


def combinations() -> list[Row]:
    """What the section says of a I1 + (1 - a) I2."""
    shares = JOINT.sum(axis=1) / JOINT.sum()
    i1, i2 = surprise(JOINT), specific_information(JOINT)
    averages = [float(shares @ (a * i1 + (1 - a) * i2)) for a in WEIGHTS]
    off = max(abs(mean - mutual_information(JOINT)) for mean in averages)
    lowest = [least_of_combination(a) for a in WEIGHTS]
    law = random_laws()[0]
    gaps = {a: combination_gap(a, law) for a in (*WEIGHTS, 1.0)}
    return [
        Row.claim(
            "any a I1 + (1 - a) I2 averages to I",
            off < ROUNDING,
            f"at most {off:.1e} bits away for {len(WEIGHTS)} values of a",
            "averages to I",
            where=f"{BITS}.surprise",
        ),
        Row.claim(
            "I1, the only one of them that is never negative",
            max(lowest) < 0,
            f"any other a is negative near p(w): {', '.join(f'{low:.1e}' for low in lowest)}",
            "the only positive decomposition",
            f"a = {', '.join(f'{a:g}' for a in WEIGHTS)}; of other forms it is not the only one, "
            "as I(X~;W) itself for every symbol is another",
            where=f"{BITS}.surprise",
        ),
        Row.claim(
            "I2, the only one of them that adds up (chain X)",
            all((gap < ROUNDING) == (a == 0) for a, gap in gaps.items()),
            ", ".join(f"a = {a:g}: {gap:.4f}" for a, gap in gaps.items()),
            "the only decomposition that is also additive",
            "bits away from the chain rule, in one random law",
            where=f"{BITS}.specific_information",
        ),
    ]


def least_of_combination(weight: float) -> float:
    """The lower value of a I1 + (1 - a) I2 of two classes, close to p(w) on either side, in bits.

    There I1 is of second order in the distance and I2 of first, with either sign.
    """
    prior, near = np.array([0.25, 0.75]), 0.1 * abs(1 - weight) / (1 + abs(weight))
    joint = prior + near * np.array([[1, -1], [-1, 1]])
    combined = weight * surprise(joint, prior) + (1 - weight) * specific_information(joint, prior)
    return float(combined.min())


def combination_gap(weight: float, law: Floats) -> float:
    """How far a I1 + (1 - a) I2 is from chain rule X, at the worst symbol, in bits."""
    sides = [
        weight * np.asarray(one) + (1 - weight) * np.asarray(two)
        for one, two in zip(chain_x("I1", law), chain_x("I2", law), strict=True)
    ]
    return float(np.abs(sides[0] - sides[1]).max())
