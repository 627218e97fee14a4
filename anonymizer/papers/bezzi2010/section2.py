"""Section 2 of Bezzi (2010): the metrics, and mutual information, Eq. 1 to 3.

Computed on Tables 2 and 3, or over every small table where the paper says that something holds.
"""

from collections.abc import Sequence

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.information.entropy import (
    divergence,
    entropy,
    mutual_information,
    specific_information,
    surprise,
)
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.papers.bezzi2010.chains import chain_x, random_laws
from anonymizer.papers.bezzi2010.example import (
    BITS,
    DECADES,
    DIAGNOSIS,
    JOINT,
    LABELS,
    small_tables,
)
from anonymizer.papers.columns import reidentification
from anonymizer.papers.row import PublishedSection, Row
from anonymizer.privacy import EntropyLDiversity, KAnonymity, TCloseness

ROUNDING = 1e-9
WEIGHTS = (-1.0, 0.0, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0)
"""Values of a in a I1 + (1 - a) I2, other than 1."""


def combinations() -> list[Row]:
    """Check the claims of the section about a I1 + (1 - a) I2."""
    shares = JOINT.sum(axis=1) / JOINT.sum()
    i1, i2 = surprise(JOINT), specific_information(JOINT)
    averages = [float(shares @ (a * i1 + (1 - a) * i2)) for a in WEIGHTS]
    off = max(abs(mean - mutual_information(JOINT)) for mean in averages)
    lowest = [least_of_combination(a) for a in WEIGHTS]
    law = random_laws()[0]
    gaps = {a: combination_gap(a, law) for a in (*WEIGHTS, 1.0)}
    return [
        Row.claim(
            "any a I1 + (1 - a) I2 averages to I",
            off < ROUNDING,
            f"at most {off:.1e} bits away for {len(WEIGHTS)} values of a",
            "averages to I",
            where=f"{BITS}.surprise",
        ),
        Row.claim(
            "I1, the only one of them that is never negative",
            max(lowest) < 0,
            f"any other a is negative near p(w): {', '.join(f'{low:.1e}' for low in lowest)}",
            "the only positive decomposition",
            f"a = {', '.join(f'{a:g}' for a in WEIGHTS)}; of other forms it is not the only one, "
            "as I(X~;W) itself for every symbol is another",
            where=f"{BITS}.surprise",
        ),
        Row.claim(
            "I2, the only one of them that adds up (chain X)",
            all((gap < ROUNDING) == (a == 0) for a, gap in gaps.items()),
            ", ".join(f"a = {a:g}: {gap:.4f}" for a, gap in gaps.items()),
            "the only decomposition that is also additive",
            "bits away from the chain rule, in one random law",
            where=f"{BITS}.specific_information",
        ),
    ]


def least_of_combination(weight: float) -> float:
    """The lower value of a I1 + (1 - a) I2 of two classes, close to p(w) on either side, in bits.

    There I1 is of second order in the distance and I2 of first, with either sign.
    """
    prior, near = np.array([0.25, 0.75]), 0.1 * abs(1 - weight) / (1 + abs(weight))
    joint = prior + near * np.array([[1, -1], [-1, 1]])
    combined = weight * surprise(joint, prior) + (1 - weight) * specific_information(joint, prior)
    return float(combined.min())


def combination_gap(weight: float, law: Floats) -> float:
    """Return the distance of a I1 + (1 - a) I2 from chain rule X, at the worst symbol, in bits."""
    sides = [
        weight * np.asarray(one) + (1 - weight) * np.asarray(two)
        for one, two in zip(chain_x("I1", law), chain_x("I2", law), strict=True)
    ]
    return float(np.abs(sides[0] - sides[1]).max())


MUTUAL = f"{BITS}.mutual_information"
XOR = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], float)
"""Records by X1, X2 and Y = X1 xor X2: X1 and X2 are independent, and not so given Y."""


def classes_of(joint: Ints) -> Classes:
    """A table of records by class and value, as privacy models see it."""
    return Classes(joint, joint.sum(axis=0))


def section2() -> list[PublishedSection]:
    """The metrics, then what informations are."""
    return [_metrics(), _informations()]


def _metrics() -> PublishedSection:
    table = classes_of(JOINT)
    who = reidentification(DECADES)
    k, sure = int(KAnonymity(1).measure(table).min()), float(who.posterior.max())
    homogeneous = [label for label, same in zip(LABELS, DIAGNOSIS.homogeneous, strict=True) if same]
    rows = [
        Row.claim(
            "k-anonymity: the chance to re-identify a record",
            abs(sure - 1 / k) < ROUNDING,
            f"k = {k}: at most {sure:.6f}",
            "at best 1/k",
            where="anonymizer.KAnonymity",
        ),
        Row.claim(
            "k-anonymity protects against attribute disclosure",
            len(homogeneous) > 0,
            f"k = {k}, and one diagnosis alone in {', '.join(homogeneous)}",
            "not necessarily",
            where="anonymizer.risk.Profile",
        ),
        *_diversity(),
        *_closeness(table),
    ]
    return PublishedSection("Section 2.1: privacy metrics, on Table 3", rows, place="Section 2.1")


def _diversity() -> list[Row]:
    where = "anonymizer.EntropyLDiversity"
    model, equal = EntropyLDiversity(1), range(1, 13)
    found = [float(model.measure(classes_of(np.full((1, n), 3)))[0]) for n in equal]
    off = max(abs(l_of - n) for l_of, n in zip(found, equal, strict=True))
    tables = [classes_of(table) for table in small_tables()]
    excess = max(float((model.measure(table) - table.sizes).max()) for table in tables)
    away = max(
        float(np.abs(np.log2(model.measure(table)) - _entropies(table.joint)).max())
        for table in tables
    )
    return [
        Row.claim(
            "l-diversity is of H(W|x~) = -sum p(w|x~) log2 p(w|x~)",
            away < ROUNDING,
            f"log2 l as measured is at most {away:.1e} bits away, over {len(tables)} tables",
            "H(W|x~) >= log2 l",
            where=where,
        ),
        Row.claim(
            "n equally distributed values",
            off < ROUNDING,
            f"l = {', '.join(f'{l_of:.0f}' for l_of in found)} for n = 1 to {equal[-1]}",
            "n-diverse",
            where=where,
        ),
        Row.claim(
            "l-diversity implies k-anonymity, k <= l",
            excess < ROUNDING,
            f"l of a class exceeds its size by {max(excess, 0):.6f} over {len(tables)} tables",
            "holds",
            where=where,
        ),
    ]


def _entropies(joint: Ints) -> Floats:
    shares = joint / joint.sum(axis=1, keepdims=True)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))


def _closeness(table: Classes) -> list[Row]:
    bits, other = (TCloseness(1, distance=way) for way in ("kl", "equal"))
    diverse = EntropyLDiversity(1).measure(table)
    worst, best = int(bits.measure(table).argmax()), int(diverse.argmax())
    where = "anonymizer.TCloseness"
    return [
        Row.claim(
            "a class of the largest l may still teach the most (skewness attack)",
            worst == best,
            f"{LABELS[best]}: l = {diverse[best]:.6f}, t = {bits.measure(table)[best]:.6f}",
            "a considerable amount of probabilistic information",
            where=where,
        ),
        Row.number(
            "t by the Kullback-Leibler divergence", float(bits.measure(table).max()), where=where
        ),
        Row.number(
            "t by the Earth Mover's distance, values equally far apart",
            float(other.measure(table).max()),
            where=where,
        ),
    ]


def _informations() -> PublishedSection:
    shares = JOINT.sum(axis=1) / JOINT.sum()
    rows = [
        Row.claim(
            "people, and those with the diagnosis",
            JOINT.sum() == 12 and JOINT[:, 1].sum() == 1,
            f"{JOINT.sum()}, {JOINT[:, 1].sum()}",
            "12, 1",
            place="Table 2",
            where="anonymizer.risk.Profile",
        ),
        _equal(
            "I(X~;W), both lines of Eq. 1 and the library",
            {
                "first line": eq1(JOINT),
                "second line": eq1_by_class(JOINT),
                "library": mutual_information(JOINT),
            },
            "Eq. 1",
            MUTUAL,
        ),
        _equal(
            "I(X~;W), both sides of Eq. 2",
            {
                "H(W) - H(W|X~)": float(entropy(JOINT.sum(0)) - shares @ entropy(JOINT)),
                "sum p [H(W) - H(W|x~)]": float(shares @ specific_information(JOINT)),
                "library": mutual_information(JOINT),
            },
            "Eq. 2",
            MUTUAL,
        ),
        *_laws(),
        _equal(
            f"I2 of {LABELS[-1]}, both lines of Eq. 3",
            {
                "H(W) - H(W|x~)": float(specific_information(JOINT)[-1]),
                "-[sum p(w) log p(w) - p(w|x~) log p(w|x~)]": float(
                    _entropies(JOINT.sum(0)[None])[0] - _entropies(JOINT)[-1]
                ),
            },
            "Eq. 3",
            f"{BITS}.specific_information",
        ),
        *combinations(),
    ]
    return PublishedSection(
        "Section 2.2: information theory, on Table 3", rows, place="Section 2.2"
    )


def eq1(joint: Ints) -> float:
    """Sum over x, y of p(x,y) log2 p(x,y) / p(x) p(y), in bits."""
    p = joint / joint.sum()
    outer = p.sum(axis=1, keepdims=True) * p.sum(axis=0)
    some = p > 0
    return float((p[some] * np.log2(p[some] / outer[some])).sum())


def eq1_by_class(joint: Ints) -> float:
    """Sum over y, x of p(y) p(x|y) log2 p(x|y) / p(x), in bits."""
    return float(joint.sum(axis=1) @ divergence(joint, joint.sum(axis=0)) / joint.sum())


def _laws() -> list[Row]:
    """Check the claims of the section about mutual information."""
    outer = np.outer([1, 2, 3], [4, 1])
    least = min(eq1(table) for table in small_tables())
    gap = max(_chain_gap(law) for law in random_laws())
    apart = [mutual_information(XOR.sum(axis=axis)) for axis in (1, 0)]
    both = mutual_information(XOR.reshape(4, 2))
    return [
        Row.claim(
            "I of independent variables",
            mutual_information(outer) < ROUNDING,
            f"{mutual_information(outer):.6f} of {outer.tolist()}",
            "0",
            where=MUTUAL,
        ),
        Row.claim(
            "I is not negative",
            least > -ROUNDING,
            f"at least {max(least, 0):.6f} over {len(small_tables())} tables",
            "positive",
            where=MUTUAL,
        ),
        Row.claim(
            "the chain rule of I",
            gap < ROUNDING,
            f"at most {gap:.1e} bits away over {len(random_laws())} laws",
            "holds",
            where=MUTUAL,
        ),
        Row.claim(
            "I({X1,X2};Y) = I(X1;Y) + I(X2;Y) for independent X1, X2",
            abs(both - sum(apart)) < ROUNDING,
            f"{both:.6f} against {apart[0]:.6f} + {apart[1]:.6f}",
            "expected",
            "holds where X1 and X2 are independent given Y too",
            cannot="X1 and X2 fair bits, Y = X1 xor X2; the chain rule has I(X2;Y|X1)",
            where=MUTUAL,
        ),
    ]


def _chain_gap(law: Floats) -> float:
    given: float = sum(part.sum() / law.sum() * mutual_information(part) for part in law)
    whole = mutual_information(law.reshape(-1, law.shape[2]))
    return float(abs(whole - mutual_information(law.sum(axis=1)) - given))


def _equal(quantity: str, forms: dict[str, float], place: str, where: str) -> Row:
    """Ways to write the same number, in bits."""
    values: Sequence[float] = list(forms.values())
    return Row.claim(
        quantity,
        max(values) - min(values) < ROUNDING,
        ", ".join(f"{name}: {value:.6f}" for name, value in forms.items()),
        "equal",
        place=place,
        where=where,
    )
