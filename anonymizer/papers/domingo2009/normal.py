"""Section 5: models 3 and 4 of normal vectors in closed form, and synthetic data drawn by them."""

from dataclasses import replace

import numpy as np
import pandas as pd

from anonymizer.channels import (
    GaussianBottleneck,
    gaussian_bottleneck,
    gaussian_correlation,
    gaussian_information,
    gaussian_rate,
    synthetic_values,
)
from anonymizer.information.entropy import mutual_information
from anonymizer.kernels.arrays import Floats
from anonymizer.papers.row import Column, PlottedSeries, PublishedSection, Row

RATE, FIRST = 2.0, 2
RIVALS = 2000
RECORDS = 20_000
WHERE = "anonymizer.channels.gaussian_bottleneck"
RATES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)


def normal_models() -> PublishedSection:
    """Normal X of two dimensions and Y of three."""
    rng = np.random.default_rng(5)
    a = rng.normal(size=(5, 5))
    s = np.asarray(a @ a.T + 0.2 * np.eye(5))
    rows = [
        *_both_models(s),
        _scalar(),
        _rivals(s, rng),
        _curve(s),
        *_numbers(s, rng),
        *_names(rng),
    ]
    note = (
        "The paper asks for closed forms in section 6. For jointly normal X and Y they are those "
        "of the Gaussian information bottleneck (Chechik et al. 2005): each canonical variable by "
        "itself, the rate shared by reverse water-filling."
    )
    title = "Section 5: normal vectors in closed form, and synthetic data"
    return PublishedSection(title, rows, note, place="Section 6, closed forms", where=WHERE)


def _both_models(s: Floats) -> list[Row]:
    """The most relevance of a rate, and the least rate of that loss."""
    fourth = gaussian_bottleneck(s, FIRST, rate_limit=RATE)
    third = gaussian_bottleneck(s, FIRST, relevance_loss_limit=fourth.loss)
    rate, relevance = _measured(s, fourth)
    return [
        Row.claim(
            f"Model 4 of normal vectors: I(X';X) at most {RATE:g} bits",
            abs(rate - RATE) < 1e-9 and abs(relevance - fourth.relevance) < 1e-9,
            f"loss {fourth.loss:.6f} of {fourth.information:.6f} bits",
            "a closed form, whenever possible",
            f"by the covariances of (X', X) and (X', Y): {rate:.6f} and {relevance:.6f} bits",
            place="Section 5, model 4",
        ),
        Row.claim(
            f"Model 3 of normal vectors: a loss of at most {fourth.loss:.6f} bits",
            abs(third.rate - RATE) < 1e-6,
            f"I(X';X) = {third.rate:.6f} bits",
            "a closed form, whenever possible",
            "the same point from the other side",
            place="Section 5, model 3",
        ),
    ]


def _measured(s: Floats, found: GaussianBottleneck) -> tuple[float, float]:
    """I(X';X) and I(X';Y) of the mechanism, by covariances alone."""
    k, n = found.mechanism.gain, FIRST
    within = k @ s[:n, :n] @ k.T + found.mechanism.noise
    informations = []
    for other, cross in ((s[:n, :n], k @ s[:n, :n]), (s[n:, n:], k @ s[:n, n:])):
        joint = np.block([[within, cross], [cross.T, other]])
        informations.append(gaussian_information(gaussian_correlation(joint, n)))
    return informations[0], informations[1]


def _scalar() -> Row:
    """Scalars: the rule of model 1 is also that of models 3 and 4, since there is one variable."""
    rho = 0.6
    found = gaussian_bottleneck([[1.0, rho], [rho, 1.0]], 1, rate_limit=1.0)
    share = float(found.shares[0])
    known = float(gaussian_rate(share, 1.0, rho)[0])
    return Row.claim(
        "Models 1 and 4 of a normal scalar",
        abs(found.relevance - known) < 1e-9 and abs(share - 0.25) < 1e-9,
        f"d = {share:g}, I(X';Y) = {found.relevance:.6f} bits at 1 bit",
        "X' = (1 - d) X + d Z",
        "the noise of model 1; d = 2^-2R",
        place="Section 5, model 1",
    )


def _rivals(s: Floats, rng: np.random.Generator) -> Row:
    """Random linear channels of the same rate keep less."""
    found = gaussian_bottleneck(s, FIRST, rate_limit=RATE)
    best = max(_kept(s, rng.normal(size=(FIRST, FIRST))) for _ in range(RIVALS))
    return Row.claim(
        f"the best of {RIVALS:,} random linear channels of {RATE:g} bits",
        best <= found.relevance + 1e-9,
        f"I(X';Y) = {best:.6f}, {found.relevance:.6f} in closed form",
        "an optimum",
        "A X + noise, scaled to the rate; none keeps more",
    )


def _kept(s: Floats, a: Floats) -> float:
    """I(AX + N;Y) in bits, A scaled so that I(AX + N;X) is the rate."""
    n = FIRST
    given = s[:n, :n] - s[:n, n:] @ np.linalg.solve(s[n:, n:], s[n:, :n])
    spread = np.linalg.eigvalsh(a @ s[:n, :n] @ a.T)
    # det(I + q M) = 2^(2 rate): a quadratic equation in the squared scale q.
    product, total = float(spread.prod()), float(spread.sum())
    q = (-total + np.sqrt(total**2 + 4 * product * (4**RATE - 1))) / (2 * product)
    left = np.linalg.det(np.eye(n) + q * a @ given @ a.T)
    return float(RATE - 0.5 * np.log2(left))


def _curve(s: Floats) -> Row:
    """Figure 1 with mutual information on both axes, of normal vectors."""
    found = [gaussian_bottleneck(s, FIRST, rate_limit=rate) for rate in RATES]
    series = PlottedSeries(
        [Column("loss", "loss: I(X;Y) - I(X';Y)", [each.loss for each in found], "bits")],
        [Column("rate", "risk: I(X';X), models 3 and 4", [each.rate for each in found], "bits")],
        axis="loss",
        what="risk",
    )
    return Row(
        "Figure 1: normal vectors",
        f"{len(RATES)} points, all in closed form",
        remark="X of 2 and Y of 3 dimensions",
        series=series,
        place="Figure 1",
    )


def _numbers(s: Floats, rng: np.random.Generator) -> list[Row]:
    """Synthetic numbers: drawn by model 4, in the unit of X, and measured as a sample."""
    found = gaussian_bottleneck(s, FIRST, rate_limit=RATE)
    sample = rng.multivariate_normal(np.zeros(len(s)), s, size=RECORDS)
    drawn = found.apply(sample[:, :FIRST], rng)
    both = np.cov(np.column_stack([drawn, sample[:, FIRST:]]), rowvar=False)
    told = gaussian_information(gaussian_correlation(both, FIRST))
    kept = np.cov(drawn, rowvar=False)
    off = float(np.abs(kept - (s[:FIRST, :FIRST] - found.mechanism.error)).max())
    return [
        Row.claim(
            f"X' as synthetic data: {RECORDS:,} records of numbers",
            abs(told - found.relevance) < 0.03 and drawn.shape == (RECORDS, FIRST),
            f"I(X';Y) = {told:.4f} bits in the sample, {found.relevance:.4f} in closed form",
            "the connection with Y is minimally affected",
            "drawn by model 4",
            place="Section 5, synthetic data",
            where="anonymizer.channels.GaussianBottleneck",
        ),
        Row.claim(
            "covariance of the synthetic numbers",
            off < 0.1 * float(np.abs(s[:FIRST, :FIRST]).max()),
            f"off by {off:.4f} from S - E",
            "drawn from p(x'|x)",
            "X' is the best estimate of X given X', of covariance S - E",
            place="Section 5, synthetic data",
            where="anonymizer.channels.GaussianBottleneck",
        ),
    ]


CITIES = ("Barcelona", "Girona", "Lleida", "Tarragona")
SICK = np.array([[4, 1], [3, 2], [2, 3], [1, 4]]) / 20
LIMIT = 0.5


def _names(rng: np.random.Generator) -> list[Row]:
    """Synthetic categories: values, not codes.

    The rows vary: rounding decides which of the symbols that do as well comes first, and so what is
    drawn of each number of ``rng``.
    """
    cells = rng.choice(SICK.size, RECORDS, p=SICK.ravel())
    x = pd.Series(np.array(CITIES)[cells // 2], name="city")
    y = pd.Series(cells % 2)
    drawn = synthetic_values(x, y, rate_limit=LIMIT, rng=rng)
    share, before = (each.value_counts(normalize=True).sort_index() for each in (drawn, x))
    off = float(np.abs(share - before).max())
    told, kept, whole = (
        mutual_information(pd.crosstab(one, other).to_numpy())
        for one, other in ((x, drawn), (drawn, y), (x, y))
    )
    rows = [
        Row.claim(
            f"X' as synthetic data: {RECORDS:,} records of cities",
            set(drawn) == set(CITIES) and off < 0.02,
            f"the {len(CITIES)} cities, shares off by {off:.3f}",
            "synthetic key attributes X'",
            "values themselves, not symbols of a channel",
            place="Section 5, synthetic data",
            where="anonymizer.channels.synthetic_values",
        ),
        Row.claim(
            f"I(X';X) at most {LIMIT:g} bits, in the sample",
            told <= LIMIT + 0.01,
            f"{told:.4f} bits, of which {kept:.4f} of I(X;Y) = {whole:.4f} are kept",
            "the constraint of model 4",
            "X' is drawn through a symbol T, so that some of I(T;Y) is lost",
            place="Section 5, synthetic data",
            where="anonymizer.channels.synthetic_values",
        ),
    ]
    return [replace(row, varies=True) for row in rows]
