"""For how many people each record of a sample stands: the column of its sampling weights.

Its name says so, and every record has a number above 0. What is only called a weight may be that of
a body: its numbers have to look like those of a sample as well.
"""

from collections.abc import Iterable

import numpy as np

from anonymizer.profiling.columns import ProfiledColumn
from anonymizer.profiling.dependence import is_personal
from anonymizer.profiling.hints import WEIGHT, words_of
from anonymizer.tables.values import number_of

NAMES = frozenset("weight weights wt wts w pw gewicht gewichte poids peso pesos".split())  # noqa: SIM905
"""Names of sampling weights that other weights have as well."""

BODIES = frozenset(
    "height bmi stature waist size birthweight groesse taille altura estatura altezza".split()  # noqa: SIM905
)
"""Words for what is measured of bodies that are weighed."""

OF_HOUSEHOLDS = frozenset("hhwt hhwgt hhweight householdweight householdweights".split())  # noqa: SIM905
"""Words for weights that say how many households a record stands for."""

STRATA = 50
"""Values that weights have at most where all records of a stratum have the same."""

OF_A_STRATUM = 10
"""Records that a stratum has on average: bodies that are weighed to a tenth differ more."""

HEAVY = 10_000
"""Median from which on numbers are people and no kilograms, pounds or grams of anybody."""

BALANCED = 0.01
"""How far the mean of weights may be from 1 that are given for each record of the sample."""

COUNTED = 1 << 20
"""Records up to which weights may have more values than strata: with them few records are alike."""


def weights_in(columns: Iterable[ProfiledColumn]) -> list[tuple[str, str]]:
    """Return the columns that have the sampling weight of every record, and why they seem to."""
    given = [*columns]
    people = any(map(is_personal, given))
    bodies = any(not BODIES.isdisjoint(words_of(each.name)) for each in given)
    signs = ((each, _sign(each, people=people and not bodies)) for each in given)
    return [(each.name, sign) for each, sign in signs if sign and _weighs(each)]


def _sign(column: ProfiledColumn, *, people: bool) -> str:
    """Say why a column seems to be one of weights; nothing where it does not.

    ``people``: the table is about people, and nothing else is measured of their bodies.
    """
    words = [*words_of(column.name)]
    if column.hint is not None and column.hint.about == WEIGHT:
        named = f"by its name it is {WEIGHT}, and every value is a number above 0"
        return named if OF_HOUSEHOLDS.isdisjoint(words) else ""
    if not people or words[-1] not in NAMES or column.numbers is None or len(column.values) < 2:
        return ""
    looks = _looks(column, column.numbers)
    return f"it is called a weight, and {looks}" if looks else ""


def _looks(column: ProfiledColumn, numbers: np.ndarray) -> str:
    """Say what numbers are like that are no weights of bodies; nothing where they may be."""
    if abs(float(numbers @ column.sizes) / int(column.sizes.sum()) - 1) <= BALANCED:
        return "its mean is 1"
    few = len(numbers) <= min(STRATA, column.records // OF_A_STRATUM)
    if few and not column.whole:
        return "few records have a value of their own, as in strata"
    order = np.argsort(numbers)
    half = np.searchsorted(np.cumsum(column.sizes[order]), column.records / 2)
    return "its values are numbers of people" if numbers[order][half] >= HEAVY else ""


def _weighs(column: ProfiledColumn) -> bool:
    """Return whether every record has a number above 0, and weights are few enough to count."""
    if column.missing or (column.records > COUNTED and len(column.values) > STRATA):
        return False
    return bool(column.values) and all((number_of(v) or 0) > 0 for v in column.values)
