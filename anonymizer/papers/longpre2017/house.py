"""Section 1: the celebrity's house, one of 2000; questions about it, and unequal alternatives."""

import heapq
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.information.entropy import entropy, mutual_information
from anonymizer.kernels.arrays import Codes
from anonymizer.papers.row import PublishedSection, Row
from anonymizer.privacy.query_loss import QueryLoss, query_loss, together
from anonymizer.risk import Reidentification

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
LAW = (0.5, 0.25, 0.125, 0.125)
WEIGHTED: dict[str, tuple[tuple[float, ...], Sequence[object]]] = {
    "{a,b}, {c,d}": (LAW, "aabb"),
    "{a}, {b,c,d}": (LAW, "abbb"),
    "{a,c}, {b,d}": (LAW, "abab"),
    "the last two": (LAW, together("abbb", "abab").tolist()),
    "is it a?": ((0.9, *[0.0125] * 8), "abbbbbbbb"),
}
"""Alternatives a, b, ... by their probabilities, and the answer to each."""
LOSS = "anonymizer.privacy.query_loss.query_loss"


def celebrity() -> PublishedSection:
    """Check what the text says of the house, and of the two questions about it."""
    rows = [*_questions_needed(), *_two_questions(), *_both(), _subadditive()]
    return PublishedSection(
        "Section 1: where does the celebrity live?", rows, "h: her house, 1 to 2000.",
        place="Section 1", where=LOSS,
    )  # fmt: skip


def questions() -> PublishedSection:
    """Questions about the house one by one; one that is independent of another adds to its loss."""
    return PublishedSection(
        "Section 2 and Eq. 16: questions about the house",
        _listed({name: query_loss(labels) for name, labels in QUESTIONS.items()}),
        "B and C are independent, and their losses add up; those of A and B do not.",
        place="Section 2",
        where=LOSS,
    )


def weighted() -> PublishedSection:
    """Answers may make the truth less certain where alternatives differ in weight."""
    losses = {name: query_loss(answers, weights) for name, (weights, answers) in WEIGHTED.items()}
    return PublishedSection(
        "Illustration: alternatives of different weight",
        _listed(losses),
        "Probabilities 0.5, 0.25, 0.125, 0.125; for the last question 0.9 and 8 of 0.0125. Its "
        "answer no costs less than nothing: a loss is not -log2 p(E) unless all are alike.",
        place="Section 2",
        where=LOSS,
    )


def _questions_needed() -> list[Row]:
    """Entropy as a number of questions."""
    halving, mean, bits = _halvings(len(HOUSES)), _huffman(LAW), float(entropy(LAW))
    return [
        Row.number(
            "S_0, 2000 houses",
            query_loss(HOUSES).uncertainty,
            "11",
            "printed as S ≈ 11",
            place="Section 1, S = log2 n",
        ),
        Row.claim(
            "alternatives that k questions tell apart, k = 1 to 11",
            all(len(np.unique(together(*_bits_of(k)))) == 2**k for k in range(1, 12)),
            "2, 4, 8 and so on to 2,048",
            "2^k",
            "every binary number of k digits is an answer",
            place="Section 1, S = log2 n",
            where="anonymizer.privacy.query_loss.together",
        ),
        Row.number("questions that find one of 2000 houses", halving, "11", "halving", ".0f"),
        Row.claim(
            "mean number of questions, 0.5, 0.25, 0.125, 0.125",
            abs(mean - bits) < 1e-12,
            f"{mean:.6f} by the best questions, {bits:.6f} bits",
            "S = -sum p log2 p",
            "Huffman's questions; up to one more where probabilities are no powers of 1/2",
            place="Section 1, S of probabilities",
            where="anonymizer.information.entropy.entropy",
        ),
    ]


def _bits_of(k: int) -> list[Codes]:
    return [np.arange(2**k) >> digit & 1 for digit in range(k)]


def _halvings(houses: int) -> int:
    return 0 if houses == 1 else 1 + _halvings(-(-houses // 2))


def _huffman(law: Sequence[float]) -> float:
    """The mean number of yes-no questions of the best order: the sum of all joined weights."""
    heap, mean = list(law), 0.0
    heapq.heapify(heap)
    while len(heap) > 1:
        joined = heapq.heappop(heap) + heapq.heappop(heap)
        heapq.heappush(heap, joined)
        mean += joined
    return mean


def _two_questions() -> list[Row]:
    """Each by itself: one bit, and a thousand houses left."""
    first, second = query_loss(BELOW_1000), query_loss(BELOW_1001)
    left = np.bincount(BELOW_1000), np.bincount(BELOW_1001)
    return [
        Row.claim(
            "A, average loss",
            first.average == 1,
            f"{first.average:.9f}",
            "exactly 1 bit",
            why="999 houses against 1,001 make it less",
        ),
        Row.number("B, average loss", second.average, "1", "1,000 houses either way", ".9f"),
        Row.claim(
            "houses left by A, whatever the answer",
            bool((left[0] == 1000).all()),
            " or ".join(f"{houses:,}" for houses in left[0]),
            "1,000",
            f"by B {left[1].min():,} or {left[1].max():,}",
            why="numbers from 1 to 999 are 999 houses, and from 1000 to 2000 are 1,001",
        ),
        Row.number(
            "A, mean uncertainty left",
            first.uncertainty - first.average,
            remark="after Eq. 16, which prints log2(E_j) for log2 p(E_j)",
            form=".9f",
            place="Eq. 16",
        ),
    ]


def _both() -> list[Row]:
    """One answer to both questions leaves a single house."""
    both, classes = query_loss(BOTH), Reidentification.of(np.bincount(BOTH))
    alone = int(classes.sizes.min())
    return [
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
        Row.number(
            "its probability",
            alone / classes.records,
            "0.0005",
            "printed as 1/2,000",
            place="Section 2, discussion",
        ),
        # On average both cost no more than one and the other in sum: the answer above is hidden.
        Row.claim(
            "A and B, average loss",
            both.average < 2,
            f"{both.average:.9f}",
            "less than 2 bits",
            f"the largest loss, {both.maximum:.6f}, is what the average hides",
            place="Section 2, discussion",
        ),
    ]


def _subadditive() -> Row:
    first, second, both = map(query_loss, (BELOW_1000, BELOW_1001, BOTH))
    gap = first.average + second.average - both.average
    joint = pd.crosstab(BELOW_1000, BELOW_1001).to_numpy()
    return Row.claim(
        "A + B - (A and B), average losses: Eq. 5",
        gap >= 0,
        f"{gap:.9f}",
        "not negative",
        f"I(A;B), by counts {float(mutual_information(joint)):.9f}",
        place="Eq. 5",
        where="anonymizer.privacy.query_loss.together",
    )


def _listed(losses: Mapping[str, QueryLoss]) -> list[Row]:
    """The loss of each question: average, deviation, and from the least to the most."""
    return [
        Row.number(f"{name}: {figure}", value, form=".9f", place=place)
        for name, loss in losses.items()
        for figure, value, place in (
            ("average loss", loss.average, "Eq. 4"),
            ("standard deviation", loss.standard_deviation, "Eq. 16"),
            ("largest loss", loss.maximum, "Section 2, S_0 - S_j"),
            ("smallest loss", loss.minimum, "Section 2, S_0 - S_j"),
        )
    ]
