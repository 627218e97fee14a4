"""Section 1: probabilistic information loss; section 5: four models and their closed forms."""

import numpy as np

from anonymizer.channels import (
    bottleneck_path,
    gaussian_channel,
    gaussian_rate,
    information_bottleneck,
    pil,
    probabilistic_loss,
    rate_distortion,
    squared,
)
from anonymizer.kernels.arrays import Floats
from anonymizer.papers.row import Row, Section
from anonymizer.papers.series import Column, Series

SAMPLES, RECORDS, POPULATION = 200, 500, 20_000
NOISE = (0.0, 0.01, 0.05, 0.2, 1.0)


def information_loss() -> Section:
    """How pil behaves: unchanged data, fresh samples, two samples, noise."""
    rng, bounded = np.random.default_rng(3), pil(0.0, 0.1, 1 / 500)
    first = Row.claim(
        "a mean of 0 that becomes 0.1, 500 records of variance 1",
        0 <= bounded <= 1,
        f"pil = {bounded:.6f}",
        "within [0, 1]",
        "the relative discrepancy is infinite: footnote 1",
    )
    rows = [first, *_samples(rng), _noise(rng)]
    note = (
        "Columns x, exponential, and y = 0.6 x + N(0, 1); variances of the statistics by their "
        "fourth moments. The paper gives the definition and no numbers."
    )
    return Section("Section 1: probabilistic information loss", rows, note)


def _drawn(rng: np.random.Generator, *shape: int) -> Floats:
    x = rng.exponential(size=shape)
    return np.stack([x, 0.6 * x + rng.normal(size=shape)], axis=-1)


def _samples(rng: np.random.Generator) -> list[Row]:
    """Data themselves, a fresh sample of the population, a sample against a sample."""
    large = _drawn(rng, POPULATION)
    fresh = _drawn(rng, SAMPLES, RECORDS)
    against = [probabilistic_loss(large, sample, population=False) for sample in fresh]
    pairs = _drawn(rng, SAMPLES, 2, RECORDS)
    one = np.mean([probabilistic_loss(a, b, quantiles=()).mean for a, b in pairs])
    two = np.mean([probabilistic_loss(a, b, quantiles=(), population=False).mean for a, b in pairs])
    means = {
        name: float(np.mean([np.nanmean(getattr(found, name)) for found in against]))
        for name in ("mean", "variance", "covariance", "correlation", "quantiles")
    }
    off = max(abs(value - 0.5) for value in means.values())
    shown = ", ".join(f"{name} {value:.2f}" for name, value in means.items())
    unmasked = probabilistic_loss(large, large).average
    return [
        Row.claim("pil of unmasked data", unmasked == 0, f"{unmasked:.6f}", "0: no discrepancy"),
        Row.claim(
            "mean pil of a fresh sample",
            off < 0.06,
            shown,
            "Z is N(0, 1) for n > 100",
            "a uniform pil has mean 0.5",
        ),
        Row(
            "mean pil of the mean, two samples",
            f"{one:.3f}; {two:.3f} with both variances",
            remark="theta is said to be the population's: taken from a sample, its own variance "
            "counts, or else 2 / pi atan(sqrt 2) = 0.608",
        ),
    ]


def _noise(rng: np.random.Generator) -> Row:
    """Noise added to both columns."""
    x = _drawn(rng, 40, RECORDS)
    found = [
        [probabilistic_loss(a, a + rng.normal(0, np.sqrt(v), a.shape), quantiles=()) for a in x]
        for v in NOISE
    ]
    measures = [
        Column(
            name,
            f"pil, {name}",
            [float(np.mean([np.nanmean(getattr(f, name)) for f in row])) for row in found],
        )
        for name in ("mean", "variance", "covariance", "correlation")
    ]
    series = Series([Column("noise", "variance of the noise", list(NOISE))], measures, axis="noise")
    return Row(
        "pil of noise added",
        f"{len(NOISE)} variances",
        remark="mean of 40 samples of 500 records; covariances are kept, variances are not",
        series=series,
    )


CHANCE, LIMIT = 0.3, 0.1
FLIP = 0.1
COIN = np.array([[0.0, 1.0], [1.0, 0.0]])
BINARY = np.array([[1 - FLIP, FLIP], [FLIP, 1 - FLIP]]) / 2
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
EXACT = 1e-8


def four_models() -> Section:
    """Models 1 to 4, and Figure 1."""
    rows = [*_rate_distortion(), _normal(), *_bottleneck(), _figure_1(), _figure_1_bottleneck()]
    note = (
        "The paper defines the models and computes none. Models 3 and 4 are not convex: what is "
        "found for them is a local optimum, here the known best."
    )
    return Section("Section 5: the four models, in bits", rows, note)


def _entropy(chance: float) -> float:
    """H of a coin in bits."""
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
        ),
        Row.claim(
            "Model 2: the same coin at that rate",
            second.certified and abs(second.distortion - LIMIT) < EXACT,
            f"E d = {second.distortion:.9f}, gap {second.gap:.0e}",
            "the distortion-rate function",
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
        ),
        Row.claim(
            f"Model 4: the same, rate at most {rate:.6f}",
            abs(fourth.loss - loss) < 1e-7,
            f"I(X;Y) - I(X';Y) = {fourth.loss:.9f}, a {fourth.optimality}",
            "minimised; no algorithm given",
            f"Mrs Gerber's lemma: {loss:.9f}",
        ),
    ]


def _figure_1() -> Row:
    """Risk against loss, the rate against the distortion."""
    x, p = _grid()
    found = [rate_distortion(p, squared(x), distortion_limit=share) for share in SHARES]
    series = Series(
        [Column("distortion", "loss: D", list(SHARES))],
        [
            Column("rate", "risk: R(D), models 1 and 2", [f.leakage for f in found], "bits"),
            Column("closed", "1/2 log2(1/D)", gaussian_rate(SHARES, 1.0).tolist(), "bits"),
        ],
        axis="distortion",
    )
    certified = "all" if all(f.certified for f in found) else "not all"
    return Row(
        "Figure 1: distortion",
        f"{len(found)} points, {certified} certified",
        remark="a normal X of variance 1, squared error; the figure is a sketch without scale",
        series=series,
    )


def _figure_1_bottleneck() -> Row:
    """The same with mutual information as loss."""
    path = bottleneck_path(BINARY, np.geomspace(1.65, 8, 8))
    known = [_gerber(found.loss) for found in path]
    series = Series(
        [Column("loss", "loss: I(X;Y) - I(X';Y)", [found.loss for found in path], "bits")],
        [
            Column("rate", "risk: I(X';X), models 3 and 4", [f.rate for f in path], "bits"),
            Column("closed", "Mrs Gerber's lemma", known, "bits"),
        ],
        axis="loss",
    )
    return Row(
        "Figure 1: mutual information",
        f"{len(path)} points",
        remark="binary symmetric, flips of 0.1; local optima, from beta = 8 to 1.65",
        series=series,
    )


def _gerber(loss: float) -> float:
    """The least rate of a loss: T is X flipped with chance delta, Y the same with both."""
    low, high = FLIP, 0.5
    for _ in range(60):
        both = (low + high) / 2
        low, high = (both, high) if _entropy(both) - _entropy(FLIP) < loss else (low, both)
    return 1 - _entropy((low - FLIP) / (1 - 2 * FLIP)) if low > FLIP else 1.0
