"""The parts of the view of cut points: what it draws, its controls, and how it changes a study."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import zip_longest
from math import ceil
from typing import TYPE_CHECKING, Any

from anonymizer.explorer.answers.ranges.axis import (
    CutAxis,
    CutKeys,
    cuts_of,
    histogram_of,
    point_text,
    range_text,
)
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
from anonymizer.explorer.answers.ranges.standing import MOST_CUTS, Standing, held_at, rule_of
from anonymizer.explorer.page.charts import Chart
from anonymizer.explorer.page.controls import fill, heading, listing, note
from anonymizer.explorer.page.ruler import RulerBar, RulerDrawing
from anonymizer.explorer.page.toolkit import ui
from anonymizer.explorer.session.contents import (
    Content,
    with_levels,
    with_refinement,
    with_rules,
    without_limits,
)
from anonymizer.feedback.words import bits, count, number, plural
from anonymizer.hierarchy import Taxonomy
from anonymizer.hierarchy.order import Ranks
from anonymizer.recoding import Watch
from anonymizer.recoding.recoding import Task

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage


@dataclass(frozen=True)
class Cutting:
    """Changes of a study about the ranges of one attribute; the others are as they stand."""

    taxonomy: Taxonomy
    standing: Standing

    @property
    def attribute(self) -> str:
        """The attribute that is cut."""
        return self.taxonomy.attribute

    def at(self, content: Content, cuts: Sequence[Decimal]) -> Content:
        """The attribute released with cuts, ``*`` without any; the others at their levels."""
        given = content["quasi-identifiers"][self.attribute]
        rule, level = without_limits(given), self.taxonomy.height
        if cuts:
            rule, level = rule_of(self.taxonomy, cuts, given)
        rules = {**self.standing.rules, self.attribute: rule}
        levels = {**self.standing.levels, self.attribute: level}
        return with_levels(with_rules(content, rules), levels)

    def best(self, content: Content, held: Sequence[Decimal], others: bool) -> Content:
        """The best ranges that begin at the ``held`` cuts, among others.

        ``others``: whether the other attributes stay at their levels; else these are searched.
        """
        given = without_limits(content["quasi-identifiers"][self.attribute])
        if held:
            rule, level = rule_of(self.taxonomy, held, given)
            given = {**rule, "max-level": level}  # so that every range lies between held cuts
        rules: dict[str, object] = {self.attribute: given}
        if others:
            rules |= self._confined(content["quasi-identifiers"])
        return with_refinement(with_rules(content, rules), self.attribute)

    def _confined(self, known: Mapping[str, object]) -> dict[str, object]:
        return {
            name: held_at(self.standing.rules.get(name, known[name]), level)
            for name, level in self.standing.levels.items()
        }


def step_words(attribute: str, old: str, new: str) -> str:
    """Name a change of a cut in the words of a step; a ``?`` is a number not to be shown.

    >>> step_words("age", "35", "36"), step_words("age", "", "?")
    ('cut of age at 35 moved to 36', 'cut of age added')
    """
    before, after = (f" at {each}" if each != "?" else "" for each in (old, new))
    if not old:
        return f"cut of {attribute}{after} added"
    if not new:
        return f"cut of {attribute}{before} removed"
    return f"cut of {attribute}{before} moved{f' to {new}' if after else ''}"


BEST = (
    "An exact search: the cuts that you hold stay, and others are added where that is better by "
    "the study's objective and the policy still holds. Best of all holds none."
)


class CutField:
    """A cut that is typed or chosen, to be added or removed."""

    def __init__(
        self, on_add: Callable[[], None], on_remove: Callable[[], None], ranks: bool
    ) -> None:
        with ui.element("div").classes("line") as self.element:
            self.number = ui.number("Cut at rank" if ranks else "Cut at").props(
                "dense outlined step=any"
            )
            self.value = select("First value of a range")
            self._buttons = [
                ui.button(words, on_click=act, color=None).props("outline no-caps")
                for words, act in (("Add this cut", on_add), ("Remove this cut", on_remove))
            ]

    def set_enabled(self, enabled: bool) -> None:
        """Let the buttons be pressed, or not."""
        for button in self._buttons:
            button.set_enabled(enabled)

    def show(self, keys: CutKeys) -> None:
        """Offer the cut points of an axis; those of an order by their values."""
        scale = keys.axis.scale
        by_value = isinstance(scale, Ranks) and not keys.ranks
        self.number.set_visibility(not by_value)
        self.value.set_visibility(by_value)
        if by_value:
            points = keys.axis.cut_points
            offer(self.value, {str(each): point_text(scale, each) for each in points})

    def point(self, key: str) -> None:
        """Show the cut of a key."""
        self.number.set_value(float(key))
        if key in self.value.options:
            self.value.set_value(key)

    def given(self, keys: CutKeys) -> Decimal | str:
        """The cut that is given, or what is wrong with it."""
        try:
            number = Decimal(str(self.value.value if self.value.visible else self.number.value))
        except InvalidOperation:
            return "Write in the field next to the buttons where the cut is."
        last = len(keys.axis.numbers) - 1
        if not keys.ranks:
            return number
        whole = number == int(number)
        if not whole or not 0 < number <= last:
            return f"Write a rank from 1 to {last:,}."
        return keys.number(str(int(number)))


class CutSearch:
    """The cuts to hold, and the searches for others."""

    def __init__(
        self, on_hold: Callable[[], None], on_best: Callable[[], None], on_all: Callable[[], None]
    ) -> None:
        with ui.element("section").classes("card") as self.element:
            heading("Better cuts")
            note(BEST)
            with ui.element("div").classes("line"):
                self.held = select("Cuts to hold", on_hold, multiple=True)
                self.others = ui.switch("Hold the other attributes at their levels too")
            with ui.element("div").classes("line"):
                self.best = ui.button("Best from here", on_click=on_best, color=None)
                self.best.classes("primary").props("no-caps unelevated")
                self.all = ui.button("Best of all", on_click=on_all, color=None)
                self.all.props("outline no-caps")
            self.found = note()
            self.found.props("role=status")

    def set_enabled(self, enabled: bool, holding: bool) -> None:
        """Let the searches be started, or not: that from here while cuts are held."""
        self.best.set_enabled(enabled and holding)
        self.all.set_enabled(enabled)

    def show(self, offered: Mapping[str, str], held: Sequence[str], found: str) -> None:
        """Offer cuts to hold, and say what the last search found."""
        if self.held.options != offered or self.held.value != [*held]:
            self.held.set_options(dict(offered), value=[*held])
        self.found.set_text(found)


def select(
    label: str, on_change: Callable[[], None] | None = None, multiple: bool = False
) -> ui.select:
    """A choice that is filled in later."""
    change = None if on_change is None else lambda: on_change()
    found: ui.select = ui.select([], label=label, multiple=multiple, on_change=change)
    found.props(f"dense outlined {'use-chips' if multiple else ''}").style("min-width: 14rem")
    return found


def offer(choice: ui.select, options: Mapping[str, str]) -> None:
    """Offer choices; the one that is chosen stays, or else it is the first."""
    value = choice.value if choice.value in options else next(iter(options), None)
    if choice.options != options or choice.value != value:
        choice.set_options(dict(options), value=value)


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
    if axis.scale.numeric:
        return None
    keys = CutKeys(axis, ranks=False).keys(points)
    return {key: point_text(axis.scale, each) for key, each in zip(keys, points, strict=True)}


def _ticks(axis: CutAxis) -> list[tuple[float, str]] | None:
    """Return the ticks of an axis that is not of numbers: below the bars of values, at dates."""
    if axis.scale.numeric:
        return None
    if isinstance(axis.scale, Ranks):
        return [(float(each) + 0.5, point_text(axis.scale, each)) for each in axis.numbers]
    dates = axis.numbers[:: -(-len(axis.numbers) // TICKS)]
    return [(float(each), point_text(axis.scale, each)) for each in dates]


def names_of(axis: CutAxis, ranges: Sequence[CutRange], labels: bool) -> list[str]:
    """Return the names of ranges."""
    return [
        "missing"
        if each.ends is None
        else range_text(axis.scale, *each.ends)
        if labels
        else f"range {place}"
        for place, each in enumerate(ranges, 1)
    ]


def starts_of(taxonomy: Taxonomy) -> dict[str, str]:
    """List the cuts to start from: none, a level of the hierarchy, ranges of as many records."""
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
    """Say in a sentence what can be moved; ``why_not``: the reason where nothing can."""
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
            limits = limits_of(task.models, sensitive, axis.counts)
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
        if few != self._few:
            self._few = few
            self._whole.set_value(few)

    def _opened(self) -> None:
        self._fit()

    def _fit(self) -> None:
        height = self._height if self._whole.value else min(self._height, MOST_HIGH)
        self.chart.element.style(f"height: {height:.1f}rem")

    def _classes(
        self, axis: CutAxis, cuts: tuple[Decimal, ...], sensitive: str, task: Task
    ) -> list[Inside | None]:
        """Return the figures of classes within ranges, requested where they are not known yet."""
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
    """Say in a sentence which limits the policy has in bits."""
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
    """Return the end of the axis: beyond all bars, marks and limits, at a round number."""
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
