"""What a release keeps of the information that a table has, and how far that can be believed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.objectives import MillerMadow, MutualInformation
from anonymizer.privacy import TOLERANCE, PrivacyModel, attributes_of

SHUFFLES = 10


Chance = tuple[float, float]
"""What small classes show by chance, in bits: of the raw quasi-identifiers, and of the recoded."""


@dataclass(frozen=True)
class Information:
    """Information of the released quasi-identifiers about the sensitive attributes, in bits.

    Parameters
    ----------
    original
        I(X;W) of the raw quasi-identifiers of the records released.
    retained
        I(X~;W) of the released ones.
    ceiling
        The most that any recoding which satisfies the policy can keep:
        min(I(X;W), t, H(W) - log l) (Bezzi 2010, Eq. 13), the least that any model about an
        attribute bounds, summed over the attributes.
    shuffled
        I(X;W) with W dealt out at random, the mean of 10: what small classes alone pretend.
    retained_above_shuffled
        ``retained`` less the same mean under the recoding.
    miller_madow
        ``retained``, estimated from entropies of classes that are corrected for few records
        (Miller 1955): less (sum_g (m_g - 1) - (m_W - 1)) / (2 N ln 2), m values occurring. What
        I(X~;W) is among those whom the table is a sample of, if its classes have several records
        of each value; one with a single value is not corrected.
    """

    original: float
    retained: float
    ceiling: float
    shuffled: float
    retained_above_shuffled: float
    miller_madow: float

    @property
    def gap(self) -> float:
        """Ceiling - retained: what any recoding under the policy can keep more, at the most."""
        return max(self.ceiling - self.retained, 0.0)

    @property
    def loss(self) -> float:
        """1 - retained / original; 0 where there was nothing to lose."""
        return 1 - self.retained / self.original if self.original > TOLERANCE else 0.0

    @property
    def loss_above_shuffled(self) -> float:
        """The loss with what chance alone pretends taken off on both sides.

        1 - retained_above_shuffled / (original - shuffled); 0 where nothing is above chance.
        """
        above = self.original - self.shuffled
        return 1 - self.retained_above_shuffled / above if above > TOLERANCE else 0.0

    @classmethod
    def of(
        cls,
        raw: Counts,
        released: Counts,
        models: Sequence[PrivacyModel],
        chance: Mapping[str, Chance],
        about: Sequence[str],
    ) -> "Information":
        """Measure a released table, as it was recounted, against the raw one that it recodes.

        Information ``about`` several attributes is summed.
        """
        targets = dict.fromkeys(about, 1.0)
        measure = MutualInformation(target=targets)
        retained = measure(released)
        return cls(
            original=measure(raw),
            retained=retained,
            ceiling=ceiling(raw, models, about),
            shuffled=sum(chance[name][0] for name in about),
            retained_above_shuffled=retained - sum(chance[name][1] for name in about),
            miller_madow=MillerMadow(target=targets)(released),
        )

    def to_dict(self) -> dict[str, float]:
        """The measures, the gap and both losses."""
        return {
            **asdict(self),
            "gap": self.gap,
            "loss": self.loss,
            "loss_above_shuffled": self.loss_above_shuffled,
        }


def chances(
    raw: Counts, recode: Callable[[Counts], Counts], rng: np.random.Generator
) -> dict[str, Chance]:
    """Information about each attribute with values dealt out at random, the mean of ``SHUFFLES``.

    ``recode`` does to counts what was done to the table. One shuffled table is held at a time.
    """
    bits = {name: np.zeros(2) for name in raw.joint}
    for _ in range(SHUFFLES if bits else 0):
        dealt = raw.shuffled(rng)
        recoded = recode(dealt)
        for name, total in bits.items():
            measure = MutualInformation(target={name: 1.0})
            total += measure(dealt), measure(recoded)
    return {name: tuple((total / SHUFFLES).tolist()) for name, total in bits.items()}


def ceiling(raw: Counts, models: Sequence[PrivacyModel], about: Sequence[str]) -> float:
    """min(I(X;W), what each model bounds), in bits, summed over some attributes."""
    total = 0.0
    for name in about:
        most, bound = MutualInformation(target={name: 1.0})(raw), bound_of(raw, models, name)
        total += max(min(most, bound), 0.0) if bound < inf else most
    return total


def bound_of(counts: Counts, models: Iterable[PrivacyModel | None], name: str) -> float:
    """The most bits that classes may tell about an attribute under a policy, inf for any number."""
    bounds = [
        model.ceiling(counts.margins[name])
        for model in models
        if model and model.sensitive and name in attributes_of(model, counts.sensitive)
    ]
    return min(bounds, default=inf)
