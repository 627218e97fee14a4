"""A bound on what all classes tell together: an average, which protects nobody by itself."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anonymizer.counts.counts import Classes, Floats
from anonymizer.information.entropy import divergence
from anonymizer.kernels import Bound, Kind
from anonymizer.privacy.base import (
    TOLERANCE,
    SensitiveModel,
    require_number,
)

__all__ = ["MeanInformation"]


@dataclass(frozen=True)
class MeanInformation(SensitiveModel):
    """All classes together tell at most so many bits about W, on average: I(X~;W) <= bits.

    An average that protects nobody by itself: one class may tell everything. What Eq. 13 of Bezzi
    (2010) says is necessary for t-closeness and l-diversity, never enough.
    """

    name: ClassVar[str] = "mean-information"
    condition: ClassVar[str] = "I(X~;W) <= bits: an average that protects nobody by itself"
    unit: ClassVar[str] = "bits"
    source: ClassVar[str] = "Bezzi 2010, Eq. 13"
    bounded_by: ClassVar[str] = "bits"
    absolute: ClassVar[bool] = True
    per_class: ClassVar[bool] = False

    bits: float

    def __post_init__(self) -> None:
        require_number(self.name, "bits", self.bits, least=0)

    def measure(self, classes: Classes) -> Floats:
        """The mean of I1 over the records in bits, shape (1,).

        I(X~;W) where the classes are the whole table, and not some people held against it.
        """
        bits = classes.sizes * divergence(classes.joint, classes.margin)
        return np.array([bits.sum() / classes.sizes.sum()])

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """At most so many bits, of all classes together."""
        return (Bound(Kind.INFORMATION, self.bits + TOLERANCE),)

    def ceiling(self, margin: NDArray[np.int64]) -> float:
        """The bound itself."""
        return float(self.bits)
