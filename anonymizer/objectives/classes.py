"""Objectives of whole classes: their sizes, and the information they keep about attributes.

``MillerMadow`` and ``AboveShuffled`` correct the bias of small classes: the fewer records a class
has, the further its p(w|g) is from p(w) by chance alone, so that I(X~;W) of a table is larger than
that of the people whom it is a sample of. Both are sums over classes; both may rise when classes
merge, since that makes fewer of them. Both are bounded by plain I, which falls:

- ``AboveShuffled`` is I less a mean of I under other deals of the values, which is never negative.
  For every deal I falls when classes merge, by the data processing inequality, and so does the
  mean: nodes below a node have at least as much taken off as it has.
- ``MillerMadow`` is I less c (sum_g (m_g - 1) - (m_W - 1)) / N, c = 1 / (2 ln 2). Every class has a
  value, so that it is at most I + c (m_W - 1) / N.

With at most a share s suppressed, N' >= (1 - s) N records are left, I' <= I / (1 - s) (see
``MutualInformation.bound``), and no more values occur: both bounds hold divided by 1 - s.

``LeastItpr`` is no sum over classes, and may rise or fall when they merge. DR bounds it, and falls
(``anonymizer.information.itpr.least_itpr``): no node below a node has an ITPR below that.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from anonymizer.counts.counts import Classes, Counts
from anonymizer.errors import InputError
from anonymizer.hierarchy import Taxonomy
from anonymizer.information.chance import expected, of_small
from anonymizer.information.entropy import divergence, entropy
from anonymizer.information.itpr import itpr, least_itpr
from anonymizer.information.matrices import occurring
from anonymizer.kernels import Histograms, Worth
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.kernels.terms import MILLER_MADOW
from anonymizer.objectives.base import (
    Objective,
    Weights,
    require_known,
    require_weights,
    weights_of,
)
from anonymizer.objectives.candidate import Budget, Candidate, Layout


@dataclass(frozen=True, kw_only=True)
class MutualInformation(Objective):
    """I(X~;W) in bits, summed over the sensitive attributes, or over targets, weighted.

    Falls by the data processing inequality (Bezzi 2010, Eq. 4).

    Parameters
    ----------
    target
        The attribute, the attributes, or the attributes with their weights, to keep information
        about instead. Those that are sensitive as well stay under the policy.
    weights
        Of the sensitive attributes; 1 for those left out.

    >>> MutualInformation(target=["outcome", "cost"]).targets
    {'outcome': 1.0, 'cost': 1.0}
    """

    name: ClassVar[str] = "mutual-information"
    weighs: ClassVar[str | None] = "sensitive attribute"

    target: str | Sequence[str] | Weights | None = None
    weights: Weights = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_weights(self.weights)
        if self.targets and self.weights:
            raise InputError("targets have their own weights; leave out weights")

    @cached_property
    def targets(self) -> Weights:
        """The targets with their weights; none where it is about the sensitive attributes."""
        return weights_of(self.target)

    def prepared(self, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> Objective:
        """Check that there is a sensitive attribute, or target, and one for every weight."""
        if not counts.sensitive and not self.targets:
            raise InputError(
                f"the objective {self.name} is about a sensitive attribute; name one, or a "
                "target, or choose another objective, such as loss"
            )
        require_known(self, self.weights, counts.sensitive)
        return self

    def of(self, sensitive: Sequence[str]) -> Weights:
        """The weight of each attribute that is summed over."""
        return self.targets or {name: self.weights.get(name, 1.0) for name in sensitive}

    def score(self, candidate: Candidate) -> float:
        """I(X~;W) in bits of the table released."""
        return self.summed(candidate, self.kept)

    def summed(self, candidate: Candidate, bits: Callable[[Candidate, str], float]) -> float:
        """The weighted sum over attributes of some bits about each."""
        weights = self.of(candidate.layout.sensitive)
        return sum(weight * bits(candidate, name) for name, weight in weights.items())

    def plug_in(self, candidate: Candidate, attribute: str) -> float:
        """I(X~;W) about an attribute as it is counted, in bits."""
        bits = candidate.entropy(attribute) - candidate.uncertainty(attribute)
        return max(bits, 0.0) / int(candidate.margins[-1])

    def kept(self, candidate: Candidate, attribute: str) -> float:
        """The information that the released table keeps about an attribute, in bits."""
        return self.plug_in(candidate, attribute)

    def quantity(self, score: float, records: int) -> float:
        """I(X~;W) in bits."""
        return score

    def bound(self, plain: Candidate, budget: Budget) -> float:
        """I / (1 - share): the chain rule over whether a record is removed.

        With S telling that, a function of the node's classes,
        I = I(S;W) + p(S) I(X~;W|S) + p(not S) I(X~;W|not S), whose last factor is what is released.
        """
        return self.summed(plain, self.plug_in) / (1 - budget.share)

    def per_class(self, counts: Counts) -> Floats:
        """Contribution of each class in bits, shape (classes,)."""
        value = np.zeros(len(counts))
        for attribute, weight in self.of(counts.sensitive).items():
            value += weight * self.kept_by(counts.about(attribute), counts.records)
        return value

    def kept_by(self, classes: Classes, records: int) -> Floats:
        """Information about an attribute that each class adds: p(g) I1(W, g) in bits."""
        return np.asarray(classes.sizes * divergence(classes.joint, classes.margin) / records)

    def worth(self, layout: Layout) -> Worth:
        """Minus p(g) H(W|g), which is I less H(W)."""
        weights = self.of(layout.sensitive)
        spans = np.array([layout.place(name) for name in weights], np.int64).reshape(-1, 2)
        bits = np.array(list(weights.values()), float) / layout.records
        return Worth(spans, bits, np.zeros(len(weights)), np.zeros(0), 0.0)


@dataclass(frozen=True)
class MillerMadow(MutualInformation):
    """I less (sum_g (m_g - 1) - (m_W - 1)) / (2 N ln 2), in bits, m values occurring of each.

    H(W) - sum_g p(g) H(W|g), each entropy estimated from its own records (Miller 1955): that of the
    table is raised by (m_W - 1) / (2 N) nats, that of a class by (m_g - 1) / (2 n_g). Options are
    those of mutual information. Negative where chance alone would keep more.
    """

    name: ClassVar[str] = "miller-madow"
    falls: ClassVar[bool] = False
    bounded: ClassVar[bool] = True

    def kept(self, candidate: Candidate, attribute: str) -> float:
        """The estimated information that the released table keeps about an attribute, in bits."""
        start, stop = candidate.layout.place(attribute)
        free = candidate.occurring(attribute) - candidate.released_classes
        # Degrees of freedom: each class has m_g - 1 of them, the table m_W - 1.
        free -= int((candidate.margins[start:stop] > 0).sum()) - 1
        bits = float(MILLER_MADOW * free / int(candidate.margins[-1]))
        return self.plug_in(candidate, attribute) - bits

    def bound(self, plain: Candidate, budget: Budget) -> float:
        """(I + c (m_W - 1) / N) / (1 - share): every class has a value."""
        most = self.summed(plain, self._entropy_correction) / (1 - budget.share)
        return super().bound(plain, budget) + most

    def _entropy_correction(self, candidate: Candidate, attribute: str) -> float:
        """Correction of the table's entropy, in bits."""
        start, stop = candidate.layout.place(attribute)
        values = int((candidate.margins[start:stop] > 0).sum())
        return float(MILLER_MADOW * (values - 1) / int(candidate.margins[-1]))

    def kept_by(self, classes: Classes, records: int) -> Floats:
        """P(g) I1 - (m_g - 1) / (2 N ln 2), and of what the table's entropy is raised by p(g)."""
        free = np.maximum(occurring(classes.joint) - 1, 0)
        of_table = (np.count_nonzero(classes.margin) - 1) * classes.sizes / records
        bits = MILLER_MADOW * (of_table - free) / records
        return np.asarray(super().kept_by(classes, records) + bits)

    def worth(self, layout: Layout) -> Worth:
        """Worth for mutual information, less a cost for every value beyond a class's first."""
        worth = super().worth(layout)
        cost = MILLER_MADOW * worth.weights
        return worth._replace(per_value=cost, each=float(cost.sum()))


@dataclass(frozen=True)
class AboveShuffled(MutualInformation):
    """I less the mean information of the same classes about values dealt out at random, in bits.

    The expectation is exact: see ``anonymizer.information.chance``.
    Options are those of mutual information. Negative where chance alone would keep more.
    """

    name: ClassVar[str] = "above-shuffled"
    falls: ClassVar[bool] = False
    bounded: ClassVar[bool] = True

    def kept(self, candidate: Candidate, attribute: str) -> float:
        """The information about an attribute that is kept beyond chance, in bits."""
        return self.plug_in(candidate, attribute) - self._by_chance(candidate, attribute)

    def cap(self, candidate: Candidate) -> float:
        """I less what small classes alone keep by chance: what others keep is never negative.

        Records that are removed change the margins from node to node. What chance keeps of all
        sizes would have to be computed for each of them; of small sizes it takes little.
        """
        return self.summed(candidate, self._above_small)

    def _above_small(self, candidate: Candidate, attribute: str) -> float:
        start, stop = candidate.layout.place(attribute)
        chance = of_small(candidate.margins[start:stop])

        def bits(of: Histograms) -> float:
            return float(chance[of.sizes[of.sizes < len(chance)]].sum())

        # Removed records change the margins: what is remembered holds for these margins alone.
        key = "small", attribute, tuple(candidate.margins[start:stop].tolist())
        return self.plug_in(candidate, attribute) - candidate.summed(key, bits)

    def shortfall(self, plain: Candidate) -> float:
        """Bits that the node's classes keep by chance; those of nodes below keep no less."""
        return self.summed(plain, self._by_chance)

    def _by_chance(self, candidate: Candidate, attribute: str) -> float:
        """Mean information that the classes keep of values dealt out at random, in bits."""
        start, stop = candidate.layout.place(attribute)
        chance = expected(candidate.margins[start:stop])

        def bits(of: Histograms) -> float:
            # A class of more records than are left is removed: what it counts is taken off again.
            return chance.total(np.minimum(of.sizes, chance.records))

        return candidate.summed(chance, bits)

    def kept_by(self, classes: Classes, records: int) -> Floats:
        """P(g) I1 - e(n_g) of each class, in bits."""
        chance = expected(classes.margin)
        return np.asarray(super().kept_by(classes, records) - chance(classes.sizes))

    def worth(self, layout: Layout) -> Worth:
        """Worth for mutual information, less the bits that a class of the size keeps by chance."""
        by_size = np.zeros(layout.records + 1)
        for attribute, weight in self.of(layout.sensitive).items():
            start, stop = layout.place(attribute)
            by_size -= weight * expected(layout.margins[start:stop]).table()
        return super().worth(layout)._replace(by_size=by_size)


MOST_SQUARED = 3_037_000_499
"""Records whose square is below 2**63."""


class OfSizes(Objective):
    """An objective of class sizes, which is bounded by more than its score."""

    def __init_subclass__(cls, **options: object) -> None:
        """Reset the bounds of a subclass with a score of its own: one score bounds no other."""
        super().__init_subclass__(**options)
        if "score" in vars(cls):
            for name in {"bound", "toll"} - vars(cls).keys():
                setattr(cls, name, getattr(Objective, name))


@dataclass(frozen=True)
class Discernibility(OfSizes):
    """Sum of n_g^2, suppressed records counting N each (Bayardo, Agrawal 2005)."""

    name: ClassVar[str] = "discernibility"

    def score(self, candidate: Candidate) -> float:
        """Minus the discernibility metric, a whole number; InputError of too many records."""
        if candidate.layout.records > MOST_SQUARED:
            raise InputError(
                f"objective {self.name!r} adds squares of class sizes, exactly for up to "
                f"{MOST_SQUARED:,} records; choose another one, such as 'loss'"
            )
        charged = candidate.records_suppressed * candidate.layout.records
        return -float(candidate.squares + charged)

    def bound(self, plain: Candidate, budget: Budget) -> float:
        """Minus sum_g n_g max(n_g, least): in no class released does a record count less.

        One of a class of n_g records is in a class of as many above, or suppressed, and counts N.
        """
        # Squares of 32-bit sizes would overflow.
        sizes = plain.classes.sizes.astype(np.int64)
        return -float(sizes @ np.maximum(sizes, budget.least))

    def toll(self, node: Sequence[int], budget: Budget) -> float:
        """N, less what the record counts in the bound: its class is suppressed, so within budget.

        And the class that it has at a node below is part of that class.
        """
        return float(max(0, budget.records - max(budget.least, budget.most)))

    def per_class(self, counts: Counts) -> Floats:
        """Minus n_g^2 of each class."""
        return -(counts.sizes.astype(float) ** 2)

    def worth(self, layout: Layout) -> Worth:
        """Minus n_g^2."""
        return Worth.of_sizes(-(np.arange(layout.records + 1, dtype=float) ** 2))


@dataclass(frozen=True)
class AverageClassSize(OfSizes):
    """Records per class, all that are suppressed counting as one class.

    LeFevre, DeWitt, Ramakrishnan (2006), without the constant factor 1 / k. The score is the
    number of classes.
    """

    name: ClassVar[str] = "average-class-size"

    def score(self, candidate: Candidate) -> float:
        """The number of classes."""
        return float(candidate.groups)

    def bound(self, plain: Candidate, budget: Budget) -> float:
        """Count large classes, as many more as small ones can make, and one of suppressed records.

        A class released has a large class of the node in it, or else small ones of ``least``
        records in all. Where small ones are suppressed, they make one class together; where only
        large ones are, one class stands for them all the same.
        """
        sizes = plain.classes.sizes
        small = sizes[(sizes > 0) & (sizes < budget.least)]
        large = np.count_nonzero(sizes) - len(small)
        together = budget.most > 0 and len(small) > 0
        return float(large + int(small.sum(dtype=np.int64)) / budget.least + together)

    def toll(self, node: Sequence[int], budget: Budget) -> float:
        """1 / least: so much less of a class can be made of small ones without the record."""
        return 1 / budget.least if budget.by_size else 0.0

    def quantity(self, score: float, records: int) -> float:
        """Records per class."""
        return records / score

    def per_class(self, counts: Counts) -> Floats:
        """1 for each class that has records."""
        return (counts.sizes > 0).astype(float)

    def worth(self, layout: Layout) -> Worth:
        """1, whatever the class."""
        return Worth.of_sizes(np.zeros(0), each=1.0)


Measure = Callable[[Ints, Floats, float], float]


@dataclass(frozen=True, kw_only=True)
class LeastItpr(Objective):
    """ITPR = max_g 1 - T p(g) H(W|g) / H(W), summed over the sensitive attributes, weighted.

    The table as a single class has an ITPR of 0: levels need a ``max_level``, or everything is
    suppressed. For full-domain recoding. Bkakria et al. (2021), Definition 2.

    Parameters
    ----------
    weights
        Of the sensitive attributes; 1 for those left out.
    """

    name: ClassVar[str] = "itpr"
    falls: ClassVar[bool] = False
    bounded: ClassVar[bool] = True
    weighs: ClassVar[str | None] = "sensitive attribute"

    weights: Weights = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_weights(self.weights)

    def prepared(self, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> Objective:
        """Check that there is a sensitive attribute, and one for every weight."""
        if not counts.sensitive:
            raise InputError(
                f"the objective {self.name} is about a sensitive attribute; name one, or choose "
                "another objective, such as loss"
            )
        require_known(self, self.weights, counts.sensitive)
        return self

    def score(self, candidate: Candidate) -> float:
        """Minus the ITPR of the table released; suppressed records are one class, or none."""
        return -self._summed(candidate, candidate.released, itpr)

    def bound(self, plain: Candidate, budget: Budget) -> float:
        """0: ITPR is never less, and everything above a node may have that."""
        return 0.0

    def shortfall(self, plain: Candidate) -> float:
        """Lower bound of ITPR in any node below."""
        return self._summed(plain, plain.classes.histograms, least_itpr)

    def __call__(self, counts: Counts) -> float:
        """Minus the ITPR of a recoding without suppression."""
        weights = self._of(counts.sensitive).items()
        return -sum(weight * _of_blocks([counts.about(name)], itpr) for name, weight in weights)

    def _summed(self, candidate: Candidate, histograms: Histograms, measure: Measure) -> float:
        """Sum a measure of classes over the attributes."""
        layout, margins = candidate.layout, candidate.margins
        return sum(
            weight * _of_blocks(layout.some_classes(name, histograms, margins), measure)
            for name, weight in self._of(layout.sensitive).items()
        )

    def _of(self, sensitive: tuple[str, ...]) -> Weights:
        return {name: self.weights.get(name, 1.0) for name in sensitive}


def _of_blocks(blocks: Iterable[Classes], measure: Measure) -> float:
    """ITPR, or what it does not fall below, of the classes that have records."""
    sizes, bits, prior = [], [], 0.0
    for classes in blocks:
        some = classes.occupied
        sizes.append(some.sizes)
        bits.append(entropy(some.joint))
        prior = float(entropy(some.margin))
    return measure(np.concatenate(sizes), np.concatenate(bits), prior)
