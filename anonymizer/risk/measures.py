"""Risk metrics of one attribute, as single numbers of a table."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

from anonymizer.release.results import Result


@dataclass(frozen=True)
class Measures(Result):
    """Risk metrics of one attribute X at risk, given the equivalence class Y; also a mapping.

    X is a sensitive attribute (inference) or the record itself (re-identification). No measure
    of risk rises when classes merge, but for ITPR, see ``itpr``; nor does H(X|Y) fall.

    Parameters
    ----------
    records, classes
        Records N, and classes T with records.
    uncertainty
        H(X), in bits.
    conditional_uncertainty
        H(X|Y), in bits.
    discrimination_rate
        DR = 1 - H(X|Y) / H(X), in [0, 1] (Bkakria et al. 2021, Eq. 5).
    mutual_information
        MI = H(X) - H(X|Y), in bits (Eq. 6).
    conditional_privacy
        CP = 1 - 2^-MI, in [0, 1) (Eq. 7).
    maximum_information_leakage
        MIL = max_y H(X) - H(X|y), in bits: the largest I2 (Eq. 8; du Pin Calmon and Fawaz 2012).
    weighted_information_leakage
        H(X) - min_y p(y) H(X|y), in bits: what Bkakria et al. tabulate as MIL.
    entropy_l_diversity_risk
        ELD = 2^-min_y H(X|y), in (0, 1]: 1 / the largest entropy l that holds.
    itpr
        max_y 1 - T p(y) H(X|y) / H(X), in [DR, 1] (Eq. 10). The factor T makes it fall when some
        classes are split: 0.75 for classes of 4 and 12 records, 0.5 for four of 4.
    unscaled_itpr
        The same without the factor T, in [1 - 1/T, 1] (Eq. 9).
    max_posterior
        max p(x|y), in (0, 1]: how sure an attacker is of the value that is easiest to guess.
    i1_max
        max_y I1 = max_y D(p(x|y) || p(x)), in bits: the t of t-closeness, or MIL by divergence.
    i2_max
        max_y I2, in bits: MIL under the name that Bezzi (2010) gives it.
    degenerate
        Whether H(X) = 0, nothing to be learnt: DR and ITPR are 0 by convention then, not by limit.
    """

    records: int
    classes: int
    uncertainty: float
    conditional_uncertainty: float
    discrimination_rate: float
    mutual_information: float
    conditional_privacy: float
    maximum_information_leakage: float
    weighted_information_leakage: float
    entropy_l_diversity_risk: float
    itpr: float
    unscaled_itpr: float
    max_posterior: float
    i1_max: float
    i2_max: float
    degenerate: bool

    def keys(self) -> Iterator[str]:
        """The names of the measures, so that ``dict(measures)`` and pandas know them."""
        return (field.name for field in fields(self))

    def __getitem__(self, name: str) -> float:
        """A measure by its name."""
        value: float = self.to_dict()[name]
        return value
