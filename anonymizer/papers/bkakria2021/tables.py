"""The tables of Bkakria et al. (2021) that everything else is computed from."""

from collections.abc import Sequence
from dataclasses import dataclass

Texts = tuple[str, ...]


@dataclass(frozen=True)
class Patients:
    """Table 1a or 2a, by column."""

    zips: Texts
    ages: tuple[int, ...]
    diseases: Texts

    def generalized(self) -> tuple[Texts, Texts]:
        """Zip codes and ages as Tables 1b and 2b have them."""
        zones = tuple(f"{code[:3] if code.startswith('352') else code[:4]}*" for code in self.zips)
        return zones, tuple(f"{age // 10}*" for age in self.ages)


FIRST = Patients(
    ("35510", "35591", "35593", "35210", "35273", "35517", "35599", "35262", "35511"),
    (21, 42, 47, 38, 32, 20, 49, 33, 26),
    ("Asthma", "HIV", "Asthma", "Diabetes", "HIV", "Diabetes", "Diabetes", "Asthma", "HIV"),
)
"""Table 1a."""

SECOND = Patients(
    (*FIRST.zips, "35212", "35281", "35596", "35592", "35515", "35511"),
    (*FIRST.ages, 39, 32, 41, 46, 23, 26),
    (*FIRST.diseases, *["Diabetes"] * 6),
)
"""Table 2a: the same people and six more."""

GROUPS: dict[str, dict[tuple[str, str], Texts]] = {
    "Table 1b": {
        ("3551*", "2*"): ("Asthma", "Diabetes", "HIV"),
        ("3559*", "4*"): ("HIV", "Asthma", "Diabetes"),
        ("352*", "3*"): ("Diabetes", "HIV", "Asthma"),
    },
    "Table 2b": {
        ("3551*", "2*"): ("Asthma", "Diabetes", "Diabetes", "Diabetes", "HIV"),
        ("3559*", "4*"): ("HIV", "Asthma", "Diabetes", "Diabetes", "Diabetes"),
        ("352*", "3*"): ("Diabetes", "HIV", "Asthma", "Diabetes", "Diabetes"),
    },
}
"""Tables 1b and 2b as printed: the diseases of each group."""

AGES: dict[int, Sequence[int]] = {
    1: (30, 62, 37, 21, 19, 47, 71, 73),
    2: (30,) * 8,
    3: (30, 30, 30, 47, 30, 30, 30, 30),
    4: (30, 30, 30, 47, 30, 47, 30, 30),
    5: (30, 30, 30, 30, 47, 47, 47, 47),
}
"""Table 3: the cases of Age."""

_OTHERS = ("Depression", "HIV", "Heart Disease", "Cancer")
DISEASES: dict[int, Texts] = {
    1: ("Diabetes", "Epilepsy", "Asthma", "Allergies", *_OTHERS),
    2: ("Diabetes", "Diabetes", "Epilepsy", *_OTHERS, "Allergies"),
    3: (*["Diabetes"] * 5, "HIV", "Asthma", "Allergies"),
}
"""Table 3: the cases of Disease."""

ZIPS: dict[int, Texts] = {
    1: ("35000",) * 3 + ("35510",) * 5,
    2: ("35000",) * 3 + ("35510",) * 3 + ("35200",) * 2,
}
"""Table 6: the cases of Zip Code."""
