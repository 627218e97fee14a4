"""How far counts and statistics are off that an analyst estimates from a release.

Statistics of numbers are compared in standard errors: probabilistic information loss. Of counts the
convention is: a released group says that each of its values is as likely, so its records are
spread evenly over them; those of a suppressed record over all values. Values are those that the
hierarchy lists, else those that occur. Attributes are spread independently. Records that were left
out are not there to be counted. Where records stand for people, each counts as many as its weight.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import erf, sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonymizer.feedback.progress import Watch, ignore
from anonymizer.kernels.arrays import Codes, Floats, Mask
from anonymizer.release.results import Result
from anonymizer.tables.numbering import crossed, first_records
from anonymizer.utility.pairing import Pairing

FEW = 100
"""Most values of a column without a role that is tabulated: more are no categories."""


BLOCK = 1 << 20
"""Shares that are in memory at once."""


@dataclass(frozen=True)
class TotalVariation(Result):
    """The total variation distance of one table of counts: half the sum of |p - q|, 0 to 1.

    p is of the original records, q as estimated from the release; the share of the records, or of
    the people whom they stand for, that would have to move for one table to become the other.
    """

    columns: tuple[str, ...]
    total_variation: float


class CodedPairing(NamedTuple):
    """Column with the values of the original records, and what is released for them."""

    name: str
    codes: Codes  # of the value of each record, shape (records,)
    shown: Codes  # the released label of each record, shape (records,)
    groups: Codes  # the label of each value, shape (values,)
    alone: bool = False  # whether it has no role, so that suppression leaves it as it is
    covers: Mask | None = None  # the values of each label, (labels, values), where these overlap


def deviations(
    pairing: Pairing, watch: Watch = ignore, weights: Floats | None = None
) -> list[TotalVariation]:
    """Measure every one-way and two-way table of the columns that have few values.

    Quasi-identifiers and sensitive attributes are tabulated whatever their values, other columns
    up to ``FEW`` values. ``weights``: what each original record counts, shape (records,); 1 by
    default.
    """
    columns = _columns(pairing)
    tables = [(column,) for column in columns] + list(combinations(columns, 2))
    found = []
    for done, table in enumerate(tables):
        watch("comparing tables of counts", done, len(tables))
        names = tuple(column.name for column in table)
        found.append(TotalVariation(names, _distance(table, pairing, weights)))
    return found


def _columns(pairing: Pairing) -> list[CodedPairing]:
    found = [
        CodedPairing(
            name,
            a.codes,
            a.groups,
            np.zeros(0, np.intp) if a.partition is None else a.partition.groups,
            covers=a.covers,
        )
        for name, a in pairing.attributes.items()
    ]
    for name, (codes, values) in pairing.others.items():
        if len(values) <= FEW or name in pairing.schema.counted:
            own = np.arange(len(values))
            found.append(CodedPairing(str(name), codes, codes, own, alone=True))
    return found


def _distance(
    table: Sequence[CodedPairing], pairing: Pairing, weights: Floats | None = None
) -> float:
    """Sum max(p - q, 0) over the cells that occur in the original: half of all |p - q|."""
    cell, first = _numbered([column.codes for column in table])
    records = np.bincount(cell, weights)
    weighed = np.ones(len(cell)) if weights is None else weights
    values = [column.codes[first] for column in table]
    if any(column.covers is not None for column in table):
        spread = _overlapping(table, values, weights)
        return float(np.maximum(records - spread, 0).sum() / weighed.sum())
    shown = ~pairing.suppressed
    hidden = pairing.suppressed & ~pairing.left_out
    spread = _expected(table, values, shown, weighed)
    spread += _expected([_whole(column) for column in table], values, hidden, weighed)
    released = weighed[shown].sum() + weighed[hidden].sum()
    return float(np.maximum(records / weighed.sum() - spread / released, 0).sum())


def _whole(column: CodedPairing) -> CodedPairing:
    if column.alone:
        return column
    return column._replace(shown=np.zeros_like(column.shown), groups=np.zeros_like(column.groups))


def _expected(
    table: Sequence[CodedPairing], cells: Sequence[Codes], among: np.ndarray, weights: Floats
) -> Floats:
    """Spread the records of every group over its values, shape (cells,)."""
    of_records = [column.shown[among] for column in table]
    of_cells = [column.groups[cell] for column, cell in zip(table, cells, strict=True)]
    number, _ = _numbered([np.concatenate(pair) for pair in zip(of_records, of_cells, strict=True)])
    among_records = int(among.sum())
    records = np.bincount(number[:among_records], weights[among], int(number.max()) + 1)
    sizes = np.ones(len(cells[0]))
    for column, own in zip(table, of_cells, strict=True):
        sizes *= np.bincount(column.groups)[own]
    return np.asarray(records[number[among_records:]] / sizes)


def _overlapping(
    table: Sequence[CodedPairing], cells: Sequence[Codes], records: Floats | None
) -> Floats:
    """Spread the records of every label over its values, where labels overlap."""
    spread = np.zeros(len(cells[0]))
    labels = [int(column.shown.max(initial=0)) + 1 for column in table]
    digits = [(column.shown, most) for column, most in zip(table, labels, strict=True)]
    if records is None:
        counts = crossed(digits, len(table[0].shown)).reshape(labels[0], -1)
    else:
        key = np.ravel_multi_index([column.shown for column in table], labels)
        counts = np.bincount(key, records, int(np.prod(labels))).reshape(labels[0], -1)
    step = max(BLOCK // max(labels), 1)
    for begin in range(0, len(spread), step):
        block = slice(begin, begin + step)
        weights = [_weights(*each, block) for each in zip(table, cells, labels, strict=True)]
        other = weights[1] if len(weights) > 1 else np.ones((1, weights[0].shape[1]))
        spread[block] = (weights[0] * (counts @ other)).sum(axis=0)
    return spread


def _weights(column: CodedPairing, cells: Codes, labels: int, block: slice) -> Floats:
    """Return the share that each label gives to the value of some cells, (labels, cells)."""
    values = cells[block]
    if column.covers is None:
        own: Mask = column.groups[values] == np.arange(labels)[:, None]
        return own.astype(float)
    shares = column.covers[:labels] / column.covers[:labels].sum(axis=1, keepdims=True)
    weights: Floats = shares[:, values]
    return weights


def _numbered(digits: Sequence[Codes]) -> tuple[Codes, Codes]:
    """Number the distinct rows of one or two digits: the number of each row, and a row of each."""
    key = digits[0].astype(np.int64)
    for digit in digits[1:]:
        key = key * (int(digit.max(initial=0)) + 1) + digit
    number, _ = pd.factorize(key)
    return number, first_records(number)


QUANTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class InformationLoss(Result):
    """How far one statistic moved; its values themselves are not shown.

    ``standard_errors`` is |released - original| / standard error of the original, None where that
    is 0, and ``pil`` the probabilistic information loss, 0 to 1.
    """

    statistic: str  # mean, variance, covariance or quantile
    columns: tuple[str, ...]  # one, or two
    share: float | None  # which quantile
    standard_errors: float | None
    pil: float


def pil(original: float, released: float, variance: float) -> float:
    """P(|Z| <= |released - original| / sqrt(variance)) for a standard normal Z, 0 to 1.

    erf(|released - original| / sqrt(2 variance)) (Mateo-Sanz, Domingo-Ferrer, Sebé 2005), as in
    ``anonymizer.channels``, but without its libraries, which take long to load. Of the statistic of
    a fresh sample against that of the population it is uniform. Between two samples of the same
    size it is so only with the variance doubled: else its mean is 0.61, 2 / pi atan sqrt 2.

    >>> pil(1.0, 1.0, 0.25), round(pil(1.0, 1.98, 0.25), 3)
    (0.0, 0.95)
    """
    distance = abs(released - original)
    return erf(distance / sqrt(2 * variance)) if variance > 0 else float(distance > 0)


def variance_of_mean(x: Floats) -> float:
    """s^2 / n."""
    return float(x.var(ddof=1)) / len(x)


def variance_of_covariance(x: Floats, y: Floats) -> float:
    """(mu22 - mu11^2 (n - 2) / (n - 1) + mu20 mu02 / (n - 1)) / n, by central moments.

    Of a column with itself it is that of the variance, (mu4 - sigma^4 (n - 3) / (n - 1)) / n.
    """
    n = len(x)
    a, b = x - x.mean(), y - y.mean()
    mu22, mu11 = float((a * a * b * b).mean()), float((a * b).mean())
    mu20, mu02 = float((a * a).mean()), float((b * b).mean())
    return max(mu22 - mu11**2 * (n - 2) / (n - 1) + mu20 * mu02 / (n - 1), 0.0) / n


def variance_of_quantile(x: Floats, share: float) -> float:
    """Q (1 - q) / (n f^2), the density f at the quantile by a Gaussian kernel.

    Its bandwidth is Silverman's, 0.9 min(s, IQR / 1.34) n^(-1/5), with s alone where the IQR is 0.
    0 for a column of equal values. Where many records share the value at the quantile the density
    is high and the yardstick short: any move is many standard errors.
    """
    n, deviation = len(x), float(x.std(ddof=1))
    if not deviation:
        return 0.0
    low, at, high = np.quantile(x, [0.25, share, 0.75])
    width = 0.9 * (min(deviation, (high - low) / 1.34) or deviation) * n**-0.2
    density = float(np.exp(-(((x - at) / width) ** 2) / 2).mean()) / (width * sqrt(2 * np.pi))
    return float(share * (1 - share) / (n * density**2))


def information_losses(
    columns: Mapping[str, tuple[Floats, Floats]], quantiles: Sequence[float] = QUANTILES
) -> list[InformationLoss]:
    """The loss of means, variances, quantiles and covariances of some columns of numbers.

    Each column comes as the original numbers and those released, NaN where one is missing; a
    covariance is over the records that have both. The original statistic stands for the truth and
    its own variance, estimated from the original records, for the yardstick: 0 says that nothing
    moved, 1 that it moved by more than sampling ever would. Columns of fewer than two numbers, on
    either side, are passed over.
    """
    found: list[InformationLoss] = []
    for name, (original, released) in columns.items():
        before, after = _centred(original, released)
        x, y = before[~np.isnan(before)], after[~np.isnan(after)]
        if min(len(x), len(y)) > 1:
            found += _of_column(name, x, y, quantiles)
    for (one, a), (other, b) in combinations(columns.items(), 2):
        found += _of_pair((one, other), _centred(*a), _centred(*b))
    return found


def _centred(original: Floats, released: Floats) -> tuple[Floats, Floats]:
    """Both less the same number, so that equal values are exactly 0 whatever they were."""
    known = original[~np.isnan(original)]
    offset = known[0] if len(known) else 0.0
    return original - offset, released - offset


def _of_column(
    name: str, x: Floats, y: Floats, quantiles: Sequence[float]
) -> Iterator[InformationLoss]:
    yield _loss("mean", (name,), y.mean(), x.mean(), variance_of_mean(x))
    yield _loss("variance", (name,), y.var(ddof=1), x.var(ddof=1), variance_of_covariance(x, x))
    for share in quantiles:
        both = np.quantile(y, share), np.quantile(x, share)
        yield _loss("quantile", (name,), *both, variance_of_quantile(x, share), share)


def _of_pair(
    names: tuple[str, str], one: tuple[Floats, Floats], other: tuple[Floats, Floats]
) -> Iterator[InformationLoss]:
    (x, y), (after_x, after_y) = (_complete(a, b) for a, b in zip(one, other, strict=True))
    if min(len(x), len(after_x)) > 1:
        both = _covariance(after_x, after_y), _covariance(x, y)
        yield _loss("covariance", names, *both, variance_of_covariance(x, y))


def _complete(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    known = ~(np.isnan(a) | np.isnan(b))
    return a[known], b[known]


def _covariance(x: Floats, y: Floats) -> float:
    return float(((x - x.mean()) * (y - y.mean())).sum() / (len(x) - 1))


def _loss(
    statistic: str,
    columns: tuple[str, ...],
    released: float,
    original: float,
    variance: float,
    share: float | None = None,
) -> InformationLoss:
    errors = float(abs(released - original)) / sqrt(variance) if variance > 0 else None
    return InformationLoss(statistic, columns, share, errors, pil(original, released, variance))
