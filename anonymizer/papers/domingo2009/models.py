"""Section 5: the four models of coins and of a normal scalar, and Figure 1."""

import numpy as np

from anonymizer.channels import (
    bottleneck_path,
    gaussian_channel,
    gaussian_rate,
    information_bottleneck,
    rate_distortion,
    squared,
)
from anonymizer.kernels.arrays import Floats
from anonymizer.papers.row import Column, PlottedSeries, PublishedSection, Row

CHANCE, LIMIT = 0.3, 0.1
FLIP = 0.1
COIN = np.array([[0.0, 1.0], [1.0, 0.0]])
BINARY = np.array([[1 - FLIP, FLIP], [FLIP, 1 - FLIP]]) / 2
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
EXACT = 1e-8


def four_models() -> PublishedSection:
    """Models 1 to 4, and Figure 1."""
    rows = [*_rate_distortion(), _normal(), *_bottleneck(), _figure_1(), _figure_1_bottleneck()]
    note = (
        "The paper defines the models and computes none. Models 3 and 4 are not convex: what is "
        "found for them is a local optimum, here the known best."
    )
    where = "anonymizer.channels.rate_distortion"
    title = "Section 5: the four models, in bits"
    return PublishedSection(title, rows, note, place="Section 5", where=where)


def _entropy(chance: float) -> float:
    return float(-chance * np.log2(chance) - (1 - chance) * np.log2(1 - chance))


def _rate_distortion() -> list[Row]:
    """Models 1 and 2 of a coin: R(D) = h(p) - h(D)."""
    known = _entropy(CHANCE) - _entropy(LIMIT)
    first = rate_distortion([CHANCE, 1 - CHANCE], COIN, distortion_limit=LIMIT)
    second = rate_distortion([CHANCE, 1 - CHANCE], COIN, rate_limit=known)
    return [
        Row.claim(
            "Model 1: a coin of chance 0.3, D = 0.1",
            first.certified and abs(first.leakage - known) < EXACT,
            f"I(X';X) = {first.leakage:.9f}, gap {first.gap:.0e}",
            "the rate-distortion function",
            f"h(0.3) - h(0.1) = {known:.9f}",
            place="Section 5, model 1",
        ),
        Row.claim(
            "Model 2: the same coin at that rate",
            second.certified and abs(second.distortion - LIMIT) < EXACT,
            f"E d = {second.distortion:.9f}, gap {second.gap:.0e}",
            "the distortion-rate function",
            "of the random quantization that section 6 relates it to",
            place="Section 5, model 2",
        ),
    ]


def _grid() -> tuple[Floats, Floats]:
    x = np.linspace(-6, 6, 121)
    p = np.exp(-(x**2) / 2)
    return x, p / p.sum()


def _normal() -> Row:
    """The rule of model 1 for a normal X: N((1 - d) x + d mu, d (1 - d) sigma^2)."""
    x, p = _grid()
    found = rate_distortion(p, squared(x), distortion_limit=0.5)
    known = float(gaussian_rate(0.5, 1.0)[0])
    rule = gaussian_channel(x, x, 0.0, 1.0, 0.5)
    distortion = float(p @ (rule * squared(x)).sum(axis=1))
    return Row.claim(
        "Model 1: the closed form of a normal X, d = 0.5",
        found.certified and abs(found.leakage - known) < 1e-6,
        f"I(X';X) = {found.leakage:.9f} on 121 samples, {known:.9f} in closed form",
        "p(x'|x) = N((1-d) x + d mu, d (1-d) sigma^2)",
        f"the rule rounded to samples: E d = {distortion:.6f}; Z is N(mu, (1-d)/d sigma^2)",
        place="Section 5, model 1",
        where="anonymizer.channels.gaussian_channel",
    )


def _bottleneck() -> list[Row]:
    """Models 3 and 4 of a binary symmetric channel: Mrs Gerber's lemma."""
    delta = 0.2
    both = FLIP * (1 - delta) + (1 - FLIP) * delta
    rate, relevance = 1 - _entropy(delta), 1 - _entropy(both)
    loss = 1 - _entropy(FLIP) - relevance
    third = information_bottleneck(BINARY, relevance_loss_limit=loss)
    fourth = information_bottleneck(BINARY, rate_limit=rate)
    return [
        Row.claim(
            f"Model 3: flips of 0.1, loss at most {loss:.6f}",
            abs(third.rate - rate) < 1e-7,
            f"I(X';X) = {third.rate:.9f}, a {third.optimality}",
            "minimised; no algorithm given",
            f"Mrs Gerber's lemma: {rate:.9f}",
            place="Section 5, model 3",
            where="anonymizer.channels.information_bottleneck",
        ),
        Row.claim(
            f"Model 4: the same, rate at most {rate:.6f}",
            abs(fourth.loss - loss) < 1e-7,
            f"I(X;Y) - I(X';Y) = {fourth.loss:.9f}, a {fourth.optimality}",
            "minimised; no algorithm given",
            f"Mrs Gerber's lemma: {loss:.9f}",
            place="Section 5, model 4",
            where="anonymizer.channels.information_bottleneck",
        ),
    ]


def _figure_1() -> Row:
    """Risk against loss, the rate against the distortion."""
    x, p = _grid()
    found = [rate_distortion(p, squared(x), distortion_limit=share) for share in SHARES]
    series = PlottedSeries(
        [Column("distortion", "loss: D", list(SHARES))],
        [
            Column("rate", "risk: R(D), models 1 and 2", [f.leakage for f in found], "bits"),
            Column("closed", "1/2 log2(1/D)", gaussian_rate(SHARES, 1.0).tolist(), "bits"),
        ],
        axis="distortion",
        what="risk",
    )
    certified = "all" if all(f.certified for f in found) else "not all"
    return Row(
        "Figure 1: distortion",
        f"{len(found)} points, {certified} certified",
        remark="a normal X of variance 1, squared error; the figure is a sketch without scale",
        series=series,
        place="Figure 1",
    )


def _figure_1_bottleneck() -> Row:
    """Reproduce Figure 1 with mutual information as loss."""
    path = bottleneck_path(BINARY, np.geomspace(1.65, 8, 8))
    known = [_gerber(found.loss) for found in path]
    series = PlottedSeries(
        [Column("loss", "loss: I(X;Y) - I(X';Y)", [found.loss for found in path], "bits")],
        [
            Column("rate", "risk: I(X';X), models 3 and 4", [f.rate for f in path], "bits"),
            Column("closed", "Mrs Gerber's lemma", known, "bits"),
        ],
        axis="loss",
        what="risk",
    )
    return Row(
        "Figure 1: mutual information",
        f"{len(path)} points",
        remark="binary symmetric, flips of 0.1; local optima, from beta = 8 to 1.65",
        series=series,
        place="Figure 1",
        where="anonymizer.channels.bottleneck_path",
    )


def _gerber(loss: float) -> float:
    """The least rate of a loss: T is X flipped with chance delta, Y the same with both."""
    low, high = FLIP, 0.5
    for _ in range(60):
        both = (low + high) / 2
        low, high = (both, high) if _entropy(both) - _entropy(FLIP) < loss else (low, both)
    return 1 - _entropy((low - FLIP) / (1 - 2 * FLIP)) if low > FLIP else 1.0
