"""Tables 3 to 6 of Bkakria et al. (2021): eight patients, and every printed cell about them."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import cache

import numpy as np

from anonymizer.papers.bkakria2021.metrics import EQ_8, METRICS, TABULATED
from anonymizer.papers.bkakria2021.tables import AGES, DISEASES, ZIPS
from anonymizer.papers.columns import inference, reidentification
from anonymizer.papers.readings import claim, numbers, read
from anonymizer.papers.row import Row, Section
from anonymizer.risk import Profile, measures

__all__ = [
    "INFERENCES",
    "RECORDS",
    "cases",
    "combined",
    "diversity_risks",
    "inference_cells",
    "leakages",
    "profile",
    "record_cells",
]

RECORDS = tuple(f"Age {case}" for case in AGES)
INFERENCES = tuple(f"Age 5, Disease {case}" for case in DISEASES)

TABLE_4: dict[str, tuple[str, str, str, str, str]] = {
    "Age 1": ("1.0", "3.0", "0,875", "3.0", "1.0"),
    "Age 2": ("0.0", "0,0", "0,0", "0,0", "0,125"),
    "Age 3": ("0,18", "0,54", "0,31", "3,0", "1,0"),
    "Age 4": ("0,27", "0,81", "0,43", "2,75", "0,5"),
    "Age 5": ("0,33", "1,0", "0,5", "2,0", "0,25"),
    "Age 5, Disease 1": ("0,33", "1,0", "0,5", "2,0", "0,25"),
    "Age 5, Disease 2": ("0,36", "1,0", "0,5", "1,0", "0,35"),
    "Age 5, Disease 3": ("0,35", "0,54", "0,31", "1,0", "1,0"),
}
"""As printed: DR, MI, CP, MIL, ELD."""

TABLE_5 = {
    "Age 1": "1.0",
    "Age 2": "0.0",
    "Age 3": "1.0",
    "Age 4": "0.83",
    "Age 5": "0.33",
    "Age 2, Zip Code 1": "0.6",
    "Age 2, Zip Code 2": "0.75",
    "Age 5, Disease 1": "0.33",
    "Age 5, Disease 2": "0.45",
    "Age 5, Disease 3": "1.0",
}
"""As printed; the seventh row is printed as Case 1 of Zip Code, as the sixth."""

PELD = "pELD as printed"
PELD_MAXIMUM = "pELD, max for min"

DESCRIBED = {
    1: "all records unique",
    2: "all records the same",
    3: "one record different",
    4: "two records different",
    5: "half of the records one value, half another",
}


@cache
def profile(name: str) -> Profile:
    """What is known of the patients of a row of Tables 4 and 5, by its name."""
    case = {part.rpartition(" ")[0]: int(part.rpartition(" ")[2]) for part in name.split(", ")}
    age = AGES[case["Age"]]
    if "Disease" in case:
        return inference(DISEASES[case["Disease"]], age)
    return reidentification(age, *([ZIPS[case["Zip Code"]]] if "Zip Code" in case else []))


def cases() -> Section:
    """Tables 3 and 6: what the text says of the cases."""
    columns: dict[str, Sequence[Hashable]] = {f"Age {case}": AGES[case] for case in AGES}
    columns |= {f"Disease {case}": DISEASES[case] for case in DISEASES}
    zips = [
        Row(f"Zip Code {case}", _spread(values), remark="Table 6") for case, values in ZIPS.items()
    ]
    return Section(
        "Tables 3 and 6: eight patients",
        [*(_described(*column) for column in columns.items()), *zips],
        "Records by value. The text says that Disease has the first three cases of Age.",
    )


def record_cells() -> Section:
    """Table 4, the risk of re-identification: 25 cells."""
    return Section("Table 4: re-identification", [row for name in RECORDS for row in _cells(name)])


def inference_cells() -> Section:
    """Table 4, the risk of inference: 15 cells."""
    return Section(
        "Table 4: inference",
        [row for name in INFERENCES for row in _cells(name)],
        "At risk is Disease, known is Age; the identifier plays no part.",
    )


def combined() -> Section:
    """Table 5: ITPR, and the range of Eq. 9 that leads to it."""
    named = {name: {"Eq. 10": METRICS["ITPR"].of(profile(name))} for name in TABLE_5}
    named["Age 2, Zip Code 2"] = {
        f"Case {case} of Zip Code": METRICS["ITPR"].of(profile(f"Age 2, Zip Code {case}"))
        for case in ZIPS
    }
    rows = [
        read(f"ITPR, {name}", printed, numbers(printed, named[name]))
        for name, printed in TABLE_5.items()
    ]
    least = [
        Row.number(
            f"least of Eq. 9, {classes} classes",
            measures(np.ones((classes, 2))).unscaled_itpr,
            printed,
            "1 - 1 / classes, where they tell nothing",
        )
        for classes, printed in ((2, "0.5"), (3, "0.66"))
    ]
    return Section("Table 5: ITPR", [*rows, *least])


def leakages(name: str) -> dict[str, float]:
    """MIL by Eq. 8 and as the paper tabulates it."""
    return {
        EQ_8: METRICS["MIL, Eq. 8"].of(profile(name)),
        TABULATED: METRICS["MIL as tabulated"].of(profile(name)),
    }


def diversity_risks(name: str) -> dict[str, float]:
    """ELD by the minimum that is printed in its exponent, and by the maximum that is needed."""
    least_sure = float(2 ** -profile(name).uncertainties.max())
    return {
        PELD: least_sure,
        PELD_MAXIMUM: METRICS["ELD"].of(profile(name)),
    }


def _cells(name: str) -> list[Row]:
    readings: dict[str, Mapping[str, float]] = {
        "DR": {"Eq. 5": METRICS["DR"].of(profile(name))},
        "MI": {"Eq. 6": METRICS["MI"].of(profile(name))},
        "CP": {"Eq. 7": METRICS["CP"].of(profile(name))},
        "MIL": leakages(name),
        "ELD": diversity_risks(name),
    }
    printed = zip(readings.items(), TABLE_4[name], strict=True)
    return [
        read(f"{metric}, {name}", text, numbers(text, found)) for (metric, found), text in printed
    ]


def _described(name: str, values: Sequence[Hashable]) -> Row:
    described = DESCRIBED[int(name[-1])]
    return claim(
        name,
        described == _description(values),
        _spread(values),
        described,
        why=f"Table 3 has {len(set(values))} values",
    )


def _spread(values: Sequence[Hashable]) -> str:
    """How many records each value has, most first."""
    return " + ".join(str(records) for _, records in Counter(values).most_common())


def _description(values: Sequence[Hashable]) -> str:
    """Which of the cases a column is, in the words for it."""
    sizes = [records for _, records in Counter(values).most_common()]
    known = {(8,): 2, (7, 1): 3, (6, 2): 4, (4, 4): 5, (1,) * 8: 1}
    case = known.get(tuple(sizes))
    return DESCRIBED[case] if case else ""
