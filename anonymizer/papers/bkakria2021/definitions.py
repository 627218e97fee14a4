"""Equations 1 to 15 and Proposition 1 of Bkakria et al. (2021), on the patients of Table 3.

Each is computed twice: by the library, and by what the paper says of it or prints next to it.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from anonymizer.information.entropy import entropy, mutual_information
from anonymizer.information.itpr import itpr_terms
from anonymizer.kernels.arrays import Ints
from anonymizer.papers.bkakria2021 import schemes
from anonymizer.papers.bkakria2021.cases import AGES, DISEASES, ZIPS, profile
from anonymizer.papers.columns import inference, reidentification
from anonymizer.papers.row import PublishedSection, Row
from anonymizer.risk import Inference, Profile, Reidentification

CLOSE = 1e-9
"""Sums that differ by less are equal."""
H = "anonymizer.information.entropy.entropy"
DR = "anonymizer.information.itpr.discrimination_rate"
MI = "anonymizer.information.entropy.mutual_information"
MEASURES = "anonymizer.risk.Profile.measures"
ITPR = "anonymizer.information.itpr.itpr"
COLUMNS: Mapping[str, Sequence[Hashable]] = {
    **{f"Age {case}": values for case, values in AGES.items()},
    **{f"Disease {case}": values for case, values in DISEASES.items()},
    **{f"Zip Code {case}": values for case, values in ZIPS.items()},
}
"""Every column of Tables 3 and 6."""
TABLES = 2000
"""Random tables that Proposition 1 is tried on."""


def equations() -> list[PublishedSection]:
    """The equations of section 3, and those of sections 4 and 5."""
    return [
        PublishedSection("Section 3.2: entropies", [*entropies()], EVERYWHERE),
        PublishedSection("Section 3.3: metrics", [*metrics()], EVERYWHERE),
        PublishedSection("Section 4: ITPR", [*of_itpr()], where=ITPR),
        proposition(),
        PublishedSection("Section 5: what is varied", [*varied()]),
    ]


EVERYWHERE = "Identities are tried on all 100 pairs of columns of Tables 3 and 6."


def pairs() -> Iterator[Ints]:
    """The count matrices of every two columns, shape (values of Y, values of X)."""
    for x, y in product(COLUMNS.values(), repeat=2):
        yield matrix(x, y)


def matrix(x: Sequence[Hashable], y: Sequence[Hashable]) -> Ints:
    """Count the records that have each value of Y and X."""
    rows, columns = (list(dict.fromkeys(values)) for values in (y, x))
    found = np.zeros((len(rows), len(columns)), np.int64)
    for left, right in zip(y, x, strict=True):
        found[rows.index(left), columns.index(right)] += 1
    return found


def conditional(joint: Ints) -> float:
    """H(X|Y) by the first line of Eq. 2."""
    sizes = joint.sum(axis=1)
    return float(sizes @ entropy(joint) / sizes.sum())


def pointwise(joint: Ints) -> float:
    """H(X|Y) by the second line of Eq. 2."""
    share = joint / joint.sum()
    inside = joint / joint.sum(axis=1, keepdims=True)
    seen = joint > 0
    return float(-(share[seen] * np.log2(inside[seen])).sum())


def entropies() -> Iterator[Row]:
    """Equations 1 to 4."""
    value = float(entropy(matrix(DISEASES[2], [0] * 8)[0]))
    by_hand = 2 / 8 * np.log2(8 / 2) + 6 / 8 * np.log2(8)
    yield holds("H(X), Disease 2", "Eq. 1", H, abs(value - by_hand), "-sum p log p", f"{value:.6f}")
    worst = max(abs(conditional(joint) - pointwise(joint)) for joint in pairs())
    yield holds("H(X|Y)", "Eq. 2", H, worst, "the two lines are equal")
    over = max(conditional(joint) - float(entropy(joint.sum(axis=0))) for joint in pairs())
    yield holds("H(X|Y), its largest value", "Section 3.2", H, max(over, 0), "H(X)")
    known = profile("Age 5, Disease 2")
    share = known.conditional_uncertainty / known.uncertainty
    off = abs(share - (1 - known.discrimination_rate))
    yield holds("H(X|Y) / H(X), Age 5, Disease 2", "Eq. 3", DR, off, "1 - DR", f"{share:.6f}")
    worst = max(
        abs(float(entropy(joint.ravel()) - entropy(joint.sum(axis=1))) - conditional(joint))
        for joint in pairs()
    )
    remark = "the sum is printed over x alone, and has to be over x and y"
    yield holds("H(X,Y)", "Eq. 4", H, worst, "H(Y) + H(X|Y)", remark=remark)


def metrics() -> Iterator[Row]:
    """Equations 5 to 8, and the condition of entropy l-diversity."""
    rates = [Inference.of(joint).discrimination_rate for joint in pairs()]
    outside = max(0.0, -min(rates), max(rates) - 1)
    yield holds("DR", "Eq. 5", DR, outside, "bounded on [0,1]", f"{min(rates):g} to {max(rates):g}")
    alone = profile("Age 1").discrimination_rate
    yield holds("DR of an identifier, Age 1", "Eq. 5", DR, abs(alone - 1), "1", f"{alone:g}")
    worst = max(spread_of_mi(joint) for joint in pairs())
    yield holds("I(X;Y)", "Eq. 6", MI, worst, "its three forms are equal")
    known = profile("Age 5, Disease 2").measures
    off = abs(known.conditional_privacy - (1 - 2**-known.mutual_information))
    shown = f"{known.conditional_privacy:.6f}"
    yield holds("CP of Age 5 and Disease 2", "Eq. 7", MEASURES, off, "1 - 2^-I(X;Y)", shown)
    value = known.maximum_information_leakage
    by_hand = max(2.75 - 1.5, 2.75 - 2)
    yield holds(
        "MIL of Age 5 and Disease 2",
        "Eq. 8",
        MEASURES,
        abs(value - by_hand),
        "max H(X) - H(X|y)",
        f"{value:.6f}",
    )
    least = 1 / known.entropy_l_diversity_risk
    off = abs(least - 2**1.5)
    yield holds(
        "largest l, Age 5, Disease 2",
        "Section 3.3.5",
        "anonymizer.EntropyLDiversity",
        off,
        "H(X|q) >= log l for all q",
        f"{least:.6f}",
    )


def spread_of_mi(joint: Ints) -> float:
    """Return the distance of the three forms of Eq. 6 and the library's own."""
    across = joint.T
    x, y = (float(entropy(each.sum(axis=0))) for each in (joint, across))
    forms = (
        x - conditional(joint),
        y - conditional(across),
        x + y - float(entropy(joint.ravel())),
        float(mutual_information(joint)),
    )
    return max(forms) - min(forms)


def of_itpr() -> Iterator[Row]:
    """Equations 9 and 10, Definitions 1 and 2."""
    known = profile("Age 4")
    term = max(1 - n * np.log2(n) / 8 / 3 for n in (6, 2))
    value = known.measures.unscaled_itpr
    yield holds(
        "Eq. 9, Age 4",
        "Eq. 9",
        MEASURES,
        abs(value - term),
        "max 1 - p(y) H(X|y) / H(X)",
        f"{value:.6f}",
    )
    by_hand = 1 - 2 * (2 / 8 * 1) / 3
    yield holds(
        "ITPR of Age 4",
        "Definition 1, Eq. 10",
        ITPR,
        abs(known.itpr - by_hand),
        "with the factor |Ω_Y|",
        f"{known.itpr:.6f}",
    )
    alike = itpr_of_alike()
    yield holds(
        "ITPR, all four of a class have HIV",
        "Section 3",
        ITPR,
        abs(alike - 1),
        "1: a homogeneity attack",
        f"{alike:g}",
    )
    both = profile("Age 2, Zip Code 2")
    paired = reidentification([*zip(AGES[2], ZIPS[2], strict=True)])
    off = abs(both.itpr - paired.itpr)
    yield holds(
        "ITPR, Age 2 and Zip Code 2",
        "Definition 2",
        "anonymizer.risk.itpr",
        off,
        "that of the tuples",
        f"{both.itpr:.6f}",
    )
    for sizes in ((4, 4, 4, 4), (4, 12)):
        name = f"ITPR, classes of {' + '.join(map(str, sizes))} records"
        remark = "merging classes may raise it: as a model it is not monotone"
        found = Reidentification.of(sizes).itpr
        model = "anonymizer.ReidentificationItpr"
        yield Row.number(name, found, remark=remark, place="Definition 2", where=model)


def itpr_of_alike() -> float:
    """A 4-anonymous table, one class of which has a single disease."""
    ages, diseases = ["3*"] * 4 + ["4*"] * 4, ["Flu", "HIV", "Flu", "Cancer"] + ["HIV"] * 4
    return inference(diseases, ages).itpr


def proposition() -> PublishedSection:
    """Proposition 1 on every pair of columns and on random tables, and what its proof shows."""
    known: list[Profile] = [Inference.of(joint) for joint in [*pairs(), *random_tables()]]
    combined = [inference(x, y, z) for x, y, z in product(list(COLUMNS.values())[:5], repeat=3)]
    simple, tuples = ([each.itpr for each in some] for some in (known, combined))
    lowest = min(float(raw(each)) for each in [*known, *combined])
    below = min(raw(each) - each.discrimination_rate for each in [*known, *combined])
    rows = [
        bounded("simple ITPR", simple),
        bounded("combined ITPR", tuples),
        Row.claim(
            "ITPR before it is rounded into its bounds, least",
            lowest > -CLOSE,
            f"{lowest:.3g}",
            ">= 0",
            "the maximum of the terms as they are",
        ),
        *proof(known, below),
    ]
    note = (
        f"On {len(known)} pairs of columns and random tables, and {len(combined)} pairs of known "
        "columns."
    )
    return PublishedSection(
        "Proposition 1: ITPR is bounded by 0 and 1", rows, note, "Proposition 1", ITPR
    )


def proof(known: Sequence[Profile], below: float) -> list[Row]:
    """Check what the proof supposes and uses; ``below``: the least of ITPR - DR."""
    return [
        Row.claim(
            "its proof: what is supposed",
            False,
            "some X and Y",
            "for all X and Y, ITPR < 0",
            "max_y (1 - T a_y) >= mean_y (1 - T a_y) = DR >= 0: see docs/theory/risk.md",
            why="the opposite of 'never below 0' is 'below 0 for some', and the step to the sum "
            "goes one way; what is proven is true, by a maximum not being below an average",
            place="Eq. 11",
        ),
        Row.claim("ITPR - DR, least", below > -CLOSE, f"{max(below, 0.0):.3g}", ">= 0", "Eq. 11"),
        Row.claim(
            "H(X|y) < 0 for some y",
            min(float(each.uncertainties.min()) for each in known) >= 0,
            "never",
            "cannot be true",
            "hence ITPR <= 1",
            place="Eq. 12",
            where=H,
        ),
    ]


def bounded(name: str, values: Sequence[float]) -> Row:
    """Check that values are within 0 and 1, and show how near they come to either."""
    shown = f"{min(values):.6f} to {max(values):.6f}"
    return Row.claim(name, min(values) >= 0 and max(values) <= 1, shown, "bounded by 0 and 1")


def raw(known: Profile) -> float:
    """The largest term, as it comes."""
    return float(itpr_terms(known.sizes, known.uncertainties, known.uncertainty).max())


def random_tables() -> Iterator[Ints]:
    """Draw tables of 1 to 6 classes and 2 to 5 values, some of them empty."""
    rng = np.random.default_rng(2021)
    for _ in range(TABLES):
        shape = rng.integers(1, 7), rng.integers(2, 6)
        joint = rng.integers(0, rng.choice([2, 6, 100]), shape)
        joint[0, 0] += 1
        yield joint


def varied() -> Iterator[Row]:
    """Equations 13 to 15, on the tables that figures are drawn of."""
    sizes = schemes.FIGURE_1.profile(9998).sizes
    epsilon = int(max(abs(a - b) for a, b in product(sizes.tolist(), repeat=2)))
    yield holds(
        "ε, Figure 1, its last point",
        "Eq. 13",
        SCHEMES,
        abs(epsilon - 9998),
        "9998 = |9999 - 1|",
        f"{epsilon}",
    )
    skewed = np.split(schemes.graded(1000).counts, 5)
    excess = int(max(counts.max() - counts.min() for counts in skewed))
    yield holds(
        "λ, Figure 3, its middle",
        "Eq. 14",
        SCHEMES,
        abs(excess - 1000),
        "max within an age",
        f"{excess}",
    )
    example = schemes.example(5)
    theta = float(example.i2.max())
    leakage = example.measures.maximum_information_leakage
    yield holds(
        "θ, 5 of 100 have HIV",
        "Eq. 15",
        "anonymizer.risk.Profile.i2",
        abs(theta - leakage),
        "max H(X) - H_q(X)",
        f"{theta:.6f}",
        "MIL by Eq. 8 is the same",
    )


SCHEMES = "anonymizer.papers.bkakria2021.schemes"


def holds(
    quantity: str,
    place: str,
    where: str,
    off: float,
    says: str,
    shown: str = "",
    remark: str = "",
) -> Row:
    """Check that two ways to compute something agree; ``off``: by how much they do not."""
    found = shown or f"they differ by {0 if off < CLOSE else off:.3g}"
    why = f"the two differ by {off:.3g}"
    return Row.claim(quantity, off < CLOSE, found, says, remark, why=why, place=place, where=where)
