"""Models that bound what one released class tells about the sensitive value, in bits."""

from dataclasses import dataclass
from math import isfinite, log2
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anonymizer.counts import Classes, Floats
from anonymizer.errors import InputError, did_you_mean
from anonymizer.information import divergence, entropy
from anonymizer.kernels import Bound, Kind
from anonymizer.privacy.base import TOLERANCE, Mask, PrivacyModel

__all__ = ["EntropyLDiversity", "TCloseness"]

DISTANCES = ("kl",)


@dataclass(frozen=True)
class EntropyLDiversity(PrivacyModel):
    """Within a class W stays as uncertain as l equally likely values: H(W|g) >= log l.

    Equivalently I2(W, g) <= H(W) - log l. Measured as 2^H(W|g), the effective number of values;
    l is real. Machanavajjhala et al. (2006); Bezzi (2010), Eq. 10.
    """

    name: ClassVar[str] = "entropy-l-diversity"
    at_least: ClassVar[bool] = True

    l: float  # noqa: E741 (the model's own letter)

    def __post_init__(self) -> None:
        if not _finite(self.l) or self.l < 1:
            raise InputError(f"entropy-l-diversity: l = {self.l!r} must be a number of at least 1")

    @property
    def threshold(self) -> float:
        """The smallest acceptable effective number of values."""
        return float(self.l)

    def measure(self, classes: Classes) -> Floats:
        """2^H(W|g), the effective number of sensitive values of each class."""
        return np.exp2(entropy(classes.joint))

    def accepts(self, values: Floats) -> Mask:
        """Classes of at least log l bits."""
        return np.asarray(np.log2(values) >= log2(self.l) - TOLERANCE)

    def bound(self) -> Bound:
        """At least log l bits."""
        return Bound(Kind.ENTROPY, log2(self.l) - TOLERANCE)

    def ceiling(self, margin: NDArray[np.int64]) -> float:
        """H(W) - log l (Eq. 13)."""
        return float(entropy(margin) - log2(self.l))

    def require_possible(self, table: Classes, attribute: str) -> None:
        """Require l <= 2^H(W): not every class can be more diverse than the table (Eq. 15)."""
        bound = float(np.exp2(entropy(table.margin)))
        if log2(self.l) > np.log2(bound) + TOLERANCE:
            raise InputError(
                f"entropy-l-diversity: l = {self.l:g} is above 2^H = {bound:.6f}, the effective "
                f"number of values of {attribute!r} in the whole table; no recoding can reach it"
            )


@dataclass(frozen=True)
class TCloseness(PrivacyModel):
    """Seeing the class moves the distribution of W by at most t: I1(W, g) <= t, in bits.

    The distance is the Kullback-Leibler divergence D(p(w|g) || p(w)). Thresholds under different
    distances do not compare, so the distance is always stated. Li et al. (2007) with the
    divergence of Bezzi (2010), Eq. 7 and 8.
    """

    name: ClassVar[str] = "t-closeness"

    t: float
    distance: str = "kl"

    def __post_init__(self) -> None:
        if not _finite(self.t) or self.t < 0:
            raise InputError(f"t-closeness: t = {self.t!r} must be a number of at least 0")
        if self.distance not in DISTANCES:
            raise InputError(
                f"t-closeness: distance {self.distance!r} is none of {', '.join(DISTANCES)}"
                + did_you_mean(str(self.distance), DISTANCES)
            )

    @property
    def threshold(self) -> float:
        """The largest acceptable divergence, in bits."""
        return float(self.t)

    def measure(self, classes: Classes) -> Floats:
        """I1(W, g) of each class, in bits."""
        return divergence(classes.joint, classes.margin)

    def accepts(self, values: Floats) -> Mask:
        """Classes of at most t bits."""
        return values <= self.t + TOLERANCE

    def bound(self) -> Bound:
        """At most t bits."""
        return Bound(Kind.DIVERGENCE, self.t + TOLERANCE)

    def ceiling(self, margin: NDArray[np.int64]) -> float:
        """t, the mean of I1 being I(X~;W) (Eq. 13)."""
        return float(self.t)


def _finite(value: object) -> bool:
    """Whether a parameter is a number that arithmetic can take."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return isfinite(value)
    except OverflowError:
        return False
