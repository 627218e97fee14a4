"""The metrics that Bkakria et al. (2021) compare, as they define them and as they tabulate them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from anonymizer.papers.series import Column
from anonymizer.risk import Measures, Profile

__all__ = ["EQ_8", "METRICS", "TABULATED", "Metric", "along", "columns", "furthest"]

EQ_8 = "Eq. 8"
TABULATED = "H(X) - min p(y) H(X|y)"


@dataclass(frozen=True)
class Metric:
    """A risk metric.

    Parameters
    ----------
    name
        Of the measure.
    short
        What the paper calls it.
    unit
        ``"bits"``, or nothing.
    """

    name: str
    short: str
    unit: str = ""

    def of(self, profile: Profile) -> float:
        """What it comes to in a table."""
        return self.among(profile.measures)

    def among(self, found: Measures) -> float:
        """Which of the measures of a table it is."""
        return float(getattr(found, self.name))


METRICS = {
    metric.short: metric
    for metric in (
        Metric("itpr", "ITPR"),
        Metric("discrimination_rate", "DR"),
        Metric("conditional_privacy", "CP"),
        Metric("entropy_l_diversity_risk", "ELD"),
        Metric("mutual_information", "MI", "bits"),
        Metric("weighted_information_leakage", "MIL as tabulated", "bits"),
        Metric("maximum_information_leakage", "MIL, Eq. 8", "bits"),
        Metric("uncertainty", "H(X)", "bits"),
    )
}


def columns(profiles: list[Profile]) -> list[Column]:
    """Every metric along a figure."""
    return [
        Column(METRICS[short].name, short, values, METRICS[short].unit)
        for short, values in along(profiles).items()
    ]


def along(profiles: Iterable[Profile]) -> dict[str, list[float]]:
    """Every metric of some tables, by its short name."""
    measured = [profile.measures for profile in profiles]
    return {short: [metric.among(m) for m in measured] for short, metric in METRICS.items()}


def furthest(profile: Profile) -> float:
    """Theta = max_q |H(X) - H_q(X)|, in bits: Eq. 15 is the same without the bars."""
    return float(np.abs(profile.i2).max())
