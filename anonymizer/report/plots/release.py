"""Pictures of a release, from its manifest and its released table alone.

Each is ``(manifest, table, theme) -> Picture | None``: None where there is nothing to draw.
``svg_of`` writes one for a page. No picture shows a count that the released table does not show;
``comparison_picture`` is of a comparison instead, which is measured on the original.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from anonymizer.counts.counting import recount
from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import shown_label
from anonymizer.hierarchy.calendar import Dates
from anonymizer.hierarchy.reading import of_rule
from anonymizer.kernels.arrays import Floats, Mask
from anonymizer.privacy import KAnonymity, PrivacyModel
from anonymizer.release.manifest import Manifest
from anonymizer.report.plots.bars import (
    BitsBar,
    bars_of,
    bound,
    draw_bars,
    pale,
    ranked,
    said_of,
)
from anonymizer.report.plots.comparison import comparison_picture
from anonymizer.report.plots.lattice import lattice_picture
from anonymizer.report.plots.style import (
    Picture,
    Style,
    Theme,
    counted_axis,
    drawing,
    panels,
    picture,
    short,
    svg_of,
)
from anonymizer.tables import engine
from anonymizer.tables.values import number_of
from anonymizer.utility.figures import Contribution, Limit, bounds_of

__all__ = [
    "attribute_picture",
    "classes_picture",
    "comparison_picture",
    "information_picture",
    "lattice_picture",
    "sizes_picture",
    "svg_of",
]


def recounted(manifest: Manifest, table: engine.Table) -> tuple[Counts, list[PrivacyModel]]:
    """The counts of a released table by the roles of its manifest, and the models of its policy.

    Models that the manifest has only the digest of a population or a hierarchy of are left out, and
    those about persons who have several records, or by weights, which the table does not show.

    Raises InputError when the manifest is not about a file, so that columns have no roles.
    """
    models = []
    for verdict in manifest.privacy:
        if verdict.hidden(manifest.hides_persons):
            continue
        try:
            models.append(verdict.privacy_model)
        except InputError:  # needs the study
            continue
    return recount(table, manifest.roles), models


WIDE = 20
"""The largest class is so many times the smallest: a logarithmic axis shows both."""


class Panel(NamedTuple):
    """A quantity of each class: what it is, where it must not pass, and which classes fail."""

    attribute: str
    symbol: str
    bits: Floats
    failing: Mask
    bounds: tuple[Limit, ...]


def classes_picture(
    manifest: Manifest, table: engine.Table | None = None, theme: Theme = "auto"
) -> Picture | None:
    """I1 = D(p(w|g) || p(w)) and I2 = H(W) - H(W|g) of each class, in bits, against t and l.

    A pair of panels for each sensitive attribute, classes in the order of their bits. I1 stands
    against t where that is of the Kullback-Leibler distance, I2 against H(W) - log2 l of entropy
    l-diversity; failing classes are those that break any model about the attribute or about sizes.
    None without a released table or a sensitive attribute.
    """
    if table is None or manifest.columns is None or not manifest.columns.sensitive:
        return None
    counts, models = recounted(manifest, table)
    found = [
        panels_of(Contribution.of(counts, name, models)) for name in manifest.columns.sensitive
    ]
    with drawing(theme):
        figure, rows = panels(theme, len(found), 2, 2.7, "Information of each class")
        for pair, row in zip(found, rows, strict=True):
            for panel, axes in zip(pair, row, strict=True):
                _draw_classes(axes, panel, figure.palette)
    figure.description = ". ".join(_classes_said(panel) for pair in found for panel in pair)
    return figure


def sizes_picture(
    manifest: Manifest, table: engine.Table | None = None, theme: Theme = "auto"
) -> Picture | None:
    """Records of each class of the released table, the largest first, and k where it is given.

    None without a released table.
    """
    if table is None:
        return None
    counts, models = recounted(manifest, table)
    sizes = np.sort(counts.sizes)[::-1]
    least = max((model.k for model in models if isinstance(model, KAnonymity)), default=None)
    with drawing(theme):
        figure, ((axes,),) = panels(theme, 1, 1, 2.9, "Sizes of classes")
        if sizes[0] > WIDE * sizes[-1]:
            axes.set_yscale("log")
        ranked(axes, sizes, sizes < (least or 0), figure.palette)
        counted_axis(axes.yaxis)
        if least is not None:
            bound(axes, f"k = {least}", least, figure.palette["bad"])
        axes.set_ylabel("records")
        axes.set_xlabel(f"{plural(len(sizes), 'class')}, largest first")
    figure.description = (
        f"{len(sizes):,} classes: {sizes[-1]:,} records in the smallest, "
        f"{np.median(sizes):,.6g} in the median one, {sizes[0]:,} in the largest"
        + ("" if least is None else f"; at least {least} are required")
    )
    return figure


def panels_of(found: Contribution) -> tuple[Panel, Panel]:
    """I1 and I2 of the classes about an attribute."""
    failing = np.array(found.failing)
    return (
        Panel(found.attribute, "I₁", np.array(found.i1), failing, found.i1_limits),
        Panel(found.attribute, "I₂", np.array(found.i2), failing, found.i2_limits),
    )


def _draw_classes(axes: Axes, panel: Panel, palette: dict[str, str]) -> None:
    """The classes in order, and the bounds that they stand under."""
    order = np.argsort(-panel.bits, kind="stable")
    ranked(axes, panel.bits[order], panel.failing[order], palette)
    for strictest in panel.bounds[:1]:
        bound(axes, *strictest, palette["bad"])
    axes.axhline(0, color=palette["rule"], linewidth=0.8)
    axes.set_title(f"{panel.symbol} about {short(panel.attribute)}", fontsize=10)
    axes.set_ylabel("bits")
    axes.set_xlabel(f"{plural(len(order), 'class')}, most telling first")


def _classes_said(panel: Panel) -> str:
    """The same in words."""
    bounds = "".join(f", against {text} ({bits:.3f})" for text, bits in panel.bounds)
    return (
        f"{panel.symbol} about {short(panel.attribute)}: from {panel.bits.min():.3f} to "
        f"{panel.bits.max():.3f} bits in {len(panel.bits):,} classes{bounds}; "
        f"{int(panel.failing.sum()):,} fail"
    )


def information_picture(
    manifest: Manifest, table: engine.Table | None = None, theme: Theme = "auto"
) -> Picture | None:
    """Bits about the sensitive attributes: original, bounds of the policy, ceiling, retained, lost.

    The bounds are t and H(W) - log2 l of Eq. 13 where a single attribute is sensitive and the
    released table is given, which H(W) is counted of. None where the manifest has no information
    of the original: without sensitive attributes, of differentially private releases, and where it
    is ``release.json``, not its steward's file.
    """
    found = manifest.information
    if found is None or found.original is None or found.ceiling is None:
        return None
    original, retained = found.original, found.retained
    bars = bars_of(original, retained, found.ceiling, _bounds(manifest, table))
    with drawing(theme):
        figure, axes = picture(theme, 0.42 * len(bars) + 0.9, "Information retained")
        draw_bars(axes, bars, figure.palette, original)
    figure.description = f"Information in bits. {said_of(bars)}"
    return figure


def _bounds(manifest: Manifest, table: engine.Table | None) -> list[BitsBar]:
    """What each model of the policy bounds I(X~;W) by, where a single attribute is sensitive."""
    if table is None or manifest.columns is None or len(manifest.columns.sensitive) != 1:
        return []
    counts, models = recounted(manifest, table)
    (name,) = manifest.columns.sensitive
    return pale(bounds_of(counts, models, name))


MOST_LABELS = 16
"""Labels that have a bar of their own; the others share one."""

MOST_CUTS = 150
"""Cut points that a level shows; a finer one would be a black bar."""

MOST_LEVELS = 12
"""Levels of a rule that are drawn."""

RULER = 0.16
"""Inches of a row of cut points."""

OPEN_WIDTH = 0.12
"""Share of the scale that an open range is drawn over."""


class DrawnRange(NamedTuple):
    """A released range, its ends as drawn, and its records; ``open``: an end is not known."""

    low: float
    high: float
    records: int
    open: bool


def attribute_picture(
    manifest: Manifest, table: engine.Table | None = None, theme: Theme = "auto", *, name: str = ""
) -> Picture | None:
    """How the released values of a column are distributed, all from the released table.

    Ranges are drawn as a density: the records of a range are spread evenly over it, open ends are
    hatched. Below, the ends of the ranges that were released, and those of each level where the
    manifest has the rule of the hierarchy. Labels of other groups are bars, the most frequent
    first. None without a released table that has the column.
    """
    if table is None or name not in table.columns:
        return None
    records = _records(table, name)
    entries = [group for group in manifest.recoding.get(name, ()) if group.is_range]
    scale = {str(group.label): (group.interval.low, group.interval.high) for group in entries}
    rule = (getattr(manifest, "hierarchies", None) or {}).get(name)
    if isinstance(rule, Mapping) and {"widths", "cuts"} & {*rule}:
        scale |= _singles([label for label in records if label not in scale])
    ranges = [*_ranges(records, scale)]
    if not ranges:
        return _labels_picture(name, records, theme)
    dates = any(group.calendar is not None for group in entries)
    others = {label: n for label, n in records.items() if label not in scale}
    return _ranges_picture(name, ranges, others, _rulers(ranges, rule), dates, theme)


def _records(table: engine.Table, name: str) -> dict[str, int]:
    """The records of each label, the most frequent first; those of equal ones by the label."""
    codes, values = engine.distinct(table[name])
    found = Counter[str]()
    for value, n in zip(values, engine.sized(table, codes, len(values)).tolist(), strict=True):
        found[shown_label(value)] += n
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


def _singles(labels: Iterable[str]) -> dict[str, tuple[Decimal | None, Decimal | None]]:
    """Single numbers as ranges around them, as wide as the least distance of two."""
    numbers = {label: number for label in labels if (number := number_of(label)) is not None}
    places = sorted({*numbers.values()})
    half = min((high - low for low, high in pairwise(places)), default=Decimal(1)) / 2
    return {label: (number - half, number + half) for label, number in numbers.items()}


def _ranges(
    records: Mapping[str, int], scale: Mapping[str, tuple[Decimal | None, Decimal | None]]
) -> Iterator[DrawnRange]:
    """The ranges that were released, open ends put at some distance from the others."""
    seen = {label: n for label, n in records.items() if label in scale}
    ends = [float(end) for label in seen for end in scale[label] if end is not None]
    if not ends:
        return
    beyond = OPEN_WIDTH * ((max(ends) - min(ends)) or abs(ends[0]) or 1.0)
    for label, n in seen.items():
        low, high = scale[label]
        yield DrawnRange(
            min(ends) - beyond if low is None else float(low),
            max(ends) + beyond if high is None else float(high),
            n,
            low is None or high is None,
        )


def _rulers(ranges: Sequence[DrawnRange], rule: object) -> list[tuple[str, Floats]]:
    """Rows of cut points: those released, then those of each level of a rule of ranges."""
    drawn = {end for each in ranges for end in each[:2]}
    invented = {min(drawn), max(drawn)} if any(each.open for each in ranges) else set()
    known = {end for each in ranges if not each.open for end in each[:2]}
    ends = known | (drawn - invented)
    low, high = min(ends), max(ends)
    ends = ends if len(ends) <= MOST_CUTS else {low, high}
    rows = [("released", np.array(sorted(ends)))]
    if not isinstance(rule, Mapping) or not _is_drawable(rule):
        return rows
    origin = float(rule.get("origin", 0))
    levels = [
        np.arange(np.ceil((low - origin) / float(width)), (high - origin) / float(width) + 1e-9)
        * float(width)
        + origin
        for width in rule.get("widths", ())
        if (high - low) / float(width) <= MOST_CUTS
    ]
    levels += [np.array([float(cut) for cut in cuts]) for cuts in rule.get("cuts", ())]
    kept = [cuts[(cuts >= low) & (cuts <= high)] for cuts in levels[:MOST_LEVELS]]
    return [*rows, *((f"level {place}", cuts) for place, cuts in enumerate(kept, 1))]


def _is_drawable(rule: Mapping[str, object]) -> bool:
    """Whether a rule of a manifest, which may be damaged, is one whose numbers floats can have."""
    try:
        hierarchy = of_rule(rule)
    except InputError:
        return False
    widths = [float(width) for width in getattr(hierarchy, "widths", ())]
    cuts = [float(cut) for level in getattr(hierarchy, "cuts", ()) for cut in level]
    numbers = np.array([*widths, *cuts, float(getattr(hierarchy, "origin", 0))])
    return bool(np.isfinite(numbers).all() and min(widths, default=1) > 0)


def _ranges_picture(
    name: str,
    ranges: Sequence[DrawnRange],
    others: Mapping[str, int],
    rulers: Sequence[tuple[str, Floats]],
    dates: bool,
    theme: Theme,
) -> Picture:
    """The density, with the rows of cut points below it."""
    with drawing(theme):
        figure, axes = picture(
            theme, 2.5 + RULER * len(rulers), f"Released values of {short(name)}"
        )
        total = sum(each.records for each in ranges) + sum(others.values())
        _draw_density(axes, ranges, total, figure.palette)
        _draw_rulers(axes, rulers, figure.palette)
        ends = rulers[0][1]  # dates have no round numbers: ticks are at ends that were released
        some = FixedLocator(ends[:: len(ends) // 5 + 1].tolist())
        axes.xaxis.set_major_locator(some if dates else MaxNLocator(nbins=7))
        axes.xaxis.set_major_formatter(FuncFormatter(_date if dates else _number))
        axes.tick_params("x", pad=6 + 11 * len(rulers), length=0)
        axes.set_xlabel(short(name))
        rest = sum(others.values()) / total
        if others:
            shown = ", ".join(f"{short(label, 16)}: {n / total:.1%}" for label, n in others.items())
            axes.set_title(f"not drawn: {short(shown, 70)}", fontsize=9, loc="right")
    figure.description = (
        f"{len(ranges):,} released ranges of {short(name)}, from "
        f"{(_date if dates else _number)(ranges_low(ranges), 0)} on; "
        + (f"{rest:.1%} of the records have another label" if others else "of all records")
    )
    return figure


def ranges_low(ranges: Sequence[DrawnRange]) -> float:
    """The lowest end that is known."""
    return min(each.high if each.open else each.low for each in ranges)


def _draw_density(
    axes: Axes, ranges: Sequence[DrawnRange], total: int, palette: dict[str, str]
) -> None:
    """Steps whose areas are records; of boxes, whose ranges overlap, the sum.

    An open range has no density: it is as high as the highest closed one, and says its share.
    """
    closed = [each for each in ranges if not each.open]
    shape: Style = {"edgecolor": palette["main"], "linewidth": 0.8, "align": "edge"}
    steps = [*_steps(closed, total)] or [(0.0, 0.0, 1.0)]
    for low, high, height in steps:
        axes.bar(low, height, high - low, facecolor=palette["main"], **shape)
    most = max(height for _, _, height in steps)
    opened = {each[:2] for each in ranges if each.open}
    for low, high in sorted(opened):
        axes.bar(low, most, high - low, facecolor="none", hatch="////", **shape)
        share = sum(each.records for each in ranges if each[:2] == (low, high)) / total
        style: Style = {"textcoords": "offset points", "ha": "center", "fontsize": 9}
        axes.annotate(f"{share:.1%}", ((low + high) / 2, most), (0, 3), **style)
    axes.set_ylim(0, most * 1.12)
    axes.set_yticks([])
    axes.set_ylabel("density of records")
    axes.grid(visible=False)


def _steps(ranges: Sequence[DrawnRange], total: int) -> Iterator[tuple[float, float, float]]:
    """Each step from an end to the next: where it begins and ends, and its density."""
    ends = sorted({end for each in ranges for end in each[:2]})
    rises = np.zeros(len(ends))
    for each in ranges:
        height = each.records / total / (each.high - each.low)
        rises[ends.index(each.low)] += height
        rises[ends.index(each.high)] -= height
    for (low, high), height in zip(pairwise(ends), np.cumsum(rises), strict=False):
        yield low, high, float(max(height, 0.0))


def _draw_rulers(axes: Axes, rulers: Sequence[tuple[str, Floats]], palette: dict[str, str]) -> None:
    """A row of strokes below the axis for each list of cut points."""
    height = (2.5 + RULER * len(rulers)) * 50  # points that the axes have, roughly
    for row, (text, cuts) in enumerate(rulers):
        top = -(4 + 11 * row) / height
        color = palette["ink"] if row == 0 else palette["rule"]
        axes.vlines(
            cuts,
            top - 8 / height,
            top,
            transform=axes.get_xaxis_transform(),
            color=color,
            linewidth=0.9,
            clip_on=False,
        )
        style: Style = {"ha": "right", "va": "center", "fontsize": 8, "color": color}
        at = (0.0, top - 4 / height)
        axes.annotate(text, at, (-6, 0), "axes fraction", textcoords="offset points", **style)


def _labels_picture(name: str, records: Mapping[str, int], theme: Theme) -> Picture:
    """A bar for each of the most frequent labels."""
    total, shown = sum(records.values()), dict([*records.items()][:MOST_LABELS])
    shares = [(short(label), n / total) for label, n in shown.items()]
    rest = ""
    if len(records) > MOST_LABELS:
        left = 1 - sum(share for _, share in shares)
        rest = f"; not drawn: {len(records) - MOST_LABELS:,} others, {left:.1%}"
    with drawing(theme):
        title = f"Released values of {short(name)}"
        figure, axes = picture(theme, 0.28 * len(shares) + 0.8, title)
        places = range(len(shares))
        axes.barh(places, [share for _, share in shares], 0.7, color=figure.palette["main"])
        for place, (_, share) in enumerate(shares):
            axes.annotate(
                f"{share:.1%}",
                (share, place),
                (4, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        axes.set_yticks(places, [text for text, _ in shares])
        axes.set_ylim(len(shares) - 0.5, -0.5)
        axes.set_xlim(0, max(share for _, share in shares) * 1.15)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share * 100:.3g}%"))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
        axes.tick_params("y", length=0)
        axes.grid(visible=True, axis="x")
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"records by {short(name)}{rest}")
    figure.description = f"{len(records):,} released labels of {short(name)}: " + ", ".join(
        f"{text} {share:.1%}" for text, share in shares
    )
    figure.description += rest
    return figure


def _number(place: float, _: object) -> str:
    return f"{place:.10g}"


def _date(place: float, _: object) -> str:
    return Dates().written(Decimal(place).quantize(Decimal(1)))[:10]
