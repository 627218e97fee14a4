"""Figures 2 to 4 of Bezzi (2010): A2, A1 and A1* of age, all else suppressed."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.hierarchy import Interval, Partition
from anonymizer.information.entropy import specific_information, surprise
from anonymizer.kernels.arrays import Mask
from anonymizer.papers.bezzi2010.adult import INFORMATION, SENSITIVE, Experiment, L, T
from anonymizer.papers.row import Row, bars_of

TOLERANCE = 1e-9
"""Bits, as models forgive."""


def figures(experiment: Experiment) -> list[Row]:
    """Reproduce what the three recodings retain and lose, then the panels of each figure."""
    a2, a1 = (experiment.age_alone(level) for level in (2, 1))
    star = experiment.star(4)
    fails = "[0,25] and [75,100] fail t, [0,25] fails l"
    return [
        _kept(experiment, {"A2": a2, "A1": a1, "A1*": star.counts}),
        _left(experiment, 2, "A2", a2),
        _right(2, "A2", a2, experiment.ages(2), "t and l are fulfilled", ((), ())),
        _left(experiment, 3, "A1", a1),
        _right(3, "A1", a1, experiment.ages(1), fails, ((0, 3), (0,))),
        _left(experiment, 4, "A1*", star.counts, experiment.beyond),
        _right(4, "A1*", star.counts, star.recoding["age"], "t and l are satisfied", ((), ())),
    ]


def _kept(experiment: Experiment, schemes: dict[str, Counts]) -> Row:
    original = INFORMATION(experiment.problem.counts)
    retained = [INFORMATION(counts) for counts in schemes.values()]
    lost = [original - bits for bits in retained]
    return Row(
        "Figures 2 to 4: information retained and lost",
        ", ".join(f"{name} {bits:.4f}" for name, bits in zip(schemes, retained, strict=True)),
        remark=f"of I(X;W) = {original:.6f} bits; A1* with at most 4 ranges, exact",
        series=bars_of("recoding of age", [*schemes], {"retained": retained, "lost": lost}),
        place="Figures 2 to 4",
        where="anonymizer.figures",
    )


def _left(experiment: Experiment, number: int, name: str, counts: Counts, beyond: str = "") -> Row:
    """The four bars of the captions; ``beyond``: why the published one cannot be."""
    bars = {
        "I(X;W)": INFORMATION(experiment.problem.counts),
        "t": T.t,
        "H(W) - log l": L.ceiling(counts.margins[SENSITIVE]),
        "I(X~;W)": INFORMATION(counts),
    }
    *others, retained = bars.values()
    quantity = f"Figure {number}, left: information of {name}"
    shown = ", ".join(f"{bits:.4f}" for bits in bars.values())
    if beyond:
        row = Row.number(quantity, retained, "0.34", beyond, cannot=beyond)
    else:
        lower = "I(X~;W) is lower than the other three"
        row = Row.claim(quantity, retained < min(others), shown, lower)
    return replace(
        row,
        place=f"Figure {number}, Eq. 13",
        where="anonymizer.information.entropy.mutual_information",
        series=bars_of("information", list(bars), {"bits": list(bars.values())}),
    )


def _right(
    number: int,
    name: str,
    counts: Counts,
    ages: Partition,
    published: str,
    failing: tuple[Sequence[int], Sequence[int]],
) -> Row:
    """I1 and I2 of the classes, next to t and the ceiling of l; which of them fail."""
    classes = counts.about(SENSITIVE)
    limits = {"I1": T.t, "I2": L.ceiling(classes.margin)}
    found = {"I1": surprise(classes.joint), "I2": specific_information(classes.joint)}
    above = [found[key] > limits[key] + TOLERANCE for key in found]
    labels = labels_of(ages, counts)
    return Row.claim(
        f"Figure {number}, right: I1 and I2 of the classes of {name}",
        all(np.flatnonzero(a).tolist() == [*f] for a, f in zip(above, failing, strict=True)),
        "; ".join(f"{key} " + ", ".join(f"{b:.4f}" for b in bits) for key, bits in found.items()),
        published,
        f"above t: {_named(labels, above[0])}; above H(W) - log l: {_named(labels, above[1])}",
        place=f"Figure {number}, Eq. 14",
        where="anonymizer.information.entropy.surprise",
        series=bars_of("age", labels, found, limits),
    )


def labels_of(ages: Partition, counts: Counts) -> list[str]:
    """The ranges of age of classes that differ by age alone, in their order."""
    groups = ages.groups[counts.cells[:, counts.names.index("age")]]
    return [range_label(ages.labels[group]) for group in groups]


def range_label(label: object) -> str:
    """A range of age as people write it; an end that is open is left out.

    >>> [range_label(Interval(*ends)) for ends in ((None, 35), (35, 45), (60, None))]
    ['below 35', '[35, 45)', 'from 60']
    """
    if not isinstance(label, Interval):
        return str(label)
    if label.low is None:
        return f"below {label.high}"
    return f"from {label.low}" if label.high is None else str(label)


def _named(labels: Sequence[str], which: Mask) -> str:
    return ", ".join(np.asarray(labels)[which]) or "none"
