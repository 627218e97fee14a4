"""Proposed hierarchies: a rule for each quasi-identifier, and why it is that one."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import chain, count
from math import floor, inf, log10
from typing import Any, NamedTuple, TypeVar

import numpy as np

from anonymizer.hierarchy.calendar import DAY, UNITS
from anonymizer.hierarchy.label import CodeForm
from anonymizer.hierarchy.naming import ENOUGH
from anonymizer.hierarchy.ranges import MOST_GROUND
from anonymizer.hierarchy.scale import NUMBERS
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.profiling.among import PLUS, notation_of
from anonymizer.profiling.columns import FEW, ProfiledColumn
from anonymizer.profiling.hints import BIRTH
from anonymizer.tables.values import INSTANT, number_of, number_text, range_in

Cut = TypeVar("Cut", int, Decimal)

MOST_RANGES = 20
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


HALF_HOUR = 1800
"""Seconds that most time zones are apart, or several times so many."""


def ranges_of(numbers: Floats, sizes: Ints, *, whole: bool) -> Ladder:
    """Propose ranges of the numbers of a column, the finest level first.

    Small whole numbers are kept apart up to where few records are left; others get widths that
    double, or cut points with about equal numbers of records where they crowd or have long tails.
    """
    spread = Spread.of(numbers, sizes)
    if len(numbers) < 2:
        return Ladder({"suppress": True}, "one value: kept, or replaced by *")
    if whole and len(numbers) <= MOST_RANGES and np.ptp(spread.numbers) < 2 * MOST_RANGES:
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
    """Return the least nice width by which the span has at most ``MOST_RANGES`` ranges."""
    least = span_of(spread) / MOST_RANGES
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
    if places[-1] - places[0] + 1 > TAILS * MOST_RANGES:
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


ALL = ", of all, as records that share one may be of one person"
"""Why no whole code is shown where no name says what it is."""

LEAST_SHOWN = 5
"""Records that have a value at least that a proposal names."""

FEW_VALUES = 3
"""Values up to which an attribute is kept or replaced, with nothing between."""

SHARES = (0.02, 0.1, 0.3)
"""Share of the records from which on a value is kept at each level; the rarer are ``other``."""

MOST_KEPT = 30
"""Values that are kept by their names at the most."""

SHRINKS = 0.7
"""Part of the groups that a shorter prefix leaves at the most, to be a level."""

MOST_ORDERED = 50
"""Values that are listed in an order that a column of numbers gives them."""

YEAR = 365.25

CALENDARS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (40 * YEAR, ("year", "5 years", "decade")),
    (8 * YEAR, ("quarter", "year", "5 years")),
    (1.5 * YEAR, ("month", "quarter", "year")),
    (120, ("month", "quarter")),
    (21, ("week",)),
    (3, ("day", "week")),
    (0, ("hour", "day")),
)
"""Units of the calendar by the days that dates are apart at least."""

SUPPRESS = {"suppress": True}

LISTS, RANGES = frozenset(("prefixes", "keep")), frozenset(("widths", "cuts"))
"""Rules of values that boxes list, and of those that they cut."""

GRID = 50
"""Where ranges of decimals may begin: the fewer places, the rounder numbers lie near them."""


def ladder_of(column: ProfiledColumn, k: int, by: ProfiledColumn | None = None) -> Ladder:
    """Propose the hierarchy of a column.

    Only values that five records, or ``k``, have are named. ``by`` is a column of numbers that says
    the same, and so in which order the values are.
    """
    if column.kind == "ordered category" and (ladder := _by_order(column)):
        return ladder
    if by is not None and (ladder := _by_number(column, by)):
        return ladder
    if column.kind == "code":
        ladder = _prefixes(column)
        named = column.hint is not None or "prefixes" not in ladder.rule
        return ladder if named else Ladder(_without_values(ladder.rule), f"{ladder.why}{ALL}")
    if column.kind in ("date", "datetime"):
        return _calendar(column)
    if column.numbers is not None and column.kind not in ("boolean", "identifier"):
        return _with_ends(column, ranges_of(column.numbers, column.sizes, whole=column.whole))
    if written := measured_in(column):
        return Ladder(SUPPRESS, f"numbers written with {written}: kept, or replaced by *")
    if ladder := _by_range(column):
        return ladder
    if len(column.values) <= FEW_VALUES:
        return Ladder(SUPPRESS, "few values: kept, or replaced by *")
    return _kept(column, max(k, LEAST_SHOWN))


def _with_ends(column: ProfiledColumn, ladder: Ladder) -> Ladder:
    """Give a group of its own to each end that is an open range in the table, such as 90+."""
    if column.among and column.among.unit and not RANGES.isdisjoint(ladder.rule):
        why = f"{ladder.why}; the unit stays with them"
        decimal = {} if column.among.decimal == "." else {"decimal": column.among.decimal}
        return Ladder({**ladder.rule, "unit": column.among.unit, **decimal}, why)
    ends = column.among.ends if column.among else {}
    given = {name: _plain(end) for name, end in ends.items()}
    if not given or RANGES.isdisjoint(ladder.rule):
        return ladder
    if len(given) > 1 and given["bottom"] >= given["top"]:
        return ladder
    rule = {**ladder.rule, **given}
    low, high = given.get("bottom", -inf), given.get("top", inf)
    if "cuts" in rule:
        levels = [[cut for cut in level if low < cut < high] for level in rule["cuts"]]
        # The ends alone make a level: the cut that one of them is.
        rule["cuts"] = [level for level in levels if level] or [[*given.values()]]
    elif column.whole and span_of(Spread.of(column.numbers, column.sizes)) <= MOST_GROUND:  # type: ignore[arg-type]
        rule["ground"] = 1
    return Ladder(rule, f"{ladder.why}; what lies beyond an open range of the table is one group")


def ladder_in_boxes(column: ProfiledColumn, ladder: Ladder) -> Ladder:
    """Fit a hierarchy to boxes, whose labels list single values and show where ranges begin.

    Values that fewer than five records have are in no list, and no range of decimals begins at one.
    """
    rare = bool(column.sizes.min(initial=LEAST_SHOWN) < LEAST_SHOWN)
    frequent = _frequent(column, LEAST_SHOWN)
    if rare and frequent and ladder.rule == SUPPRESS:
        rule = {"keep": [frequent], "other": _other(column), "min-level": 1}
        return Ladder(rule, "values that fewer than five records have are joined")
    if rare and not LISTS.isdisjoint(ladder.rule):
        why = f"{ladder.why}; single values are not shown, since some have fewer than five records"
        return Ladder(_without_values(ladder.rule), why)
    if rare and column.kind == "decimal number" and not RANGES.isdisjoint(ladder.rule):
        why = f"{ladder.why}; ranges begin at round numbers, at most {GRID}"
        return Ladder({**ladder.rule, "grid": GRID}, why)
    return ladder


def _without_values(rule: dict[str, Any]) -> dict[str, Any]:
    """Return a rule that shows no single value; level 1 of a length has whole codes."""
    finest = {"ground": rule["prefixes"][0]} if "length" in rule else {"min-level": 1}
    return {**rule, **finest}


def _prefixes(column: ProfiledColumn) -> Ladder:
    """Propose prefixes of a code, of those lengths by which groups become fewer."""
    form = column.form or CodeForm()
    texts = [form.read(text) or text for text in column.texts]
    lengths = {len(text) for text in column.texts}
    if len(lengths) > 1 and column.form is None:
        if column.numbers is None:
            return Ladder(SUPPRESS, "codes of several lengths: kept, or replaced by *")
        most = max(lengths)  # zeros in front were lost: digits are cut off as of numbers
        widths = [10**power for power in range(1, most)][:4]
        return Ladder({"widths": widths}, "codes without their leading zeros: the last digits go")
    chosen: list[int] = []
    groups = len({*texts})
    # From the longest prefix on, each of which has to leave clearly fewer groups.
    for length in range(max(map(len, texts)) - 1, 0, -1):
        left = len({text[:length] for text in texts})
        if 1 < left <= SHRINKS * groups:
            chosen, groups = [*chosen, length], left
    if not chosen:
        return Ladder(SUPPRESS, "codes whose prefixes say no less: kept, or replaced by *")
    one = "codes of one length" if column.form is None else f"codes as of {form.length} characters"
    rule = {"prefixes": chosen, **form.entry()}
    return Ladder(rule, f"{one}: the last characters are masked")


ZIP = 5
"""Digits of an American code."""

ZIPS = {ZIP - 1, ZIP, ZIP + PLUS - 1, ZIP + PLUS}
"""The lengths of such codes, with four more digits and without, one zero lost in front or none."""


def lengths_said(column: ProfiledColumn) -> str:
    """Say that codes have several lengths, and what gives them one; nothing of other columns.

    Where the lengths are those of American codes without a zero, with four more digits and without,
    nobody can tell which zeros were lost: that is to be decided.
    """
    lengths = sorted({len(text) for text in column.texts})
    if len(lengths) < 2 or not (column.postal or column.form):
        return ""
    said = f"codes of {' and '.join(map(str, (lengths[0], lengths[-1])))} characters"
    american = {*lengths} <= ZIPS
    if column.form is None:
        if american and column.numbers is not None:
            return (
                f"{said}: decide which lost a zero in front, and write each with {ZIP} digits; "
                "until then they are grouped as numbers, which puts some of one place far apart"
            )
        return f"{said}, and prefixes would show the length; write one length to release prefixes"
    if american and column.form == CodeForm(ZIP - 1):
        return (
            f"{said}: decide whether all lost a zero in front: then write it, and length = {ZIP}; "
            f"if none did, length = {ZIP - 1} is right"
        )
    if column.form.pad is not None:
        given = f'length = {column.form.length}, pad = "{column.form.pad}"'
        return f"{said}: zeros in front may be lost, which {given} puts back"
    return f"{said}: length = {column.form.length} gives them one length"


def _calendar(column: ProfiledColumn) -> Ladder:
    """Propose units of the calendar by the span of the dates."""
    assert column.moments is not None
    assert column.clock is not None
    days = span_of(Spread.of(column.moments, column.sizes)) / DAY
    units = next(units for least, units in CALENDARS if days >= least)
    if column.kind == "datetime" and "day" not in units:
        units = ("day", *(unit for unit in units if unit != "week"))
    form = {"format": column.clock.format} if column.clock.format else {}
    if column.among and column.among.ranges:
        ground = column.among.ground
        kept = [unit for unit in units if UNITS.index(unit) > UNITS.index(ground)]
        units, form = tuple(kept or ["year", "5 years"]), {**form, "ground": ground}
        units = tuple(unit for unit in units if unit != ground)
    years = days / YEAR
    span = f"{years:.0f} years" if years >= 2 else f"{max(days, 1):.0f} days"
    why = f"dates up to {span} apart: units of the calendar"
    return Ladder({"calendar": list(units), **form}, why)


def _ordered(values: Sequence[str], sizes: Ints, why: str) -> Ladder:
    """Propose values in order, with groups of about equal size at each level."""
    spread = Spread(np.arange(len(values), dtype=float), sizes)
    levels = coarser_levels(spread, list(range(1, len(values))))[1:]
    rule: dict[str, Any] = {"order": list(values)}
    if levels:
        rule["cuts"] = [[values[cut] for cut in level] for level in levels]
    return Ladder(rule, why)


def _by_order(column: ProfiledColumn) -> Ladder | None:
    """Propose the order of an ordered category; None where a value is too rare to be named."""
    if column.sizes.min(initial=LEAST_SHOWN) < LEAST_SHOWN or len(column.order) < 2:
        return None
    records = dict(zip(column.texts, column.sizes.tolist(), strict=True))
    sizes = np.array([records.get(value, 0) for value in column.order], np.int64)
    return _ordered(column.order, sizes, "categories in their own order: neighbours are joined")


def _by_range(column: ProfiledColumn) -> Ladder | None:
    """Propose the order of ranges that are written as texts; None where any value is no range."""
    bounds = [range_bounds(text) for text in column.texts]
    if None in bounds or len(bounds) < FEW_VALUES or column.sizes.min() < LEAST_SHOWN:
        return None
    order = sorted(range(len(bounds)), key=lambda place: bounds[place] or ())
    values = [column.texts[place] for place in order]
    return _ordered(values, column.sizes[order], "ranges in their order: neighbours are joined")


def range_bounds(text: str) -> tuple[float, float] | None:
    """Return the bounds of a range that is written as a text; None where it is no range or number.

    >>> range_bounds("18-24"), range_bounds("65+"), range_bounds("under 18"), range_bounds("A4")
    ((18.0, 25.0), (65.0, inf), (-inf, 18.0), None)
    """
    number, found = number_of(text), range_in(text)
    if number is not None:
        return float(number), float(number)
    if found is None:
        return None
    low, high = found
    return -inf if low is None else float(low), inf if high is None else float(high)


def _kept(column: ProfiledColumn, least: int) -> Ladder:
    """Propose to keep frequent values, fewer of them at each level, the rest being ``other``."""
    levels: list[list[str]] = []
    before = len(column.values)
    for share in SHARES:
        kept = _frequent(column, max(least, share * column.records))
        if kept and len(kept) < before - (not levels):  # one value alone is not called other
            levels.append(kept)
            before = len(kept)
    if not levels:
        return Ladder(SUPPRESS, "values of which none can be joined by itself: kept, or replaced")
    rule: dict[str, Any] = {"keep": levels, "other": _other(column)}
    why = "values without an order: the most frequent are kept, the rest is joined"
    if 0 < column.missing < max(least, SHARES[0] * column.records):
        return Ladder({**rule, "missing": "other"}, f"{why}, and so are the few that are missing")
    return Ladder(rule, why)


def _other(column: ProfiledColumn) -> str:
    known = {text.casefold() for text in column.texts}
    names = chain(("other", "any other", "the rest"), map("other {}".format, count(2)))
    return next(label for label in names if label not in known)


def _frequent(column: ProfiledColumn, least: float) -> list[str]:
    return [column.texts[place] for place in np.flatnonzero(column.sizes >= least)[:MOST_KEPT]]


def _by_number(column: ProfiledColumn, by: ProfiledColumn) -> Ladder | None:
    """Propose the order of the numbers that go with the values; None where one is too rare.

    Each value goes with the number that most of its records have.
    """
    few = len(column.values) <= FEW_VALUES or len(column.values) > MOST_ORDERED
    if by.numbers is None or few or column.sizes.min(initial=LEAST_SHOWN) < LEAST_SHOWN:
        return None
    order = np.argsort(_likeliest(column, by), kind="stable")
    values = [column.texts[place] for place in order]
    return _ordered(values, column.sizes[order], f"in the order of {by.name!r}, which goes with it")


def _likeliest(column: ProfiledColumn, by: ProfiledColumn) -> Floats:
    """Return the number that most records of each value have, shape (values,); inf without one."""
    assert by.numbers is not None
    both = (column.codes < len(column.values)) & (by.codes < len(by.values))
    keys = column.codes[both] * len(by.values) + by.codes[both]
    pairs, sizes = np.unique(keys, return_counts=True)
    numbers = np.full(len(column.values), np.inf)
    order = np.argsort(sizes, kind="stable")  # the most frequent is written last
    numbers[pairs[order] // len(by.values)] = by.numbers[pairs[order] % len(by.values)]
    return numbers


MANY = 1_000_000
"""Combinations of the quasi-identifiers, beyond which columns of many values get grounds."""

FINER = (10, 5, 2)
"""How much narrower a cell may be than the ranges of level 1."""


def grounded_ladder(column: ProfiledColumn, ladder: Ladder, combinations: int) -> Ladder:
    """Propose to count a column of many values at a ground.

    That is level 1, or equal parts of its ranges as long as the cells are few. ``combinations``:
    those of the quasi-identifiers.
    """
    if combinations <= MANY or len(column.values) <= MOST_GROUND:
        return ladder
    ground = _ground(column, ladder.rule)
    if ground is None:
        return ladder
    why = f"{ladder.why}; {len(column.values):,} values are too many to be counted one by one"
    return Ladder({**ladder.rule, "ground": ground}, why)


def _ground(column: ProfiledColumn, rule: dict[str, Any]) -> object:
    if "widths" in rule and column.numbers is not None and "order" not in rule:
        return _step(column, rule["widths"][0])
    finest = next(
        (rule[name][0] for name in ("calendar", "prefixes", "cuts") if name in rule), None
    )
    return None if "order" in rule else finest


def _step(column: ProfiledColumn, width: float) -> float:
    """Return the width of the narrowest cells that are few enough."""
    assert column.numbers is not None
    span = float(np.ptp(column.numbers))
    for finer in FINER:
        step = Decimal(str(width)) / finer
        whole = step == step.to_integral_value()
        if span / float(step) <= MOST_GROUND and (whole or not column.whole):
            return int(step) if whole else float(step)
    return width


def is_midnight_elsewhere(column: ProfiledColumn) -> bool:
    """Return whether instants are dates that begin in another time zone: at one hour or two.

    Births go back to the years of double summer time, when they were three.
    """
    if column.kind != "datetime" or column.moments is None or len(column.values) < FEW:
        return False
    hours = np.unique(column.moments % DAY)
    whole = bool(hours.all() and not (hours % HALF_HOUR).any())
    most = 3 if column.hint is not None and column.hint.about == BIRTH else 2
    return len(hours) <= most and whole and all(map(INSTANT.fullmatch, column.some_texts))


def measured_in(column: ProfiledColumn) -> str | None:
    """Say how the numbers of a column are written that no rule reads; None where rules do."""
    if column.numbers is not None or column.moments is not None or column.identifying:
        return None
    return None if column.order else notation_of(column.some_texts)
