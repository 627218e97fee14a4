"""Make census.csv.gz: a census of invented people in the columns of UCI Adult.

Nobody's data went in. The tables below state, from general knowledge and in round figures, how
the attributes of people hang together: who is widowed, who holds a doctorate, who drives a truck.
Each person is drawn from them, one attribute after the other, each given those before it.

Only uniform doubles are drawn (``Generator.random``) and turned into values by inverting the
cumulative distribution: numpy keeps that stream stable from version to version, which it does not
promise of its other distributions.
"""

import gzip
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.tables.datasets import ADULT_COLUMNS

__all__ = ["census", "main"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Texts = NDArray[np.str_]
Shares = Mapping[str, Sequence[float]]

MALE_SHARE = 0.54

# All weights below are relative; they need not sum up to anything.
# fmt: off

# People by age; 90 stands for everybody older, too.
AGE = {17: 9, 19: 14, 23: 22, 30: 25, 37: 26, 45: 21, 55: 13, 62: 8, 66: 4, 75: 1.8, 84: 0.5,
       89: 0.2, 90: 0.7}

RACE = {"White": 82, "Black": 10.5, "Asian-Pac-Islander": 4, "Amer-Indian-Eskimo": 1.3,
        "Other": 2.2}

# Countries of birth of each race, in the order of RACE, about per mille.
NATIVE_COUNTRY: Shares = {
    "United-States":              (922, 915, 300, 965, 470),
    "Cambodia":                   (0,   0,   15,  0,   0),
    "Canada":                     (6,   0.3, 2,   2,   0),
    "China":                      (0.1, 0,   75,  0,   0),
    "Columbia":                   (1.5, 0.5, 0,   0,   45),
    "Cuba":                       (4,   2,   0,   0,   25),
    "Dominican-Republic":         (1,   9,   0,   0,   60),
    "Ecuador":                    (0.6, 0,   0,   1,   30),
    "El-Salvador":                (3,   0.3, 0,   1,   60),
    "England":                    (4,   2,   2,   0,   1),
    "France":                     (1.2, 0.4, 1,   0,   0),
    "Germany":                    (6,   2,   1,   0,   1),
    "Greece":                     (1.2, 0,   0,   0,   0),
    "Guatemala":                  (1.6, 0.2, 0,   2,   35),
    "Haiti":                      (0.1, 17,  0,   0,   3),
    "Holand-Netherlands":         (0.3, 0,   0,   0,   0),
    "Honduras":                   (0.4, 0.6, 0,   0,   12),
    "Hong":                       (0,   0,   20,  0,   0),
    "Hungary":                    (0.6, 0,   0,   0,   0),
    "India":                      (0.6, 0.6, 110, 0,   18),
    "Iran":                       (1.5, 0,   8,   0,   6),
    "Ireland":                    (1.3, 0,   0,   0,   0),
    "Italy":                      (3,   0,   0,   0,   0),
    "Jamaica":                    (0.2, 28,  1,   0,   6),
    "Japan":                      (0.3, 0.2, 50,  0,   0),
    "Laos":                       (0,   0,   18,  0,   0),
    "Mexico":                     (22,  1,   1,   12,  150),
    "Nicaragua":                  (0.8, 0.8, 0,   0,   15),
    "Outlying-US(Guam-USVI-etc)": (0.1, 3,   6,   0,   2),
    "Peru":                       (0.7, 0,   0,   2,   20),
    "Philippines":                (0.4, 0.2, 190, 0,   4),
    "Poland":                     (3,   0,   0,   0,   0),
    "Portugal":                   (1.4, 0.2, 0,   0,   1),
    "Puerto-Rico":                (3,   3,   0,   0,   55),
    "Scotland":                   (0.5, 0,   0,   0,   0),
    "South":                      (0.2, 0,   80,  0,   0),
    "Taiwan":                     (0,   0,   45,  0,   0),
    "Thailand":                   (0.1, 0,   15,  0,   0),
    "Trinadad&Tobago":            (0,   7,   2,   0,   6),
    "Vietnam":                    (0.1, 0,   85,  0,   1),
    "Yugoslavia":                 (0.7, 0,   0,   0,   0),
}

# The ages at which the tables by age state weights; those between are interpolated.
AGES = (17, 18, 20, 22, 25, 30, 40, 50, 60, 70, 90)

# In the order of education-num, 1 to 16.
EDUCATION: Shares = {
    "Preschool":    (0,   0,   0,    0.03, 0.05, 0.05, 0.05, 0.1, 0.15, 0.2, 0.3),
    "1st-4th":      (0,   0.1, 0.2,  0.2,  0.3, 0.3, 0.4, 0.7, 1.2, 2,   3),
    "5th-6th":      (0.2, 0.3, 0.5,  0.6,  0.7, 0.7, 0.8, 1.2, 2,   3,   5),
    "7th-8th":      (1,   0.8, 1,    1,    1.1, 1.1, 1.3, 2.5, 5,   10,  17),
    "9th":          (7,   1.5, 1.2,  1.2,  1.2, 1.1, 1.1, 1.6, 2.5, 4,   5),
    "10th":         (22,  5,   2.5,  2.2,  2,   1.9, 1.9, 2.6, 4.5, 6,   6),
    "11th":         (52,  19,  5,    4,    3.5, 3,   2.6, 2.8, 4,   4,   4),
    "12th":         (14,  17,  4,    2.3,  1.8, 1.2, 0.9, 0.9, 1,   1,   1),
    "HS-grad":      (3,   38,  36,   33,   33,  33,  32,  33,  35,  32,  29),
    "Some-college": (0.8, 18,  46,   38,   23,  20,  20,  18,  16,  14,  12),
    "Assoc-voc":    (0,   0,   1.5,  3.5,  4.5, 5,   5,   4,   2.5, 1.5, 1),
    "Assoc-acdm":   (0,   0,   1.5,  3.2,  4,   4,   3.6, 3,   1.8, 1.2, 0.8),
    "Bachelors":    (0,   0,   0.2,  10,   20,  20,  18,  15,  12,  11,  9),
    "Masters":      (0,   0,   0,    0.3,  3,   5,   7.5, 8.5, 6.5, 5,   3.5),
    "Prof-school":  (0,   0,   0,    0,    0.5, 1.7, 2.2, 2.2, 2,   2,   2),
    "Doctorate":    (0,   0,   0,    0,    0,   0.8, 1.4, 1.9, 2,   1.7, 1.2),
}

# By how much each further year of schooling is likelier than among others of that age.
SCHOOLING_BY_RACE = {"White": 1.0, "Black": 0.94, "Asian-Pac-Islander": 1.06,
                     "Amer-Indian-Eskimo": 0.91, "Other": 0.93}
SCHOOLING_BY_COUNTRY = {
    "Cambodia": 0.85, "Dominican-Republic": 0.8, "El-Salvador": 0.7, "Guatemala": 0.68,
    "Haiti": 0.88, "Honduras": 0.78, "India": 1.25, "Iran": 1.2, "Laos": 0.8, "Mexico": 0.66,
    "Portugal": 0.75, "Puerto-Rico": 0.88, "Taiwan": 1.25,
}

MARITAL_STATUS: Mapping[str, Shares] = {
    "Male": {
        "Married-civ-spouse":    (0,   0.3,  3,    9,   24,  46,  60,  67,  73,  73,  48),
        "Never-married":         (100, 99.6, 96.2, 88,  68,  36,  15,  8,   5,   4,   4),
        "Divorced":              (0,   0,    0.2,  1,   3,   8.5, 14,  15,  12,  8,   3),
        "Separated":             (0,   0,    0.2,  0.6, 1.4, 2.4, 2.8, 2.4, 1.6, 1,   0.5),
        "Widowed":               (0,   0,    0,    0,   0.1, 0.1, 0.4, 1.2, 4,   12,  44),
        "Married-spouse-absent": (0,   0.1,  0.3,  0.6, 1,   1.3, 1.3, 1.2, 1,   1,   0.8),
        "Married-AF-spouse":     (0,   0,    0.05, 0.1, 0.1, 0.1, 0.02, 0,  0,   0,   0),
    },
    "Female": {
        "Married-civ-spouse":    (0,   1,    6,    15,  32,  50,  58,  59,  53,  42,  12),
        "Never-married":         (100, 98.7, 91,   78,  55,  26,  11,  6,   5,   5,   6),
        "Divorced":              (0,   0,    0.5,  1.8, 5,   13,  19,  21,  17,  10,  4),
        "Separated":             (0,   0.1,  0.6,  1.3, 2.4, 4,   4,   3.2, 2,   1,   0.4),
        "Widowed":               (0,   0,    0,    0.1, 0.2, 0.4, 1.3, 4.5, 16,  38,  77),
        "Married-spouse-absent": (0,   0.2,  0.5,  0.9, 1.3, 1.5, 1.3, 1.2, 1,   1,   0.7),
        "Married-AF-spouse":     (0,   0,    0.3,  0.4, 0.3, 0.2, 0.05, 0,  0,   0,   0),
    },
}

# Only a civilian spouse who is present makes a husband or a wife (whichever the sex says).
RELATIONSHIPS = ("Spouse", "Own-child", "Other-relative", "Not-in-family", "Unmarried")
RELATIONSHIP: Shares = {
    "Married-civ-spouse":    (980, 3,  12, 2,  0),
    "Never-married":         (0,   24, 6,  58, 8),
    "Divorced":              (0,   7,  3,  55, 27),
    "Separated":             (0,   9,  6,  42, 31),
    "Widowed":               (0,   2,  5,  57, 27),
    "Married-spouse-absent": (0,   10, 9,  54, 20),
    "Married-AF-spouse":     (0,   15, 20, 30, 35),
}
# How much likelier than at 30 somebody still, or again, lives with the parents.
AT_HOME = (50, 35, 12, 6, 2.5, 1, 0.5, 0.3, 0.1, 0.02, 0)
LONE_MOTHERS = 2.0

# By schooling: below the first of SCHOOLING_STEPS, from it on, from the next on, ...; then how
# much likelier among women than among men, and among those under YOUNG than among older ones.
SCHOOLING_STEPS = ("HS-grad", "Some-college", "Bachelors", "Masters")
YOUNG = 23
OCCUPATION: Shares = {
    "Exec-managerial":   (3,    8,    13,   27,   18,   0.8,  0.2),
    "Prof-specialty":    (1,    2.5,  8,    30,   62,   1.3,  0.4),
    "Adm-clerical":      (5,    11,   15,   9,    3,    2.3,  1.2),
    "Sales":             (8,    11,   14,   15,   5,    0.9,  1.4),
    "Tech-support":      (0.5,  1.8,  6,    4.5,  2,    0.9,  0.7),
    "Other-service":     (18,   11,   8,    3,    1.2,  1.9,  1.8),
    "Priv-house-serv":   (1.2,  0.25, 0.12, 0.05, 0.02, 6,    1),
    "Armed-Forces":      (0.02, 0.12, 0.1,  0.06, 0.03, 0.2,  1.5),
    "Protective-serv":   (1.2,  2.3,  3,    1.7,  0.6,  0.25, 0.6),
    "Craft-repair":      (20,   20,   12,   3,    1,    0.12, 0.5),
    "Machine-op-inspct": (18,   12,   5,    1,    0.4,  0.75, 0.7),
    "Farming-fishing":   (8,    4,    2.2,  1.3,  0.6,  0.15, 1),
    "Handlers-cleaners": (12,   7,    3,    0.6,  0.2,  0.35, 2.4),
    "Transport-moving":  (10,   9,    4,    1,    0.3,  0.12, 0.5),
}
LAST_AGE_IN_ARMS = 55

# Everybody here has an occupation, so nobody is Never-worked.
WORKCLASSES = ("Private", "Self-emp-not-inc", "Self-emp-inc", "Local-gov", "State-gov",
               "Federal-gov", "Without-pay")
WORKCLASS: Shares = {
    "Exec-managerial":   (66, 10, 10,  5,  4,  5, 0),
    "Prof-specialty":    (56,  9,  4, 17, 10,  4, 0.02),
    "Adm-clerical":      (75,  1,  1,  8,  7,  8, 0.1),
    "Sales":             (80, 11,  8,  0.3, 0.3, 0.4, 0.05),
    "Tech-support":      (78,  3,  1,  4,  6,  8, 0),
    "Other-service":     (81,  5,  1,  7,  5,  1, 0.1),
    "Priv-house-serv":   (100, 0,  0,  0,  0,  0, 0),
    "Armed-Forces":      (0,   0,  0,  0,  0,  1, 0),
    "Protective-serv":   (30,  1,  1, 46, 17,  5, 0),
    "Craft-repair":      (76, 14,  3,  4,  1,  2, 0.05),
    "Machine-op-inspct": (95,  2,  0.7, 0.7, 0.5, 1, 0.1),
    "Farming-fishing":   (45, 43,  5,  3,  2,  1, 1),
    "Handlers-cleaners": (92,  1.5, 0.3, 3.5, 1, 1.3, 0.15),
    "Transport-moving":  (79,  8,  2,  7,  2,  2, 0.15),
}
# How much likelier than at 40 somebody runs a business.
OWN_BUSINESS = (0.05, 0.08, 0.15, 0.25, 0.45, 0.7, 1, 1.2, 1.6, 2.5, 3)

HOURS = (8, 10, 12, 15, 16, 20, 24, 25, 28, 30, 32, 35, 36, 37, 38, 40, 42, 43, 44, 45, 46, 48,
         50, 52, 55, 60, 65, 70, 72, 80, 84, 90, 99)
# Weights of HOURS for those who work part-time, regular and long hours, in this order.
HOURS_WEIGHTS: Shares = {
    "part": (2, 5, 4, 8, 3, 22, 4, 11, 2, 16, 5, 13, 1, 1, 1, 2, *[0] * 17),
    "regular": (*[0] * 9, 1, 1, 4, 1.5, 1.5, 3, 74, 1.5, 1, 1.5, 8, 0.5, 1.5, *[0] * 11),
    "long": (*[0] * 19, 14, 2, 6, 36, 2, 9, 20, 3, 4, 0.6, 2.5, 0.4, 0.3, 0.5),
}
PART_TIME_SHARE = (0.9, 0.75, 0.5, 0.32, 0.14, 0.09, 0.08, 0.08, 0.14, 0.55, 0.75)
LONG_HOURS_SHARE = {"Self-emp-inc": 0.55, "Self-emp-not-inc": 0.42, "Private": 0.22}
OTHER_LONG_HOURS_SHARE = 0.13
# How many do not report a usual figure but one up to this much beside it.
ODD_HOURS_SHARE, ODD_HOURS = 0.06, 3

# What speaks for more than 50K a year, added up on the log-odds scale.
SALARY_BASE = -3.5
SALARY_PER_YEAR_OF_SCHOOLING = 0.36
SALARY_PER_HOUR = 0.035
SALARY_BY_AGE = (-7, -6, -5, -3.5, -1.6, -0.5, 0.4, 0.8, 0.5, -0.2, -0.8)
SALARY_OF_WOMEN = -0.4
SALARY_BY_STATUS = {"Married-civ-spouse": 2.0, "Married-AF-spouse": 1.5, "Widowed": 0.3}
SALARY_BY_WORKCLASS = {"Self-emp-inc": 0.6, "Federal-gov": 0.5, "Self-emp-not-inc": -0.4,
                       "Without-pay": -9.0}
SALARY_BY_OCCUPATION = {
    "Exec-managerial": 1.4, "Prof-specialty": 1.0, "Tech-support": 0.9, "Protective-serv": 0.8,
    "Sales": 0.7, "Craft-repair": 0.4, "Adm-clerical": 0.2, "Transport-moving": 0.2,
    "Machine-op-inspct": -0.1, "Handlers-cleaners": -0.6, "Farming-fishing": -0.8,
    "Other-service": -0.8, "Priv-house-serv": -2.5,
}

# Shares of people with a gain or a loss of capital below and above 50K, and the amounts at these
# quantiles. TOP_SHARE of the gains of those above 50K are reported as CAPITAL_TOP instead.
CAPITAL_QUANTILES = (0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1)
GAIN_SHARE = {"<=50K": 0.04, ">50K": 0.2}
GAIN = {"<=50K": (100, 800, 2000, 2900, 3700, 5500, 10_000, 30_000),
        ">50K": (2500, 4500, 6500, 8000, 11_000, 16_000, 26_000, 40_000)}
TOP_SHARE, CAPITAL_TOP = 0.025, 99_999
LOSS_SHARE = {"<=50K": 0.03, ">50K": 0.09}
LOSS = {"<=50K": (150, 1200, 1500, 1650, 1750, 2100, 2600, 4200),
        ">50K": (400, 1500, 1750, 1900, 2000, 2400, 2900, 3800)}

# How many people of the country a person stands for.
FNLWGT_QUANTILES = (0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1)
FNLWGT = (14_000, 60_000, 125_000, 170_000, 215_000, 320_000, 500_000, 1_200_000)
# fmt: on

CENSUS = "census.csv.gz"


def main() -> None:
    """Write the census beside this script, the same bytes every time."""
    text = census().to_csv(index=False, lineterminator="\n")
    buffer = BytesIO()
    # Neither time nor name: gzip would put both into the file.
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as packed:
        packed.write(text.encode())
    Path(__file__).with_name(CENSUS).write_bytes(buffer.getvalue())


def census(records: int = 30_000, seed: int = 2010) -> pd.DataFrame:
    """Invent people.

    Parameters
    ----------
    records
        How many.
    seed
        The seed of the random numbers; the same one makes the same people.

    Returns
    -------
    pd.DataFrame
        One row per person, in the columns and spellings of UCI Adult, without missing values.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    people = pd.DataFrame(index=range(records))
    people["sex"] = np.where(rng.random(records) < MALE_SHARE, "Male", "Female")
    people["age"] = _ages(rng, records)
    people["race"] = _chosen(rng, list(RACE), np.tile([*RACE.values()], (records, 1)))
    people["native-country"] = _countries(rng, people)
    people["education"] = _educations(rng, people)
    people["education-num"] = _codes(people["education"], EDUCATION) + 1
    people["marital-status"] = _marital_statuses(rng, people)
    people["relationship"] = _relationships(rng, people)
    people["occupation"] = _occupations(rng, people)
    people["workclass"] = _workclasses(rng, people)
    people["hours-per-week"] = _hours(rng, people)
    people["salary-class"] = _salaries(rng, people)
    people["capital-gain"] = _gains(rng, people)
    people["capital-loss"] = _losses(rng, people)
    people["fnlwgt"] = _between(rng.random(records), FNLWGT_QUANTILES, FNLWGT)
    return people[list(ADULT_COLUMNS)]


def _ages(rng: np.random.Generator, records: int) -> Ints:
    """Draw ages; years between those of the table are interpolated."""
    ages = np.arange(min(AGE), max(AGE) + 1)
    weights = np.interp(ages, list(AGE), list(AGE.values()))
    cumulative = np.cumsum(weights)
    # The weights are the same for everybody, so a search saves the matrix of _chosen.
    drawn = np.searchsorted(cumulative, rng.random(records) * cumulative[-1], side="right")
    return np.asarray(ages[drawn], dtype=np.int64)


def _countries(rng: np.random.Generator, people: pd.DataFrame) -> Texts:
    """Draw countries of birth, given race."""
    by_race = np.array(list(NATIVE_COUNTRY.values()), dtype=np.float64).T
    return _chosen(rng, list(NATIVE_COUNTRY), by_race[_codes(people["race"], RACE)])


def _educations(rng: np.random.Generator, people: pd.DataFrame) -> Texts:
    """Draw schooling, given age, race and country of birth."""
    per_year = _effect(people["race"], SCHOOLING_BY_RACE) * _effect(
        people["native-country"], SCHOOLING_BY_COUNTRY, otherwise=1.0
    )
    years = np.arange(len(EDUCATION))
    weights = _at_age(people["age"], EDUCATION) * per_year[:, None] ** years
    return _chosen(rng, list(EDUCATION), weights)


def _marital_statuses(rng: np.random.Generator, people: pd.DataFrame) -> Texts:
    """Draw marital status, given sex and age."""
    weights = np.where(
        _is(people["sex"], "Male")[:, None],
        _at_age(people["age"], MARITAL_STATUS["Male"]),
        _at_age(people["age"], MARITAL_STATUS["Female"]),
    )
    return _chosen(rng, list(MARITAL_STATUS["Male"]), weights)


def _relationships(rng: np.random.Generator, people: pd.DataFrame) -> Texts:
    """Draw the place in the household, given marital status, sex and age."""
    weights = _given(people["marital-status"], RELATIONSHIP)
    women = _is(people["sex"], "Female")
    weights[:, RELATIONSHIPS.index("Own-child")] *= np.interp(people["age"], AGES, AT_HOME)
    weights[:, RELATIONSHIPS.index("Unmarried")] *= np.where(women, LONE_MOTHERS, 1.0)
    chosen = _chosen(rng, RELATIONSHIPS, weights)
    return np.where(chosen == "Spouse", np.where(women, "Wife", "Husband"), chosen)


def _occupations(rng: np.random.Generator, people: pd.DataFrame) -> Texts:
    """Draw occupations, given schooling, sex and age."""
    table = np.array(list(OCCUPATION.values()), dtype=np.float64).T
    first_years = [list(EDUCATION).index(name) + 1 for name in SCHOOLING_STEPS]
    weights = table[np.digitize(people["education-num"], first_years)]
    weights = np.where(_is(people["sex"], "Female")[:, None], weights * table[-2], weights)
    weights = np.where(people["age"].to_numpy()[:, None] < YOUNG, weights * table[-1], weights)
    weights[people["age"] > LAST_AGE_IN_ARMS, list(OCCUPATION).index("Armed-Forces")] = 0
    return _chosen(rng, list(OCCUPATION), weights)


def _workclasses(rng: np.random.Generator, people: pd.DataFrame) -> Texts:
    """Draw kinds of employer, given occupation and age."""
    weights = _given(people["occupation"], WORKCLASS)
    own_business = np.interp(people["age"], AGES, OWN_BUSINESS)
    for kind in ("Self-emp-inc", "Self-emp-not-inc"):
        weights[:, WORKCLASSES.index(kind)] *= own_business
    return _chosen(rng, WORKCLASSES, weights)


def _hours(rng: np.random.Generator, people: pd.DataFrame) -> Ints:
    """Draw hours per week, given employer, sex and age."""
    women = _is(people["sex"], "Female")
    part = np.minimum(np.interp(people["age"], AGES, PART_TIME_SHARE) * (1 + women), 0.95)
    long = (1 - part) * _effect(people["workclass"], LONG_HOURS_SHARE, OTHER_LONG_HOURS_SHARE)
    regimes = _drawn(rng, np.column_stack([part, 1 - part - long, long]))
    weights = np.array(list(HOURS_WEIGHTS.values()), dtype=np.float64)[regimes]
    usual = np.array(HOURS)[_drawn(rng, weights)]
    odd = rng.random(len(people)) < ODD_HOURS_SHARE
    beside = np.floor(rng.random(len(people)) * (2 * ODD_HOURS + 1)) - ODD_HOURS
    return np.asarray(np.clip(usual + odd * beside, 1, 99), dtype=np.int64)


def _salaries(rng: np.random.Generator, people: pd.DataFrame) -> Texts:
    """Draw salary classes, given all that speaks for a high one."""
    diploma = list(EDUCATION).index("HS-grad") + 1
    log_odds = (
        SALARY_BASE
        + SALARY_PER_YEAR_OF_SCHOOLING * (people["education-num"].to_numpy() - diploma)
        + SALARY_PER_HOUR * (np.minimum(people["hours-per-week"].to_numpy(), 60) - 40)
        + np.interp(people["age"], AGES, SALARY_BY_AGE)
        + SALARY_OF_WOMEN * _is(people["sex"], "Female")
        + _effect(people["marital-status"], SALARY_BY_STATUS)
        + _effect(people["workclass"], SALARY_BY_WORKCLASS)
        + _effect(people["occupation"], SALARY_BY_OCCUPATION)
    )
    return np.where(rng.random(len(people)) < 1 / (1 + np.exp(-log_odds)), ">50K", "<=50K")


def _gains(rng: np.random.Generator, people: pd.DataFrame) -> Ints:
    """Draw gains of capital, given the salary class."""
    gains = _capital(rng, people["salary-class"], GAIN_SHARE, GAIN)
    top = _is(people["salary-class"], ">50K") & (rng.random(len(people)) < TOP_SHARE)
    return np.where(top & (gains > 0), CAPITAL_TOP, gains)


def _losses(rng: np.random.Generator, people: pd.DataFrame) -> Ints:
    """Draw losses of capital, given the salary class, for those without a gain."""
    losses = _capital(rng, people["salary-class"], LOSS_SHARE, LOSS)
    # What is reported is the balance: either a gain or a loss.
    return np.where(people["capital-gain"] > 0, 0, losses)


def _capital(
    rng: np.random.Generator, salaries: pd.Series, shares: Mapping[str, float], amounts: Shares
) -> Ints:
    """Draw the amounts of those who have any, 0 for the others."""
    holds = rng.random(len(salaries)) < _effect(salaries, shares)
    drawn = rng.random(len(salaries))
    amount = np.where(
        _is(salaries, ">50K"),
        _between(drawn, CAPITAL_QUANTILES, amounts[">50K"]),
        _between(drawn, CAPITAL_QUANTILES, amounts["<=50K"]),
    )
    return np.where(holds, amount, 0)


def _chosen(rng: np.random.Generator, names: Sequence[str], weights: Floats) -> Texts:
    """Draw one of the names (columns) for each person (row)."""
    return np.array(names, dtype=np.str_)[_drawn(rng, weights)]


def _drawn(rng: np.random.Generator, weights: Floats) -> Ints:
    """Draw one column per row of weights, by inverting its cumulative distribution."""
    cumulative = np.cumsum(weights, axis=1)
    reached = rng.random(len(weights)) * cumulative[:, -1]
    return np.asarray((cumulative <= reached[:, None]).sum(axis=1), dtype=np.int64)


def _between(drawn: Floats, quantiles: Sequence[float], amounts: Sequence[float]) -> Ints:
    """Whole amounts of a distribution that is uniform between its quantiles."""
    return np.floor(np.interp(drawn, quantiles, amounts)).astype(np.int64)


def _at_age(ages: pd.Series, shares: Shares) -> Floats:
    """Weights of the values (columns) for people of these ages (rows)."""
    return np.column_stack([np.interp(ages, AGES, stated) for stated in shares.values()])


def _given(values: pd.Series, shares: Shares) -> Floats:
    """The weights stated for each value, a row each."""
    return np.array(list(shares.values()), dtype=np.float64)[_codes(values, shares)]


def _codes(values: pd.Series, names: Iterable[str]) -> Ints:
    """The places of the values among the names."""
    places = {name: place for place, name in enumerate(names)}
    return np.asarray(values.map(places), dtype=np.int64)


def _effect(values: pd.Series, stated: Mapping[str, float], otherwise: float = 0.0) -> Floats:
    """What is stated for each value."""
    return np.asarray(values.map(dict(stated)).fillna(otherwise), dtype=np.float64)


def _is(values: pd.Series, value: str) -> NDArray[np.bool_]:
    """Who has this value."""
    return values.eq(value).to_numpy(dtype=bool)


if __name__ == "__main__":
    main()
