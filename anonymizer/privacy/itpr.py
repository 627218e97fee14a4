"""ITPR of a release, the risk metric of Bkakria et al. (2021), with the most that it may be.

Definition 2 has one number for all classes together: its maximum is over classes, but each term
counts how many there are. So these are models of the table as a whole.

They are not monotone: merging classes of 4 records each to classes of 4 and 12 raises ITPR of the
record from .5 to .75. What prunes a search all the same is that ITPR is never below DR, which only
falls when classes merge (``least_itpr``).
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.information.entropy import entropy
from anonymizer.information.itpr import itpr, least_itpr
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.privacy.base import PrivacyModel, SensitiveModel, Share, Wording, reads_sparse

Open = tuple[Ints, Floats, float]
"""Records of each class, what it leaves open of X, and H(X), in bits."""


class ItprModel(PrivacyModel):
    """Common part of the models of ITPR, which differ in what is at risk."""

    unit = "share of H(X)"
    source = "Bkakria et al. 2021, Definition 2"
    bounded_by = "risk"
    largest = 1
    monotone = False
    per_class = False
    start = {"risk": 0.9}

    @abstractmethod
    def left_open(self, classes: Classes) -> Open:
        """Return the uncertainty that classes leave of what is at risk."""

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        """ITPR, shape (1,)."""
        return np.array([itpr(*self.left_open(classes))])


class Floor(ItprModel):
    """Model of the lower bound of ITPR, here and in any finer table: monotone."""

    monotone = True

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        """Lower bound of ITPR, shape (1,)."""
        return np.array([least_itpr(*self.left_open(classes))])

    def necessary(self) -> tuple[PrivacyModel, ...]:
        """Itself."""
        return (self,)


@dataclass(frozen=True)
class Itpr(ItprModel, SensitiveModel):
    """No class tells too much of a sensitive attribute for its size: ITPR <= risk.

    ITPR = max_g 1 - T p(g) H(W|g) / H(W), T being the number of classes. 1 where the records of a
    class all have the same value; 0 where there is one class. It says of small classes that they
    are a risk also where they tell nothing: p(g) is in it, see ``docs/theory/risk.md``. Where W is
    the same for all there is nothing to tell, and ITPR is 0. Bkakria et al. (2021).

    Parameters
    ----------
    risk
        The largest acceptable ITPR, from 0 to 1.
    """

    name = "itpr"
    unit = "share of H(W)"
    condition = "max_g 1 - T p(g) H(W\\|g) / H(W) <= risk, T classes"
    value_monotone = False  # merged values lower both entropies
    wording = Wording(
        "No class of people falls short of its share in the doubt about “{attribute}” by more "
        "than {risk:share}: with as many classes as there are, each would have to leave an equal "
        "part of it open.",
        "The class that comes off worst falls short of it by {worst:share}.",
        "What a class gives away: The number says that a class is small, or that it tells much, "
        "and not which of the two.",
    )

    risk: Share

    def left_open(self, classes: Classes) -> Open:
        return classes.sizes, entropy(classes.joint), float(entropy(classes.margin))

    def necessary(self) -> tuple[PrivacyModel, ...]:
        return (ItprFloor(self.risk, attribute=self.attribute),)

    def ceiling(self, margin: Ints) -> float:
        """Risk times H(W), as ITPR is not below I(X~;W) / H(W)."""
        return self.risk * float(entropy(margin))


@dataclass(frozen=True)
class ItprFloor(Floor, Itpr):
    """Model that ``Itpr`` can be pruned by."""

    name = "itpr-floor"


@dataclass(frozen=True)
class ReidentificationItpr(ItprModel):
    """No class is too small for the number of classes: ITPR of the record itself <= risk.

    ITPR = max_g 1 - T p(g) log n_g / log N, T being the number of classes: that of the smallest
    one. 1 where a record is alone in its class; 0 where there is one class. Bkakria et al. (2021).

    Parameters
    ----------
    risk
        The largest acceptable ITPR, from 0 to 1.
    """

    name = "reidentification-itpr"
    condition = "max_g 1 - T p(g) log n_g / log N <= risk, T classes"
    absolute = True
    sensitive = False
    wording = Wording(
        "No class of people with the same released values of {shared} falls short of its share "
        "in the doubt about who is who by more than {risk:share}: with as many classes as there "
        "are, each would have to leave an equal part of it open.",
        "The smallest class falls short of it by {worst:share}.",
        "What a class has in common: Where all people of a class have the same value of another "
        "column, nobody has to be found for it; the risk does not count that.",
    )

    risk: Share

    def left_open(self, classes: Classes) -> Open:
        return classes.sizes, np.log2(classes.sizes), float(np.log2(classes.sizes.sum()))

    def necessary(self) -> tuple[PrivacyModel, ...]:
        return (ReidentificationItprFloor(self.risk),)


@dataclass(frozen=True)
class ReidentificationItprFloor(Floor, ReidentificationItpr):
    """Model that ``ReidentificationItpr`` can be pruned by."""

    name = "reidentification-itpr-floor"
