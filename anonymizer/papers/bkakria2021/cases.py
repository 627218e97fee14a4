"""Tables 3 to 6 of Bkakria et al. (2021): eight patients, and every printed cell about them."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from anonymizer.information.entropy import entropy
from anonymizer.papers.bkakria2021.schemes import MIL, metric_of
from anonymizer.papers.columns import inference, reidentification
from anonymizer.papers.row import PublishedSection, Row, agrees, numbers, read
from anonymizer.risk import Inference, Profile, measures

AGES: dict[int, Sequence[int]] = {
    1: (30, 62, 37, 21, 19, 47, 71, 73),
    2: (30,) * 8,
    3: (30, 30, 30, 47, 30, 30, 30, 30),
    4: (30, 30, 30, 47, 30, 47, 30, 30),
    5: (30, 30, 30, 30, 47, 47, 47, 47),
}
"""Table 3: the cases of Age."""

_OTHERS = ("Depression", "HIV", "Heart Disease", "Cancer")
DISEASES: dict[int, Sequence[str]] = {
    1: ("Diabetes", "Epilepsy", "Asthma", "Allergies", *_OTHERS),
    2: ("Diabetes", "Diabetes", "Epilepsy", *_OTHERS, "Allergies"),
    3: (*["Diabetes"] * 5, "HIV", "Asthma", "Allergies"),
}
"""Table 3: the cases of Disease."""

ZIPS: dict[int, Sequence[str]] = {
    1: ("35000",) * 3 + ("35510",) * 5,
    2: ("35000",) * 3 + ("35510",) * 3 + ("35200",) * 2,
}
"""Table 6: the cases of Zip Code."""

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
CELLS = [*TABLE_4][: len(AGES)], [*TABLE_4][len(AGES) :]
"""Re-identification, inference."""

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

PROFILE = "anonymizer.risk.Profile"
WHERE = {
    "DR": f"{PROFILE}.discrimination_rate",
    **dict.fromkeys(("MI", "CP", "MIL", "ELD"), f"{PROFILE}.measures"),
    "ITPR": f"{PROFILE}.itpr",
}
"""Where the library has each metric."""

SPREADS = {
    1: (" + ".join("1" * 8), "all records unique"),
    2: ("8", "all records the same"),
    3: ("7 + 1", "one record different"),
    4: ("6 + 2", "two records different"),
    5: ("4 + 4", "half of the records one value, half another"),
}
"""What the text says of each case: the records of each value, and its words."""


@cache
def profile(name: str) -> Profile:
    """Return the profile of the patients of a row of Tables 4 and 5, by its name."""
    case = {part.rpartition(" ")[0]: int(part.rpartition(" ")[2]) for part in name.split(", ")}
    age = AGES[case["Age"]]
    if "Disease" in case:
        return inference(DISEASES[case["Disease"]], age)
    return reidentification(age, *([ZIPS[case["Zip Code"]]] if "Zip Code" in case else []))


def patients() -> list[PublishedSection]:
    """Tables 3 to 6, and which formulas give their cells."""
    records, inferred = ([row for name in names for row in _cells(name)] for names in CELLS)
    return [
        cases(),
        PublishedSection("Table 4: re-identification", records, place="Table 4"),
        PublishedSection(
            "Table 4: inference",
            inferred,
            "At risk is Disease, known is Age; the identifier plays no part.",
            "Table 4",
        ),
        formulas(),
        combined(),
    ]


def cases() -> PublishedSection:
    """Tables 3 and 6: what the text says of the cases."""
    columns: dict[str, Sequence[Hashable]] = {f"Age {case}": ages for case, ages in AGES.items()}
    columns |= {f"Disease {case}": diseases for case, diseases in DISEASES.items()}
    described = []
    for name, values in columns.items():
        spread, words = SPREADS[int(name[-1])]
        why = f"Table 3 has {len(set(values))} values"
        found = _spread(values)
        described.append(Row.claim(name, found == spread, found, words, why=why))
    zips = [
        Row(f"Zip Code {case}", _spread(values), remark="Table 6") for case, values in ZIPS.items()
    ]
    return PublishedSection(
        "Tables 3 and 6: eight patients",
        [*described, *zips],
        "Records by value. The text says that Disease has the first three cases of Age.",
        "Tables 3, 6",
        "anonymizer.papers.bkakria2021.cases",
    )


def combined() -> PublishedSection:
    """Table 5: ITPR, and the range of Eq. 9 that leads to it."""
    named = {name: {"Eq. 10": metric_of("ITPR", profile(name))} for name in TABLE_5}
    named["Age 2, Zip Code 2"] = {
        f"Case {case} of Zip Code": metric_of("ITPR", profile(f"Age 2, Zip Code {case}"))
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
    rows += [replace(row, place="Section 4") for row in least]
    return PublishedSection("Table 5: ITPR", rows, place="Table 5", where=WHERE["ITPR"])


def _cells(name: str) -> list[Row]:
    known = profile(name)
    equations = (("DR", "Eq. 5"), ("MI", "Eq. 6"), ("CP", "Eq. 7"))
    readings = {short: {equation: metric_of(short, known)} for short, equation in equations}
    readings |= {short: of(known) for short, of in FORMULAS.items()}
    return [
        replace(
            read(f"{metric}, {name}", text, numbers(text, readings[metric])[:TRIED]),
            where=WHERE[metric],
        )
        for metric, text in zip(readings, TABLE_4[name], strict=True)
    ]


def _spread(values: Sequence[Hashable]) -> str:
    return " + ".join(str(records) for _, records in Counter(values).most_common())


def formulas() -> PublishedSection:
    """Count the printed cells, of eight, that each formula gives."""
    rows = []
    for metric, readings in FORMULAS.items():
        found = {name: readings(profile(name)) for name in TABLE_4}
        for formula in found["Age 1"]:
            values = {name: found[name][formula] for name in found}
            column = COLUMN[metric]
            given = [name for name in values if agrees(values[name], TABLE_4[name][column])]
            others = [f"{name} {values[name]:.6f}" for name in values if name not in given]
            cells = f"{len(given)} of {len(found)} cells"
            name, count = f"{metric}: {formula}", float(len(given))
            rows.append(Row(name, cells, remark="; ".join(others), value=count))
    return PublishedSection(
        "Table 4: what gives the cells of MIL and ELD",
        rows,
        "Eq. 8 is max_y H(X) - H(X|y). No formula gives all cells of MIL: the last two are taken "
        "for slips. The remarks list what a formula gives elsewhere.",
        "Table 4",
        WHERE["MIL"],
    )


def _leakages(known: Profile) -> dict[str, float]:
    """MIL by Eq. 8, as the paper tabulates it, what gives most cells, and the last two."""
    return {
        **{reading: metric_of(short, known) for reading, short in MIL.items()},
        "max p(y) H(X|y)": float(known.weighted.max()),
        "H(Y)": float(entropy(known.sizes)),
        "max log p(x|y) / p(x)": _pointwise(known),
    }


def _diversity_risks(known: Profile) -> dict[str, float]:
    """ELD by the minimum printed in its exponent, by the maximum needed, and of p(x, y)."""
    share = known.sizes / known.records
    joint = share * (np.log2(share) - known.uncertainties)
    return {
        "pELD as printed": float(2 ** -known.uncertainties.max()),
        "pELD, max for min": metric_of("ELD", known),
        "pELD of p(x, y)": float(2 ** joint.max()),
    }


def _pointwise(known: Profile) -> float:
    """The largest log p(x|y) / p(x) of a value and a class that occur together, in bits."""
    if not isinstance(known, Inference):
        return float(known.i1.max())
    sizes = np.repeat(known.sizes, np.diff([*known.starts, len(known.counts)]))
    lift = known.counts * known.records / (sizes * known.margin[known.values])
    return float(np.log2(lift.max()))


FORMULAS = {"MIL": _leakages, "ELD": _diversity_risks}
"""What may give the cells of a metric: what the text defines, what most cells agree with, others.

The first ``TRIED`` are readings of the text.
"""
COLUMN = {"MIL": 3, "ELD": 4}
TRIED = 2
