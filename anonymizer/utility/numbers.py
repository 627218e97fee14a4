"""Columns of numbers, the number that a released group stands for, and features of classifiers."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.kernels.arrays import Codes, Floats, Mask
from anonymizer.tables.values import exactly, is_missing, number_of, text_of
from anonymizer.utility.labels import PairedAttribute
from anonymizer.utility.pairing import Pairing

REPRESENTATIVES = ("midpoint", "mean")
"""What number a group stands for: halfway from its smallest to its largest value, or the mean of
the original records that have its values. An analyst may know the first, never the second."""

MOST = 1e70
"""Numbers beyond have no fourth power that a floating point number could hold."""


@dataclass(frozen=True, eq=False)
class Features:
    """The quasi-identifiers of some records, as classifiers see them."""

    categories: Codes  # of all attributes the value's or group's, shape (records, attributes)
    sizes: Sequence[int]  # bounds of the categories, shape (attributes,)
    numbers: Floats  # what those of ordered attributes stand for, shape (records, ordered)
    ordered: Sequence[int]  # the places of the ordered attributes

    def of(self, records: Mask | Codes) -> "Features":
        """Return the features of some of the records."""
        return Features(self.categories[records], self.sizes, self.numbers[records], self.ordered)


def numbers_of_values(taxonomy: Taxonomy) -> Floats | None:
    """Measure how far each value lies above the least, NaN for a missing one, shape (values,).

    Dates are days apart, ordered categories places. None where the values are no numbers that were
    meant as such, or too far apart to be reckoned with. The differences are exact however large the
    numbers; nothing that is measured here depends on where they begin.
    """
    if not taxonomy.ordered or taxonomy.numbers is None:
        return None
    least = min((number for number in taxonomy.numbers if number is not None), default=Decimal(0))
    with exactly():
        numbers = np.array(
            [
                np.nan if number is None else float((number - least) / taxonomy.scale.unit)
                for number in taxonomy.numbers
            ]
        )
    return numbers if _reckonable(numbers) else None


def released_numbers(
    attribute: PairedAttribute, representative: str, suppressed: bool = True
) -> tuple[Floats, Floats] | None:
    """Return the number of each record, original and as its group has it, shape (records,) each.

    Suppressed records stand for all values; with ``suppressed = False`` they are taken as the
    recoding alone would have them, nothing drawn. A group of missing values alone stands for no
    number. None where the attribute is not ordered.
    """
    numbers = numbers_of_values(attribute.taxonomy)
    if numbers is None:
        return None
    whole = Partition.of(["*"] * len(numbers))
    everything = whole.groups, np.arange(len(numbers)), 1
    grouped = *attribute.pairs, attribute.labels - len(attribute.drawn)
    shown = _representatives(numbers, attribute.records, grouped, representative)
    every = _representatives(numbers, attribute.records, everything, representative)
    labels = attribute.groups if suppressed else attribute.recoded
    released = np.concatenate([shown, attribute.drawn])[labels]
    if suppressed:
        released = np.where(attribute.suppressed, every[0], released)
    return numbers[attribute.codes], released


def _representatives(
    numbers: Floats, records: Floats, grouped: tuple[Codes, Codes, int], representative: str
) -> Floats:
    """Return the number that each group stands for, shape (groups,)."""
    groups, values, many = grouped  # each group with each of its values, and how many there are
    known = ~np.isnan(numbers[values])
    groups, x, weights = groups[known], numbers[values][known], records[values][known]
    low, high = np.full(many, np.inf), np.full(many, -np.inf)
    np.minimum.at(low, groups, x)
    np.maximum.at(high, groups, x)
    empty = low > high
    low[empty] = high[empty] = np.nan
    middle = low + (high - low) / 2
    if representative == "midpoint":
        return np.asarray(middle)
    total = np.bincount(groups, weights, many)
    sums = np.bincount(groups, weights * x, many)
    mean = np.where(total > 0, sums / np.where(total > 0, total, 1), middle)
    # Rounding must not move the mean of equal values.
    return np.asarray(np.clip(mean, low, high))


def number_column(codes: Codes, values: Sequence[object]) -> Floats | None:
    """Read a column of values as numbers, NaN where one is missing or empty, shape (records,).

    None where one is a text, none is a number, or they are too far apart to be reckoned with.
    """
    numbers = np.full(len(values), np.nan)
    for place, value in enumerate(values):
        if not is_missing(value) and text_of(value):
            number = number_of(value)
            if number is None:
                return None
            numbers[place] = float(number)
    return numbers[codes] if _reckonable(numbers) else None


def number_columns(pairing: Pairing, representative: str) -> dict[str, tuple[Floats, Floats]]:
    """Return every column of numbers, of the original records and of those released.

    Quasi-identifiers that are ordered, as their groups stand for them; sensitive attributes and
    other columns where all values are numbers.
    """
    columns = {name: released_numbers(a, representative) for name, a in pairing.attributes.items()}
    for name, (codes, values) in pairing.others.items():
        numbers = number_column(codes, values)
        columns[str(name)] = None if numbers is None else (numbers, numbers)
    shown = ~pairing.left_out
    return {name: (both[0], both[1][shown]) for name, both in columns.items() if both}


def features_of(pairing: Pairing, representative: str | None, suppressed: bool = True) -> Features:
    """Return the quasi-identifiers as they were (no representative), or as they were released.

    With ``suppressed = False`` all records are only recoded.
    """
    categories, sizes, numbers, ordered = [], [], [], []
    for place, attribute in enumerate(pairing.attributes.values()):
        shown = attribute.groups if suppressed else attribute.recoded
        codes = attribute.codes if representative is None else shown
        size = attribute.values if representative is None else attribute.labels
        if representative is not None and suppressed:
            codes = np.where(attribute.suppressed, size, codes)
        categories.append(codes)
        sizes.append(size + 1)
        both = released_numbers(attribute, representative or REPRESENTATIVES[0], suppressed)
        if both is not None:
            column = both[0] if representative is None else both[1]
            mean = np.mean(column[~np.isnan(column)]) if not np.isnan(column).all() else 0.0
            numbers.append(np.where(np.isnan(column), mean, column))  # its category: it is missing
            ordered.append(place)
    matrix = np.column_stack(numbers) if numbers else np.zeros((len(pairing), 0))
    return Features(np.column_stack(categories), sizes, matrix, ordered)


def _reckonable(numbers: Floats) -> bool:
    known = numbers[~np.isnan(numbers)]
    return len(known) > 0 and float(np.abs(known).max()) < MOST
