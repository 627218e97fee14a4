"""Pictures of what the paper tells in words: losses by house, by place, number and shape."""

import numpy as np
from numpy.typing import NDArray

from anonymizer.papers.longpre2017.house import BELOW_1000, BELOW_1001, BOTH, HOUSES, LOSS
from anonymizer.papers.row import Column, PlottedSeries, PublishedSection, Row
from anonymizer.privacy.query_loss import QueryLoss, losses_by_answer, query_loss, together

NEAR = slice(995, 1004)
"""Houses 996 to 1004."""
NUMBERS = range(1, 12)
CHANCES = tuple(float(p) for p in np.linspace(0.02, 0.98, 49))
OTHERS = 8


def drawn() -> PublishedSection:
    """The paper draws nothing: these are its examples, drawn."""
    rows = [_by_house(), _by_place(), *_by_number(), _by_weight()]
    note = (
        "The paper has no figures. Halves: the digits of h - 1 in binary, the highest first. "
        "Spread: n thresholds at even distances. Neighbours: h < 1000, h < 1001 and so on. Single "
        "houses: h = 1000, h = 1001 and so on."
    )
    return PublishedSection("Drawn: losses by number and shape of queries", rows, note, where=LOSS)


def _by_house() -> Row:
    """Show the loss by A, by B and by both where she lives in each house."""
    losses = [
        Column(name, label, _losses_of(answers)[NEAR].tolist(), "bits")
        for name, label, answers in (
            ("a", "A, h < 1000", BELOW_1000),
            ("b", "B, h < 1001", BELOW_1001),
            ("both", "A and B", BOTH),
        )
    ]
    houses = HOUSES[NEAR].tolist()
    uncertainty = Column(
        "uncertainty", "S_0", [query_loss(HOUSES).uncertainty] * len(houses), "bits"
    )
    series = PlottedSeries(
        [Column("house", "her house h", houses)],
        [*losses, uncertainty],
        axis="house",
        what="loss",
    )
    return Row(
        "loss by house",
        f"{len(houses)} houses of 2,000",
        remark="two harmless questions find house 1000, and no other",
        series=series,
        place="Section 1",
    )


def _losses_of(answers: NDArray[np.generic]) -> NDArray[np.float64]:
    codes = together(answers)  # numbered by first appearance, as losses are
    return losses_by_answer(codes)[1][codes]


def _by_place() -> Row:
    """One question h < c: a bit in the middle, next to nothing on average at the ends."""
    cuts = [2, *range(50, 2000, 50), 2000]
    losses = [query_loss(cut > HOUSES) for cut in cuts]
    series = PlottedSeries([Column("cut", "c", cuts)], _figures(losses), axis="cut", what="loss")
    return Row(
        "one question, h < c",
        f"{len(cuts)} questions",
        remark="the average is at most 1 bit; the largest loss grows as an end comes near",
        series=series,
        place="Section 1",
    )


def _figures(losses: list[QueryLoss]) -> list[Column]:
    """Average, deviation and largest loss along an axis."""
    return [
        Column("average", "average loss", [loss.average for loss in losses], "bits"),
        Column("deviation", "standard deviation", [x.standard_deviation for x in losses], "bits"),
        Column("largest", "largest loss", [loss.maximum for loss in losses], "bits"),
    ]


def shapes(number: int) -> dict[str, list[NDArray[np.bool_]]]:
    """Make questions of each shape."""
    return {
        "halves": [(HOUSES - 1) >> (10 - i) & 1 == 1 for i in range(number)],
        "spread": [2000 * (i + 1) // (number + 1) >= HOUSES for i in range(number)],
        "neighbours": [1000 + i > HOUSES for i in range(number)],
        "single": [1000 + i == HOUSES for i in range(number)],
    }


LABELS = {
    "halves": "halves",
    "spread": "spread",
    "neighbours": "neighbours",
    "single": "single houses",
}


def _by_number() -> list[Row]:
    """The average and the largest loss of n questions together, by their shape."""
    losses = {
        shape: [query_loss(together(*shapes(number)[shape])) for number in NUMBERS]
        for shape in LABELS
    }
    top = Column("uncertainty", "S_0", [query_loss(HOUSES).uncertainty] * len(NUMBERS), "bits")
    rows = []
    for what, tops, remark in (
        ("average", [top], "n yes-no questions cost n bits at most; halves come close"),
        ("maximum", [], "neighbours find a house with two questions, single ones with one"),
    ):
        measures = [
            Column(shape, LABELS[shape], [getattr(loss, what) for loss in found], "bits")
            for shape, found in losses.items()
        ]
        series = PlottedSeries(
            [Column("questions", "questions", [*NUMBERS])],
            [*measures, *tops],
            axis="questions",
            what="loss",
        )
        title = "average" if what == "average" else "largest"
        rows.append(
            Row(
                f"{title} loss by number and shape of questions",
                f"{len(NUMBERS)} numbers of 4 shapes",
                remark=remark,
                series=series,
                place="Section 2, discussion",
            )
        )
    return rows


def _by_weight() -> Row:
    """Is it a? By the probability of a, against eight others alike."""
    answers, laws = "a" + "b" * OTHERS, [[p, *[(1 - p) / OTHERS] * OTHERS] for p in CHANCES]
    by_answer = [losses_by_answer(answers, law)[1] for law in laws]
    averages = [query_loss(answers, law).average for law in laws]
    series = PlottedSeries(
        [Column("chance", "p(a)", CHANCES)],
        [
            Column("average", "average loss", averages, "bits"),
            Column("yes", "answer yes", [float(each[0]) for each in by_answer], "bits"),
            Column("no", "answer no", [float(each[1]) for each in by_answer], "bits"),
        ],
        axis="chance",
        what="loss",
    )
    return Row(
        "is it a? of nine alternatives",
        f"{len(CHANCES)} probabilities",
        remark="where a is likely, no makes the truth less certain: a negative loss",
        series=series,
        place="Section 2, S_0 - S_j",
    )
