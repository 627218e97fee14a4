"""Models that bound the size of a class."""

from dataclasses import dataclass
from typing import ClassVar

from anonymizer.counts.counts import Classes, Floats
from anonymizer.errors import InputError, is_whole, shown
from anonymizer.kernels import Bound, Kind
from anonymizer.privacy.base import PrivacyModel

__all__ = ["KAnonymity", "SizeModel", "require_whole"]

MOST = 10**15
"""Beyond, numbers of records would not be exact in floating point."""


class SizeModel(PrivacyModel):
    """A model of class sizes alone: each class has at least k records."""

    bounded_by: ClassVar[str] = "k"
    unit: ClassVar[str] = "records"
    absolute: ClassVar[bool] = True
    strongly_monotone: ClassVar[bool] = True
    at_least: ClassVar[bool] = True
    sensitive: ClassVar[bool] = False

    def measure(self, classes: Classes) -> Floats:
        """n_g, the records of each class."""
        return classes.sizes.astype(float)

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """At least k records."""
        return (Bound(Kind.SIZE, self.threshold),)


@dataclass(frozen=True)
class KAnonymity(SizeModel):
    """Every record shares its quasi-identifiers with at least k - 1 others: n_g >= k.

    In bits, I2(X, g) = log N - log n_g <= log(N / k). Measured in records. Samarati (2001);
    Bezzi (2010), Eq. 5 and 6.
    """

    name: ClassVar[str] = "k-anonymity"
    condition: ClassVar[str] = "n_g >= k"
    source: ClassVar[str] = "Samarati 2001"

    k: int

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k)

    def require_possible(self, table: Classes, attribute: str) -> None:
        """No class can be larger than the table."""
        records = int(table.sizes.sum())
        if self.k > records:
            raise InputError(
                f"k-anonymity: k = {self.k} exceeds the {records} records of the table"
            )


def require_whole(model: str, name: str, value: object) -> None:
    """Require that a parameter is a whole number of at least 1, and of at most ``MOST``."""
    if not is_whole(value, least=1):
        raise InputError(f"{model}: {name} = {shown(value)} must be a whole number of at least 1")
    if int(value) > MOST:  # type: ignore[call-overload]
        raise InputError(f"{model}: {name} must be at most {MOST:,}; no table has as many records")
