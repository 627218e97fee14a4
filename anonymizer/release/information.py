"""What a release keeps of the information that a table has, and how far that can be believed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.persons import by_persons
from anonymizer.kernels.arrays import Floats
from anonymizer.objectives import MillerMadow, MutualInformation
from anonymizer.privacy import TOLERANCE, PrivacyModel, attributes_of

SHUFFLES = 10


NOISE = 3.0
"""Standard deviations of the shuffled tables within which information is no more than noise."""

Chance = Floats
"""What small classes show by chance, in bits, shape (2, shuffles): raw quasi-identifiers first."""


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
    shuffled, shuffled_deviation
        I(X;W) with W dealt out at random, the mean of 10: what small classes alone pretend; and the
        standard deviation of these.
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
    shuffled_deviation: float
    retained_above_shuffled: float
    miller_madow: float

    @property
    def gap(self) -> float:
        """Ceiling - retained: what any recoding under the policy can keep more, at the most."""
        return max(self.ceiling - self.retained, 0.0)

    @property
    def loss(self) -> float | None:
        """1 - retained / original; None, not determined, where there was nothing to lose."""
        return lost(self.retained, self.original)

    @property
    def loss_above_shuffled(self) -> float | None:
        """The loss with what chance alone pretends taken off on both sides.

        1 - retained_above_shuffled / (original - shuffled); None, not determined, where the
        denominator is within noise: at most ``NOISE`` times ``shuffled_deviation``. The ratio of
        two numbers that chance alone may have made says nothing, however large it is. Nor is it
        determined where more is retained than was there: no recoding adds information, so that the
        raw classes are too small to tell their information from chance.
        """
        above, noise = self.original - self.shuffled, NOISE * self.shuffled_deviation
        if self.retained_above_shuffled > above + noise:
            return None
        return lost(self.retained_above_shuffled, above, noise)

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
        raw_chance, recoded_chance = np.sum([chance[name] for name in about], axis=0)
        return cls(
            original=measure(raw),
            retained=retained,
            ceiling=ceiling(raw, models, about),
            shuffled=float(raw_chance.mean()),
            shuffled_deviation=float(raw_chance.std(ddof=1)),
            retained_above_shuffled=retained - float(recoded_chance.mean()),
            miller_madow=MillerMadow(target=targets)(released),
        )

    def to_dict(self) -> dict[str, float | None]:
        """The measures, the gap and both losses, None where one is not determined."""
        return {
            **asdict(self),
            "gap": self.gap,
            "loss": self.loss,
            "loss_above_shuffled": self.loss_above_shuffled,
        }


def chances(
    raw: Counts, recode: Callable[[Counts], Counts], rng: np.random.Generator
) -> dict[str, Chance]:
    """Information about each attribute with values dealt out at random, ``SHUFFLES`` times.

    ``recode`` does to counts what was done to the table. One shuffled table is held at a time.
    """
    bits = {name: np.zeros((2, SHUFFLES)) for name in raw.attributes}
    for shuffle in range(SHUFFLES if bits else 0):
        dealt = raw.shuffled(rng)
        recoded = recode(dealt)
        for name, found in bits.items():
            measure = MutualInformation(target={name: 1.0})
            found[:, shuffle] = measure(dealt), measure(recoded)
    return bits


def lost(kept: float, original: float, noise: float = 0.0) -> float | None:
    """The share of some bits that is lost, 1 - kept / original.

    None, not determined, where the original is at most ``noise`` above 0.
    """
    return 1 - kept / original if original > max(noise, TOLERANCE) else None


def ceiling(raw: Counts, models: Sequence[PrivacyModel], about: Sequence[str]) -> float:
    """min(I(X;W), what each model bounds), in bits, summed over some attributes."""
    total = 0.0
    for name in about:
        most, bound = MutualInformation(target={name: 1.0})(raw), bound_of(raw, models, name)
        total += max(min(most, bound), 0.0) if bound < inf else most
    return total


def bound_of(counts: Counts, models: Iterable[PrivacyModel | None], name: str) -> float:
    """The most bits that classes may tell about an attribute under a policy, inf for any number."""
    # A model bounds what known values tell, not who misses one; or what persons tell, not records.
    if name in counts.gaps or by_persons(name) in counts.joint:
        return inf
    bounds = [
        model.ceiling(counts.margins[name])
        for model in models
        if model and model.sensitive and name in attributes_of(model, counts.sensitive)
    ]
    return min(bounds, default=inf)
