"""Models that bound the size of a class."""

from dataclasses import dataclass
from typing import ClassVar

from anonymizer.counts import Classes, Floats
from anonymizer.errors import InputError
from anonymizer.kernels import Bound, Kind
from anonymizer.parameters import is_whole
from anonymizer.privacy.base import Mask, PrivacyModel

__all__ = ["KAnonymity", "require_whole"]


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every record shares its quasi-identifiers with at least k - 1 others: n_g >= k.

    In bits, I2(X, g) = log N - log n_g <= log(N / k). Measured in records. Samarati (2001);
    Bezzi (2010), Eq. 5 and 6.
    """

    name: ClassVar[str] = "k-anonymity"
    condition: ClassVar[str] = "n_g >= k"
    unit: ClassVar[str] = "records"
    source: ClassVar[str] = "Samarati 2001"
    absolute: ClassVar[bool] = True
    strongly_monotone: ClassVar[bool] = True
    at_least: ClassVar[bool] = True
    sensitive: ClassVar[bool] = False

    k: int

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k)

    @property
    def threshold(self) -> float:
        """The smallest acceptable class, in records."""
        return float(self.k)

    def measure(self, classes: Classes) -> Floats:
        """n_g, the records of each class."""
        return classes.sizes.astype(float)

    def accepts(self, values: Floats) -> Mask:
        """Classes of at least k records."""
        return values >= self.k

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """At least k records."""
        return (Bound(Kind.SIZE, self.k),)

    def require_possible(self, table: Classes, attribute: str) -> None:
        """No class can be larger than the table."""
        records = int(table.sizes.sum())
        if self.k > records:
            raise InputError(
                f"k-anonymity: k = {self.k} exceeds the {records} records of the table"
            )


def require_whole(model: str, name: str, value: object) -> None:
    """Require that a parameter is a whole number of at least 1."""
    if not is_whole(value, least=1):
        raise InputError(f"{model}: {name} = {value!r} must be a whole number of at least 1")
