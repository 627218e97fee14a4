"""Sections 2 to 4: what mutual information is, and what it measures of loss and of risk."""

import numpy as np

from anonymizer.channels import gaussian_correlation, gaussian_information, squared
from anonymizer.information.bregman import information_divergence, squared_error_divergence
from anonymizer.information.entropy import entropy, mutual_information, surprise
from anonymizer.kernels.arrays import Floats
from anonymizer.papers.row import PublishedSection, Row

ROUNDED = 1e-9
TRIALS = 50
INFORMATION = "anonymizer.information.entropy.mutual_information"
BREGMAN = "anonymizer.information.bregman"


def definitions() -> PublishedSection:
    """Each definition, computed two ways on random laws."""
    rng = np.random.default_rng(4)
    rows = [
        _three_forms(rng),
        *_conditional(rng),
        _vectors(rng),
        *_roots(rng),
        *_masked(),
        *_bregman(rng),
        _dependence(),
        _t_closeness(rng),
    ]
    note = "X, Y: key and confidential attributes; X' the masked X, drawn knowing X alone."
    return PublishedSection(
        "Sections 2 to 4: definitions", rows, note, place="Section 2", where=INFORMATION
    )


def _agree(
    quantity: str, off: float, says: str, remark: str = "", *, place: str = "", where: str = ""
) -> Row:
    shown = f"off by {off:.0e}"
    return Row.claim(quantity, off < ROUNDED, shown, says, remark, place=place, where=where)


def _h(law: Floats) -> float:
    return float(entropy(law.ravel()))


def _three_forms(rng: np.random.Generator) -> Row:
    """Marginal less conditional entropy, either way, and by the joint entropy."""
    off = 0.0
    for _ in range(TRIALS):
        law = rng.dirichlet(np.full(12, 0.5)).reshape(4, 3)
        given_y = float(law.sum(axis=0) @ entropy(law.T))
        given_x = float(law.sum(axis=1) @ entropy(law))
        x, y, both = _h(law.sum(axis=1)), _h(law.sum(axis=0)), _h(law)
        found = mutual_information(law)
        off = max(off, *(abs(found - form) for form in (x - given_y, y - given_x, x + y - both)))
    return _agree(
        "I(X;Y)",
        off,
        "H(X) - H(X|Y) = H(Y) - H(Y|X) = H(X) + H(Y) - H(X,Y)",
        f"{TRIALS} random laws of 4 by 3 values",
    )


def _conditional(rng: np.random.Generator) -> list[Row]:
    """I(X1;X2|X3) as an expected value, the chain rule both ways, and the Markov chain."""
    off, chain, markov = 0.0, 0.0, 0.0
    for _ in range(TRIALS):
        joint = rng.dirichlet(np.full(6, 0.5)).reshape(3, 2)
        channel = rng.dirichlet(np.full(4, 0.5), 3)
        law = np.einsum("xy,xz->zxy", joint, channel)  # p(x', x, y)
        given_released = _given(law)
        given_x = _given(law.transpose(1, 0, 2))
        off = max(off, abs(given_released - _by_entropies(law)))
        whole = mutual_information(law.reshape(-1, 2))
        released = mutual_information(law.sum(axis=1))
        one, other = released + given_released, mutual_information(joint) + given_x
        chain = max(chain, abs(one - whole), abs(other - whole))
        markov = max(markov, given_x)
    return [
        _agree("I(X1;X2|X3)", off, "E I(X1;X2 | X3 = x3)", "against four joint entropies"),
        _agree(
            "I((X,X');Y)", chain, "I(X';Y) + I(X;Y|X') = I(X;Y) + I(X';Y|X)", place="Lemma 1, proof"
        ),
        _agree("I(X';Y|X), X' drawn knowing X alone", markov, "0", place="Lemma 1, proof"),
    ]


def _given(law: Floats) -> float:
    return float(sum(mutual_information(part) * part.sum() for part in law))


def _by_entropies(law: Floats) -> float:
    return _h(law.sum(axis=2)) + _h(law.sum(axis=1)) - _h(law.sum(axis=(1, 2))) - _h(law)


def _covariance(rng: np.random.Generator, n: int) -> Floats:
    a = rng.normal(size=(n, n))
    return np.asarray(a @ a.T + 0.3 * np.eye(n))


def _vectors(rng: np.random.Generator) -> Row:
    """I = -1/2 log det(I - P P'), against determinants of the covariances."""
    off = 0.0
    for _ in range(TRIALS):
        s = _covariance(rng, 5)
        p = gaussian_correlation(s, 2)
        det = [float(np.linalg.det(part)) for part in (s[:2, :2], s[2:, 2:], s)]
        printed = -0.5 * np.log2(np.linalg.det(np.eye(2) - p @ p.T))
        by_covariances = 0.5 * np.log2(det[0] * det[1] / det[2])
        found = gaussian_information(p)
        off = max(off, abs(found - printed), abs(found - by_covariances))
    return _agree(
        "I(U;V) of normal vectors",
        off,
        "-1/2 log det(I - P P^T)",
        "P = S_U^-1/2 S_UV S_V^-1/2; 2 and 3 dimensions",
        where="anonymizer.channels.gaussian_information",
    )


def _roots(rng: np.random.Generator) -> list[Row]:
    """P is built with the symmetric root; a scalar is the vector of one dimension."""
    s = _covariance(rng, 4)
    p = gaussian_correlation(s, 2)
    roots = [_root(part) for part in (s[:2, :2], s[2:, 2:])]
    # Another root, as Cholesky's, would give the same singular values, and another P.
    off = np.abs(roots[0] @ p @ roots[1] - s[:2, 2:]).max()
    largest = float(np.linalg.svd(p, compute_uv=False)[0])
    where = "anonymizer.channels.gaussian_correlation"
    return [
        _agree(
            "S^1/2, symmetric and positive definite",
            float(off),
            "the unique root of S",
            where=where,
        ),
        Row.claim(
            "P has no singular value above 1",
            largest < 1,
            f"{largest:.6f} the largest",
            "I - P P^T is positive definite",
            where=where,
        ),
        Row.claim(
            "P of scalars",
            abs(gaussian_correlation([[4, 2.4], [2.4, 2.25]], 1)[0, 0] - 0.8) < ROUNDED,
            "0.8 of variances 4 and 2.25 and a covariance of 2.4",
            "the correlation coefficient",
            where=where,
        ),
    ]


def _root(covariance: Floats) -> Floats:
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(values)) @ vectors.T)


def _masked() -> list[Row]:
    """A masking of three ages as a distortion, as risk and as loss."""
    x = np.array([20.0, 30.0, 50.0])
    joint = np.array([[4, 1], [2, 2], [1, 6]]) / 16
    channel = np.array([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0], [0.0, 0.0, 1.0]])
    p, released = joint.sum(axis=1), channel.T @ joint
    law = p[:, None] * channel
    distortion = float((law * squared(x)).sum())
    return [
        Row.claim(
            "E d(X,X'), d = |x - x'|^2",
            abs(distortion - 100 * (5 / 32 + 4 / 64)) < ROUNDED,
            f"{distortion:.6f} square years",
            "expected distortion",
            "ages 20, 30, 50; 20 released as 30 with 1/2, 30 as 20 with 1/4: "
            "100 (5 / 32 + 4 / 64) by hand",
            place="Section 3",
            where="anonymizer.channels.squared",
        ),
        Row.claim(
            "I(X;Y) - I(X';Y) of the same masking",
            mutual_information(joint) > mutual_information(released),
            f"{mutual_information(joint) - mutual_information(released):.6f} bits",
            "a possible measure of loss",
            place="Section 3",
        ),
        Row.claim(
            "I(X';X), identity disclosure",
            0 < mutual_information(law) < _h(p),
            f"{mutual_information(law):.6f} of H(X) = {_h(p):.6f} bits",
            "a measure of identity disclosure",
            place="Section 4",
        ),
        Row.claim(
            "I(X';Y), attribute disclosure",
            0 < mutual_information(released) < mutual_information(joint),
            f"{mutual_information(released):.6f} of I(X;Y) = {mutual_information(joint):.6f} bits",
            "a measure of attribute disclosure",
            place="Section 4",
        ),
        _unmoved(x),
    ]


def _unmoved(x: Floats) -> Row:
    """A mean square error of 0 leaves X as it is."""
    moved = squared(x) + np.diag(np.full(len(x), np.inf))
    return Row.claim(
        "E d(X,X') = 0",
        bool((np.diag(squared(x)) == 0).all() and (moved > 0).all()),
        "of the identity alone",
        "X' = X, and all statistics are preserved",
        place="Section 3",
        where="anonymizer.channels.squared",
    )


def _bregman(rng: np.random.Generator) -> list[Row]:
    """Both measures as Bregman divergences."""
    x, moved = rng.normal(size=(2, 200, 3))
    error = float(((x - moved) ** 2).sum(axis=1).mean())
    off = 0.0
    for _ in range(TRIALS):
        law = rng.dirichlet(np.full(12, 0.5)).reshape(4, 3)
        off = max(off, abs(information_divergence(law) - mutual_information(law)))
    return [
        _agree(
            "E |X - X'|^2 as a Bregman divergence",
            abs(squared_error_divergence(x, moved) - error),
            "of the family",
            "of f(x) = |x|^2",
            place="Section 3",
            where=f"{BREGMAN}.squared_error_divergence",
        ),
        _agree(
            "I(X;Y) as a Bregman divergence",
            off,
            "of the family",
            "of f(p) = sum p log p, from p(x) p(y) to p(x, y)",
            place="Section 3",
            where=f"{BREGMAN}.information_divergence",
        ),
    ]


def _dependence() -> Row:
    """Y = X^2 of a symmetric X: no correlation, all the dependence there can be."""
    x = np.array([-2, -1, 0, 1, 2])
    law = (x[:, None] ** 2 == np.array([0, 1, 4])) / 5
    correlation = float(np.corrcoef(x, x**2)[0, 1])
    found = mutual_information(law)
    return Row.claim(
        "Y = X^2 of a uniform X on -2 to 2",
        abs(correlation) < ROUNDED and abs(found - _h(law.sum(axis=0))) < ROUNDED,
        f"correlation {abs(correlation):.6f}, I(X;Y) = H(Y) = {found:.6f} bits",
        "general dependence, where correlation is only linear",
        place="Section 3",
    )


def _t_closeness(rng: np.random.Generator) -> Row:
    """I(X';Y) is the mean distance of the classes from the table, t the largest."""
    off, over = 0.0, -np.inf
    for _ in range(TRIALS):
        law = rng.dirichlet(np.full(12, 0.5)).reshape(4, 3)
        distances = surprise(law)
        found = mutual_information(law)
        off = max(off, abs(found - float(law.sum(axis=1) @ distances)))
        over = max(over, found - float(distances.max()))
    return Row.claim(
        "I(X';Y) and t-closeness",
        off < ROUNDED and over <= ROUNDED,
        f"the mean of D(p(y|x') || p(y)), off by {off:.0e}; never above the largest, t",
        "conforms to t-closeness",
        "distances by Kullback and Leibler; a mean below t does not bound each class",
        place="Section 4",
        where="anonymizer.privacy.MeanInformation",
    )
