"""The tables behind Figures 1 to 5 of Bkakria et al. (2021), as counts.

The figures are images, and the text fixes the table of Figure 1 alone. The others are regenerated
under schemes that are assumed here, the simplest found that agree with what the text says.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from anonymizer.papers.row import Column, PlottedSeries, Row
from anonymizer.risk import Inference, Profile, Reidentification

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


RECORDS = 10_000


def one_small(epsilon: int) -> Profile:
    """Figure 2a: one class of 1000 - 0.9 epsilon records, nine larger by epsilon; in tens."""
    small = RECORDS // 10 - 9 * epsilon // 10
    return Reidentification.of([small] + [small + epsilon] * 9)


def graded(excess: int) -> Inference:
    """Figure 3: five ages, in the g-th one disease is ahead of nine by excess g / 5; in fifties."""
    return five_ages(excess * np.arange(1, 6) // 5)


def five_ages(excess: np.ndarray) -> Inference:
    """2000 records of each age, one of ten diseases ahead of the others."""
    joint = np.repeat((RECORDS // 5 - excess)[:, None] // 10, 10, axis=1)
    joint[:, 0] += excess
    return Inference.of(joint)


def example(ill: int) -> Inference:
    """Reproduce the example of the text: 10^8 records, 1000 of them ill, some in 100 records."""
    group, everybody = np.array([ill, 100 - ill]), np.array([1000, 10**8 - 1000])
    return Inference.of([group, everybody - group])


def plane(epsilon: int, moved: int) -> Profile:
    """Figure 5: ages as in 2b, 20 equal diseases; one gains ``moved`` records in the least age.

    The other 19 lose as many there together, each the same to one record.
    """
    joint = np.stack([evenly(size, ILLNESSES) for size in equal_steps(epsilon).tolist()])
    joint[0, 1:] -= evenly(moved, ILLNESSES - 1)
    joint[0, 0] += moved
    return Inference.of(joint)


def moved_to(epsilon: int) -> list[int]:
    """Return the records that have to move for theta to come nearest to each of ``THETAS``."""
    most = int(equal_steps(epsilon)[0]) // 2
    reached = np.array([plane(epsilon, moved).i2.max() for moved in range(most)])
    return [int(np.abs(reached - theta).argmin()) for theta in THETAS]


def evenly(records: int, parts: int) -> np.ndarray:
    """Records dealt out to some parts, the first getting one more where they do not divide."""
    return records // parts + (np.arange(parts) < records % parts).astype(np.int64)


def equal_steps(epsilon: int) -> np.ndarray:
    """Figure 2b: ten classes in equal steps, the largest larger by epsilon; in eighteens."""
    return RECORDS // 10 + (2 * np.arange(10) - 9) * epsilon // 18


@dataclass(frozen=True)
class SchemePanel:
    """A panel of a figure: its table in words, and as a function of a parameter at some points.

    ``status``: how much of it the paper fixes. ``varied``: whether the axis is
    theta = max_q |H(X) - H_q(X)|, not the parameter.
    """

    name: str
    records: str
    profile: Callable[[int], Profile]
    parameter: str
    label: str
    points: tuple[int, ...]
    status: str
    varied: bool = False

    def profiles(self, points: Iterable[int]) -> list[Profile]:
        """The tables at some points."""
        return [self.profile(point) for point in points]

    def row(self) -> Row:
        """The panel as a row whose value is a series."""
        profiles = self.profiles(self.points)
        parameters = [Column(self.parameter, self.label, self.points, "records")]
        if self.varied:
            parameters.append(Column("theta", "θ", list(map(furthest, profiles)), "bits"))
        series = PlottedSeries(parameters, columns(profiles), axis=parameters[-1].name)
        shown = f"{len(series)} points"
        return Row(self.name, shown, "an image", self.records, status=self.status, series=series)


ASSUMED_TABLE = "a table that is assumed"
FITTED_TABLE = "a table fitted to it"
EXACT = "exact: the text fixes the table"
ASSUMED = "regenerated: the text does not fix the table, a scheme is assumed"
FITTED = "fitted: to what the text quotes, which other tables may fit, too"

_SIZES = ("epsilon", "ε")
_ILL = ("ill", "HIV in the group", (10, 20, 30, 50, 80, 100, 120, 128, 150, 200, 300, 400, 500))

FIGURE_1 = SchemePanel(
    "Figure 1",
    "two classes of 10,000 records",
    lambda epsilon: Reidentification.of([(RECORDS - epsilon) // 2, (RECORDS + epsilon) // 2]),
    *_SIZES,
    (*range(0, 9501, 500), 9800, 9900, 9980, 9990, 9992, 9994, 9996, 9998),
    EXACT,
)
FIGURE_2A = SchemePanel(
    "Figure 2 (a small class)",
    "ten classes of 10,000 records, one smaller than nine equal ones",
    one_small,
    *_SIZES,
    (0, 10, *range(100, 1001, 100), 1050, 1100, 1110),
    ASSUMED,
)
FIGURE_2B = SchemePanel(
    "Figure 2 (equal steps)",
    "ten classes of 10,000 records, each larger than the one before by as much",
    lambda epsilon: Reidentification.of(equal_steps(epsilon)),
    *_SIZES,
    (*range(0, 1981, 180), 1998),
    ASSUMED,
)
FIGURE_3 = SchemePanel(
    "Figure 3",
    "five ages of 2,000 records, ten diseases, one ahead by λ/5, 2λ/5, ... λ",
    graded,
    *("lambda", "λ", tuple(range(0, 2001, 100))),
    ASSUMED,
)
FIGURE_4A = SchemePanel(
    "Figure 4 (two groups)",
    "1,000 records, some with HIV, and 9,000 of which 90 have it",
    lambda ill: Inference.of([[ill, 1000 - ill], [90, 8910]]),
    *_ILL,
    FITTED,
    varied=True,
)
FIGURE_4B = SchemePanel(
    "Figure 4 (ten groups)",
    "ten groups of 1,000 records, some with HIV in one, 10 in each other",
    lambda ill: Inference.of([[ill, 1000 - ill]] + [[10, 990]] * 9),
    *_ILL,
    ASSUMED,
    varied=True,
)
ILLNESSES = 20
"""Diseases of Figure 5."""
EPSILONS = tuple(range(0, 1189, 108))
"""Figure 5: differences between the largest and the smallest class; to 1188 = 66 x 18."""
THETAS = tuple(step / 10 for step in range(10))
"""Figure 5: variations, in bits."""
