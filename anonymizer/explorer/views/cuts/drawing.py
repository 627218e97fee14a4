"""An attribute as a ruler draws it, and what its ranges are called."""

from collections.abc import Sequence
from decimal import Decimal

from anonymizer.explorer.answers.ranges.axis import (
    CutAxis,
    CutKeys,
    cuts_of,
    histogram_of,
    point_text,
    range_text,
)
from anonymizer.explorer.answers.ranges.cuts import CutRange
from anonymizer.explorer.answers.ranges.standing import MOST_CUTS
from anonymizer.explorer.page.ruler import RulerBar, RulerDrawing
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Taxonomy
from anonymizer.hierarchy.rules.order import Ranks
from anonymizer.hierarchy.scale import NUMBERS

RANGES = (2, 3, 4, 6, 8, 12)
"""Ranges of about as many records that one may start from."""

TICKS = 8
"""Dates that are written below an axis."""


def drawing_of(axis: CutAxis, sensitive: str | None, labels: bool, readonly: bool) -> RulerDrawing:
    """The histogram of an axis with its cut points; without ``labels`` its values are ranks."""
    found = histogram_of(axis, sensitive, not labels, labels)
    points = axis.cut_points
    return RulerDrawing(
        name=axis.attribute if labels else f"{axis.attribute} (rank of the value)",
        low=found.low,
        high=found.high,
        bars=[
            RulerBar(low, high, counts)
            for (low, high), counts in zip(found.ends.tolist(), found.counts.tolist(), strict=True)
        ],
        series=found.series,
        places=CutKeys(axis, not labels).keys(points),
        texts=_texts(axis, points) if labels else None,
        ticks=_ticks(axis) if labels else None,
        readonly=readonly,
    )


def _texts(axis: CutAxis, points: Sequence[Decimal]) -> dict[str, str] | None:
    """What cut points are called where that is not their number."""
    if axis.scale == NUMBERS:
        return None
    keys = CutKeys(axis, ranks=False).keys(points)
    return {key: point_text(axis.scale, each) for key, each in zip(keys, points, strict=True)}


def _ticks(axis: CutAxis) -> list[tuple[float, str]] | None:
    """Where an axis that is not of numbers is written at: below the bars of values, at dates."""
    if axis.scale == NUMBERS:
        return None
    if isinstance(axis.scale, Ranks):
        return [(float(each) + 0.5, point_text(axis.scale, each)) for each in axis.numbers]
    dates = axis.numbers[:: -(-len(axis.numbers) // TICKS)]
    return [(float(each), point_text(axis.scale, each)) for each in dates]


def names_of(axis: CutAxis, ranges: Sequence[CutRange], labels: bool) -> list[str]:
    """What ranges are called."""
    return [
        "missing"
        if each.ends is None
        else range_text(axis.scale, *each.ends)
        if labels
        else f"range {place}"
        for place, each in enumerate(ranges, 1)
    ]


def starts_of(taxonomy: Taxonomy) -> dict[str, str]:
    """What one may start from: nothing, a level of the hierarchy, ranges of as many records."""
    found = {"none": "No cut: all values are one range"}
    for level in range(1, taxonomy.height):
        cuts = cuts_of(taxonomy.levels[level], taxonomy)
        if cuts and len(cuts) <= MOST_CUTS:
            ranges = plural(len(cuts) + 1, "range")
            found[f"level {level}"] = f"Level {level} of its hierarchy: {ranges}"
    return found | {f"ranges {n}": f"{n} ranges of about as many records" for n in RANGES}


def start_of(start: str, taxonomy: Taxonomy, axis: CutAxis) -> tuple[Decimal, ...]:
    """The cuts of one of them."""
    what, _, which = start.partition(" ")
    if what == "level":
        return cuts_of(taxonomy.levels[int(which)], taxonomy) or ()
    return axis.quantiles(int(which)) if what == "ranges" else ()


def cuts_said(
    attribute: str, cuts: tuple[Decimal, ...] | None, why_not: str | None, labels: bool
) -> str:
    """What there is to move, in a sentence; ``why_not``: why nothing can be moved."""
    if why_not is not None:
        return f"The cuts of {attribute} cannot be moved: {why_not}."
    if cuts is None:
        return (
            f"The recoding has no ranges of {attribute} that all classes share. Choose in Start "
            "from what to cut, or let the best cuts be found."
        )
    if len(cuts) > MOST_CUTS:
        return (
            f"{attribute} is released in {len(cuts) + 1:,} ranges, too many to be moved one by "
            "one. Choose in Start from what to cut instead."
        )
    hidden = "" if labels else " The axis shows ranks: values are hidden on this page."
    ranges = f"in {plural(len(cuts) + 1, 'range', 'ranges')}" if cuts else "as * alone"
    return f"{attribute} is released {ranges}.{hidden}"
