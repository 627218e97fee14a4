"""All partitions of a number into ranges, enumerated: the oracle of every refinement."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise
from math import floor

from anonymizer.hierarchy import Partition, Taxonomy


def all_partitions(values, width=None, grid=None):
    """Every partition of sorted numbers into ranges, as lists of group numbers."""
    unit = grid or (1 if all(value % 1 == 0 for value in values) else 0)
    spots = range(1, len(values))
    if grid:
        spots = [i for i in spots if floor(values[i - 1] / grid) < floor(values[i] / grid)]
    begins = [floor(value / grid) * grid for value in values] if grid else values
    end = begins[-1] + unit
    for size in range(len(values)):
        for cuts in combinations(spots, size):
            starts = [begins[0], *(begins[i] for i in cuts), end]
            if width and min(high - low for low, high in pairwise(starts)) < width:
                continue
            yield [sum(cut <= i for cut in cuts) for i in range(len(values))]


def all_ranges(taxonomy: Taxonomy, most=None, **confined) -> Iterator[Partition]:
    """Every partition of an attribute's values into ranges, and its suppression.

    Missing values stay apart from the ranges, unless everything is suppressed.
    """
    numbers = taxonomy.numbers
    present = sorted(Fraction(number) for number in numbers if number is not None)
    yield Partition.of([0] * len(numbers))
    for groups in all_partitions(present, **confined) if present else []:
        if not most or groups[-1] < most:
            place = dict(zip(present, groups, strict=True))
            yield Partition.of([-1 if n is None else place[Fraction(n)] for n in numbers])
