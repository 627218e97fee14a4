"""Nested ranges at nice cut points for the numbers of a column, by how its records spread."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import floor, log10
from typing import Any, NamedTuple, TypeVar

import numpy as np

from anonymizer.hierarchy.naming import ENOUGH
from anonymizer.hierarchy.scale import NUMBERS
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.tables.values import number_text

Cut = TypeVar("Cut", int, Decimal)

RANGES = 20
"""Ranges of the finest level between the 1st and the 99th percentile, at the most."""

TAILS = 2
"""Times as many ranges as there that widths may make of the whole column."""

CROWDED = 0.35
"""Share of the records in one range of the finest width from which on widths say too little."""

TOP_CODED = 0.02
"""Share of the records that the outer ranges of counted things have at least."""

GROUPS = (16, 8, 4, 2)
"""Ranges of about equal numbers of records at each level of cut points."""

STEPS = (Decimal(1), Decimal("2.5"), Decimal(5))
WHOLE_STEPS = (Decimal(1), Decimal(2), Decimal(5))
MANTISSAS = tuple(map(Decimal, "1 1.2 1.5 2 2.5 3 4 5 6 8 10".split()))  # noqa: SIM905

DIGITS = 12
"""Digits of a float of which a nice number is made."""


class Spread(NamedTuple):
    """Distinct numbers, rising, and the records of each."""

    numbers: Floats
    sizes: Ints

    @classmethod
    def of(cls, numbers: Floats, sizes: Ints) -> "Spread":
        """Sort numbers that come in any order."""
        order = np.argsort(numbers)
        return cls(numbers[order], sizes[order])

    def below(self, cut: float) -> float:
        """The share of the records below a cut."""
        place = int(np.searchsorted(self.numbers, cut))
        return float(self.sizes[:place].sum() / self.sizes.sum())

    def quantile(self, share: float) -> float:
        """The least number that at least this share of the records do not exceed."""
        place = int(np.searchsorted(np.cumsum(self.sizes), share * self.sizes.sum()))
        return float(self.numbers[min(place, len(self.numbers) - 1)])


class Ladder(NamedTuple):
    """A rule, as a study has it, and the reason for it."""

    rule: dict[str, Any]
    why: str


def ranges_of(numbers: Floats, sizes: Ints, *, whole: bool) -> Ladder:
    """Propose ranges of the numbers of a column, the finest level first.

    Small whole numbers are kept apart up to where few records are left; others get widths that
    double, or cut points with about equal numbers of records where they crowd or have long tails.
    """
    spread = Spread.of(numbers, sizes)
    if len(numbers) < 2:
        return Ladder({"suppress": True}, "one value: kept, or replaced by *")
    if whole and len(numbers) <= RANGES and np.ptp(spread.numbers) < 2 * RANGES:
        cuts = _counted(spread)
        if _joining(spread, cuts):
            return _cut(spread, cuts, "few whole numbers: the rare ones at the ends are joined")
    width = _width(spread, whole=whole)
    if not _fits(spread, float(width)):
        cuts = _nice_quantiles(spread, whole=whole)
        if _joining(spread, cuts):
            return _cut(spread, cuts, "numbers that crowd or have long tails: ranges of like size")
    widths = [width]
    while float(widths[-1]) * 4 < max(span_of(spread), 4 * float(width)):
        widths.append(widths[-1] * 2)
    joining = [
        each
        for each in widths
        if len(np.unique(np.floor(spread.numbers / float(each)))) < len(spread.numbers)
    ]
    if not joining:
        return Ladder({"suppress": True}, "numbers that no width joins: kept, or replaced by *")
    return Ladder(
        {"widths": list(map(_plain, joining))}, "evenly spread numbers: widths that double"
    )


def span_of(spread: Spread) -> float:
    """Return the distance of the 1st and the 99th percentile; of the extremes where these agree."""
    inner = spread.quantile(0.99) - spread.quantile(0.01)
    return inner or float(np.ptp(spread.numbers))


def _width(spread: Spread, *, whole: bool) -> Decimal:
    """Return the least nice width by which the span has at most ``RANGES`` ranges."""
    least = span_of(spread) / RANGES
    exponent = floor(log10(least)) if least > 0 else 0
    for power in (exponent, exponent + 1):
        for step in WHOLE_STEPS if whole and power < 1 else STEPS:
            width = step.scaleb(power)
            # A width that fits but for rounding fits.
            if float(width) >= least * (1 - 1e-9) and not (whole and width < 2):
                return width
    return Decimal(2)


def _fits(spread: Spread, width: float) -> bool:
    """Return whether ranges of a width are neither crowded nor too many."""
    places = np.floor(spread.numbers / width)
    if places[-1] - places[0] + 1 > TAILS * RANGES:
        return False
    shares = np.bincount((places - places[0]).astype(np.intp), spread.sizes) / spread.sizes.sum()
    return bool(shares.max() <= CROWDED)


def _counted(spread: Spread) -> list[Decimal]:
    """Cut before each whole number that leaves enough records on either side."""
    low, high = int(spread.numbers[0]), int(spread.numbers[-1])
    return _spared(
        spread,
        (
            Decimal(cut)
            for cut in range(low + 1, high + 1)
            if TOP_CODED <= spread.below(cut) <= 1 - TOP_CODED
        ),
        whole=True,
    )


def _nice_quantiles(spread: Spread, *, whole: bool) -> list[Decimal]:
    """Find nice numbers near the quantiles of the records, apart from a crowded least value."""
    first = spread.sizes[0] / spread.sizes.sum()
    crowded = first > CROWDED and len(spread.numbers) > 2
    # A crowded least value, 0 say, would take most quantiles for itself.
    rest = Spread(spread.numbers[1:], spread.sizes[1:]) if crowded else spread
    found = {nice(rest.quantile(place / GROUPS[0]), whole=whole) for place in range(1, GROUPS[0])}
    if crowded:
        found.add(_after(spread.numbers[0], spread.numbers[1], whole=whole))
    low, high = spread.numbers[0], spread.numbers[-1]
    return _spared(spread, (cut for cut in found if low < cut <= high), whole=whole)


def _spared(spread: Spread, cuts: Iterable[Decimal], *, whole: bool) -> list[Decimal]:
    """Sort cuts that make the same ranges, none a value that few records have if it need not."""
    found = set()
    for cut in cuts:
        place = int(np.searchsorted(spread.numbers, float(cut)))
        border: Decimal | None = cut
        if place and spread.numbers[place] == float(cut) and spread.sizes[place] < ENOUGH:
            before = Decimal(repr(float(spread.numbers[place - 1])))
            border = NUMBERS.border(before, cut, Decimal(whole))
        found.add(cut if border is None else border)
    return sorted(found)


def _after(low: float, high: float, *, whole: bool) -> Decimal:
    if whole:
        return Decimal(int(low) + 1)
    exponent = floor(log10(high - low))
    return Decimal(repr(float(low))) + Decimal(1).scaleb(exponent)


def nice(number: float, *, whole: bool = False) -> Decimal:
    """The nearest number of a nice leading part: 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times 10^n.

    >>> nice(4386.0), nice(-0.0143), nice(0)
    (Decimal('4E+3'), Decimal('-0.015'), Decimal('0'))
    """
    if not number:
        return Decimal(0)
    power = floor(log10(abs(number)))
    size = Decimal(f"{abs(number):.{DIGITS}g}")
    best = min((part.scaleb(power) for part in MANTISSAS), key=lambda each: abs(each - size))
    best = best.to_integral_value() if whole else best
    return best if number > 0 else -best


def _cut(spread: Spread, cuts: Sequence[Decimal], why: str) -> Ladder:
    levels = _joining(spread, cuts)
    return Ladder({"cuts": [list(map(_plain, level)) for level in levels]}, why)


def _joining(spread: Spread, cuts: Sequence[Decimal]) -> list[list[Decimal]]:
    levels = coarser_levels(spread, cuts) if cuts else []
    return [level for level in levels if len(level) < len(spread.numbers) - 1]


def coarser_levels(spread: Spread, cuts: Sequence[Cut]) -> list[list[Cut]]:
    """Return the cuts, and levels of fewer and fewer of them."""
    levels = [list(cuts)]
    for groups in GROUPS:
        if groups <= len(levels[-1]):
            chosen = _coarser(spread, levels[-1], groups)
            if len(chosen) < len(levels[-1]):
                levels.append(chosen)
    return levels


def _coarser(spread: Spread, cuts: Sequence[Cut], groups: int) -> list[Cut]:
    shares = np.array([spread.below(float(cut)) for cut in cuts])
    places = {int(np.abs(shares - part / groups).argmin()) for part in range(1, groups)}
    return [cuts[place] for place in sorted(places)]


def _plain(number: Decimal) -> int | float:
    text = number_text(number)
    return float(text) if "." in text else int(text)
