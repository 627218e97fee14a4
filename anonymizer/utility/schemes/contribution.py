"""What each class tells about a sensitive attribute, in bits, and what the policy allows it to."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.information.entropy import entropy, specific_information, surprise
from anonymizer.kernels.arrays import Mask
from anonymizer.privacy import EntropyLDiversity, PrivacyModel, TCloseness
from anonymizer.privacy.base import holds
from anonymizer.release.information import bound_of
from anonymizer.release.results import Result


class Limit(NamedTuple):
    """What bits must not exceed: what it is called, such as "t = 0.55", and how many they are."""

    name: str
    bits: float

    def to_dict(self) -> dict[str, object]:
        """The limit as JSON has it."""
        return self._asdict()


@dataclass(frozen=True)
class Contribution(Result):
    """What each class tells about an attribute W (Bezzi 2010, Figures 2 to 4, right).

    Parameters
    ----------
    attribute
        W.
    uncertainty
        H(W), in bits.
    i1, i2
        I1 = D(p(w|g) || p(w)) and I2 = H(W) - H(W|g) of each class g, in bits (classes,).
    failing
        Which classes break a model that is about W, or about the sizes of classes (classes,).
    i1_limits, i2_limits
        t of t-closeness by the Kullback-Leibler distance; H(W) - log2 l of entropy l-diversity. The
        strictest first.
    """

    attribute: str
    uncertainty: float
    i1: tuple[float, ...]
    i2: tuple[float, ...]
    failing: tuple[bool, ...]
    i1_limits: tuple[Limit, ...]
    i2_limits: tuple[Limit, ...]

    @classmethod
    def of(cls, counts: Counts, name: str, models: Sequence[PrivacyModel]) -> "Contribution":
        """Measure the classes that a table has records of."""
        some = counts.sizes > 0
        classes = counts.about(name)
        joint, margin = classes.joint[some], classes.margin
        known = float(entropy(margin))
        about = [each for each in models if each.sensitive and each.attribute in (None, name)]
        diversity = [each.l for each in about if isinstance(each, EntropyLDiversity)]
        closeness = [
            each.t for each in about if isinstance(each, TCloseness) and each.distance == "kl"
        ]
        return cls(
            name,
            known,
            tuple(surprise(joint, margin).tolist()),
            tuple(specific_information(joint, margin).tolist()),
            tuple(broken(counts, name, models)[some].tolist()),
            tuple(Limit(f"t = {t:g}", float(t)) for t in sorted(closeness)),
            tuple(
                Limit(f"l = {l:g}", known - float(np.log2(l)))
                for l in sorted(diversity, reverse=True)  # noqa: E741 (the model's letter)
            ),
        )


def broken(counts: Counts, name: str, models: Sequence[PrivacyModel]) -> Mask:
    """Which classes break a model about an attribute, or about their sizes, shape (classes,)."""
    found = np.zeros(len(counts), bool)
    for model in models:
        attribute = model.attribute or name if model.sensitive else None
        if model.per_class and attribute in (None, name):
            found |= ~holds(model, counts.about(attribute))
    return found


def bounds_of(counts: Counts, models: Sequence[PrivacyModel], name: str) -> tuple[Limit, ...]:
    """What each model bounds I(X~;W) by, in bits (Eq. 13); those alone that bound it."""
    found = [(model, bound_of(counts, [model], name)) for model in models]
    return tuple(Limit(f"{model.name} {model.range}", bits) for model, bits in found if bits < inf)
