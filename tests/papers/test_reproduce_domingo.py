"""Domingo-Ferrer and Rebollo-Monedero: rows and pictures against sums that share no code."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from papers.computed import sections_of

from anonymizer.papers import plots

X = (20, 30, 50)
JOINT = [[4 / 16, 1 / 16], [2 / 16, 2 / 16], [1 / 16, 6 / 16]]
CHANNEL = [[0.5, 0.5, 0], [0.25, 0.75, 0], [0, 0, 1]]


@pytest.fixture(scope="module")
def sections():
    return sections_of("domingo2009")


@pytest.fixture(scope="module")
def rows(sections):
    return {row.quantity: row for part in sections for row in part.rows}


def information(law):
    """I in bits of a matrix of probabilities, by its definition."""
    down, across = [sum(row) for row in law], [sum(column) for column in zip(*law, strict=True)]
    return sum(
        p * math.log2(p / down[i] / across[j])
        for i, row in enumerate(law)
        for j, p in enumerate(row)
        if p
    )


def test_every_statement_has_a_row_and_holds(rows):
    places = " ".join(row.place for row in rows.values())
    for place in (
        "Section 1, pil", "Section 2", "Section 3", "Section 4", "Lemma 1", "Lemma 1, proof",
        "Section 5, model 1", "Section 5, model 2", "Section 5, model 3", "Section 5, model 4",
        "Section 5, synthetic data", "Figure 1", "Section 6", "Appendix",
    ):  # fmt: skip
        assert place in places
    assert {row.status for row in rows.values() if row.published} == {"as published"}


def test_footnote_1_is_unbounded_and_pil_is_not(rows):
    assert rows["relative discrepancy of 0 and 0.1"].computed == f"{math.inf}"
    z = 0.1 / math.sqrt(1 / 500)
    bounded = 2 * NormalDist().cdf(z) - 1
    row = rows["a mean of 0 that becomes 0.1, 500 records of variance 1"]
    assert row.computed == f"pil = {bounded:.6f}"


def test_a_masking_by_hand(rows):
    p = [sum(row) for row in JOINT]
    law = [[p[i] * CHANNEL[i][j] for j in range(3)] for i in range(3)]
    released = [
        [sum(CHANNEL[i][j] * JOINT[i][w] for i in range(3)) for w in range(2)] for j in range(3)
    ]
    distortion = sum(law[i][j] * (X[i] - X[j]) ** 2 for i in range(3) for j in range(3))
    assert rows["E d(X,X'), d = |x - x'|^2"].computed == f"{distortion:.6f} square years"
    assert rows["I(X';X), identity disclosure"].computed.startswith(f"{information(law):.6f} of")
    assert rows["I(X';Y), attribute disclosure"].computed.startswith(f"{information(released):.6f}")
    loss = information(JOINT) - information(released)
    assert rows["I(X;Y) - I(X';Y) of the same masking"].computed == f"{loss:.6f} bits"
    square = [[0.2 * (x * x == y) for y in (0, 1, 4)] for x in range(-2, 3)]
    assert f"{information(square):.6f} bits" in rows["Y = X^2 of a uniform X on -2 to 2"].computed
    chance = 2 * NormalDist().cdf(1.96) - 1
    assert rows["pil(theta) by its definition"].remark.endswith(f"{chance:.6f}")


def test_normal_vectors_by_the_best_split_of_the_rate(rows):
    """The rate is shared between two canonical variables; all splits on a fine grid are tried."""
    a = np.random.default_rng(5).normal(size=(5, 5))
    s = a @ a.T + 0.2 * np.eye(5)
    inverse = np.linalg.inv
    squares = np.linalg.eigvals(
        inverse(s[:2, :2]) @ s[:2, 2:] @ inverse(s[2:, 2:]) @ s[2:, :2]
    ).real  # canonical correlations, squared
    kept = lambda rate, square: -0.5 * np.log2(1 - square * (1 - 4.0**-rate))  # noqa: E731
    series = rows["Figure 1: normal vectors"].series
    for loss, rate in zip(series["loss"].values, series["rate"].values, strict=True):
        split = np.linspace(0, rate, 2001)
        best = (kept(split, squares[0]) + kept(rate - split, squares[1])).max()
        assert loss == pytest.approx(-0.5 * np.log2(1 - squares).sum() - best, abs=1e-6)
    assert series["rate"].values == pytest.approx([0, 0.25, 0.5, 1, 1.5, 2, 3, 4])


def test_synthetic_data_are_values(rows):
    assert "4 cities" in rows["X' as synthetic data: 20,000 records of cities"].computed
    found = rows["I(X';X) at most 0.5 bits, in the sample"].computed
    told, kept, whole = (float(found.split()[i]) for i in (0, 4, 8))
    city = [[4 / 20, 1 / 20], [3 / 20, 2 / 20], [2 / 20, 3 / 20], [1 / 20, 4 / 20]]
    assert whole == pytest.approx(information(city), abs=0.01)
    assert 0 < kept < whole
    assert kept < told <= 0.51


def test_figure_1(rows):
    normal = rows["Figure 1: distortion"]
    assert normal.computed == "5 points, all certified"
    assert normal.series["rate"].values == pytest.approx(normal.series["closed"].values, abs=1e-5)
    binary = rows["Figure 1: mutual information"].series
    assert binary["rate"].values == pytest.approx(binary["closed"].values, abs=1e-6)


def test_noise_costs_the_variance_before_the_covariance(rows):
    series = rows["pil of noise added"].series
    for measure in series.measures:
        assert measure.values[0] == 0
        assert list(measure.values) == sorted(measure.values)
    assert series["variance"].values[-1] > 0.99 > series["covariance"].values[-1]


def test_the_picture(tmp_path, sections):
    plots.draw(sections, tmp_path / "p.svg")
    text = (tmp_path / "p.svg").read_text()
    assert "<!-- Model" not in text
    for label in ("Mrs Gerber's lemma", "noise", "bits", "Figure 1: normal vectors"):
        assert label in text
