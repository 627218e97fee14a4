"""What recodings keep and what each class gives away: Figures 2 to 4 of Bezzi (2010)."""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from anonymizer.feedback.words import plural
from anonymizer.kernels.arrays import Floats
from anonymizer.report.plots.bars import (
    MOST_BARS,
    ClassMeasure,
    bounds,
    grouped,
    legend_above,
    ranked,
)
from anonymizer.report.plots.release import BitsBar, bars_of, draw_bars, pale, said_of
from anonymizer.report.plots.style import Picture, Theme, drawing, panels, save, short
from anonymizer.utility.figures import HIDDEN, Attribute, Figures
from anonymizer.utility.schemes import SchemeComparison

WIDTH, HEIGHT = 11.0, 3.1
"""Inches of a picture across, and of each of its rows."""

MOST_ROWS = 16
"""Rows of a picture; what is beyond is in the numbers that are printed."""


class DrawnRow(NamedTuple):
    """A row of a picture: what a recoding keeps about an attribute, and what its classes tell."""

    found: Figures
    about: Attribute

    @property
    def measures(self) -> tuple[ClassMeasure, ClassMeasure]:
        """I1 and I2 of the classes with the strictest bound of each."""
        about = self.about
        pairs = (("I₁", about.i1, about.i1_limits), ("I₂", about.i2, about.i2_limits))
        return tuple(  # type: ignore[return-value]
            ClassMeasure(name, np.array(bits), limits[0] if limits else None)
            for name, bits, limits in pairs
        )

    @property
    def verdict(self) -> str:
        """Whether the policy holds, and else in how many classes it does not, or which models."""
        if self.found.satisfied:
            return "the policy holds"
        failing, models = sum(self.about.failing), ", ".join(self.found.failing)
        classes = f"{failing:,} of {plural(len(self.found.classes), 'class')} fail"
        return classes if failing else f"fails {models}"


def figures_picture(found: Figures, theme: Theme = "auto") -> Picture:
    """What a recoding keeps and what its classes give away, a row for each sensitive attribute.

    Left are the bits in the original, what each model bounds them by, the ceiling, what is retained
    and what is lost. Right are I1 and I2 of each class, in the order of values, against t (a line)
    and H(W) - log2 l (dashed); bars above their bound are hatched, and the names of classes that
    break the policy stand out. More than 40 classes are lines, the most telling first.
    """
    rows = [DrawnRow(found, about) for about in found.attributes]
    return _picture(rows, f"Figures of {found.name}", theme)


def schemes_picture(comparison: SchemeComparison, theme: Theme = "auto") -> Picture:
    """The same of several schemes, a row for each and each sensitive attribute, on equal scales."""
    rows = [
        DrawnRow(each, about)
        for place in range(len(comparison.about))
        for each in comparison.schemes
        for about in (each.attributes[place],)
    ]
    return _picture(rows, "Schemes compared", theme)


def draw(found: Figures | SchemeComparison, path: Path) -> None:
    """Draw figures at a path, in the format of its suffix."""
    if isinstance(found, Figures):
        figure = figures_picture(found, "light")
    else:
        figure = schemes_picture(found, "light")
    with drawing("light"):
        save(figure, path)


def _picture(rows: Sequence[DrawnRow], title: str, theme: Theme) -> Picture:
    shown = rows[:MOST_ROWS]
    with drawing(theme):
        figure, places = panels(theme, len(shown), 2, HEIGHT, title, WIDTH)
        for row, (left, right) in zip(shown, places, strict=True):
            _draw_information(left, row, figure.palette)
            _draw_classes(right, row, figure.palette)
        _level(shown, [right for _, right in places])
        if len(rows) > len(shown):
            figure.supxlabel(f"{len(rows) - len(shown):,} more are not drawn", fontsize=9)
    figure.description = ". ".join(map(_said, shown))
    return figure


def _bars(row: DrawnRow) -> list[BitsBar]:
    about = row.about
    return bars_of(about.original, about.retained, about.ceiling, pale(about.bounds))


def _draw_information(axes: Axes, row: DrawnRow, palette: dict[str, str]) -> None:
    """The bits about an attribute, all classes together."""
    draw_bars(axes, _bars(row), palette, row.about.original)
    color = palette["ink" if row.found.satisfied else "bad"]
    title = f"{short(row.found.name, 40)}: {row.verdict}"
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold", color=color)


def _draw_classes(axes: Axes, row: DrawnRow, palette: dict[str, str]) -> None:
    """I1 and I2 of each class."""
    names, failing = row.found.classes, row.about.failing
    axes.set_ylabel(f"bits about {short(row.about.attribute)}")
    if len(names) <= MOST_BARS:
        grouped(axes, [each or HIDDEN for each in names], row.measures, palette, failing)
        axes.set_xlabel("class")
        return
    looks = (("main", "pale"), ("rule", ""))
    for measure, (color, fill) in zip(row.measures, looks, strict=True):
        order = np.argsort(-measure.values, kind="stable")
        marks = np.array(failing)[order]
        ranked(axes, measure.values[order], marks, palette, color, fill)
        axes.lines[-2].set_label(measure.name)
    bounds(axes, row.measures, palette)  # after all lines, which the axis has to show
    legend_above(axes)
    marked = ", x fails" if any(failing) else ""
    axes.set_xlabel(f"{plural(len(names), 'class')}, most telling first{marked}")


def _level(rows: Sequence[DrawnRow], places: Sequence[Axes]) -> None:
    """Equal scales for the classes of all schemes about the same attribute."""
    pairs = [(row.about.attribute, axes) for row, axes in zip(rows, places, strict=True)]
    for _, alike in groupby(pairs, key=itemgetter(0)):
        together = [axes for _, axes in alike]
        ends = [axes.get_ylim() for axes in together]
        for axes in together:
            axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))


def _said(row: DrawnRow) -> str:
    """A row in words, with its numbers."""
    found = [
        f"{measure.name} {_span(measure.values)}" + _against(measure) for measure in row.measures
    ]
    return (
        f"{row.found.name}, about {short(row.about.attribute)}: {row.verdict}. "
        f"Bits: {said_of(_bars(row))}. Of each class: {'; '.join(found)}"
    )


def _span(bits: Floats) -> str:
    """The bits of a few classes, or the ends of those of many."""
    if len(bits) <= MOST_BARS:
        return ", ".join(f"{each:.3f}" for each in (bits.round(3) + 0.0).tolist())
    return f"from {bits.min():.3f} to {bits.max():.3f}"


def _against(measure: ClassMeasure) -> str:
    if measure.bound is None:
        return ""
    name, bits = measure.bound
    return f" against {name} ({bits:.3f})"
