"""Section 1: probabilistic information loss, its definition and how it behaves."""

import numpy as np

from anonymizer.channels import pil, probabilistic_loss
from anonymizer.kernels.arrays import Floats
from anonymizer.papers.row import Column, PlottedSeries, PublishedSection, Row

SAMPLES, RECORDS, POPULATION = 200, 500, 20_000
NOISE = (0.0, 0.01, 0.05, 0.2, 1.0)


def information_loss() -> PublishedSection:
    """Show how pil behaves: unchanged data, fresh samples, two samples, noise."""
    rng, bounded = np.random.default_rng(3), pil(0.0, 0.1, 1 / 500)
    first = Row.claim(
        "a mean of 0 that becomes 0.1, 500 records of variance 1",
        0 <= bounded <= 1,
        f"pil = {bounded:.6f}",
        "bounded within [0, 1]",
        "the example of footnote 1, whose relative discrepancy is infinite",
    )
    with np.errstate(divide="ignore"):
        unbounded = np.float64(0.1 - 0) / 0
    relative = Row.claim(
        "relative discrepancy of 0 and 0.1",
        bool(np.isinf(unbounded)),
        f"{unbounded:g}",
        "(0.1 - 0) / 0, infinite",
        "hence not bounded, as risk is",
        place="Section 1, footnote 1",
    )
    rows = [_definition(), relative, first, *_samples(rng), _noise(rng)]
    note = (
        "Columns x, exponential, and y = 0.6 x + N(0, 1); variances of the statistics by their "
        "fourth moments. The paper gives the definition and no numbers."
    )
    title, where = "Section 1: probabilistic information loss", "anonymizer.channels.pil"
    return PublishedSection(title, rows, note, place="Section 1", where=where)


def _definition() -> Row:
    """pil(theta) = 2 P(0 <= Z <= |theta^ - theta| / sd(theta^)), against an integral."""
    discrepancies = (0.0, 0.3, 1.0, 1.96, 4.0)
    off = max(abs(_integral(z) - pil(0.0, z / 10, 0.01)) for z in discrepancies)
    return Row.claim(
        "pil(theta) by its definition",
        off < 1e-8,
        f"off by {off:.0e} from the integral of a normal density, 5 discrepancies",
        "P(|Z| <= the actual discrepancy)",
        f"1.96 deviations: {pil(0.0, 0.196, 0.01):.6f}",
        place="Section 1, pil",
    )


def _integral(end: float) -> float:
    z = np.linspace(0, end, 20_001)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return float((density[1:] + density[:-1]).sum() * z[1])


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
    along = Column("noise", "variance of the noise", list(NOISE))
    series = PlottedSeries([along], measures, axis="noise", what="pil")
    return Row(
        "pil of noise added",
        f"{len(NOISE)} variances",
        remark="mean of 40 samples of 500 records; covariances are kept, variances are not",
        series=series,
    )
