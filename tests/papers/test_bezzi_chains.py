"""The chain rules of Table 1 and the figures of Bezzi (2010), by plain Python."""

from math import log2

import numpy as np
import pytest

from anonymizer.papers.bezzi2010.chains import MEASURES, chain_rows, furthest, random_laws, smallest
from anonymizer.papers.bezzi2010.example import example
from anonymizer.papers.bezzi2010.mechanism import mechanisms


def surprise(own, mean):
    return sum(p * log2(p / q) for p, q in zip(own, mean, strict=True) if p)


def share(counts):
    return [n / sum(counts) for n in counts]


def test_which_chain_rules_hold():
    found = {row.quantity: row for rule in "XY" for row in chain_rows(rule)}
    holds = {name for name, row in found.items() if row.computed.startswith("Yes")}
    assert holds == {"I2, chain rule X", *(f"{name}, chain rule Y" for name in MEASURES)}
    wrong = {name for name, row in found.items() if row.status.startswith("cannot be")}
    assert wrong == {f"I{n}, chain rule X" for n in (1, 3, 4)} | {
        f"I{n}, chain rule Y" for n in (1, 3)
    }


def test_chain_rules_of_surprise_by_plain_python():
    law = random_laws()[7]
    gaps = []
    for x1, x2 in np.ndindex(law.shape[:2]):
        own, some, all_ = (
            share(counts.tolist()) for counts in (law[x1, x2], law[x1].sum(0), law.sum((0, 1)))
        )
        gaps.append(abs(surprise(own, all_) - surprise(some, all_) - surprise(own, some)))
    assert furthest("I1", "X", law) == pytest.approx(max(gaps))


def test_the_counterexample_by_hand():
    law = smallest("I1", "X")
    assert law.astype(int).tolist() == [[[0, 0], [0, 1]], [[0, 1], [1, 0]]]
    parts = surprise([1 / 2, 1 / 2], [1 / 3, 2 / 3]) + 1
    assert furthest("I1", "X", law) == pytest.approx(parts - log2(3 / 2))


def test_figure_1_is_that_of_plain_python():
    (row,) = (r for section in example() for r in section.rows if r.place == "Figure 1")
    whole = share([11, 1])
    classes = [share([*counts]) for counts in ((4, 0), (4, 0), (2, 0), (1, 1))]
    uncertainty = [-sum(p * log2(p) for p in c if p) for c in (whole, *classes)]
    assert row.series["I1"].values == pytest.approx([surprise(c, whole) for c in classes])
    assert row.series["I2"].values == pytest.approx([uncertainty[0] - h for h in uncertainty[1:]])
    mean = sum(n * surprise(c, whole) for n, c in zip((4, 4, 2, 2), classes, strict=True)) / 12
    assert row.series.limits["I1"] == pytest.approx(mean)


def test_the_noisy_count_by_plain_python():
    half = 1 / (1 + np.exp(-1.0))
    rows = {row.quantity: row for row in mechanisms().rows}
    assert rows["epsilon of the noisy count, in nats: Eq. 16"].value == pytest.approx(1)
    assert rows["theta of this epsilon, for every p(X0)"].value == pytest.approx(
        surprise([half, 1 - half], [1 - half, half])
    )
    assert all(row.status in ("", "as published") for row in rows.values())
