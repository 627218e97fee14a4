"""Rules made from the values of a column: ranges at round cut points, and the most frequent values.

In go values and the records of each, out comes a rule as a study has it. Values that fewer than
five records have are in none.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np

from anonymizer.errors import InputError, is_whole, shown
from anonymizer.feedback.words import plural
from anonymizer.hierarchy.naming import ENOUGH
from anonymizer.hierarchy.scale import NUMBERS
from anonymizer.kernels.arrays import Codes
from anonymizer.tables.values import exactly, floor_to, number_of

STEPS = (5, 2, 1)
"""Round numbers are these, times a power of ten."""

LEAST = 4 * ENOUGH
"""Records per range: a cut point that is neither between values nor round is one that five have."""


def priority(sizes: Mapping[str, int], levels: Sequence[int], other: str) -> dict[str, object]:
    """Keep the most frequent values at each level, of equally frequent ones the first by letter.

    ``sizes`` are the records of each value, ``levels`` how many values are kept, falling. Fewer are
    kept where fewer have five records.

    Raises InputError when no value has, or numbers do not fall.
    """
    _require_falling("keep", levels, "20,5")
    often = [value for value, records in sizes.items() if records >= ENOUGH and value != other]
    often.sort(key=lambda value: (-sizes[value], value))
    if not often:
        raise InputError(f"no value has {ENOUGH} records; nothing can be kept")
    kept = [often[:most] for most in levels if most < len(often)] or [often]
    first = [often] if levels[0] >= len(often) and kept[0] != often else []
    return {"keep": [*first, *kept], "other": other}


def cuts_of(sizes: Mapping[str, int], levels: Sequence[int]) -> dict[str, object]:
    """Ranges of about equally many records, cut at round numbers; ``levels``: how many, falling.

    A cut point is the roundest number between the quantiles that are an eighth of a range away on
    either side; where that is a value of fewer than five records, another one between the same two
    values. Coarser levels use the cut points that are nearest to their own quantiles.

    Raises InputError when values are no numbers, or there are too few records for the ranges.
    """
    _require_falling("ranges", levels, "8,4")
    numbers, weights = _numbers(sizes)
    records = int(weights.sum())
    if records < LEAST * levels[0]:
        raise InputError(
            f"{plural(records, 'record')} are too few for {levels[0]} ranges; take at most "
            f"{max(records // LEAST, 1)}"
        )
    ends = np.cumsum(weights)
    spread = Fraction(1, 8 * levels[0])
    shares = [Fraction(place, levels[0]) for place in range(1, levels[0])]
    found = (_cut(numbers, ends, share, spread) for share in shares)
    finest = sorted({_spared(cut, numbers, weights) for cut in found})
    finest = [cut for cut in finest if cut > numbers[0]]  # no range is empty
    if not finest:
        raise InputError("nearly all records have one value; there are no ranges of them")
    cuts = [finest]  # each level's cuts are some of those of the level before: levels are nested
    for number in levels[1:]:
        wanted = [numbers[_at(ends, Fraction(each, number))] for each in range(1, number)]
        # The nearest cut, of two the lower one.
        near = {min(cuts[-1], key=lambda cut: (abs(cut - at), cut)) for at in wanted}
        if near and len(near) < len(cuts[-1]):
            cuts.append(sorted(near))
    return {"cuts": cuts}


def widths_of(sizes: Mapping[str, int], levels: Sequence[int]) -> dict[str, object]:
    """Ranges of equal round widths; ``levels``: about how many there are to be, falling.

    Raises InputError when values are no numbers, or all of them are one.
    """
    _require_falling("ranges", levels, "8,4")
    numbers, _ = _numbers(sizes)
    span = numbers[-1] - numbers[0]
    if not span:
        raise InputError("all records have one value; there are no ranges of it")
    widths: list[Decimal] = []
    for number in levels:
        width = _round_width(span / number, widths[-1] if widths else None)
        if not widths or width > widths[-1]:
            widths.append(width)
    return {"widths": widths}


def _require_falling(name: str, levels: Sequence[int], example: str) -> None:
    whole = bool(levels) and all(is_whole(level, least=1) for level in levels)
    if not whole or any(fine <= coarse for fine, coarse in pairwise(levels)):
        listed = shown(levels[0]) if len(levels) == 1 else "the numbers"
        raise InputError(f"{name}: {listed} must be falling whole numbers, such as {example}")


def _numbers(sizes: Mapping[str, int]) -> tuple[list[Decimal], Codes]:
    """Values as sorted numbers, and the records of each."""
    found = [(number_of(value), records) for value, records in sizes.items()]
    pairs = sorted((number, records) for number, records in found if number is not None)
    if not pairs or len(pairs) < len(found):
        raise InputError(
            f"the column holds {plural(len(found) - len(pairs), 'value')} that are no numbers, "
            "which ranges need; clean the column, or keep its most frequent values by --keep 20,5"
        )
    return [number for number, _ in pairs], np.array([records for _, records in pairs])


def _at(ends: Codes, share: Fraction) -> int:
    """The place of a quantile among sorted values, ``ends`` being the records up to each."""
    return int(np.searchsorted(ends, float(share * int(ends[-1])), side="left"))


def _cut(numbers: Sequence[Decimal], ends: Codes, share: Fraction, spread: Fraction) -> Decimal:
    low, middle, high = (numbers[_at(ends, share + way * spread)] for way in (-1, 0, 1))
    with exactly():
        return _roundest(low, middle, high)


def _spared(cut: Decimal, numbers: Sequence[Decimal], weights: Codes) -> Decimal:
    """Move a cut off a value that few records have, with the same ranges."""
    place = bisect_left(numbers, cut)
    if not place or numbers[place] != cut or weights[place] >= ENOUGH:
        return cut
    border = NUMBERS.border(numbers[place - 1], cut, NUMBERS.step_of(numbers))
    return cut if border is None else border


def _roundest(low: Decimal, middle: Decimal, high: Decimal) -> Decimal:
    """The roundest number from ``low`` to ``high``, of equal ones the nearest to ``middle``."""
    power = max(low.adjusted(), high.adjusted()) + 1
    while low < high:
        for step in (Decimal(each).scaleb(power) for each in STEPS):
            below = floor_to(middle, step)
            near = [number for number in (below, below + step) if low <= number <= high]
            if near:
                return min(near, key=lambda number: abs(number - middle))
        power -= 1
    return low


def _round_width(least: Decimal, below: Decimal | None) -> Decimal:
    """The smallest round number of at least so much: a multiple of the width below, if any is."""
    unit = Decimal(1).scaleb(least.adjusted()) if below is None else below
    for power in range(100):
        for step in reversed(STEPS):
            width: Decimal = unit * step * 10**power
            if width >= least:
                return width
    raise InputError("the column's numbers are too far apart for ranges")
