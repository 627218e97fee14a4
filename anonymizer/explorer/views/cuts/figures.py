"""What the ranges of an attribute tell, as bars and as a list."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from itertools import zip_longest
from math import ceil
from typing import TYPE_CHECKING, Any

from anonymizer.explorer.answers.ranges.axis import CutAxis
from anonymizer.explorer.answers.ranges.cuts import (
    ClassLimits,
    CutRange,
    Informations,
    Inside,
    inside_of,
    limits_of,
    ranges_of,
    verdict_on,
)
from anonymizer.explorer.page.charts import Chart
from anonymizer.explorer.page.controls import fill, heading, listing, note
from anonymizer.explorer.page.toolkit import ui
from anonymizer.explorer.views.cuts.drawing import names_of
from anonymizer.feedback.words import bits, count, number, plural
from anonymizer.recoding import Watch
from anonymizer.recoding.recoding import Task

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

COLUMNS = (
    *("Range", "Records", "I1, bits", "I2, bits", "Worst I1, bits", "Worst I2, bits"),
    "Limits it breaks",
)

EXPLAINED = (
    "I1 is how far seeing the range moves what one expects of {sensitive}, in bits; t bounds it. "
    "I2 is how much less uncertain one is of {sensitive} then, in bits; l bounds it, by "
    "H(W) - log2 l. Bars are of the range alone, marks of the class in it that comes off worst "
    "when the other attributes are known as well."
)

ALONE = {"I1 of the range": "surprise", "I2 of the range": "specific"}
WORST = {"I1 of its worst class": "surprise", "I2 of its worst class": "specific"}
LEAST, MOST_HIGH = 9.0, 28.0
"""Heights of the chart in rem: without a range, and at most unless the list is opened."""

MANY, MOST_DRAWN = 10, 60
"""Ranges beyond which they are drawn narrower, and beyond which they are listed alone."""

LISTED = "Bars are drawn of up to {most} ranges; the list has all {ranges}."

SYMBOLS = ("diamond", "triangle")

Pair = tuple[CutRange, Inside | None]


class CutFigures:
    """A chart of I1 and I2 of each range against their limits, and the same in a table."""

    def __init__(self, page: "ExplorerPage") -> None:
        self.page = page
        with ui.element("div").classes("content") as self.element:
            heading("What each range tells")
            self.words = note()
            self.limits = note()
            self.chart = Chart(page)
            self._whole = ui.expansion("", on_value_change=self._opened)
            with self._whole.props("dense").classes("full"):
                self.table = listing("Ranges and what they tell", COLUMNS)
        self._height = LEAST
        self._few: bool | None = None
        self._rows: list[list[str]] = []
        self._inside: tuple[object, list[Inside | None]] = None, []

    def show(
        self, axis: CutAxis, cuts: tuple[Decimal, ...], sensitive: str | None, task: Task
    ) -> None:
        """Show the ranges between cuts at once, the classes in them as soon as they are known."""
        ranges = ranges_of(axis, cuts, sensitive, task.models)
        inside: list[Inside | None] = []
        limits = ClassLimits()
        if sensitive is not None:
            limits = limits_of(task.models, sensitive, axis.counts.margins[sensitive])
            inside = self._classes(axis, cuts, sensitive, task)
        names = names_of(axis, ranges, self.page.shows_labels)
        pairs = [*zip_longest(ranges, inside[: len(ranges)])]
        self.words.set_text(EXPLAINED.format(sensitive=sensitive) if sensitive else NOTHING)
        drawn = sensitive is not None and len(names) <= MOST_DRAWN
        said = "" if drawn else LISTED.format(most=MOST_DRAWN, ranges=len(names))
        self.limits.set_text(f"{limits_said(limits)} {said}".strip() if sensitive else "")
        self.chart.element.set_visibility(drawn)
        if drawn:
            self._height = 9 + (2.6 if len(names) <= MANY else 1.6) * len(names)
            self._fit()
            self.chart.show(self._options(names, pairs, limits), _summary(names, ranges, limits))
        self._fold(len(names) <= MANY)
        self._whole.set_text(f"All {plural(len(names), 'range', 'ranges')} in figures")
        rows = [_row(name, *pair) for name, pair in zip(names, pairs, strict=True)]
        if rows != self._rows:
            fill(self.table, rows)
            self._rows = rows

    def _fold(self, few: bool) -> None:
        """Show a short list; a long one is folded until somebody opens it."""
        if few != self._few:
            self._few = few
            self._whole.set_value(few)

    def _opened(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """Give the chart room for all ranges where they are listed, and else a part of a screen."""
        height = self._height if self._whole.value else min(self._height, MOST_HIGH)
        self.chart.element.style(f"height: {height:.1f}rem")

    def _classes(
        self, axis: CutAxis, cuts: tuple[Decimal, ...], sensitive: str, task: Task
    ) -> list[Inside | None]:
        """What the classes within ranges come to; requested for where it is not known yet."""
        key = self.page.text, axis.attribute, sensitive
        if self._inside[0] == key:
            return self._inside[1]
        if self.page.fresh:
            self._inside = key, []
            outcome, taxonomy = self.page.outcome, task.counted.taxonomies[axis.attribute]
            requested = partial(inside_of, outcome, taxonomy, axis, cuts, sensitive)
            again = partial(self.show, axis, cuts, sensitive, task)
            self.page.start(self._look_inside(key, requested, again))
        return []

    async def _look_inside(
        self,
        key: tuple[str, str, str],
        requested: Callable[[Watch], list[Inside | None]],
        again: Callable[[], None],
    ) -> None:
        found = await self.page.answer("classes within ranges", lambda watch: requested(watch))
        if found is not None and self._inside[0] == key:
            self._inside = key, found
            if self.page.text == key[0]:
                again()

    def _options(
        self, names: Sequence[str], pairs: Sequence[Pair], limits: ClassLimits
    ) -> dict[str, Any]:
        chart, palette = self.chart, self.chart.palette
        bars = [
            self._bars(name, [_of(range_.informations, key) for range_, _ in pairs], place, limits)
            for place, (name, key) in enumerate(ALONE.items())
        ]
        marks = [
            {
                "name": name,
                "type": "scatter",
                "symbol": SYMBOLS[place],
                "symbolSize": 13,
                "itemStyle": {
                    "color": palette.series[place],
                    "borderColor": palette.ink,
                    "borderWidth": 1,
                },
                "data": [
                    [_of(inside.worst, key), row] for row, (_, inside) in enumerate(pairs) if inside
                ],
            }
            for place, (name, key) in enumerate(WORST.items())
        ]
        return {
            "grid": {"left": 12, "right": 24, "top": 92, "bottom": 44, "containLabel": True},
            "xAxis": chart.axis("bits", nameGap=28, max=_end(pairs, limits)),
            "yAxis": {
                **chart.axis(""),
                "type": "category",
                "inverse": True,
                "data": [*names],
                "axisLabel": {
                    "color": palette.ink,
                    "fontSize": 12,
                    "width": 120,
                    "overflow": "break",
                },
            },
            "series": [*bars, *marks],
        }

    def _bars(
        self, name: str, data: Sequence[float | None], place: int, limits: ClassLimits
    ) -> dict[str, Any]:
        palette = self.chart.palette
        limit = (limits.surprise, limits.specific)[place]
        label = ("I1 at most {}", "I2 at most {}")[place]
        found: dict[str, Any] = {
            "name": name,
            "type": "bar",
            "data": [*data],
            "barMaxWidth": 16,
            "itemStyle": {"borderColor": palette.ink, "borderWidth": 0.5},
        }
        if limit is not None:
            found["markLine"] = {
                "symbol": "none",
                "silent": True,
                "data": [{"xAxis": limit}],
                "lineStyle": {
                    "color": palette.bad,
                    "width": 2,
                    "type": ("dashed", "dotted")[place],
                },
                "label": {
                    "formatter": label.format(number(limit)),
                    "position": "start",
                    "distance": (22, 4)[place],
                    "color": palette.ink,
                    "fontSize": 12,
                },
            }
        return found


NOTHING = "The study names no sensitive attribute that the ranges could tell of."


def limits_said(limits: ClassLimits) -> str:
    """Which limits the policy has in bits, in a sentence."""
    t, ceiling = limits.surprise, limits.specific
    if t is None and ceiling is None:
        return (
            "The policy has no limit in bits here: neither t-closeness of distance kl nor entropy "
            "l-diversity is about this attribute."
        )
    said = [
        f"I1 may be at most t = {bits(t)}" if t is not None else "I1 has no limit",
        f"I2 at most H(W) - log2 l = {bits(ceiling)}" if ceiling is not None else "I2 has no limit",
    ]
    return f"{'; '.join(said)}."


def _end(pairs: Sequence[Pair], limits: ClassLimits) -> float:
    """Where the axis ends: beyond all bars, marks and limits, at a number of one digit more."""
    informations = [each.informations for each, _ in pairs] + [
        each.worst for _, each in pairs if each
    ]
    bits_ = [bits_ for each in informations if each for bits_ in (each.surprise, each.specific)]
    most = max([0.1, *bits_, limits.surprise or 0, limits.specific or 0])
    return ceil(most * 11) / 10


def _of(informations: Informations | None, key: str) -> float | None:
    return None if informations is None else round(getattr(informations, key), 6)


def _row(name: str, range_: CutRange, inside: Inside | None) -> list[str]:
    informations, worst = range_.informations, inside.worst if inside else None
    figures = [
        number(getattr(each, key)) if each is not None else "-"
        for each in (informations, worst)
        for key in ("surprise", "specific")
    ]
    return [name, count(range_.records), *figures, verdict_on(range_, inside)]


def _summary(names: Sequence[str], ranges: Sequence[CutRange], limits: ClassLimits) -> str:
    said = [
        f"{name}: I1 {bits(each.informations.surprise)}, I2 {bits(each.informations.specific)}"
        for name, each in zip(names, ranges, strict=True)
        if each.informations is not None
    ]
    return f"Bars of what each range tells. {limits_said(limits)} {'; '.join(said)}."
