"""All partitions of a number into ranges, and the best of them: the oracle of every refinement."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product, takewhile
from math import floor

from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.objectives import Objective
from anonymizer.recoding import Problem


def all_partitions(values, width=None, grid=None):
    """Every partition of sorted numbers into ranges, as lists of group numbers.

    The width of a range is that of its label, from where it begins to where the next one does.
    """
    unit = grid or (1 if all(value % 1 == 0 for value in values) else 0)
    spots = range(1, len(values))
    if grid:
        spots = [i for i in spots if floor(values[i - 1] / grid) < floor(values[i] / grid)]
    begins = [floor(value / grid) * grid for value in values] if grid else between(values, unit)
    end = (begins if grid else values)[-1] + unit
    for size in range(len(values)):
        for cuts in combinations(spots, size):
            starts = [begins[0], *(begins[i] for i in cuts), end]
            if width and min(high - low for low, high in pairwise(starts)) < width:
                continue
            yield [sum(cut <= i for cut in cuts) for i in range(len(values))]


def between(values, unit):
    """The least value, and the roundest number between each two: multiples of 5, 2, 1 times 10^n.

    Of equally round ones it is the nearest to the middle, and the lower one of two such. Where only
    the upper value is left of whole numbers, whose ``unit`` is 1, it is that.
    """
    found = [values[0]]
    for low, high in pairwise(values):
        steps = (Fraction(10) ** power * digit for power in range(9, -9, -1) for digit in (5, 2, 1))
        inside = (multiples(low, high, step) for step in steps if step >= unit)
        rounded = next(filter(None, inside), [high])
        found.append(min(rounded, key=lambda number: (abs(2 * number - low - high), number)))
    return found


def multiples(low, high, step):
    """The multiples of a step between two numbers."""
    first = (low // step + 1) * step
    return [
        first + step * n
        for n in range(max(0, -((first - high) // step)))
        if first + step * n < high
    ]


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


def best_of(
    problem: Problem, partitions: Sequence[Iterable[Partition]], objective: Objective
) -> tuple[float, int]:
    """The best objective over all combinations of partitions, and the most classes of the best.

    From the best down, the first that satisfies the policy: to judge them takes longest.
    """
    recoded = (
        problem.counts.recode(dict(zip(problem.counts.names, chosen, strict=True)))
        for chosen in product(*partitions)
    )
    scored = sorted(((objective(counts), counts) for counts in recoded), key=lambda each: -each[0])
    feasible = (each for each in scored if problem.feasible(each[1]))
    top, best = next(feasible)
    tied = takewhile(lambda each: each[0] >= top - 1e-9, feasible)
    return top, max(len(counts) for counts in (best, *(counts for _, counts in tied)))
