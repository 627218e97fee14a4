"""Models that bound the share of every sensitive value in a class.

q_w = p(w|g) within the class, p_w in the table. Each bound is linear in q for a given p, so that
merging acceptable classes gives an acceptable one.
"""

from abc import abstractmethod
from dataclasses import dataclass
from math import inf, log2
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anonymizer.counts.counts import Classes, Floats
from anonymizer.errors import InputError
from anonymizer.kernels import Bound, Kind
from anonymizer.privacy.base import TOLERANCE, SensitiveModel, require_number
from anonymizer.privacy.size import require_whole

__all__ = [
    "AlphaKAnonymity",
    "BasicBetaLikeness",
    "BayesianGain",
    "DeltaDisclosure",
    "EnhancedBetaLikeness",
    "ValueGain",
]

MOST_BITS = 1000.0
"""No table is so large that a share of it changes by more."""


class ShareModel(SensitiveModel):
    """A model that bounds shares: its measure is to stay at most at the threshold."""

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """The range that every share has to stay in."""
        lower, upper = self.shares(table.prior)
        return (Bound(Kind.SHARES, 0.0, lower=lower, upper=upper),)

    @abstractmethod
    def shares(self, prior: Floats) -> tuple[Floats, Floats]:
        """The least and the largest share of each value, shape (values,) each."""


@dataclass(frozen=True)
class AlphaKAnonymity(ShareModel):
    """No sensitive value makes up more than a share alpha of a class, of at least k records.

    Measured as the largest share, infinite in a class of fewer than k records. Wong, Li, Fu, Wang
    (2006), of every sensitive value.
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    condition: ClassVar[str] = "max_w p(w\\|g) <= alpha and n_g >= k"
    unit: ClassVar[str] = "share"
    source: ClassVar[str] = "Wong et al. 2006"
    bounded_by: ClassVar[str] = "alpha"
    absolute: ClassVar[bool] = True

    alpha: float
    k: int

    def __post_init__(self) -> None:
        require_number(self.name, "alpha", self.alpha, least=0, most=1, above=True)
        require_whole(self.name, "k", self.k)

    def measure(self, classes: Classes) -> Floats:
        """The largest share of a value in each class."""
        return np.where(classes.sizes < self.k, inf, classes.shares.max(axis=1))

    def shares(self, prior: Floats) -> tuple[Floats, Floats]:
        """At most alpha each."""
        return np.zeros(len(prior)), np.full(len(prior), self.alpha + TOLERANCE)

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """At least k records beside the shares."""
        return (Bound(Kind.SIZE, self.k), *super().bounds(table))

    def require_possible(self, table: Classes, attribute: str) -> None:
        """The table as a class is the best that can be had."""
        most = float(table.prior.max())
        if self.alpha < most - TOLERANCE:
            raise InputError(
                f"{self.name}: alpha = {self.alpha:g} is below {most:.6f}, the share of the most "
                f"frequent value of {attribute!r} in the whole table; no recoding can reach it"
            )


@dataclass(frozen=True)
class BasicBetaLikeness(ShareModel):
    """No value becomes more than 1 + beta times likelier: max_w (q_w - p_w) / p_w <= beta.

    Cao, Karras (2012). Dimensionless.
    """

    name: ClassVar[str] = "basic-beta-likeness"
    condition: ClassVar[str] = "max_w (p(w\\|g) - p(w)) / p(w) <= beta"
    unit: ClassVar[str] = "ratio"
    source: ClassVar[str] = "Cao, Karras 2012"
    bounded_by: ClassVar[str] = "beta"

    beta: float

    def __post_init__(self) -> None:
        require_number(self.name, "beta", self.beta, least=0, above=True)

    def measure(self, classes: Classes) -> Floats:
        """The largest relative gain of each class."""
        return np.asarray(_relative_gains(classes).max(axis=1))

    def shares(self, prior: Floats) -> tuple[Floats, Floats]:
        """At most 1 + beta times as likely."""
        return np.zeros(len(prior)), prior * (1 + self.beta + TOLERANCE)

    def ceiling(self, margin: NDArray[np.int64]) -> float:
        """log(1 + beta), every term of I1 being the log of at most that ratio."""
        return log2(1 + self.beta)


@dataclass(frozen=True)
class EnhancedBetaLikeness(BasicBetaLikeness):
    """The same, of frequent values even less: (q_w - p_w) / p_w <= min(beta, -ln p_w).

    Measured as the least beta that a class satisfies, infinite where none does. Cao, Karras (2012).
    """

    name: ClassVar[str] = "enhanced-beta-likeness"
    condition: ClassVar[str] = "(p(w\\|g) - p(w)) / p(w) <= min(beta, -ln p(w)) for every w"

    @property
    def value_monotone(self) -> bool:
        """No: merged values raise the prior that the least of the two bounds depends on."""
        return False

    def measure(self, classes: Classes) -> Floats:
        """The least beta that each class satisfies."""
        gains = _relative_gains(classes)
        most = _most_gain(classes.prior)[classes.margin > 0]
        beyond = (gains > most + TOLERANCE).any(axis=1)
        return np.where(beyond, inf, gains.max(axis=1))

    def shares(self, prior: Floats) -> tuple[Floats, Floats]:
        """At most 1 + min(beta, -ln p) times as likely."""
        most = np.minimum(self.beta, _most_gain(prior))
        return np.zeros(len(prior)), prior * (1 + most + TOLERANCE)


@dataclass(frozen=True)
class DeltaDisclosure(ShareModel):
    """No sensitive value becomes much likelier or unlikelier: |log q_w / p_w| <= delta, in bits.

    Of every value of the table: one that a class lacks is infinitely disclosed. (The variant that
    leaves such values out is not monotone.) Brickell, Shmatikov (2008), who ask for less than
    delta.
    """

    name: ClassVar[str] = "delta-disclosure"
    condition: ClassVar[str] = "\\|log2 p(w\\|g) / p(w)\\| <= delta for every w"
    unit: ClassVar[str] = "bits"
    source: ClassVar[str] = "Brickell, Shmatikov 2008"
    bounded_by: ClassVar[str] = "delta"

    delta: float

    def __post_init__(self) -> None:
        require_number(self.name, "delta", self.delta, least=0, above=True)

    def measure(self, classes: Classes) -> Floats:
        """The largest change of a value in each class, in bits; infinite where one is absent."""
        known = classes.margin > 0
        ratio = classes.shares[:, known] / classes.prior[known]
        bits = np.full(ratio.shape, inf)
        np.log2(ratio, out=bits, where=ratio > 0)
        return np.asarray(np.abs(bits).max(axis=1))

    def shares(self, prior: Floats) -> tuple[Floats, Floats]:
        """From 2^-delta to 2^delta times as likely."""
        factor = 2 ** (min(self.delta, MOST_BITS) + TOLERANCE)
        return prior / factor, prior * factor

    def ceiling(self, margin: NDArray[np.int64]) -> float:
        """Delta, which no term of I1 is beyond."""
        return float(self.delta)


@dataclass(frozen=True)
class BayesianGain(ShareModel):
    """What an adversary gains who guesses the likeliest value: max_w q_w - max_w p_w <= gain.

    The additive Bayes leakage of a class (Smith 2009; Alvim et al. 2012), as a share of right
    guesses.
    """

    name: ClassVar[str] = "bayesian-gain"
    condition: ClassVar[str] = "max_w p(w\\|g) - max_w p(w) <= gain"
    unit: ClassVar[str] = "probability"
    source: ClassVar[str] = "Smith 2009; Alvim et al. 2012"
    bounded_by: ClassVar[str] = "gain"

    gain: float

    def __post_init__(self) -> None:
        require_number(self.name, "gain", self.gain, least=0, most=1)

    @property
    def value_monotone(self) -> bool:
        """No: merged values raise both maxima."""
        return False

    def measure(self, classes: Classes) -> Floats:
        """Posterior less prior maximum of each class; may be negative."""
        return np.asarray(classes.shares.max(axis=1) - classes.prior.max())

    def shares(self, prior: Floats) -> tuple[Floats, Floats]:
        """At most the prior maximum and the gain."""
        return np.zeros(len(prior)), np.full(len(prior), prior.max() + self.gain + TOLERANCE)


@dataclass(frozen=True)
class ValueGain(BayesianGain):
    """What an adversary gains about any one value: max_w (q_w - p_w) <= gain.

    The same of every guess, not of the likeliest one alone.
    """

    name: ClassVar[str] = "value-gain"
    condition: ClassVar[str] = "max_w (p(w\\|g) - p(w)) <= gain"

    def measure(self, classes: Classes) -> Floats:
        """The largest gain of a value in each class."""
        return np.asarray((classes.shares - classes.prior).max(axis=1))

    def shares(self, prior: Floats) -> tuple[Floats, Floats]:
        """At most the prior and the gain."""
        return np.zeros(len(prior)), prior + self.gain + TOLERANCE


def _relative_gains(classes: Classes) -> Floats:
    """(q_w - p_w) / p_w of the values that the table has, shape (classes, values)."""
    known = classes.margin > 0
    prior = classes.prior[known]
    return np.asarray((classes.shares[:, known] - prior) / prior)


def _most_gain(prior: Floats) -> Floats:
    """-ln p_w, the relative gain that enhanced likeness grants at the most, shape (values,)."""
    return -np.log(prior, out=np.zeros_like(prior), where=prior > 0)
