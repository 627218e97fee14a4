"""The metrics that Bkakria et al. (2021) compare, as they define them and as they tabulate them."""

from collections.abc import Iterable

import numpy as np

from anonymizer.papers.row import Column
from anonymizer.risk import Profile

EQ_8 = "Eq. 8"
TABULATED = "H(X) - min p(y) H(X|y)"
MIL = {EQ_8: "MIL, Eq. 8", TABULATED: "MIL as tabulated"}
"""The readings of MIL, and their metrics."""

METRICS = {
    "ITPR": "itpr",
    "DR": "discrimination_rate",
    "CP": "conditional_privacy",
    "ELD": "entropy_l_diversity_risk",
    "MI": "mutual_information",
    "MIL as tabulated": "weighted_information_leakage",
    "MIL, Eq. 8": "maximum_information_leakage",
    "H(X)": "uncertainty",
}
"""Measures by what the paper calls them."""
BITS = {"MI", *MIL.values(), "H(X)"}


def metric_of(short: str, profile: Profile) -> float:
    """A metric of a table, by its short name."""
    return float(profile.measures[METRICS[short]])


def readings_of(short: str) -> dict[str, str]:
    """The metrics that a name may mean, by the reading: two of MIL, one of any other."""
    return MIL if short == "MIL" else {"": short}


def columns(profiles: list[Profile]) -> list[Column]:
    """Every metric along a figure."""
    return [
        Column(METRICS[short], short, values, "bits" if short in BITS else "")
        for short, values in along(profiles).items()
    ]


def along(profiles: Iterable[Profile]) -> dict[str, list[float]]:
    """Every metric of some tables, by its short name."""
    measured = [profile.measures.to_dict() for profile in profiles]
    return {short: [found[name] for found in measured] for short, name in METRICS.items()}


def furthest(profile: Profile) -> float:
    """Theta = max_q |H(X) - H_q(X)|, in bits: Eq. 15 is the same without the bars."""
    return float(np.abs(profile.i2).max())
