"""Make tables of invented people as files in the wild have them, to try a first hour with.

    python data/make_tables.py DIRECTORY [--records N]

Nobody's data went in. Each table has what makes a first hour hard: dates, codes, numbers with gaps,
a European notation, ordered categories, many columns, many records.

| file | records | has |
|---|---|---|
| `hospital.csv` | 4,000 | birth dates, times, zip codes, an ordered triage, truth values |
| `payroll.csv` | 3,000 | semicolons, decimal commas, dates such as 05.03.1980, cp1252 |
| `expenses.csv` | 5,574 | decimals of any width, numbers with gaps |
| `visits.parquet` | 4,406 | typed columns: ordered categories, truth values, dates |
| `register.csv` | 1,000,000 | twelve columns, long |

Only uniform doubles are drawn and turned into values, as in ``make_census.py``, so that the tables
are the same with every version of numpy.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["TABLES", "make"]

Floats = NDArray[np.float64]
Draw = np.random.Generator

DAY = np.timedelta64(1, "D")
MINUTE = np.timedelta64(1, "m")

# fmt: off
DIAGNOSES = {
    # diagnosis: relative weights for the young, the middle-aged and the old
    "influenza": (20, 12, 8), "asthma": (14, 6, 3), "fracture": (18, 8, 12),
    "appendicitis": (12, 5, 1), "hypertension": (1, 14, 22), "diabetes": (2, 11, 16),
    "pneumonia": (5, 7, 14), "gastritis": (8, 10, 6), "migraine": (9, 8, 2),
    "depression": (10, 9, 4), "kidney stones": (2, 7, 4), "stroke": (0.2, 2, 9),
    "heart failure": (0.1, 2, 12), "hepatitis": (1, 2, 1), "HIV": (0.6, 1, 0.2),
    "melanoma": (0.3, 2, 3),
}
WARDS = {"surgery": 24, "internal": 30, "emergency": 22, "neurology": 9, "cardiology": 10,
         "dermatology": 3, "psychiatry": 6, "urology": 6}
TRIAGE = {"green": 48, "yellow": 33, "orange": 14, "red": 5}

DEPARTMENTS = {"Verkauf": 26, "Lager": 20, "Produktion": 30, "Buchhaltung": 7, "Einkauf": 6,
               "Entwicklung": 8, "Geschäftsführung": 1, "Fuhrpark": 4}
PAY = {"Verkauf": 2900, "Lager": 2500, "Produktion": 2750, "Buchhaltung": 3400, "Einkauf": 3500,
       "Entwicklung": 4600, "Geschäftsführung": 8900, "Fuhrpark": 2600}
STATUS = {"ledig": 34, "verheiratet": 48, "geschieden": 13, "verwitwet": 5}
CONFESSIONS = {"keine": 44, "römisch-katholisch": 26, "evangelisch": 23, "muslimisch": 5,
               "jüdisch": 0.4, "andere": 2}
FIRST_NAMES = ["Anna", "Björn", "Carla", "Dörte", "Emil", "Frieda", "Günter", "Hanna", "Ida",
               "Jürgen", "Käthe", "Lukas", "Maria", "Niels", "Otto", "Paula", "Rolf", "Sören",
               "Thea", "Ute"]
LAST_NAMES = ["Müller", "Schmidt", "Weiß", "Jäger", "Köhler", "Groß", "Lange", "Krämer", "Böhm",
              "Busch", "Kühn", "Franke", "Voß", "Arnold", "Pohl", "Engel", "Horn", "Sauer",
              "Winter"]

EDUCATIONS = ("none", "primary", "lower secondary", "upper secondary", "bachelor", "master")
HEALTH = ("poor", "fair", "good", "excellent")
REGIONS = {"northeast": 19, "midwest": 26, "south": 36, "west": 19}
INSURANCES = {"public": 42, "private": 46, "none": 12}
ROOFS = {"tiles": 50, "metal": 30, "concrete": 14, "thatch": 6}
DISTRICTS = {f"{region}{place:02d}": 30 / (place + 1) + 1
             for region in "ABCDE" for place in range(16)}
OCCUPATIONS = {"farmer": 31, "trader": 18, "teacher": 7, "driver": 9, "builder": 12, "nurse": 4,
               "clerk": 8, "soldier": 2, "cook": 5, "tailor": 4}
# fmt: on


def hospital(records: int, draw: Draw) -> pd.DataFrame:
    """Admissions of a year, one each patient; the diagnosis depends on age."""
    ages = 90 * draw.random(records) ** 0.8
    admitted = np.datetime64("2025-01-01", "m") + (draw.random(records) * 525_000).astype(int)
    born = (admitted - (ages * 365.25 * 1440).astype(int) * MINUTE).astype("datetime64[D]")
    weights = np.array(list(DIAGNOSES.values())).T
    diagnosis = picked(list(DIAGNOSES), weights[np.digitize(ages, [30, 60])], draw)
    smoker = draw.random(records) < np.where(ages < 16, 0.02, 0.24)
    bmi = 17 + 0.09 * np.minimum(ages, 60) + 5 * bell(draw, records)
    cost = np.exp(7.2 + 0.012 * ages + 0.8 * bell(draw, records))
    return pd.DataFrame(
        {
            "patient": [f"P{number:07d}" for number in shuffled(records, draw) + 1_000_000],
            "birth_date": born.astype(str),
            "sex": np.where(draw.random(records) < 0.53, "F", "M"),
            "zip": zip_codes(records, draw),
            "admitted": np.char.replace(admitted.astype(str), "T", " "),
            "ward": chosen(WARDS, records, draw),
            "triage": chosen(TRIAGE, records, draw),
            "insured": np.where(draw.random(records) < 0.93, "true", "false"),
            "smoker": np.where(smoker, "yes", "no"),
            "bmi": gaps([f"{each:.1f}" for each in bmi.clip(13, 55)], 0.08, draw),
            "cost": [f"{each:.2f}" for each in cost],
            "diagnosis": diagnosis,
        }
    )


def payroll(records: int, draw: Draw) -> pd.DataFrame:
    """A payroll as a German program exports it: 05.03.1980, 38,5 and 3.456,78."""
    ages = 18 + 47 * draw.random(records) ** 1.1
    born = np.datetime64("2025-06-30") - (ages * 365.25).astype(int) * DAY
    since = born + ((17 + (ages - 17.5) * draw.random(records)) * 365.25).astype(int) * DAY
    department = chosen(DEPARTMENTS, records, draw)
    base = np.array([PAY[each] for each in department])
    pay = base * (0.8 + 0.008 * (ages - 18)) * np.exp(0.12 * bell(draw, records))
    hours = np.choose((draw.random(records) * 5).astype(int), [20, 30, 37.5, 38.5, 40])
    first, last = (
        [names[int(place)] for place in draw.random(records) * len(names)]
        for names in (FIRST_NAMES, LAST_NAMES)
    )
    return pd.DataFrame(
        {
            "Personalnummer": 40_000 + shuffled(records, draw),
            "Name": [f"{one} {other}" for one, other in zip(first, last, strict=True)],
            "Geburtsdatum": pd.Series(born).dt.strftime("%d.%m.%Y"),
            "Geschlecht": np.where(draw.random(records) < 0.44, "w", "m"),
            "PLZ": [code[:4] + "5" for code in zip_codes(records, draw)],
            "Familienstand": chosen(STATUS, records, draw),
            "Kinder": (4.2 * draw.random(records) ** 2.4).astype(int),
            "Konfession": chosen(CONFESSIONS, records, draw),
            "Abteilung": department,
            "Eintritt": pd.Series(since).dt.strftime("%d.%m.%Y"),
            "Wochenstunden": [european(each, 1) for each in hours],
            "Gehalt": [european(each, 2) for each in pay],
        }
    )


def expenses(records: int, draw: Draw) -> pd.DataFrame:
    """Medical expenses of households, decimals of any width among the quasi-identifiers."""
    age = 0.25 + 64 * draw.random(records)
    income = 2.5 + 11 * draw.random(records) + 1.7 * bell(draw, records)
    education = (18 * draw.random(records) ** 0.5).round()
    sick = draw.random(records)
    spent = np.where(sick < 0.22, 0, np.exp(4 + 0.015 * age + 1.3 * bell(draw, records)))
    return pd.DataFrame(
        {
            "age": [repr(float(each)) for each in age],
            "female": (draw.random(records) < 0.52).astype(int),
            "black": (draw.random(records) < 0.18).astype(int),
            "education": gaps([f"{each:.0f}" for each in education], 0.03, draw),
            "family size": 1 + (8 * draw.random(records) ** 1.6).astype(int),
            "log income": gaps([repr(float(each)) for each in income], 0.05, draw),
            "coinsurance": np.choose((draw.random(records) * 4).astype(int), [0, 25, 50, 95]),
            "limit": [f"{each:.6g}" for each in 4.2 * draw.random(records)],
            "chronic diseases": [f"{each:.4f}" for each in 58 * draw.random(records) ** 3],
            "health": chosen(dict(zip(HEALTH, (2, 9, 40, 49), strict=True)), records, draw),
            "visits": (30 * draw.random(records) ** 4).astype(int),
            "spent": [f"{each:.2f}" for each in spent],
        }
    )


def visits(records: int, draw: Draw) -> pd.DataFrame:
    """Visits to physicians by the old, with types: ordered categories, dates, truth values."""
    age = 66 + 35 * draw.random(records) ** 2.2
    health = (draw.random(records) * 3.2 + 0.6 - 0.01 * (age - 66)).clip(0, 3.99).astype(int)
    school = (6 * draw.random(records) ** 0.7).clip(0, 5.99).astype(int)
    income = np.exp(0.4 + 0.25 * school / 3 + 0.7 * bell(draw, records))
    income[draw.random(records) < 0.02] = np.nan
    seen = np.datetime64("2024-01-01") + (draw.random(records) * 366).astype(int) * DAY
    return pd.DataFrame(
        {
            "visits": (12 * draw.random(records) ** (1 + health)).astype(int),
            "emergencies": (3 * draw.random(records) ** 4).astype(int),
            "stays": (3 * draw.random(records) ** 5).astype(int),
            "health": pd.Categorical.from_codes(health, list(HEALTH), ordered=True),
            "chronic": (5 * draw.random(records) ** (1 + health / 2)).astype(int),
            "limited": draw.random(records) < 0.2,
            "age": age.round(1),
            "black": draw.random(records) < 0.12,
            "male": draw.random(records) < 0.4,
            "married": draw.random(records) < 0.55,
            "school": pd.Categorical.from_codes(school, list(EDUCATIONS), ordered=True),
            "income": income.round(3),
            "region": pd.Categorical(chosen(REGIONS, records, draw)),
            "insurance": pd.Categorical(chosen(INSURANCES, records, draw)),
            "last visit": seen,
        }
    )


def register(records: int, draw: Draw) -> pd.DataFrame:
    """A register of households: twelve columns, a million records."""
    age = (95 * draw.random(records) ** 1.5).astype(int)
    rooms = 1 + (7 * draw.random(records) ** 1.4).astype(int)
    income = (np.exp(10 + 0.1 * rooms + 0.7 * bell(draw, records)) / 100).astype(int) * 100
    return pd.DataFrame(
        {
            "district": chosen(DISTRICTS, records, draw),
            "urban": (draw.random(records) < 0.6).astype(int),
            "roof": chosen(ROOFS, records, draw),
            "rooms": rooms,
            "electricity": (draw.random(records) < 0.8).astype(int),
            "relation": chosen({"head": 3, "spouse": 2, "child": 4, "other": 1}, records, draw),
            "sex": np.where(draw.random(records) < 0.51, "female", "male"),
            "age": age,
            "occupation": chosen(OCCUPATIONS, records, draw),
            "income": income,
            "savings": (income * draw.random(records) ** 6).astype(int),
            "weight": [f"{each:.4f}" for each in 80 + 40 * draw.random(records)],
        }
    )


def picked(values: Sequence[str], weights: Floats, draw: Draw) -> list[str]:
    """One value for each row of weights, shape (records, values)."""
    shares = np.cumsum(weights, axis=1)
    places = (draw.random(len(weights))[:, None] * shares[:, -1:] >= shares).sum(axis=1)
    return [values[place] for place in places]


def chosen(weights: Mapping[str, float], records: int, draw: Draw) -> NDArray[np.object_]:
    """One value for each record, whatever else is known of it."""
    shares = np.cumsum(list(weights.values()))
    places = np.searchsorted(shares, draw.random(records) * shares[-1], side="right")
    return np.array(list(weights), object)[places]


def bell(draw: Draw, records: int) -> Floats:
    """Numbers of mean 0 and variance 1, nearly normal."""
    return np.asarray((draw.random((4, records)).sum(axis=0) - 2) * np.sqrt(3))


def shuffled(records: int, draw: Draw) -> NDArray[np.intp]:
    """The numbers below ``records`` in random order."""
    return np.argsort(draw.random(records))


def zip_codes(records: int, draw: Draw) -> list[str]:
    """Five digits, some beginning with 0; few districts have most people."""
    regions = (40 * draw.random(records) ** 2).astype(int)
    places = (25 * draw.random(records) ** 1.5).astype(int)
    return [f"{23 * region:03d}{place:02d}" for region, place in zip(regions, places, strict=True)]


def gaps(values: Sequence[str], share: float, draw: Draw) -> list[str | None]:
    """The values, a share of them missing."""
    missing = draw.random(len(values)) < share
    return [None if gap else value for value, gap in zip(values, missing, strict=True)]


def european(number: float, digits: int) -> str:
    """A number such as 3.456,78."""
    return f"{number:,.{digits}f}".translate(str.maketrans(",.", ".,"))


TABLES = {
    "hospital.csv": (hospital, 4_000),
    "payroll.csv": (payroll, 3_000),
    "expenses.csv": (expenses, 5_574),
    "visits.parquet": (visits, 4_406),
    "register.csv": (register, 1_000_000),
}
"""How each table is made, and its records."""


def make(directory: Path, records: int | None = None) -> None:
    """Write all tables, or those of more records cut to some."""
    directory.mkdir(parents=True, exist_ok=True)
    for seed, (name, (table_of, usual)) in enumerate(TABLES.items()):
        table = table_of(min(usual, records or usual), np.random.default_rng(seed))
        path = directory / name
        if name.endswith(".parquet"):
            table.to_parquet(path, index=False)
        elif name.startswith("payroll"):
            table.to_csv(path, index=False, sep=";", encoding="cp1252")
        else:
            table.to_csv(path, index=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--records", type=int, help="At most so many in each table.")
    given = parser.parse_args()
    make(given.directory, given.records)
