"""Rules of ranges edited: cut points and widths, level by level, so that levels stay nested."""

from collections.abc import Sequence
from decimal import Decimal
from math import ceil
from typing import Any

from anonymizer.errors import InputError
from anonymizer.tables.values import floor_to, number_of, number_text

Cuts = Sequence[Sequence[Decimal]]
"""Cut points of each level, the finest first."""

BINS = 120
"""Bars of a histogram at the most."""

MOST_PLACES = 5000
"""Places for cuts that are offered at the most."""

MOST_CUTS = 500
"""Cut points that widths are turned into at the most."""


def cuts_in(rule: dict[str, Any]) -> list[list[Decimal]]:
    """The cut points of a rule, level by level.

    >>> cuts_in({"cuts": [20, 40]})
    [[Decimal('20'), Decimal('40')]]
    """
    given = rule.get("cuts", [])
    nested = any(isinstance(each, list) for each in given)
    return [[*map(_number, level)] for level in (given if nested else [given])]


def with_cut(cuts: Cuts, level: int, cut: Decimal) -> list[list[Decimal]]:
    """A cut more at a level, and at all finer ones, so that these stay inside its ranges.

    >>> with_cut([[Decimal(20)], [Decimal(20)]], 1, Decimal(30))
    [[Decimal('20'), Decimal('30')], [Decimal('20')]]
    """
    return [
        sorted({*each, cut}) if number <= level else [*each] for number, each in enumerate(cuts, 1)
    ]


def without_cut(cuts: Cuts, level: int, cut: Decimal) -> list[list[Decimal]]:
    """A cut less at a level and at all coarser ones; levels without cuts are left out."""
    found = [
        [each for each in points if each != cut or number < level]
        for number, points in enumerate(cuts, 1)
    ]
    return _some([points for points in found if points])


def with_moved_cut(cuts: Cuts, before: Decimal, after: Decimal) -> list[list[Decimal]]:
    """A cut elsewhere, at each level that has it."""
    return [sorted({after if each == before else each for each in points}) for points in cuts]


def with_cuts(cuts: Cuts, level: int, points: Sequence[Decimal]) -> list[list[Decimal]]:
    """Other cuts of a level: those that are new at finer levels, too, those gone at no coarser."""
    old, new = {*cuts[level - 1]}, {*points}
    found = [[*each] for each in cuts]
    for cut in sorted(new - old):
        found = with_cut(found, level, cut)
    for place in range(level - 1, len(found)):
        found[place] = [each for each in found[place] if each in new or each not in old]
    return _some([each for each in found if each])


def with_coarser(cuts: Cuts) -> list[list[Decimal]]:
    """A level more above all others, of every second cut of the last one."""
    if len(cuts[-1]) < 2:
        raise InputError("the highest level has one cut, and nothing between it and * is coarser")
    return [*map(list, cuts), [*cuts[-1][1::2]]]


def without_cuts_of(cuts: Cuts, level: int) -> list[list[Decimal]]:
    """A level less."""
    return _some([[*each] for number, each in enumerate(cuts, 1) if number != level])


def cuts_of_widths(
    widths: Sequence[Decimal], origin: Decimal, low: Decimal, high: Decimal
) -> list[list[Decimal]]:
    """Where ranges of widths begin, between the lowest and the highest number of a table.

    >>> cuts_of_widths([Decimal(5), Decimal(10)], Decimal(0), Decimal(3), Decimal(16))
    [[Decimal('5'), Decimal('10'), Decimal('15')], [Decimal('10')]]
    """
    if (high - low) / widths[0] > MOST_CUTS:
        raise InputError(
            f"ranges of width {number_text(widths[0])} have more than {MOST_CUTS:,} cuts; give a "
            "larger width first"
        )
    found = []
    for width in widths:
        cut, points = floor_to(low - origin, width) + origin + width, []
        while cut <= high:
            points.append(cut)
            cut += width
        found.append(points)
    return _some([points for points in found if points])


def bins_of(records: Sequence[tuple[Decimal, int]]) -> list[tuple[float, float, int]]:
    """A histogram of numbers and the records of each: where bins begin and end, and their records.

    Whole numbers that are near have a bin each.

    >>> bins_of([(Decimal(1), 5), (Decimal(3), 2)])
    [(1.0, 2.0, 5), (2.0, 3.0, 0), (3.0, 4.0, 2)]
    """
    numbers = [float(number) for number, _ in records]
    low, high = min(numbers), max(numbers)
    whole = all(number == number // 1 for number in numbers)
    width = ceil((high - low + 1) / BINS) if whole else (high - low) / BINS or 1.0
    many = int((high - low) / width) + 1
    sizes = [0] * many
    for number, (_, size) in zip(numbers, records, strict=True):
        sizes[min(int((number - low) / width), many - 1)] += size
    return [(low + width * bin, low + width * (bin + 1), size) for bin, size in enumerate(sizes)]


def places_of(numbers: Sequence[Decimal]) -> list[Decimal]:
    """Where cuts between numbers may be, rising: at whole numbers, or at the numbers themselves."""
    low, high = min(numbers), max(numbers)
    whole = all(number == number.to_integral_value() for number in numbers)
    if whole and high - low <= MOST_PLACES:
        return [low + step for step in range(1, int(high - low) + 1)]
    found = sorted(numbers)[1:]
    return found[:: len(found) // MOST_PLACES + 1]


def numbers_in(text: str) -> list[Decimal]:
    """The numbers of a text, which commas, semicolons or blanks divide, rising, each once.

    >>> numbers_in("40, 20;30 20")
    [Decimal('20'), Decimal('30'), Decimal('40')]
    """
    found = {_number(each) for each in text.replace(",", " ").replace(";", " ").split()}
    return sorted(found)


def plain(numbers: Sequence[Decimal]) -> list[int | float]:
    """Numbers as a study writes them."""
    texts = map(number_text, numbers)
    return [float(text) if "." in text else int(text) for text in texts]


def _number(given: object) -> Decimal:
    number = number_of(given)
    if number is None:
        raise InputError(f"{given} is no number; write numbers such as 20, 37.5, 60")
    return number


def _some(cuts: list[list[Decimal]]) -> list[list[Decimal]]:
    if not cuts:
        raise InputError("ranges need a cut; to have none, choose another hierarchy")
    return cuts
