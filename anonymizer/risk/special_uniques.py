"""Special uniques: records that few of their values set apart from all others (SUDA2).

A minimal sample unique (MSU) of a record is a set of attributes in whose values it is alone while
it is not in those of any smaller part of the set. The more of them a record has, and the smaller
they are, the likelier it is alone in the population, too.

Elliot, Manning and Ford (2002), "A computational algorithm for handling the special uniques
problem"; Manning, Haglin and Keane (2008), "A recursive search algorithm for statistical disclosure
assessment", whose SUDA2 finds the same sets in another order.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import factorial

import numpy as np

from anonymizer.errors import InputError, is_number, shown
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.release.results import Result
from anonymizer.risk.refinement import Columnar, Subset, refined_by, subsets_up_to
from anonymizer.tables import engine

FRACTION = 0.01
"""The share of the population that a sample is taken to be, unless somebody says it."""

MOST_SETS = 10
"""Sets of attributes that are listed, of those that set most records apart."""


@dataclass(frozen=True)
class UniqueSet(Result):
    """Attributes whose values set records apart from all others, and no part of them does."""

    attributes: Subset
    records: int


@dataclass(frozen=True, eq=False)
class SpecialUniques(Result):
    """The special uniques of a table.

    With q attributes and sets of up to M of them, a set of m counts (q - m) (q - m - 1) ... (q - M)
    in the ``scores`` of its records, which is (q - m)! where all sizes are looked at. ``risks`` are
    the DIS-SUDA scores: the share of matches of a random record with the population that are right,
    spread over the records by their scores.
    """

    size: int  # M: sets of more attributes were not looked at
    fraction: float  # of the population
    records: int  # those with a set
    highest: float  # of the risks
    expected: float  # their sum
    by_size: Mapping[int, int]  # sets of each size, each counted once for each record
    by_attribute: Mapping[str, float]  # the share of all scores that sets with an attribute have
    sets: Sequence[UniqueSet] = ()  # at most MOST_SETS
    scores: Floats = field(default_factory=lambda: np.zeros(0), repr=False)  # (classes,)
    risks: Floats = field(default_factory=lambda: np.zeros(0), repr=False)  # (classes,)

    def to_dict(self) -> dict[str, object]:
        """Return the figures as JSON has them, without those of classes."""
        found = super().to_dict()
        return {name: value for name, value in found.items() if name not in ("scores", "risks")}


def special_uniques(
    table: Columnar,
    names: Sequence[str],
    size: int | None = None,
    fraction: float = FRACTION,
    watch: Watch = ignore,
) -> SpecialUniques:
    """Find the special uniques of a table as it is.

    Parameters
    ----------
    table
        A DataFrame, or a file that is read a column at a time.
    names
        The attributes. A missing value sets nobody apart, and equals no other value.
    size
        Of the largest sets of attributes; by default all are looked at.
    fraction
        The share of the population that the table is a sample of.

    Returns
    -------
    SpecialUniques
        Their scores and risks, by class as ``refined_by`` numbers them, and by attribute.

    Raises
    ------
    InputError
        When the sets are too many, or ``fraction`` is no share.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [20, 20, 30, 30], "sex": list("fmmm")})
    >>> special_uniques(table, ["age", "sex"]).scores.tolist()
    [1.0, 1.0, 0.0]
    """
    classes = refined_by(table, names)
    if not is_number(fraction, 0, 1, above=True, below=True):
        raise InputError(
            f"fraction = {shown(fraction)} must be the share of the population that the table is "
            "a sample of, above 0 and below 1"
        )
    attributes = len(names)
    size = attributes if size is None else min(size, attributes)
    total = subsets_up_to(size, names)
    first = np.zeros(classes.classes, np.intp)
    first[classes.class_of[::-1]] = np.arange(len(classes.class_of))[::-1]
    columns = [_coded(table, name, first) for name in names]
    scores = np.zeros(classes.classes)
    by_size = dict.fromkeys(range(1, size + 1), 0)
    shares = np.zeros(attributes)
    listed = []
    for place, (chosen, alone) in enumerate(_minimal(columns, classes.sizes, size)):
        watch("looking for special uniques", place, total)
        if not len(alone):
            continue
        worth = _worth(attributes, len(chosen), size)
        scores[alone] += worth
        by_size[len(chosen)] += len(alone)
        shares[[*chosen]] += worth * len(alone)
        listed.append(UniqueSet(tuple(names[each] for each in chosen), len(alone)))
    listed.sort(key=lambda each: (-each.records, len(each.attributes), each.attributes))
    risks = _risks(scores, classes.sizes, attributes, fraction)
    whole = scores.sum() or 1.0
    return SpecialUniques(
        size=size,
        fraction=fraction,
        records=int((scores > 0).sum()),
        highest=float(risks.max(initial=0.0)),
        expected=float(risks.sum()),
        by_size=by_size,
        by_attribute=dict(zip(names, (shares / whole).tolist(), strict=True)),
        sets=tuple(listed[:MOST_SETS]),
        scores=scores,
        risks=risks,
    )


def _coded(table: Columnar, name: str, first: Codes) -> tuple[Codes, int]:
    """The codes of a column for some rows, -1 for a missing value, and how many there are."""
    column = table[name].iloc[first]
    codes, values = engine.distinct(column)
    missing = engine.missing(column)
    return np.where(missing, -1, codes), len(values)


def _minimal(
    columns: Sequence[tuple[Codes, int]], sizes: Ints, size: int
) -> Iterator[tuple[tuple[int, ...], Codes]]:
    """Yield each set of attributes and the classes of one record that it minimally sets apart.

    ``left[chosen]`` are the classes that share their values in ``chosen`` with another record and
    miss none. A class can have ``chosen`` as a minimal set only if every part of one attribute less
    leaves it, and these are all that need comparing: whatever a part sets apart from all others
    shares its values in ``chosen`` with none.
    """
    left: dict[tuple[int, ...], Codes] = {(): np.arange(len(sizes))}
    for several in range(1, size + 1):
        above: dict[tuple[int, ...], Codes] = {}
        for chosen in combinations(range(len(columns)), several):
            parts = [*combinations(chosen, several - 1)]
            if not all(part in left for part in parts):
                continue
            some = left[parts[0]]
            for part in parts[1:]:
                some = np.intersect1d(some, left[part], assume_unique=True)
            if several == 1:
                some = some[columns[chosen[0]][0][some] >= 0]
            group = _groups([columns[each] for each in chosen], some)
            records = np.bincount(group, sizes[some])[group] if len(some) else np.zeros(0)
            yield chosen, some[records == 1]
            if (shared := some[records > 1]).size:
                above[chosen] = shared
        left = above


def _groups(columns: Sequence[tuple[Codes, int]], some: Codes) -> Codes:
    """Number some classes by their values in some columns."""
    group, bound = np.zeros(len(some), np.int64), 1
    for codes, number in columns:
        if bound * number > 2**31:  # the next one might not fit
            _, group = np.unique(group, return_inverse=True)
            bound = len(some)
        group = group * number + codes[some]
        bound *= number
    return np.unique(group, return_inverse=True)[1]


def _worth(attributes: int, several: int, size: int) -> float:
    """What a set counts: the product of q - i for i = m ... min(M, q - 1)."""
    last = min(size, attributes - 1)
    return factorial(attributes - several) / factorial(max(attributes - last - 1, 0))


def _risks(scores: Floats, sizes: Ints, attributes: int, fraction: float) -> Floats:
    """The DIS-SUDA score of each class, shape (classes,).

    Data intrusion simulation (Skinner and Elliot 2002): of U records alone in the sample, and P in
    pairs, the share U f / (U f + P (1 - f)) of the matches of a unique record is right. A record
    whose score is s has 1 / (1 + P (1 - f) / (f s^Q sum s^-Q)), Q = 1 + (8 - q) / 20, as sdcMicro
    spreads it.
    """
    special = scores > 0
    risks = np.zeros(len(scores))
    if not special.any():
        return risks
    pairs = 2 * int((sizes == 2).sum())
    power = scores[special] ** (1 + (8 - attributes) / 20)
    wrong = pairs * (1 - fraction) / fraction
    risks[special] = 1 / (1 + wrong / (power * (1 / power).sum()))
    return risks
