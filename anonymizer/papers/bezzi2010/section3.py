"""Section 3 of Bezzi (2010): the metrics as informations, Eq. 4 to 13, on Tables 2 and 3.

Each equivalence is computed over every small table, each necessary condition that is not
sufficient has the example that shows it.
"""

from collections.abc import Iterator

import numpy as np

from anonymizer.information.entropy import (
    entropy,
    mutual_information,
    specific_information,
    surprise,
)
from anonymizer.papers.bezzi2010.example import (
    DECADES,
    DIAGNOSES,
    DIAGNOSIS,
    FOUND,
    JOINT,
    small_tables,
)
from anonymizer.papers.bezzi2010.section2 import ROUNDING, classes_of
from anonymizer.papers.columns import inference, reidentification
from anonymizer.papers.row import PublishedSection, Row
from anonymizer.privacy import EntropyLDiversity, KAnonymity, TCloseness

CHANNELS, SEED = 200, 0
BITS = "anonymizer.information.entropy"
THRESHOLDS = {"k": (1, 2, 3, 5), "t": (0.1, 0.3, 0.55, 1.0), "l": (1.0, 1.5, 1.9, 2.0)}
BETWEEN = {"k": 3, "t": 0.5, "l": 1.1}
"""Thresholds that Table 3 meets on the average, and not in every class."""


def section3() -> PublishedSection:
    """Everything between Eq. 4 and Eq. 13 but what Table 3 has as rows of its own."""
    rows = [*_processing(), *_equivalences(), *_averages(), *_bounds(), *_fluctuations()]
    return PublishedSection("Section 3: privacy metrics as informations", rows, place="Section 3")


def _processing() -> list[Row]:
    """Eq. 4 for functions of X alone, and without it for others."""
    rng, whole = np.random.default_rng(SEED), mutual_information(JOINT)
    channels = rng.dirichlet(np.ones(3), (CHANNELS, len(JOINT)))
    most = max(mutual_information(channel.T @ JOINT) for channel in channels)
    told = inference(DIAGNOSES, DIAGNOSES).measures.mutual_information
    where = f"{BITS}.mutual_information"
    return [
        Row.claim(
            "Eq. 4 for random functions of X",
            most <= whole + ROUNDING,
            f"at most {most:.6f} of {whole:.6f} over {CHANNELS} random recodings of the decades",
            "deterministic or random",
            place="Footnote 1",
            where=where,
        ),
        Row.claim(
            "Eq. 4 where p(x~|x,w) is not p(x~|x)",
            told > whole,
            f"X~ = W has {told:.6f} bits, X of decades {whole:.6f}",
            "not valid any more",
            place="Footnote 1",
            where=where,
        ),
    ]


def _equivalences() -> list[Row]:
    """Eq. 5, 7, 8 and 10: a model, as the library has it, and the condition on an information."""
    who = "anonymizer.risk.Profile"
    return [
        _equivalent("k-anonymity: H(X|x~) >= log2 k", "k", _by_identity(), "Eq. 5", who),
        _equivalent("t-closeness: D(p(w|x~) || p(w)) <= t", "t", _by_distance(), "Eq. 7"),
        _equivalent("t-closeness: I1(W, x~) <= t", "t", _by_surprise(), "Eq. 8"),
        _equivalent("l-diversity: I2(W, x~) <= H(W) - log2 l", "l", _by_entropy(), "Eq. 10"),
    ]


def _equivalent(
    quantity: str, letter: str, pairs: Iterator[tuple[bool, bool]], place: str, where: str = ""
) -> Row:
    found = list(pairs)
    differing = sum(one != other for one, other in found)
    holding = sum(one for one, _ in found)
    model = {"t": "anonymizer.TCloseness", "l": "anonymizer.EntropyLDiversity"}
    values = ", ".join(f"{value:g}" for value in THRESHOLDS[letter])
    return Row.claim(
        quantity,
        differing == 0 < holding < len(found),
        f"{differing} of {len(found)} cases differ from the model, which holds in {holding}",
        "equivalent",
        f"every table of {len(small_tables())}, {letter} = {values}",
        place=place,
        where=where or model[letter],
    )


def _by_identity() -> Iterator[tuple[bool, bool]]:
    for table in small_tables():
        uncertainties = reidentification(np.repeat(*_numbered(table)).tolist()).uncertainties
        for k in THRESHOLDS["k"]:
            model = KAnonymity(int(k))
            yield bool((uncertainties >= np.log2(k) - ROUNDING).all()), _holds(model, table)


def _numbered(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(len(table)), table.sum(axis=1)


def _by_distance() -> Iterator[tuple[bool, bool]]:
    """The sum of Eq. 7, written out."""
    for table in small_tables():
        shares, prior = table / table.sum(axis=1, keepdims=True), table.sum(axis=0) / table.sum()
        ratio = np.divide(shares, prior, out=np.ones_like(shares), where=shares > 0)
        away = (shares * np.log2(ratio)).sum(axis=1)
        for t in THRESHOLDS["t"]:
            yield bool((away <= t + ROUNDING).all()), _holds(TCloseness(t, distance="kl"), table)


def _by_surprise() -> Iterator[tuple[bool, bool]]:
    for table in small_tables():
        i1 = surprise(table)
        for t in THRESHOLDS["t"]:
            yield bool((i1 <= t + ROUNDING).all()), _holds(TCloseness(t, distance="kl"), table)


def _by_entropy() -> Iterator[tuple[bool, bool]]:
    for table in small_tables():
        i2, whole = specific_information(table), float(entropy(table.sum(axis=0)))
        for diversity in THRESHOLDS["l"]:
            ceiling = whole - np.log2(diversity) + ROUNDING
            yield bool((i2 <= ceiling).all()), _holds(EntropyLDiversity(diversity), table)


def _holds(model: KAnonymity | TCloseness | EntropyLDiversity, table: np.ndarray) -> bool:
    return bool(model.accepts(model.measure(classes_of(table))).all())


def _averages() -> list[Row]:
    """Eq. 6 averaged, 9, 11 and 13: necessary, as every table shows, and not sufficient."""
    measures, who = DIAGNOSIS.measures, reidentification(DECADES)
    mean, whole = measures.mutual_information, measures.uncertainty
    k, t, diversity = (BETWEEN[letter] for letter in "ktl")
    identity, own = who.measures.mutual_information, int(who.sizes.min())
    ceilings = {
        "log2 N / k": (identity, np.log2(who.records / k), f"k = {k}", f"{own}"),
        "t": (mean, t, f"t = {t}", f"{measures.i1_max:.6f}"),
        "H(W) - log2 l": (
            mean,
            whole - np.log2(diversity),
            f"l = {diversity}",
            f"{1 / measures.entropy_l_diversity_risk:.6f}",
        ),
    }
    broken = (own < k, measures.i1_max > t, 1 / measures.entropy_l_diversity_risk < diversity)
    places = ("Eq. 6, averaged", "Eq. 9", "Eq. 11")
    rows = [
        Row.claim(
            f"I <= {name}: necessary, not sufficient",
            value <= bound and fails,
            f"{value:.6f} <= {bound:.6f} for {given}, and the worst class has {worst}",
            "necessary, not sufficient",
            place=place,
            where="anonymizer.risk.measures",
        )
        for (name, (value, bound, given, worst)), fails, place in zip(
            ceilings.items(), broken, places, strict=True
        )
    ]
    return [*rows, _necessary()]


def _necessary() -> Row:
    """Eq. 13 of every table, with the t and the l that it has."""
    tables = small_tables()
    over = max(
        mutual_information(table)
        - min(
            float(surprise(table).max()),
            float(entropy(table.sum(axis=0)) - entropy(table).min()),
        )
        for table in tables
    )
    return Row.claim(
        "I <= t and I <= H(W) - log2 l, with a table's own t and l: Eq. 13",
        over < ROUNDING,
        f"exceeded by {max(over, 0):.6f} over {len(tables)} tables",
        "necessary",
        place="Eq. 13",
        where=f"{BITS}.mutual_information",
    )


def _bounds() -> list[Row]:
    """log2 l <= H(W): no class of a table with this l would have more than all."""
    tables = small_tables()
    over = max(float(entropy(each).min() - entropy(each.sum(axis=0))) for each in tables)
    return [
        Row.claim(
            "log2 l <= H(W)",
            over < ROUNDING,
            f"exceeded by {max(over, 0):.6f} over {len(tables)} tables",
            "H(W) is an upper bound",
            place="Eq. 15",
            where="anonymizer.EntropyLDiversity",
        )
    ]


def _fluctuations() -> list[Row]:
    """Section 3.1, of Figure 1."""
    i1, i2 = FOUND["I1"], FOUND["I2"]
    share, mean = DIAGNOSIS.sizes / DIAGNOSIS.records, DIAGNOSIS.measures.mutual_information
    means = [float(share @ each) for each in (i1, i2)]
    return [
        Row.claim(
            "the risk of classes fluctuates",
            float(i1.max()) > 2 * mean > 0 > float(i2.min()),
            f"I1 from {i1.min():.6f} to {i1.max():.6f}, I2 from {i2.min():.6f} to {i2.max():.6f}, "
            f"{mean:.6f} on the average",
            "large fluctuations",
            place="Section 3.1",
            where="anonymizer.risk.Profile",
        ),
        Row.claim(
            "I1 and I2 are equal on the average",
            abs(means[0] - means[1]) < ROUNDING,
            f"{means[0]:.6f}, {means[1]:.6f}",
            "equal",
            place="Section 3.1",
            where="anonymizer.risk.Profile",
        ),
        Row.claim(
            "their impact on single classes can be the opposite",
            float(np.corrcoef(i1, i2)[0, 1]) < 0,
            f"correlation of I1 and I2 over the classes {np.corrcoef(i1, i2)[0, 1]:.6f}",
            "the opposite",
            place="Section 3.1",
            where="anonymizer.risk.Profile",
        ),
    ]
