"""Models that bound the share of every sensitive value in a class.

q_w = p(w|g) within the class, p_w in the table. Each bound is linear in q for a given p, so that
merging acceptable classes gives an acceptable one.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import inf, log2
from typing import Any

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.errors import InputError
from anonymizer.information.matrices import (
    is_sparse,
    largest,
    largest_lacking,
    reduced,
    rows_of,
    without,
)
from anonymizer.kernels import Bound, Kind
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.privacy.base import (
    TOLERANCE,
    Positive,
    PositiveShare,
    PrivacyModel,
    SensitiveModel,
    Share,
    Whole,
    Wording,
    reads_sparse,
)
from anonymizer.privacy.beliefs import kept_by
from anonymizer.privacy.sizes import KAnonymity

MOST_BITS = 1000.0
"""No table is so large that a share of it changes by more."""


class ShareModel(SensitiveModel):
    """Model that bounds shares: a gain of every value, and the largest share it comes to."""

    @abstractmethod
    def gains(self, shares: Floats, prior: Floats) -> Floats:
        """Return the bounded gain of each share, of a value that has the ``prior`` in the table.

        Both of the same shape, or ``shares`` (classes, values) and ``prior`` (values,).
        """

    @abstractmethod
    def most(self, prior: Floats) -> Floats:
        """The largest share of each value at which its gain is tolerated, shape (values,)."""

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        # A value that the table does not have is no value; its prior of 0 would divide.
        known = classes.margin > 0
        if is_sparse(classes.joint):
            return self._of_pairs(classes, classes.joint, np.flatnonzero(known))
        return np.asarray(self.gains(classes.shares[:, known], classes.prior[known]).max(axis=1))

    def _of_pairs(self, classes: Classes, joint: Any, known: Codes) -> Floats:
        """Measure the pairs of a sparse matrix, and the values that each class lacks."""
        absent = np.full(len(classes.margin), -inf)
        absent[known] = self.gains(np.zeros(len(known)), classes.prior[known])
        some = classes.margin[joint.indices] > 0
        gains = np.full(len(some), -inf)
        shares = joint.data / classes.sizes[rows_of(joint)]
        gains[some] = self.gains(shares[some], classes.prior[joint.indices[some]])
        # A value that a class lacks has share 0, and a gain all the same: the largest counts.
        most = largest_lacking(joint, absent)
        found = reduced(np.maximum, joint, gains)
        return np.asarray(np.where(classes.sizes > 0, np.maximum(found, most), most))

    def shares(self, prior: Floats) -> tuple[Floats, Floats]:
        """The least and the largest share of each value, shape (values,) each."""
        return np.zeros(len(prior)), self.most(prior)

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        lower, upper = self.shares(table.prior)
        return (Bound(Kind.SHARES, 0.0, lower=lower, upper=upper),)


@dataclass(frozen=True)
class AlphaKAnonymity(ShareModel):
    """No sensitive value makes up more than a share alpha of a class, of at least k records.

    Measured as the largest share, infinite in a class of fewer than k records. Wong, Li, Fu, Wang
    (2006), of every sensitive value.
    """

    name = "alpha-k-anonymity"
    condition = "max_w p(w\\|g) <= alpha and n_g >= k"
    unit = "share"
    source = "Wong et al. 2006"
    bounded_by = "alpha"
    largest = 1
    beyond = (
        "is below {best:.6f}, the share of the most frequent value of {attribute!r} in the whole "
        "table; no recoding can reach it"
    )
    absolute = True
    wording = Wording(
        "In no class do more than {alpha:share} of the people have the same value of "
        "“{attribute}”, and every class has at least {k:people}.",
        "The largest share of one value in any class is {worst:share}.",
        "Rare values of “{attribute}”: One that is rare in the table may be frequent in a class; "
        "the bound is alike for all.",
    )
    endless = "The worst class has fewer records than k."
    larger_stricter = {"k": True}
    start = {"alpha": 0.8, "k": 5}

    alpha: PositiveShare
    k: Whole

    @property
    def void(self) -> bool:
        return super().void and self.k <= 1

    def gains(self, shares: Floats, prior: Floats) -> Floats:
        return shares

    def most(self, prior: Floats) -> Floats:
        return np.full(len(prior), self.limit)

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        return np.where(classes.sizes < self.k, inf, super().measure(classes))

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        return (Bound(Kind.SIZE, self.k), *super().bounds(table))

    def without_odds(self, table: Classes) -> PrivacyModel | None:
        """(alpha - (1 - a)) / a, which is the same condition; none where that is no share."""
        kept = kept_by(self.odds or 1.0)
        most = (self.alpha - (1 - kept)) / kept
        return replace(self, odds=None, alpha=most) if most > 0 else None

    def lasting(self) -> tuple[PrivacyModel, ...]:
        """The records."""
        return (KAnonymity(self.k),)

    def over_persons(self) -> PrivacyModel:
        """Itself with k = 1: its k counts records."""
        if self.k == 1:
            return self
        raise InputError(
            f"{self.name}: k = {self.k} counts records, of which persons have several; give k = 1, "
            f"and k-anonymity with k = {self.k}, which counts persons"
        )


@dataclass(frozen=True)
class BasicBetaLikeness(ShareModel):
    """No value becomes more than 1 + beta times likelier: max_w (q_w - p_w) / p_w <= beta.

    Cao, Karras (2012). Dimensionless.
    """

    name = "basic-beta-likeness"
    condition = "max_w (p(w\\|g) - p(w)) / p(w) <= beta"
    unit = "ratio"
    source = "Cao, Karras 2012"
    bounded_by = "beta"
    wording = Wording(
        "No value of “{attribute}” is more than {beta:times} times as frequent in a "
        "person's class as in the whole table.",
        "The largest increase is {worst:times} times.",
        "Values of “{attribute}” that are ruled out: A class may lack them; beta-likeness bounds "
        "how much likelier a value becomes, not how much unlikelier.",
    )
    start = {"beta": 2.0}

    beta: Positive

    def gains(self, shares: Floats, prior: Floats) -> Floats:
        return (shares - prior) / prior

    def most(self, prior: Floats) -> Floats:
        return prior * (1 + self.beta + TOLERANCE)

    def ceiling(self, margin: Ints) -> float:
        """log(1 + beta), every term of I1 being the log of at most that ratio."""
        return log2(1 + self.beta)


@dataclass(frozen=True)
class EnhancedBetaLikeness(BasicBetaLikeness):
    """Basic beta-likeness, stricter of frequent values: (q_w - p_w) / p_w <= min(beta, -ln p_w).

    Measured as the least beta that a class satisfies, infinite where none does. Cao, Karras (2012).
    """

    name = "enhanced-beta-likeness"
    condition = "(p(w\\|g) - p(w)) / p(w) <= min(beta, -ln p(w)) for every w"
    wording = Wording(
        "No value of “{attribute}” is more than {beta:times} times as frequent in a "
        "person's class as in the whole table, and frequent values may become more "
        "frequent by less than that.",
        "The largest increase is {worst:times} times.",
        "Values of “{attribute}” that are ruled out: A class may lack them; beta-likeness bounds "
        "how much likelier a value becomes, not how much unlikelier.",
    )
    endless = "In the worst class a frequent value gains more than allowed."
    value_monotone = False  # merged values raise the prior that the least of the bounds depends on

    def gains(self, shares: Floats, prior: Floats) -> Floats:
        gains = super().gains(shares, prior)
        return np.where(gains > _most_gain(prior) + TOLERANCE, inf, gains)

    def most(self, prior: Floats) -> Floats:
        return prior * (1 + np.minimum(self.beta, _most_gain(prior)) + TOLERANCE)


def _most_gain(prior: Floats) -> Floats:
    """-ln p_w, the relative gain that enhanced likeness grants at the most, shape (values,)."""
    return -np.log(prior, out=np.zeros_like(prior), where=prior > 0)


@dataclass(frozen=True)
class DeltaDisclosure(ShareModel):
    """No sensitive value becomes much likelier or unlikelier: |log q_w / p_w| <= delta, in bits.

    Of every value of the table: one that a class lacks is infinitely disclosed. (The variant that
    leaves such values out is not monotone.) Brickell, Shmatikov (2008), who require less than
    delta.
    """

    name = "delta-disclosure"
    condition = "\\|log2 p(w\\|g) / p(w)\\| <= delta for every w"
    unit = "bits"
    source = "Brickell, Shmatikov 2008"
    bounded_by = "delta"
    wording = Wording(
        "No value of “{attribute}” is more than {delta:factor} times likelier, or "
        "unlikelier, in a person's class than in the whole table ({delta:bits}).",
        "The largest change is {worst:factor} times ({worst:bits}).",
        "Frequent values of “{attribute}”: One may become nearly certain; delta-disclosure "
        "grants the same change to frequent and to rare ones.",
    )
    endless = "The worst class lacks a value of the table, which no delta allows."
    start = {"delta": 2.0}

    delta: Positive

    def gains(self, shares: Floats, prior: Floats) -> Floats:
        """|log2 q_w / p_w|; infinite where the value is absent."""
        bits = np.full(shares.shape, inf)
        np.log2(shares / prior, out=bits, where=shares > 0)
        return np.asarray(np.abs(bits))

    @property
    def _factor(self) -> float:
        return float(2 ** (min(self.delta, MOST_BITS) + TOLERANCE))

    def most(self, prior: Floats) -> Floats:
        return prior * self._factor

    def shares(self, prior: Floats) -> tuple[Floats, Floats]:
        return prior / self._factor, self.most(prior)

    def ceiling(self, margin: Ints) -> float:
        """Delta, which no term of I1 is beyond."""
        return float(self.delta)


@dataclass(frozen=True)
class PointwiseMaximalLeakage(ShareModel):
    """No class leaks more than epsilon bits: max_w log2 q_w / p_w <= epsilon.

    By how much a class multiplies, at the most, the chance of whoever guesses any function of the
    value, random or not. The log of 1 + beta of basic beta-likeness. Saeidian, Cervia, Oechtering,
    Skoglund (2022).
    """

    name = "pointwise-maximal-leakage"
    condition = "max_w log2 p(w\\|g) / p(w) <= epsilon"
    unit = "bits"
    source = "Saeidian et al. 2022"
    bounded_by = "epsilon"
    wording = Wording(
        "Whatever somebody guesses about “{attribute}” of a person, the person's class makes it at "
        "most {epsilon:factor} times likelier to be right ({epsilon:bits}).",
        "The class that leaks most makes it {worst:factor} times likelier ({worst:bits}).",
        "Values of “{attribute}” that are ruled out: A class may lack them; the leakage is about "
        "how much likelier a guess becomes, not how much unlikelier.",
    )
    start = {"epsilon": 1.0}

    epsilon: Positive

    def gains(self, shares: Floats, prior: Floats) -> Floats:
        """log2 q_w / p_w; -inf where the value is absent."""
        bits = np.full(shares.shape, -inf)
        np.log2(shares / prior, out=bits, where=shares > 0)
        return bits

    def most(self, prior: Floats) -> Floats:
        return prior * float(2 ** (min(self.epsilon, MOST_BITS) + TOLERANCE))

    def ceiling(self, margin: Ints) -> float:
        """Epsilon, which no term of I1 is beyond."""
        return float(self.epsilon)


@dataclass(frozen=True)
class BayesianGain(ShareModel):
    """Gain of an adversary who guesses the likeliest value: max_w q_w - max_w p_w <= gain.

    The additive Bayes leakage of a class (Smith 2009; Alvim et al. 2012), as a share of right
    guesses; may be negative.
    """

    name = "bayesian-gain"
    condition = "max_w p(w\\|g) - max_w p(w) <= gain"
    unit = "probability"
    source = "Smith 2009; Alvim et al. 2012"
    bounded_by = "gain"
    largest = 1
    wording = Wording(
        "Whoever guesses the likeliest value of “{attribute}” in a person's class is right "
        "with a probability that is higher by at most {gain:points} than with the "
        "likeliest value of the whole table.",
        "The class that helps most raises it by {worst:points}.",
        "Rare values of “{attribute}”: One may become much likelier, or be ruled out; the gain "
        "is about the likeliest value alone.",
    )
    value_monotone = False  # merged values raise both maxima
    start = {"gain": 0.2}

    gain: Share

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        if not is_sparse(classes.joint):
            return super().measure(classes)
        likeliest = largest(without(classes.joint, classes.margin == 0))
        return np.asarray(likeliest / np.maximum(classes.sizes, 1) - classes.prior.max())

    def gains(self, shares: Floats, prior: Floats) -> Floats:
        return np.asarray(shares - prior.max())

    def most(self, prior: Floats) -> Floats:
        return np.full(len(prior), prior.max() + self.limit)


@dataclass(frozen=True)
class ValueGain(BayesianGain):
    """Gain of an adversary about any one value: max_w (q_w - p_w) <= gain.

    The same of every guess, not of the likeliest one only.
    """

    name = "value-gain"
    condition = "max_w (p(w\\|g) - p(w)) <= gain"
    wording = Wording(
        "No value of “{attribute}” is likelier in a person's class than in the whole table "
        "by more than {gain:points}.",
        "The largest increase is {worst:points}.",
        "Rare values of “{attribute}”: One may become many times likelier, and any may be ruled "
        "out; the same increase is granted to all.",
    )

    measure = ShareModel.measure

    def gains(self, shares: Floats, prior: Floats) -> Floats:
        return shares - prior

    def most(self, prior: Floats) -> Floats:
        return prior + self.limit
