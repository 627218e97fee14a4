"""Risk metrics of one attribute: of each class, as functions of counts, and of the whole table."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonymizer.information.entropy import entropy
from anonymizer.information.itpr import discrimination_rate, itpr, itpr_terms
from anonymizer.information.matrices import CountMatrix, is_sparse
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.kernels.terms import xlogx
from anonymizer.privacy.population.frequencies import numbers_of_records
from anonymizer.release.results import Result

DENSE = 4
"""Up to this many cells per record are counted without sorting."""


@dataclass(frozen=True)
class Measures(Result):
    """Risk metrics of one attribute X at risk, given the equivalence class Y; also a mapping.

    X is a sensitive attribute (inference) or the record itself (re-identification). No measure
    of risk rises when classes merge, but for ITPR, see ``itpr``; nor does H(X|Y) fall.

    Parameters
    ----------
    records, classes
        Records N, and classes T with records.
    uncertainty
        H(X), in bits.
    conditional_uncertainty
        H(X|Y), in bits.
    discrimination_rate
        DR = 1 - H(X|Y) / H(X), in [0, 1] (Bkakria et al. 2021, Eq. 5).
    mutual_information
        MI = H(X) - H(X|Y), in bits (Eq. 6).
    conditional_privacy
        CP = 1 - 2^-MI, in [0, 1) (Eq. 7).
    maximum_information_leakage
        MIL = max_y H(X) - H(X|y), in bits: the largest I2 (Eq. 8; du Pin Calmon and Fawaz 2012).
    weighted_information_leakage
        H(X) - min_y p(y) H(X|y), in bits: what Bkakria et al. tabulate as MIL.
    entropy_l_diversity_risk
        ELD = 2^-min_y H(X|y), in (0, 1]: 1 / the largest entropy l that holds.
    itpr
        max_y 1 - T p(y) H(X|y) / H(X), in [DR, 1] (Eq. 10). The factor T makes it fall when some
        classes are split: 0.75 for classes of 4 and 12 records, 0.5 for four of 4.
    unscaled_itpr
        The same without the factor T, in [1 - 1/T, 1] (Eq. 9).
    max_posterior
        max p(x|y), in (0, 1]: how sure an attacker is of the value that is easiest to guess.
    i1_max
        max_y I1 = max_y D(p(x|y) || p(x)), in bits: the t of t-closeness, or MIL by divergence.
    i2_max
        max_y I2, in bits: MIL under the name that Bezzi (2010) gives it.
    degenerate
        Whether H(X) = 0, nothing to be learnt: DR and ITPR are 0 by convention then, not by limit.
    """

    records: int
    classes: int
    uncertainty: float
    conditional_uncertainty: float
    discrimination_rate: float
    mutual_information: float
    conditional_privacy: float
    maximum_information_leakage: float
    weighted_information_leakage: float
    entropy_l_diversity_risk: float
    itpr: float
    unscaled_itpr: float
    max_posterior: float
    i1_max: float
    i2_max: float
    degenerate: bool

    def keys(self) -> Iterator[str]:
        """The names of the measures, so that ``dict(measures)`` and pandas know them."""
        return (field.name for field in fields(self))

    def __getitem__(self, name: str) -> float:
        """A measure by its name."""
        value: float = self.to_dict()[name]
        return value


class Profile(ABC):
    """One attribute X at risk, class by class; every class has records.

    Arrays have shape (classes,), informations are in bits. The means of I1, I2 and I3 over the
    records are I(X;Y); that of I4 is not. I2 and I3 may be negative (Bezzi 2010, Table 1).
    """

    sizes: Ints
    """Records n_y of each class."""

    @property
    @abstractmethod
    def uncertainty(self) -> float:
        """H(X)."""

    @property
    @abstractmethod
    def uncertainties(self) -> Floats:
        """H(X|y)."""

    @property
    @abstractmethod
    def i1(self) -> Floats:
        """Surprise, D(p(x|y) || p(x))."""

    @property
    @abstractmethod
    def i3(self) -> Floats:
        """Sum over x of p(x|y) [H(Y) - H(Y|x)]."""

    @property
    @abstractmethod
    def i4(self) -> Floats:
        """I({y, not y}; X)."""

    @property
    @abstractmethod
    def posterior(self) -> Floats:
        """Max over x of p(x|y), in (0, 1]."""

    @property
    def records(self) -> int:
        """N."""
        return int(self.sizes.sum())

    @property
    def i2(self) -> Floats:
        """Specific information, H(X) - H(X|y)."""
        return self.uncertainty - self.uncertainties

    @property
    def weighted(self) -> Floats:
        """p(y) H(X|y)."""
        return self.sizes * self.uncertainties / self.records

    @property
    def itpr_terms(self) -> Floats:
        """1 - T p(y) H(X|y) / H(X), in [1 - T, 1]: ITPR is the largest; 0 where H(X) is."""
        return itpr_terms(self.sizes, self.uncertainties, self.uncertainty)

    @property
    def conditional_uncertainty(self) -> float:
        """H(X|Y)."""
        h = self.uncertainty
        return h if len(self.sizes) == 1 else min(float(self.weighted.sum()), h)

    @property
    def discrimination_rate(self) -> float:
        """DR = 1 - H(X|Y) / H(X); 0 where H(X) is."""
        return discrimination_rate(self.sizes, self.uncertainties, self.uncertainty)

    @property
    def itpr(self) -> float:
        """ITPR, the largest of its terms; rounding must not bring it below DR or above 1."""
        return itpr(self.sizes, self.uncertainties, self.uncertainty)

    @property
    def measures(self) -> Measures:
        """The metrics of the whole table."""
        h, within = self.uncertainty, self.conditional_uncertainty
        information = h - within
        unscaled = 1 - float(self.weighted.min()) / h if h and len(self.sizes) > 1 else 0.0
        leakage = max(float(self.i2.max()), 0.0)
        return Measures(
            records=self.records,
            classes=len(self.sizes),
            uncertainty=h,
            conditional_uncertainty=within,
            discrimination_rate=self.discrimination_rate,
            mutual_information=information,
            conditional_privacy=float(-np.expm1(-information * np.log(2))),
            maximum_information_leakage=leakage,
            weighted_information_leakage=h * unscaled,
            entropy_l_diversity_risk=float(2 ** -self.uncertainties.min()),
            itpr=self.itpr,
            unscaled_itpr=unscaled,
            max_posterior=float(self.posterior.max()),
            i1_max=float(self.i1.max()),
            i2_max=leakage,
            degenerate=not h,
        )


@dataclass(frozen=True, eq=False)
class Reidentification(Profile):
    """The record itself is at risk, all equally likely: H(X|y) = log2 n_y needs sizes alone."""

    sizes: Ints  # records of each class, shape (classes,), none 0

    @classmethod
    def of(cls, sizes: ArrayLike) -> "Reidentification":
        """Make a profile of class sizes; empty classes are ignored.

        Raises InputError when they are no counts, or there are no records.
        """
        records = numbers_of_records(sizes, 1)
        return cls(records[records > 0])

    @property
    def uncertainty(self) -> float:
        """H(X) = log2 N."""
        return float(np.log2(self.records))

    @cached_property
    def uncertainties(self) -> Floats:
        """H(X|y) = log2 n_y."""
        return np.log2(self.sizes)

    @property
    def i1(self) -> Floats:
        """log2 N / n_y: as prior and posterior are uniform, I1 equals I2."""
        return self.i2

    @property
    def i3(self) -> Floats:
        """H(Y) in every class, as the class of a record is certain."""
        return np.full(len(self.sizes), entropy(self.sizes))

    @property
    def i4(self) -> Floats:
        """The entropy of {y, not y}, as the class of a record is certain."""
        return entropy(np.stack([self.sizes, self.records - self.sizes], axis=1))

    @property
    def posterior(self) -> Floats:
        """1 / n_y."""
        return 1 / self.sizes


@dataclass(frozen=True, eq=False)
class Inference(Profile):
    """A sensitive attribute is at risk: the occupied cells of its count matrix, by class.

    The matrix is sparse, so that millions of small classes cost no more than their records.
    """

    counts: Ints  # records of each cell, shape (cells,), none 0
    values: Codes  # the value code of each cell, below len(margin), shape (cells,)
    starts: Codes  # the first cell of each class, rising, shape (classes,)
    margin: Ints  # records of the table by value, shape (values,)

    @classmethod
    def of(cls, joint: ArrayLike | CountMatrix) -> "Inference":
        """Make a profile of a count matrix (classes, values); empty rows and columns are ignored.

        Raises InputError when it is no count matrix, or has no records.
        """
        if is_sparse(joint):
            numbers_of_records(joint.data, 1)
            starts = np.unique(joint.indptr[:-1][np.diff(joint.indptr) > 0]).astype(np.intp)
            values = np.asarray(joint.indices, np.intp)
            return cls(joint.data, values, starts, joint.sum(axis=0))
        matrix = numbers_of_records(joint, 2)
        matrix = matrix[matrix.any(axis=1)]
        rows, values = np.nonzero(matrix)
        starts = np.searchsorted(rows, np.arange(len(matrix)))
        return cls(matrix[rows, values], values, starts, matrix.sum(axis=0))

    @cached_property
    def sizes(self) -> Ints:  # type: ignore[override]
        """Records n_y of each class."""
        return np.add.reduceat(self.counts, self.starts)

    @cached_property
    def uncertainty(self) -> float:
        """H(X)."""
        counts = self.margin[self.margin > 0]
        return float(_entropies(counts, np.zeros(1, np.intp), counts.sum(keepdims=True))[0])

    @cached_property
    def uncertainties(self) -> Floats:
        """H(X|y): exactly 0 in a class of one value."""
        return _entropies(self.counts, self.starts, self.sizes)

    @cached_property
    def i1(self) -> Floats:
        """Surprise, D(p(x|y) || p(x))."""
        if len(self.sizes) == 1:
            return np.zeros(1)
        prior = np.log2(np.maximum(self.margin, 1) / self.records)
        cross = self._by_class(-self.counts * prior[self.values])
        return np.maximum(cross - self.uncertainties, 0.0)

    @property
    def i3(self) -> Floats:
        """Sum over x of p(x|y) [H(Y) - H(Y|x)]."""
        spread = np.bincount(self.values, xlogx(self.counts), len(self.margin))
        within = np.log2(np.maximum(self.margin, 1)) - spread / np.maximum(self.margin, 1)
        gain = float(entropy(self.sizes)) - within
        return self._by_class(self.counts * gain[self.values])

    @property
    def i4(self) -> Floats:
        """I({y, not y}; X); ``rest`` is the sum of x log x over the other classes together."""
        whole, others = xlogx(self.margin), self.records - self.sizes
        change = xlogx(self.margin[self.values] - self.counts) - whole[self.values]
        rest = whole.sum() + np.add.reduceat(change, self.starts)
        inside = np.add.reduceat(xlogx(self.counts), self.starts)
        within = xlogx(self.sizes) - inside + xlogx(others) - rest
        return np.asarray(np.maximum(self.uncertainty - within / self.records, 0.0))

    @cached_property
    def posterior(self) -> Floats:
        """Max over x of p(x|y)."""
        return np.asarray(np.maximum.reduceat(self.counts, self.starts) / self.sizes, float)

    @cached_property
    def occurring(self) -> Codes:
        """The distinct values of each class, shape (classes,)."""
        return np.diff(self.starts, append=len(self.counts))

    @property
    def homogeneous(self) -> Mask:
        """True for each class whose records all have the same value, shape (classes,)."""
        return np.asarray(self.occurring == 1)

    @property
    def guessed(self) -> float:
        """The success of guessing the class's most frequent value: sum of p(y) max_x p(x|y)."""
        return float(self.posterior @ self.sizes / self.records)

    @property
    def guessed_without(self) -> float:
        """The success of guessing the table's most frequent value: max p(x)."""
        return float(self.margin.max() / self.records)

    @classmethod
    def tallied(
        cls, class_of: Codes, values: NDArray[np.integer], weights: Ints | None = None
    ) -> "Inference":
        """Count records by the class and the value code of each row, shapes (rows,).

        Class codes are 0, 1, ... with no gap; ``weights`` are the records of each row, one where
        there are none. Rows are sorted where cells are many.
        """
        number = int(values.max(initial=-1)) + 1
        keys = np.multiply(class_of, number, dtype=np.int64) + values
        cells, counts = _counted(keys, weights)
        rows, codes = np.divmod(cells, max(number, 1))
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        margin = np.bincount(values, weights, minlength=number)
        return cls(counts.astype(np.int64), codes, starts, margin.astype(np.int64))

    def _by_class(self, cells: NDArray[Any]) -> Floats:
        return np.asarray(np.add.reduceat(cells, self.starts) / self.sizes, float)


def measures(joint: ArrayLike) -> Measures:
    """Measure the risk of a sensitive attribute from its counts.

    Empty classes and values that nobody has are ignored, as they would raise ITPR.

    Parameters
    ----------
    joint
        Records by class and value, shape (classes, values).

    Returns
    -------
    Measures
        The metrics of the whole table; informations are in bits.

    Raises
    ------
    InputError
        When it is no matrix of whole numbers from 0, or has no records.

    Examples
    --------
    >>> measures([[3, 1], [1, 3]]).mutual_information.__round__(6)
    0.188722
    """
    return Inference.of(joint).measures


def _counted(keys: Ints, weights: Ints | None) -> tuple[Ints, NDArray[Any]]:
    """Count the distinct keys of some rows, in order, and the records of each."""
    if int(keys.max(initial=-1)) + 1 > DENSE * len(keys):
        if weights is None:
            return np.unique(keys, return_counts=True)
        cells, cell_of = np.unique(keys, return_inverse=True)
        return cells, np.bincount(cell_of, weights)
    every = np.bincount(keys, weights)
    cells = np.flatnonzero(every)
    return cells, every[cells]


def _entropies(counts: Ints, starts: Codes, sizes: Ints) -> Floats:
    """Return H of each class from its cells: sum of p log2 1 / p, shape (classes,).

    DR and ITPR divide by H(X), which is only 1e-11 where one record of 1e12 differs. So the
    logarithm of p > 1/2 is taken as log1p of 1 - p, which keeps these digits.
    """
    records = np.repeat(sizes, np.diff(starts, append=len(counts)))
    bits = np.log2(records / counts)
    most = np.flatnonzero(2 * counts > records)
    lacking = (records[most] - counts[most]) / records[most]
    bits[most] = np.log1p(-lacking) / -np.log(2)
    return np.asarray(np.add.reduceat(counts * bits, starts) / sizes, float)
