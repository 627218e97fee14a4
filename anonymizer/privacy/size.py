"""Models that bound the size of a class."""

from dataclasses import dataclass

from anonymizer.counts.counts import Classes
from anonymizer.errors import require_whole
from anonymizer.kernels import Kind
from anonymizer.kernels.arrays import Floats
from anonymizer.privacy.base import PrivacyModel


class SizeModel(PrivacyModel):
    """A model of class sizes alone: each class has at least k records."""

    bounded_by = "k"
    unit = "records"
    kind = Kind.SIZE
    absolute = True
    strongly_monotone = True
    at_least = True
    sensitive = False

    def measure(self, classes: Classes) -> Floats:
        """n_g, the records of each class."""
        return classes.sizes.astype(float)


@dataclass(frozen=True)
class KAnonymity(SizeModel):
    """Every record shares its quasi-identifiers with at least k - 1 others: n_g >= k.

    In bits, I2(X, g) = log N - log n_g <= log(N / k). Measured in records. Samarati (2001);
    Bezzi (2010), Eq. 5 and 6.
    """

    name = "k-anonymity"
    condition = "n_g >= k"
    source = "Samarati 2001"
    beyond = "exceeds the {best:.0f} records of the table"

    k: int

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k)
