"""Longpré, Kreinovich, Dumrongpokaphan, "Entropy as a measure of average loss of privacy" (2017).

The celebrity's house of section 1, one of 2000, and what its questions cost by Eq. 4, 15 and 16.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.information.entropy import mutual_information
from anonymizer.papers.row import Row, Section
from anonymizer.privacy.query_loss import QueryLoss, query_loss, together
from anonymizer.risk import Reidentification

TITLE = "Longpré et al. (2017); losses of privacy in bits"

HOUSES = np.arange(1, 2001)
BELOW_1000, BELOW_1001 = HOUSES < 1000, HOUSES < 1001
BOTH = together(BELOW_1000, BELOW_1001)
ODD = HOUSES % 2
QUESTIONS: dict[str, NDArray[np.generic]] = {
    "A, h < 1000": BELOW_1000,
    "B, h < 1001": BELOW_1001,
    "A and B": BOTH,
    "C, h odd": ODD,
    "B and C": together(BELOW_1001, ODD),
    "h = 1000": HOUSES == 1000,
    "no question": HOUSES > 0,
    "every house": HOUSES,
}
WEIGHTED: dict[str, tuple[tuple[float, ...], Sequence[object]]] = {
    "{a,b}, {c,d}": ((0.5, 0.25, 0.125, 0.125), "aabb"),
    "{a}, {b,c,d}": ((0.5, 0.25, 0.125, 0.125), "abbb"),
    "{a,c}, {b,d}": ((0.5, 0.25, 0.125, 0.125), "abab"),
    "the last two": ((0.5, 0.25, 0.125, 0.125), together("abbb", "abab").tolist()),
    "is it a?": ((0.9, *[0.0125] * 8), "abbbbbbbb"),
}
"""Alternatives a, b, ... by their probabilities, and the answer to each."""
EXACTLY = "printed as exactly 1 bit: 999 houses against 1,001 make it less"


def sections() -> Sequence[Section]:
    """Compute the example, its questions one by one, and alternatives of different weight.

    A question independent of another adds to its loss. Answers may make the truth less certain
    where alternatives differ in weight.
    """
    losses = {name: query_loss(labels) for name, labels in QUESTIONS.items()}
    weighted = {name: query_loss(answers, weights) for name, (weights, answers) in WEIGHTED.items()}
    return [
        _celebrity(),
        Section(
            "Section 2 and Eq. 16: questions about the house",
            _listed(losses),
            "B and C are independent, and their losses add up; those of A and B do not.",
        ),
        Section(
            "Illustration: alternatives of different weight",
            _listed(weighted),
            "Probabilities 0.5, 0.25, 0.125, 0.125; for the last question 0.9 and 8 of 0.0125. Its "
            "answer no costs less than nothing: a loss is not -log2 p(E) unless all are alike.",
        ),
    ]


def _celebrity() -> Section:
    """What the text says of the two questions about the house."""
    first, second, both = map(query_loss, (BELOW_1000, BELOW_1001, BOTH))
    classes = Reidentification.of(np.bincount(BOTH))  # a question is a release of classes
    alone = int(classes.sizes.min())
    gap = first.average + second.average - both.average
    joint = pd.crosstab(BELOW_1000, BELOW_1001).to_numpy()
    rows = [
        Row.number("S_0, 2000 houses", first.uncertainty, "11", "printed as S ≈ 11"),
        Row.number("A, average loss", first.average, "1", EXACTLY, ".9f"),
        Row.number("B, average loss", second.average, "1", "1,000 houses either way", ".9f"),
        Row.number(
            "A, mean uncertainty left",
            first.uncertainty - first.average,
            remark="after Eq. 16, which prints log2(E_j) for log2 p(E_j)",
            form=".9f",
        ),
        # One answer to both questions leaves a single house.
        *(
            Row.number(
                f"A and B, loss where {size:,} house{'s are' if size > 1 else ' is'} left",
                float(loss),
                remark=f"probability {size / classes.records:g}",
            )
            for size, loss in zip(classes.sizes.tolist(), classes.i2, strict=True)
        ),
        Row.claim(
            "houses left by the answer that tells most",
            alone == 1 and both.maximum == both.uncertainty,
            f"{alone}, after which nothing is left to ask",
            "1000 is the only option",
        ),
        Row.number("its probability", alone / classes.records, "0.0005", "printed as 1/2,000"),
        # On average both cost no more than one and the other in sum: the answer above is hidden.
        Row.claim(
            "A and B, average loss",
            both.average < 2,
            f"{both.average:.9f}",
            "less than 2 bits",
            f"the largest loss, {both.maximum:.6f}, is what the average hides",
        ),
        Row.claim(
            "A + B - (A and B), average losses: Eq. 5",
            gap >= 0,
            f"{gap:.9f}",
            "not negative",
            f"I(A;B), by counts {float(mutual_information(joint)):.9f}",
        ),
    ]
    return Section("Section 1: where does the celebrity live?", rows, "h: her house, 1 to 2000.")


def _listed(losses: Mapping[str, QueryLoss]) -> list[Row]:
    """The loss of each question: average, deviation, and from the least to the most."""
    return [
        Row.number(f"{name}: {figure}", value, form=".9f")
        for name, loss in losses.items()
        for figure, value in {
            "average loss": loss.average,
            "standard deviation": loss.standard_deviation,
            "largest loss": loss.maximum,
            "smallest loss": loss.minimum,
        }.items()
    ]
