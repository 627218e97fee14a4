"""Eq. 16 and 17 of Bezzi (2010), on a noisy count of the diagnoses of Table 2.

Noise is two-sided geometric (Ghosh, Roughgarden, Sundararajan 2009), cut off at the ends.
"""

from math import e, log2

import numpy as np

from anonymizer.information.mechanism import database_information, mechanism_epsilon, theta
from anonymizer.kernels.arrays import Floats
from anonymizer.papers.row import PublishedSection, Row, trend

EPSILON = 1.0
ROUNDING = 1e-9
MOST = 12
"""The largest answer: the number of records."""
SICK = (1, 0, 2)
"""Diagnoses in X0, and in its neighbours."""
HOME = "anonymizer.information.mechanism"
STEPS = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0)
"""Values of epsilon, in nats."""


def noisy_counts(epsilon: float) -> Floats:
    """p(s|X) of the count of diagnoses, shape (databases, answers), X0 first."""
    answers = np.arange(MOST + 1)
    alpha = np.exp(-epsilon)
    chances = (1 - alpha) / (1 + alpha) * alpha ** abs(answers - np.array(SICK)[:, None])
    chances[:, 0] *= 1 / (1 - alpha)
    chances[:, -1] *= 1 / (1 - alpha)
    return np.asarray(chances)


def mechanisms() -> PublishedSection:
    """Epsilon and I1 of the noisy count, what bounds I1, and that I1 bounds no epsilon."""
    mechanism, prior = noisy_counts(EPSILON), np.full(len(SICK), 1 / len(SICK))
    epsilon, bits = mechanism_epsilon(mechanism), database_information(mechanism, prior)
    own, every = theta(epsilon, prior[0]), theta(epsilon)
    telling = [[1 - 1e-6, 1e-6], [1.0, 0.0]]
    little = database_information(telling, [0.5, 0.5])
    rows = [
        Row.number(
            "epsilon of the noisy count, in nats: Eq. 16",
            epsilon,
            place="Eq. 16",
            where=f"{HOME}.mechanism_epsilon",
        ),
        Row.number("I1(F, X0), neighbours equally likely: Eq. 17", bits),
        Row.number("theta of this epsilon and p(X0)", own, where=f"{HOME}.theta"),
        Row.number("theta of this epsilon, for every p(X0)", every, where=f"{HOME}.theta"),
        Row(
            "Eq. 16 implies Eq. 17, which the paper leaves to be investigated",
            f"{'Yes' if bits <= own <= every <= epsilon * log2(e) else 'No'}: {bits:.6f} <= "
            f"{own:.6f} <= {every:.6f} <= {epsilon * log2(e):.6f}",
            remark="I1 <= theta of p(X0) <= theta <= epsilon log2 e, proven in "
            "docs/theory/privacy.md",
            where=f"{HOME}.theta",
        ),
        *_further(mechanism, prior),
        Row.claim(
            "Eq. 17 does not imply Eq. 16, the more conservative",
            little < 1e-5 and not np.isfinite(mechanism_epsilon(telling)),
            f"I1 = {little:.7f} bits, epsilon = {mechanism_epsilon(telling)}",
            "the latter condition is more conservative",
            f"p(s|X0), p(s|X) = {telling}",
        ),
    ]
    title = "Section 5: differential privacy as information about the database"
    return PublishedSection(title, rows, place="Eq. 17", where=f"{HOME}.database_information")


def _further(mechanism: Floats, prior: Floats) -> list[Row]:
    """Check that less epsilon is more privacy, and two answers at once."""
    bounds = [theta(epsilon) for epsilon in STEPS]
    answers = len(mechanism[0])
    both = (mechanism[:, :, None] * mechanism[:, None]).reshape(len(mechanism), answers**2)
    epsilon, bits = mechanism_epsilon(both), database_information(both, prior)
    once = database_information(mechanism, prior)
    return [
        Row.claim(
            "the closer epsilon is to 0, the stronger privacy",
            bounds[0] == 0 and trend(bounds) == "rises",
            f"theta {', '.join(f'{bound:.4f}' for bound in bounds)} for epsilon "
            f"{', '.join(f'{step:g}' for step in STEPS)}",
            "stronger",
            place="Eq. 16",
            where=f"{HOME}.theta",
        ),
        Row.claim(
            "a set of functions {F1, F2}: two answers, of independent noise",
            once < bits <= theta(epsilon) and abs(epsilon - 2 * EPSILON) < ROUNDING,
            f"epsilon = {epsilon:.6f}, I1 = {bits:.6f} <= theta = {theta(epsilon):.6f}",
            "the same analysis can be applied",
            place="Footnote 4",
            where=f"{HOME}.database_information",
        ),
    ]
