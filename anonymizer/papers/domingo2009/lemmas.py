"""Sections 3 and 4: mutual information as a measure of loss and of risk; and the appendix."""

import numpy as np

from anonymizer.channels import gaussian_correlation, gaussian_information
from anonymizer.information.entropy import mutual_information
from anonymizer.kernels.arrays import Floats
from anonymizer.papers.row import PublishedSection, Row

TRIALS = 200
RECORDS = 200_000
ROUNDED = 1e-9


def measures() -> PublishedSection:
    """Check what mutual information is said to be and to do."""
    rows = [*_lemma_1(), _scalars(), _sufficient(), _zero_loss()]
    return PublishedSection(
        "Sections 2 and 3: mutual information", rows, "The paper prints no numbers.",
        place="Section 3", where="anonymizer.information.entropy.mutual_information",
    )  # fmt: skip


def _lemma_1() -> list[Row]:
    """I(X;Y) - I(X';Y) >= 0 where X' is drawn knowing X alone; it is I(X;Y|X')."""
    rng, least, off = np.random.default_rng(0), np.inf, 0.0
    for _ in range(TRIALS):
        joint = rng.dirichlet(np.full(12, 0.5)).reshape(4, 3)
        channel = rng.dirichlet(np.full(5, 0.5), 4)
        loss = mutual_information(joint) - mutual_information(channel.T @ joint)
        together = np.einsum("xy,xz->zxy", joint, channel)  # p(x', x, y)
        rest = sum(mutual_information(part) * part.sum() for part in together)
        least, off = min(least, loss), max(off, abs(loss - rest))
    return [
        Row.claim(
            "Lemma 1: I(X;Y) - I(X';Y) >= 0",
            least >= -ROUNDED,
            f"at least {least:.6f} bits, of {TRIALS} random laws and channels",
            "not negative",
            place="Lemma 1",
        ),
        Row.claim(
            "its proof: the difference is I(X;Y|X')",
            off < ROUNDED,
            f"off by {off:.0e}",
            "I(X';Y) + I(X;Y|X') = I(X;Y)",
            place="Lemma 1, proof",
        ),
    ]


def _scalars() -> Row:
    """I(U;V) = -log sqrt(1 - rho^2) of normal scalars, on a fine grid."""
    rho, x = 0.8, np.linspace(-7, 7, 281)
    u, v = np.meshgrid(x, x, indexing="ij")
    density = np.exp(-(u**2 - 2 * rho * u * v + v**2) / (2 * (1 - rho**2)))
    found, formula = mutual_information(density / density.sum()), gaussian_information(rho)
    return Row.claim(
        "I(U;V) of normal scalars, rho = 0.8",
        abs(found - formula) < 1e-6,
        f"{found:.6f} bits on a fine grid, {formula:.6f} by the formula",
        "-log sqrt(1 - rho^2)",
        place="Section 2",
        where="anonymizer.channels.gaussian_information",
    )


def _normal_information(covariance: Floats, first: int) -> float:
    return gaussian_information(gaussian_correlation(covariance, first))


def _sufficient() -> Row:
    """The best linear estimate of U from V tells as much of U as V does."""
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(20):
        a = rng.normal(size=(5, 5))
        s = a @ a.T + 0.1 * np.eye(5)
        estimate = np.linalg.solve(s[2:, 2:], s[2:, :2])
        to = np.zeros((4, 5))
        to[:2, :2], to[2:, 2:] = np.eye(2), estimate.T
        worst = max(worst, abs(_normal_information(to @ s @ to.T, 2) - _normal_information(s, 2)))
    return Row.claim(
        "the best linear estimate of normal U from V is sufficient",
        worst < ROUNDED,
        f"I(U;U^) and I(U;V) differ by {worst:.0e} bits, 2 and 3 dimensions",
        "I(U;U^) = I(U;V)",
        place="Section 2",
        where="anonymizer.channels.gaussian_information",
    )


def _zero_loss() -> Row:
    """No loss of mutual information although every value is moved: a permutation of X."""
    joint = np.array([[4, 1], [2, 2], [1, 6]]) / 16
    moved = np.roll(np.eye(3), 1, axis=1)
    loss = mutual_information(joint) - mutual_information(moved.T @ joint)
    distance = float(joint.sum(axis=1) @ (np.array([0, 1, 2]) - np.array([1, 2, 0])) ** 2)
    return Row.claim(
        "I(X;Y) - I(X';Y) = 0 without X' = X",
        abs(loss) < ROUNDED and distance > 0,
        f"a permutation: loss {abs(loss):.6f} bits, mean square error {distance:.6f}",
        "only implies that X' is sufficient",
        place="Section 3",
    )


def covariance_lemma() -> PublishedSection:
    """Appendix: preserving mutual information and preserving covariances, and where they part."""
    rng = np.random.default_rng(2)
    a = rng.normal(size=(4, 4))
    s = a @ a.T + np.eye(4)
    rows = [*_preserved(s), _noise(s), _bijection(rng)]
    note = (
        "X a scalar and Y of three dimensions, jointly normal, except for the last row. The X' of "
        "the first rows is drawn knowing Y and not X, so that it is no masking of X."
    )
    return PublishedSection(
        "Appendix: mutual information and covariance", rows, note,
        place="Appendix", where="anonymizer.channels.gaussian_information",
    )  # fmt: skip


def _preserved(s: Floats) -> list[Row]:
    """X' = a'Y, the best linear estimate of X."""
    a = np.linalg.solve(s[1:, 1:], s[1:, 0])
    off = float(np.abs(s[1:, 1:] @ a - s[1:, 0]).max())
    share = float(a @ s[1:, 0] / s[0, 0])
    kept, whole = -0.5 * np.log2(1 - share), _normal_information(s, 1)
    return [
        Row.claim(
            "I(X;X') = I(X;Y) for X' = a'Y",
            abs(kept - whole) < ROUNDED,
            f"both {whole:.6f} bits",
            "X' is a sufficient statistic",
            "not I(X';Y), which is infinite for a function of a continuous Y",
        ),
        Row.claim(
            "Cov(X',Y) = Cov(X,Y)",
            off < ROUNDED,
            f"off by {off:.0e}",
            "the covariance is preserved",
            f"that with Y; Var X' is {share:.6f} of Var X",
        ),
    ]


def _noise(s: Floats) -> Row:
    """The converse: noise keeps covariances up to a factor, and loses mutual information."""
    share = 0.5
    explained = float(s[0, 1:] @ np.linalg.solve(s[1:, 1:], s[1:, 0]) / s[0, 0])
    lost = -0.5 * np.log2(1 - explained) + 0.5 * np.log2(1 - (1 - share) * explained)
    moved = np.eye(4)
    moved[0, 0] = 1 - share
    masked = moved @ s @ moved.T
    masked[0, 0] += share * (1 - share) * s[0, 0]
    ratios = masked[0, 1:] / s[0, 1:]
    return Row(
        "Cov(X',Y) / Cov(X,Y), X' = (1-d) X + d mu + noise",
        f"{ratios.min():.6f} to {ratios.max():.6f}",
        remark=f"d = 0.5; {lost:.6f} bits of I(X;Y) are lost: covariances up to a factor do not "
        "imply mutual information",
    )


def _bijection(rng: np.random.Generator) -> Row:
    """X' = sgn(X) sqrt|X| of a law that is not normal: nothing is lost, covariances are."""
    x = rng.normal(size=RECORDS)
    y = np.stack([x, x**3]) + 0.5 * rng.normal(size=(2, RECORDS))
    moved = np.sign(x) * np.sqrt(np.abs(x))
    ratios = [np.cov(moved, column)[0, 1] / np.cov(x, column)[0, 1] for column in y]
    return Row.claim(
        "Cov(X',Y) / Cov(X,Y), X' = sgn(X) sqrt|X|",
        abs(ratios[0] - ratios[1]) > 0.01,
        f"{ratios[0]:.2f} and {ratios[1]:.2f}",
        "up to a factor, under some assumptions",
        "Y = (X, X^3) + noise: a bijection keeps all of I(X;Y), so a normal law is one of them",
    )
